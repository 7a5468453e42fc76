from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gapless as gl
from gapless import features, kernels
from gapless.errors import InvalidInputError
from gapless.losses import LOSSES

INTERCEPTS = ("free", "regularized", "none")
CONVENTIONS = ("C", "C_mean", "lam_mean", "lam_mean_full", "lam_sum")


def clouds(n: int = 24, d: int = 3, seed: int = 0, loss: str = "hinge") -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds; for a regression a noisy line through them."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, d)) + 0.4 * y[:, None]
    return (X, X.sum(axis=1) + rng.normal(size=n)) if LOSSES[loss].task == "regression" else (X, y)


def optimum(problem: gl.Problem) -> float:
    """P*, proven to 1e-10."""
    result = gl.solve(problem, "smo", tol=1e-10)
    assert result.certificate.relative_gap <= 1e-10, result.status
    return result.certificate.primal


def refusal(*arguments, **named) -> str:
    with pytest.raises(InvalidInputError) as error:
        gl.Problem(*arguments, **named)
    return str(error.value)


# --- conventions


def same_in(convention: str, C: float, n: float) -> dict[str, float]:
    """The argument of a convention that states the same problem as C."""
    return {
        convention: {
            "C": C,
            "C_mean": C * n,
            "lam_mean": 1 / (C * n),
            "lam_mean_full": 1 / (2 * C * n),
            "lam_sum": 1 / C,
        }[convention]
    }


def by_formula(convention: str, value: float, w: np.ndarray, slacks: np.ndarray) -> float:
    """The five objectives as the table of the docstring gives them."""
    n, square, total = len(slacks), float(w @ w), float(slacks.sum())
    match convention:
        case "C":
            return 0.5 * square + value * total
        case "C_mean":
            return 0.5 * square + value / n * total
        case "lam_mean":
            return value / 2 * square + total / n
        case "lam_mean_full":
            return value * square + total / n
        case "lam_sum":
            return value / 2 * square + total
    raise NotImplementedError(convention)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_five_conventions_state_one_problem(convention, intercept):
    X, y = clouds()
    problem = gl.Problem(X, y, **same_in(convention, 0.3, 24), intercept=intercept)
    assert problem.convention == convention
    assert problem.unit_cost == pytest.approx(0.3, rel=1e-14)
    assert_allclose(problem.cost, 0.3, rtol=1e-14)
    expected = optimum(gl.Problem(X, y, C=0.3, intercept=intercept))
    assert problem.in_convention(optimum(problem), "C") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_values_in_a_convention_are_those_of_its_formula(convention):
    X, y = clouds()
    (value,) = same_in(convention, 0.3, 24).values()
    problem = gl.Problem(X, y, **{convention: value}, intercept="none")
    w = np.array([0.5, -0.2, 0.1])
    slacks = np.maximum(0.0, 1.0 - y * (X @ w))
    plain = 0.5 * w @ w + 0.3 * slacks.sum()
    here = by_formula(convention, value, w, slacks)
    assert problem.primal(w) == pytest.approx(here, rel=1e-13) == pytest.approx(problem.scale * plain, rel=1e-13)
    assert problem.in_convention(here) == pytest.approx(plain, rel=1e-13)
    for other in CONVENTIONS:
        (stated,) = same_in(other, 0.3, 24).values()
        assert problem.in_convention(here, other) == pytest.approx(by_formula(other, stated, w, slacks), rel=1e-13)


def test_an_unknown_convention_is_refused():
    problem = gl.Problem(*clouds())
    with pytest.raises(InvalidInputError) as error:
        problem.in_convention(1.0, "nu")
    assert str(error.value) == (
        "convention must be one of C, C_mean, lam_mean, lam_mean_full, lam_sum; got 'nu'."
    )  # fmt: skip


def test_the_default_is_C_of_one_with_a_free_intercept():
    problem = gl.Problem(*clouds())
    assert (problem.convention, problem.regularization, problem.intercept) == ("C", 1.0, "free")
    assert problem.cost.tolist() == [1.0] * 24
    assert problem.loss.name == "hinge" and problem.is_linear and not problem.is_hard


# --- weights


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_epsilon_insensitive"])
def test_a_weight_of_two_is_the_row_twice_and_of_zero_the_row_removed(convention, loss):
    X, y = clouds(loss=loss)
    weight = np.tile([1.0, 2.0, 0.0, 1.0, 1.0, 3.0], 4)
    regularization = {convention: 0.4}
    repeated = np.repeat(np.arange(24), weight.astype(int))
    for intercept, solver in (("free", "smo"), ("regularized", "sdca"), ("none", "sdca")):
        weighted = gl.Problem(X, y, loss=loss, sample_weight=weight, intercept=intercept, **regularization)
        plain = gl.Problem(X[repeated], y[repeated], loss=loss, intercept=intercept, **regularization)
        assert_allclose(weighted.cost, weight * plain.cost[0], rtol=1e-14)
        assert weighted.unit_cost == pytest.approx(plain.unit_cost, rel=1e-14)
        values = [gl.solve(problem, solver, tol=1e-9).certificate for problem in (weighted, plain)]
        assert all(value.relative_gap <= 1e-9 for value in values)
        assert values[0].primal == pytest.approx(values[1].primal, rel=1e-8)
        assert weighted.in_convention(values[0].primal) == pytest.approx(
            plain.in_convention(values[1].primal), rel=1e-8
        )


def test_a_row_of_weight_zero_does_not_touch_the_hard_margin():
    X = np.array([[-2.0], [-1.0], [1.0], [5.0]])
    problem = gl.Problem(X, [0, 0, 1, 0], C=np.inf, sample_weight=[1, 1, 1, 0])
    assert problem.cost.tolist() == [np.inf, np.inf, np.inf, 0.0]
    assert problem.is_hard
    assert gl.solve(problem).certificate.primal == pytest.approx(0.5)


# --- what is refused


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "1", [1.0]])
def test_a_regularisation_must_be_positive(convention, value):
    assert refusal(*clouds(), **{convention: value}) == f"{convention} must be a positive number; got {value!r}."


@pytest.mark.parametrize("convention", CONVENTIONS[1:])
def test_only_C_may_be_infinite(convention):
    assert refusal(*clouds(), **{convention: np.inf}) == (
        f"{convention} must be finite; got inf (C=inf is the hard margin)."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 1.0, "lam_sum": 2.0}, "exactly one regularisation may be given; got C, lam_sum."),
        (
            {"C_mean": 1.0, "lam_mean": 1.0, "lam_mean_full": 1.0},
            "exactly one regularisation may be given; got C_mean, lam_mean, lam_mean_full.",
        ),
        (
            {"loss": "huber"},
            f"loss must be a Loss or one of {', '.join(sorted(LOSSES))}; got 'huber'.",
        ),
        ({"kernel": "rbf"}, "kernel must be a kernel of gapless.kernels or None for linear; got 'rbf'."),
        ({"intercept": "yes"}, "intercept must be one of free, regularized, none; got 'yes'."),
        ({"intercept": True}, "intercept must be one of free, regularized, none; got True."),
        ({"intercept_scale": 0.0}, "intercept_scale must be a positive number; got 0.0."),
        ({"intercept_scale": np.inf}, "intercept_scale must be a positive number; got inf."),
        ({"intercept_scale": "1"}, "intercept_scale must be a positive number; got '1'."),
        ({"C": np.inf, "loss": "logistic"}, "C=inf with the logistic loss has no solution; give a finite value."),
        ({"sample_weight": [1.0] * 23}, "sample_weight must have one entry for each of the 24 samples; got 23."),
        (
            {"sample_weight": np.arange(24) % 2},
            "sample_weight leaves one class: all samples with a positive weight belong to the same class.",
        ),
    ],
)  # fmt: skip
def test_wrong_options_are_refused_in_words(options, message):
    assert refusal(*clouds(), **options) == message


def test_wrong_data_is_refused_in_words():
    X, y = clouds()
    assert refusal(X[0], y) == "X must have two dimensions (samples, features); got 1."
    assert refusal(X, np.ones(24)) == "y must have exactly two classes for a margin loss; got 1 class: 1.0."
    assert refusal(X, y[:-1]) == "y must have one entry for each of the 24 samples; got 23."
    assert refusal(X, ["a", "b"] * 12, loss="epsilon_insensitive") == (
        "y must hold numbers for a regression loss; got the type <U1."
    )


# --- what it is


def test_string_labels_and_their_order():
    X, y = clouds()
    problem = gl.Problem(X, np.where(y > 0, "yes", "no"))
    assert problem.classes.tolist() == ["no", "yes"]
    assert_array_equal(problem.y, y)
    assert gl.Problem(*clouds(loss="epsilon_insensitive"), loss="epsilon_insensitive").classes is None


def test_the_linear_kernel_is_no_kernel():
    X, y = clouds()
    problem = gl.Problem(X, y, kernel=kernels.Linear())
    assert problem.kernel is None and problem.is_linear


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_problem_cannot_be_changed(storage):
    X, y = clouds()
    before = X.copy()
    problem = gl.Problem(sp.csr_array(X) if storage == "csr" else X, y, sample_weight=np.ones(24))
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.y = -problem.y
    vectors = [problem.y, problem.cost, problem.classes, problem.diagonal, *problem.dual, problem.rows.values]
    if storage == "csr":
        vectors += [problem.rows.indices, problem.rows.indptr, problem.X.indices, problem.X.indptr]
    for vector in vectors if storage == "csr" else [*vectors, problem.X]:
        with pytest.raises(ValueError, match="read-only"):
            vector[...] = 0
    assert X.flags.writeable and y.flags.writeable
    gl.solve(problem, max_iter=5)
    assert_array_equal(X, before)


def test_the_callers_labels_are_not_the_problems():
    X, y = clouds(loss="epsilon_insensitive")
    problem = gl.Problem(X, y, loss="epsilon_insensitive")
    y[0] = 1e9
    assert problem.y[0] != 1e9


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Problem(24 x 3 dense, hinge, linear, C=1, intercept='free')"),
        ({"lam_mean": 0.25, "intercept": "none"}, "Problem(24 x 3 dense, hinge, linear, lam_mean=0.25, intercept='none')"),
        (
            {"C": np.inf, "kernel": kernels.RBF(0.5), "loss": "squared_hinge"},
            "Problem(24 x 3 dense, squared_hinge, RBF(gamma=0.5), C=inf, intercept='free')",
        ),
    ],
)  # fmt: skip
def test_repr(options, text):
    X, y = clouds()
    assert repr(gl.Problem(X, y, **options)) == text
    assert repr(gl.Problem(sp.csr_array(X), y, **options)) == text.replace("dense", "CSR")


# --- products


@settings(max_examples=20)
@given(
    seed=st.integers(0, 1000),
    kernel=st.sampled_from([None, kernels.RBF(0.5), kernels.Polynomial(2) + kernels.Linear(), kernels.Laplacian()]),
    intercept=st.sampled_from(INTERCEPTS),
    storage=st.sampled_from(["dense", "csr", "float32"]),
)
def test_expansions_equal_naive_products(seed, kernel, intercept, storage):
    rng = np.random.default_rng(seed)
    n, d = 9, 3
    X = rng.integers(-4, 5, (n, d)) / 4  # exact in float32
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    stored = {"dense": X, "csr": sp.csr_array(X), "float32": X.astype(np.float32)}[storage]
    problem = gl.Problem(stored, y, kernel=kernel, intercept=intercept, intercept_scale=3.0)
    K = X @ X.T if kernel is None else kernel(X)
    beta = rng.normal(size=n) * (rng.random(n) < 0.7)
    shift = 9.0 if intercept == "regularized" else 0.0
    assert problem.shift == shift
    assert_allclose(problem.diagonal, np.diag(K) + shift, rtol=1e-13, atol=1e-13)
    assert_allclose(problem.expand(beta), K @ beta, rtol=1e-12, atol=1e-12)
    Z = rng.integers(-4, 5, (5, d)) / 4
    across = Z @ X.T if kernel is None else kernel(Z, X)
    assert_allclose(problem.expand(beta, Z), across @ beta, rtol=1e-12, atol=1e-12)
    assert_array_equal(problem.expand(np.zeros(n)), np.zeros(n))
    if kernel is None:
        assert_allclose(problem.weights(beta), X.T @ beta, rtol=1e-13, atol=1e-13)
        assert_allclose(problem.expand_weights(problem.weights(beta)), K @ beta, rtol=1e-12, atol=1e-12)


def test_entry_work_grows_with_the_row_and_with_a_kernel():
    X, y = clouds()
    sparse = sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    assert gl.Problem(X, y).entry_work == 3.0
    assert gl.Problem(sparse, y).entry_work == sparse.nnz / 24
    assert gl.Problem(X, y, kernel=kernels.RBF()).entry_work > 3.0


# --- a map and its kernel


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_feature_map_and_its_kernel_reach_the_same_objective(intercept):
    X, y = clouds(n=30, d=2, seed=3)
    phi = features.Polynomial(degree=2, ordered=True).fit(X)
    options = {"C": 0.7, "intercept": intercept}
    linear = gl.Problem(phi.transform(X), y, **options)
    expected = optimum(linear)
    for kernel in (
        kernels.polynomial(kernels.Linear(), (1, 1, 1)),
        kernels.FeatureMapKernel(phi),
        phi.kernel(),
        1 + kernels.Linear() + kernels.Linear() ** 2,
    ):
        assert optimum(gl.Problem(X, y, kernel=kernel, **options)) == pytest.approx(expected, rel=1e-8)
    if intercept != "free":
        assert gl.solve(linear, "sdca", tol=1e-9).certificate.primal == pytest.approx(expected, rel=1e-8)


def test_the_augmented_column_is_the_regularised_intercept():
    X, y = clouds()
    augmented = np.hstack([X, np.full((24, 1), 2.0)])
    expected = optimum(gl.Problem(augmented, y, C=0.5, intercept="none"))
    problem = gl.Problem(X, y, C=0.5, intercept="regularized", intercept_scale=2.0)
    assert optimum(problem) == pytest.approx(expected, rel=1e-9)
    constant = gl.Problem(X, y, kernel=kernels.Linear() + kernels.Constant(4.0), C=0.5, intercept="none")
    assert optimum(constant) == pytest.approx(expected, rel=1e-9)
