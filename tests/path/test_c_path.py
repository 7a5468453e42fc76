"""Paths against plain NumPy: what a path claims between its models holds for P and D from their definitions, and for optima found anew."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gapless as gl
from gapless import kernels
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.crammer_singer import CrammerSingerProblem
from tests.reference import Reference

PARAMETERS = {"smoothed_hinge": 0.5, "epsilon_insensitive": 0.1, "squared_epsilon_insensitive": 0.1}
LOSSES = ["hinge", "squared_hinge", "smoothed_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive"]
KERNELS = {"linear": None, "rbf": kernels.RBF(gamma=0.4)}
INTERCEPTS = ["free", "regularized", "none"]
SCALE = 1.5  # s of a regularised intercept


def data(loss: str, seed: int = 0, n: int = 24) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    f = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    if "epsilon" in loss:
        return X, f
    y = np.where(f > 0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X, y


def gram(X: np.ndarray, kernel: kernels.Kernel | None) -> np.ndarray:
    """K from its formula."""
    if kernel is None:
        return X @ X.T
    return np.exp(-0.4 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))


def is_feasible(reference: Reference, beta: np.ndarray) -> bool:
    """Whether β is in its box, and of sum zero where the intercept is free, to rounding."""
    lower, upper = reference.box()
    slack = 1e-12 * np.abs(beta).sum()
    inside = bool(((beta >= lower - slack) & (beta <= upper + slack)).all())
    return inside and (reference.intercept != "free" or abs(beta.sum()) <= slack)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_path_claims_holds_at_every_C(loss, kernel, intercept, weighted):
    X, y = data(loss)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, size=len(y)).astype(float) if weighted else np.ones(len(y))
    weight[:2] = 1.0
    options = {"loss": loss, "kernel": KERNELS[kernel], "intercept": intercept, "intercept_scale": SCALE}
    options["sample_weight"] = weight if weighted else None
    path = gl.C_path(gl.Problem(X, y, **options), 1e-2, 1e2, tol=2e-2)
    assert path.proven and path.worst_gap <= 2e-2
    K = gram(X, KERNELS[kernel])
    for C in np.exp(rng.uniform(math.log(1e-2), math.log(1e2), size=30)):
        model, gap = path.model_at(C), path.gap_at(C)
        parameter = PARAMETERS.get(loss, 0.0)
        plain = Reference(None if KERNELS[kernel] else X, K, y, C * weight, loss, parameter, intercept, SCALE)
        P, D = plain.primal(model.w, model.expansion, model.b), plain.dual(model.beta)
        assert is_feasible(plain, model.beta)
        best = gl.solve(gl.Problem(X, y, C=C, **options), tol=1e-9).certificate
        assert gap <= path.worst_gap and model.relative_gap == gap and path.bounds_at(C) == (model.primal, model.dual)
        assert model.primal * (1 + 1e-12) >= P and model.dual * (1 - 1e-12) <= D
        assert best.dual <= P * (1 + 1e-12) and best.primal * (1 + 1e-12) >= D
        assert P - best.dual <= (gap + 2e-9) * P  # the model is as good as the path claims
        assert model.dual <= best.primal and best.dual <= model.primal


@pytest.mark.parametrize("kernel", KERNELS)
def test_below_the_first_model_its_multiples_are_the_answer(kernel):
    X, y = data("hinge")
    path = gl.C_path(gl.Problem(X, y, kernel=KERNELS[kernel]), 1e-3, 1.0, tol=5e-2)
    C = 0.5 * (1e-3 + path.Cs[0])
    model = path.model_at(C)
    assert model.left is None and model.right is path.results[0]
    point = path.results[0].certificate.point
    assert model.share == pytest.approx(C / path.Cs[0])
    assert_allclose(model.beta, C / path.Cs[0] * point.beta, rtol=1e-12)


def test_the_path_of_two_samples_by_hand():
    """x = ±1 without intercept: w* = min(2C, 1), P*(C) = 2C − 2C² up to C = ½ and ½ above. All bounds are those of the mixtures, exactly."""
    path = gl.C_path(gl.Problem([[-1.0], [1.0]], [-1, 1], intercept="none"), 0.125, 8.0, tol=1e-3)
    for C in (0.125, 0.2, 0.25, 0.4, 0.5, 1.0, 3.0, 8.0):
        exact = 2 * C - 2 * C * C if C <= 0.5 else 0.5
        P, D = path.bounds_at(C)
        assert D <= exact <= P and P - D <= 1e-3 * P
        assert path.model_at(C).w[0] == pytest.approx(min(2 * C, 1.0), abs=0.05)
    assert len(path) <= 4


@pytest.mark.parametrize("seed", range(5))
def test_the_bounds_hold_in_exact_fractions(seed):
    """P and D of the exact mixture of the models, without any rounding, lie within the bounds of the path."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=8), np.array([-1.0, 1.0] * 4)
    path = gl.C_path(gl.Problem(x[:, None], y, intercept="none"), 0.0625, 16.0, tol=0.125)
    samples = [(Fraction(value), int(sign)) for value, sign in zip(x.tolist(), y, strict=True)]
    for C in [0.0625, *np.exp(rng.uniform(math.log(0.0625), math.log(16.0), size=20)).tolist(), *path.Cs.tolist()]:
        place = int(np.searchsorted(path.Cs, C))
        points = [result.certificate.point for result in path.results]
        left, right = (points[place - 1] if place else None), points[place]
        low, high = Fraction(path.Cs[place - 1]) if place else Fraction(0), Fraction(path.Cs[place])
        share = (Fraction(C) - low) / (high - low)

        def mixed(one, two, share=share):
            return (1 - share) * (0 if one is None else Fraction(one)) + share * Fraction(two)

        w = mixed(None if left is None else left.w[0], right.w[0])
        betas = [mixed(None if left is None else left.beta[i], right.beta[i]) for i in range(8)]
        P = w * w / 2 + Fraction(C) * sum(max(Fraction(0), 1 - t * w * v) for v, t in samples)
        D = sum(t * each for each, (_, t) in zip(betas, samples, strict=True))
        D -= sum(each * v for each, (v, _) in zip(betas, samples, strict=True)) ** 2 / 2
        assert all(0 <= t * each <= Fraction(C) for each, (_, t) in zip(betas, samples, strict=True))
        above, below = path.segments[place].exact_bounds(C)
        assert above >= P and below <= D
        assert (above - below) / above <= Fraction(path.gap_at(C)) <= Fraction(path.worst_gap)


def test_a_path_without_a_kink_takes_one_model():
    """Up to C = ½ the path of the two samples is linear in C, so that multiples of the last model are optimal: κ is zero."""
    path = gl.C_path(gl.Problem([[-1.0], [1.0]], [-1, 1], intercept="none"), 1e-6, 0.5, tol=1e-6)
    assert len(path) <= 3
    assert path.model_at(0.25).w[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_models_are_certified_results_in_order(kernel):
    X, y = data("hinge", n=60)
    path = gl.C_path(gl.Problem(X, y, kernel=KERNELS[kernel], C=123.0))
    assert len(path) == len(path.results) == len(path.Cs) <= path.solves
    assert (np.diff(path.Cs) > 0).all() and path.Cs[0] >= 1e-3 and path.Cs[-1] == 1e3
    for C, result in zip(path.Cs, path.results, strict=True):
        assert result.problem.regularization == C and result.problem.convention == "C"
        assert result.certificate.relative_gap <= 1e-4
        assert path.gap_at(C) <= 1e-4 * (1 + 1e-6) + 1e-12
        assert_array_equal(path.model_at(C).beta, result.certificate.point.beta)
        again = gl.certify(gl.Problem(X, y, kernel=KERNELS[kernel], C=C), result)
        assert again.primal == pytest.approx(result.certificate.primal, rel=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_worst_gap_is_that_of_a_fine_grid(kernel):
    X, y = data("hinge", seed=3)
    path = gl.C_path(gl.Problem(X, y, kernel=KERNELS[kernel]), 1e-2, 1e2)
    gaps = [path.gap_at(C) for C in np.clip(np.geomspace(1e-2, 1e2, 3000), 1e-2, 1e2)]
    assert 0.98 * path.worst_gap <= max(gaps) <= path.worst_gap <= 1e-2


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.sampled_from(INTERCEPTS), st.sampled_from(sorted(KERNELS)))
def test_a_larger_tol_takes_no_more_models(seed, loss, intercept, kernel):
    X, y = data(loss, seed)
    problem = gl.Problem(X, y, loss=loss, intercept=intercept, kernel=KERNELS[kernel])
    lengths = [len(gl.C_path(problem, tol=tol)) for tol in (1e-2, 4e-2, 16e-2)]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_number_of_models_grows_like_the_root_of_the_precision(kernel):
    """The bend between two models is about quadratic in their distance; a search that got stuck in short steps would take thousands of models."""
    X, y = data("hinge", n=60)
    few, many = (gl.C_path(gl.Problem(X, y, kernel=KERNELS[kernel]), tol=tol) for tol in (1e-2, 1e-4))
    assert few.proven and many.proven and len(few) < len(many) <= 15 * len(few)
    assert many.solves <= 8 * len(many)


def test_sparse_rows_give_the_same_path():
    X, y = data("hinge")
    dense, sparse = (gl.C_path(gl.Problem(form, y), 0.1, 10.0) for form in (X, sp.csr_array(X)))
    assert_allclose(dense.Cs, sparse.Cs, rtol=1e-6)


def test_c_mean_is_c_over_n():
    X, y = data("hinge")
    one = gl.C_path(gl.Problem(X, y, C=1.0), 0.1, 10.0)
    other = gl.C_path(gl.Problem(X, y, C_mean=1.0), 0.1 * len(y), 10.0 * len(y))
    assert_allclose(len(y) * one.Cs, other.Cs, rtol=1e-6)


def test_one_C_takes_one_model():
    X, y = data("hinge")
    path = gl.C_path(gl.Problem(X, y), 2.0, 2.0)
    assert len(path) == 1 and path.Cs.tolist() == [2.0] and path.worst_gap <= 1e-4
    assert repr(path).startswith("CPath(1 model guarantees a relative gap of 0.01 for every C from 2 to 2")


def test_predictions_at_any_C():
    X, y = data("hinge")
    labels = np.where(y > 0, "yes", "no")
    path = gl.C_path(gl.Problem(X, labels, kernel=KERNELS["rbf"]))
    assert set(path.model_at(50.0).predict(X)) <= {"no", "yes"}
    X, y = data("epsilon_insensitive")
    model = gl.C_path(gl.Problem(X, y, loss="epsilon_insensitive")).model_at(1.0)
    assert_allclose(model.predict(X), X @ model.w + model.b)


def test_what_cannot_be_reached_is_said():
    X, y = data("hinge")
    path = gl.C_path(gl.Problem(X * 1e9, y), 1e-3, 1e3, tol=1e-14)
    assert not path.proven and path.worst_gap > 1e-14
    assert f"a relative gap of {path.worst_gap:.3g} for" in repr(path) and "tol=1e-14 was not reached" in repr(path)


def test_an_optimum_of_zero():
    path = gl.C_path(gl.Problem([[0.0], [1.0], [2.0]], [1.0, 1.0, 1.0], loss="epsilon_insensitive"))
    assert path.bounds_at(1.0) == (0.0, 0.0) and len(path) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": math.inf}, "A hard margin is the limit C = inf, and has no finite C"),
        ({"lam_mean": 0.1}, "This problem is stated by lam_mean, whose λ is in place of C"),
        ({"kernel": kernels.Sigmoid(0.1)}, "C_path needs a positive semi-definite kernel"),
    ],
)
def test_a_problem_without_a_path_is_refused(options, message):
    X, y = data("hinge")
    with pytest.raises(UnsupportedError, match=message):
        gl.C_path(gl.Problem(X, y, **options))


def test_other_kinds_of_problems_are_refused():
    X, y = data("hinge")
    with pytest.raises(UnsupportedError, match="A ν-form has no C: ν takes its place"):
        gl.C_path(gl.nu.nu_classification(X, y, nu=0.3))
    with pytest.raises(UnsupportedError, match="one decision value for each sample"):
        gl.C_path(CrammerSingerProblem(X, np.arange(len(y)) % 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C_min": 0.0}, "C_min must be a positive number; got 0.0"),
        ({"C_max": math.inf}, "C_max must be a positive number; got inf"),
        ({"C_min": 2.0, "C_max": 1.0}, "C_min must be at most C_max; got C_min=2 and C_max=1"),
        ({"tol": 0.0}, "tol must be between 0 and 1; got 0.0"),
        ({"tol": "small"}, "tol must be between 0 and 1; got 'small'"),
    ],
)
def test_parameters_are_checked(given, message):
    X, y = data("hinge")
    with pytest.raises(InvalidInputError, match=message):
        gl.C_path(gl.Problem(X, y), **given)


def test_a_C_outside_of_the_interval_is_refused():
    X, y = data("hinge")
    path = gl.C_path(gl.Problem(X, y), 0.1, 10.0)
    for C in (0.05, 20.0, math.nan, "1"):
        with pytest.raises(InvalidInputError, match=r"C must be a number from 0.1 to 10, the interval of this path"):
            path.gap_at(C)
