"""Hard margins: the optimum where the data is separable, and a proof, checked here by Python's fractions, where it is not."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.proof.exact_ray import ExactRay
from gapless.proof.separability import find_exact_ray, find_ray
from tests.kernels.reference import gram

INTERCEPTS = ("free", "regularized", "none")
SOLVERS = ("smo", "sdca", "qp", "coordinate_ascent", "projected_gradient")
# A free intercept couples the dual variables, which two of them can move.
COVERED = [
    (name, intercept) for name in SOLVERS for intercept in INTERCEPTS if intercept != "free" or name in ("smo", "qp")
]


def separable(n: int = 40, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 2.5 * y[:, None], y


def overlapping(n: int = 40, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.3 * y[:, None], y


def covering(problem: gl.Problem, solvers: tuple[str, ...] = SOLVERS) -> list[str]:
    return [name for name in solvers if gl.solvers.SOLVERS[name]().unsupported(problem) is None]


def check_ray(ray: np.ndarray, features: np.ndarray, y: np.ndarray, intercept: str, scale: float = 1.0) -> None:
    """Σ|β| = 1 and α = yβ ≥ 0, while Σβφ(x) = 0: for every w some yᵢf(xᵢ) ≤ 0. Carathéodory bounds the samples that are needed."""
    n, d = features.shape
    assert ray.shape == (n,)
    assert sum(abs(ray)) == pytest.approx(1.0, abs=1e-12)
    assert (y * ray >= 0).all()
    reach = np.abs(features).max()
    assert np.linalg.norm(features.T @ ray) <= 1e-9 * reach * np.sqrt(d)
    if intercept != "none":
        assert abs(scale * ray.sum()) <= 1e-9
    assert np.count_nonzero(ray) <= d + 2


def fractions(values: Any) -> list[Fraction]:
    return [Fraction(float(value)) for value in np.ravel(values)]


def check_exactly(ray: ExactRay, features: np.ndarray, problem: gl.Problem, epsilon: float = 0.0) -> None:
    """Σβφ(x) = 0 (and Σβ = 0) to the last digit, the signs right, and pᵀβ > ε‖β‖₁, for the numbers as given."""
    assert len(ray.samples) == len(set(ray.samples.tolist())) == len(ray.numbers)
    for column in np.asarray(features, dtype=np.float64)[ray.samples].T:
        assert sum(x * number for x, number in zip(fractions(column), ray.numbers, strict=True)) == 0
    if problem.intercept != "none":
        assert sum(ray.numbers) == 0
    targets = fractions(problem.y[ray.samples])
    gain = sum(y * number for y, number in zip(targets, ray.numbers, strict=True))
    assert gain > Fraction(epsilon) * sum(map(abs, ray.numbers))
    assert (problem.cost[ray.samples] == np.inf).all()
    if problem.loss.task == "classification":
        assert all(y * number >= 0 for y, number in zip(targets, ray.numbers, strict=True))
    rounded = ray.rounded(problem.n_samples)
    assert np.abs(rounded).sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(find_ray(problem), rounded)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_largest_margin_is_clarabels(intercept: str):
    X, y = separable()
    n, d = X.shape
    P = np.diag([1.0] * d + [1.0 if intercept == "regularized" else 0.0])
    G = -y[:, None] * np.hstack([X, np.ones((n, 1)) if intercept != "none" else np.zeros((n, 1))])
    task = qpsolvers.Problem(
        sp.csc_matrix(P),
        np.zeros(d + 1),
        sp.csc_matrix(G),
        -np.ones(n),
        lb=np.full(d + 1, -1e3),
        ub=np.full(d + 1, 1e3),
    )
    x = qpsolvers.solve_problem(task, solver="clarabel", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10).x
    problem = gl.Problem(X, y, C=np.inf, intercept=intercept)
    names = covering(problem, ("smo", "sdca", "qp", "coordinate_ascent"))
    assert len(names) == (2 if intercept == "free" else 4)
    for name in names:
        result = gl.solve(problem, name, tol=1e-6).certified
        assert result.status is gl.Status.CONVERGED and result.ray is None
        assert result.certificate.primal == pytest.approx(0.5 * x @ P @ x, rel=1e-5)
        assert (y * (X @ result.w + result.b)).min() == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(result.w, x[:d], atol=1e-3 * np.abs(x).max())


@pytest.mark.parametrize(("name", "intercept"), COVERED)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_no_margin_is_proven(name: str, intercept: str, storage: Any):
    X, y = overlapping()
    problem = gl.Problem(storage(X), y, C=np.inf, intercept=intercept)
    result = gl.solve(problem, name)
    assert result.status is gl.Status.NOT_SEPARABLE
    assert str(result.status).startswith(
        "The data is not separable, so that no hard margin exists: the dual ray in result.ray proves it"
    )
    assert result.certificate.primal == result.certificate.dual == result.certificate.gap == np.inf
    check_ray(result.ray, X, y, intercept)


@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge"])
def test_other_margin_losses_have_the_same_hard_limit(loss: str):
    X, y = overlapping()
    result = gl.solve(gl.Problem(X, y, loss=loss, C=np.inf))
    assert result.status is gl.Status.NOT_SEPARABLE
    check_ray(result.ray, X, y, "free")


@pytest.mark.parametrize(("name", "intercept"), [(name, intercept) for name, intercept in COVERED if name != "sdca"])
@pytest.mark.parametrize(
    "kernel", [gl.kernels.RBF(gamma=0.5), gl.kernels.Polynomial(degree=2)], ids=["rbf", "polynomial"]
)
def test_no_margin_under_a_kernel_is_proven(name: str, intercept: str, kernel: gl.kernels.Kernel):
    X, y = overlapping(n=30, d=2)
    if isinstance(kernel, gl.kernels.RBF):  # which separates all that differs: so let one point have both labels
        X, y = np.vstack([X, X[3]]), np.append(y, -y[3])
    problem = gl.Problem(X, y, kernel=kernel, C=np.inf, intercept=intercept)
    result = gl.solve(problem, name)
    assert result.status is gl.Status.NOT_SEPARABLE
    ray, K = result.ray, gram(kernel, X)
    assert (y * ray >= 0).all() and np.abs(ray).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.sqrt(max(0.0, ray @ K @ ray)) <= 2e-8 * np.sqrt(K.diagonal().max())  # a square root halves the digits
    if intercept != "none":
        assert abs(ray.sum()) <= 1e-9
    if isinstance(kernel, gl.kernels.RBF):
        assert np.flatnonzero(np.abs(ray) > 1e-9).tolist() == [3, 30]
    else:  # six monomials
        monomials = np.column_stack([np.ones(30), X, X**2, X[:, 0] * X[:, 1]])
        check_ray(ray, monomials, y, intercept)


def test_rows_of_zero_that_no_hyperplane_through_the_origin_separates():
    X, y = separable(n=10)
    X[4] = 0.0
    for name in SOLVERS:
        result = gl.solve(gl.Problem(X, y, C=np.inf, intercept="none"), name)
        assert result.status is gl.Status.NOT_SEPARABLE
        assert result.ray.tolist() == [0, 0, 0, 0, y[4], 0, 0, 0, 0, 0]


def test_samples_of_weight_zero_do_not_count():
    X, y = separable(n=20)
    X, y, weight = np.vstack([X, X[:1]]), np.append(y, -y[0]), np.append(np.ones(20), 0.0)
    assert gl.solve(gl.Problem(X, y, C=np.inf)).status is gl.Status.NOT_SEPARABLE
    result = gl.solve(gl.Problem(X, y, C=np.inf, sample_weight=weight))
    assert result.status is gl.Status.CONVERGED
    without = gl.solve(gl.Problem(X[:20], y[:20], C=np.inf))
    assert result.certificate.primal == pytest.approx(without.certificate.primal, rel=1e-5)


def tube_ray_is_a_proof(ray: np.ndarray, X: np.ndarray, y: np.ndarray, epsilon: float, intercept: str) -> None:
    """Σβφ(x) = 0 while pᵀβ > ε‖β‖₁: no f with |y − f| ≤ ε exists, since pᵀβ = Σβ(y − f) ≤ ε‖β‖₁ for every one."""
    assert np.linalg.norm(X.T @ ray) <= 1e-9 * np.abs(X).max() * np.sqrt(X.shape[1])
    if intercept != "none":
        assert abs(ray.sum()) <= 1e-9
    assert y @ ray - epsilon * np.abs(ray).sum() > 1e-6
    assert np.count_nonzero(ray) <= X.shape[1] + 2


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_hard_tube(loss: str, intercept: str):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    offset = 0.0 if intercept == "none" else 0.5
    y = X @ [1.0, -2.0] + offset + rng.uniform(-0.1, 0.1, size=30)
    make = gl.losses.LOSSES[loss]
    narrow = gl.Problem(X, y, loss=make(0.01), C=np.inf, intercept=intercept)
    wide = gl.Problem(X, y, loss=make(0.2), C=np.inf, intercept=intercept)
    names = covering(narrow)
    assert len(names) == (2 if intercept == "free" else 5)
    for name in names:
        result = gl.solve(narrow, name).certified
        assert result.status is gl.Status.NOT_SEPARABLE
        tube_ray_is_a_proof(result.ray, X, y, 0.01, intercept)
    results = [gl.solve(wide, solver).certified for solver in [*names, gl.solvers.QP(form="primal")]]
    for result in results:  # half the squared norm of a w outside the tube would be no bound
        assert result.status is gl.Status.CONVERGED
        assert np.abs(y - X @ result.w - result.b).max() <= 0.2 + 1e-11
        assert -1e-10 <= result.certificate.relative_gap <= 1e-6
        assert result.certificate.primal == pytest.approx(results[0].certificate.primal, rel=2e-6)


@pytest.mark.parametrize("seed", range(8))
def test_the_verdict_is_right_on_random_data(seed: int):
    """A linear program of our own: is there (w, b) with y(Xw + b) ≥ 1?"""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 14)), 3
    X, y = rng.normal(size=(n, d)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    rows = -y[:, None] * np.hstack([X, np.ones((n, 1))])
    feasible = linprog(np.zeros(d + 1), A_ub=rows, b_ub=-np.ones(n), bounds=(None, None)).status == 0
    problem = gl.Problem(X, y, C=np.inf)
    result = gl.solve(problem).certified
    assert (result.status is gl.Status.CONVERGED) == feasible
    assert (find_ray(problem) is None) == feasible
    if not feasible:
        check_ray(result.ray, X, y, "free")


def test_the_logistic_loss_has_no_hard_limit():
    X, y = separable()
    with pytest.raises(InvalidInputError) as caught:
        gl.Problem(X, y, loss="logistic", C=np.inf)
    assert str(caught.value) == "C=inf with the logistic loss has no solution; give a finite value."


@pytest.mark.parametrize("name", ["subgradient", "sgd", "pegasos"])
def test_sub_gradients_refuse_a_hard_margin(name: str):
    X, y = separable()
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y, C=np.inf, intercept="none"), name)
    assert str(caught.value) == (
        f"{name} follows sub-gradients of the loss, which is infinite for C=inf; use solver='smo', 'sdca' or 'qp', or a finite C."
    )


def test_the_kernel_matrix_of_the_test_is_refused_when_it_does_not_fit(monkeypatch: pytest.MonkeyPatch):
    X, y = overlapping()
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 30_000)
    with pytest.raises(
        gl.errors.TooLargeError,
        match=r"^the test for separability factors the whole kernel matrix: 40 x 40 in float64, which needs ",
    ):
        find_ray(gl.Problem(X, y, kernel=gl.kernels.Polynomial(), C=np.inf))


# --- exact arithmetic


def test_separable_data_far_from_the_origin_is_not_called_otherwise():
    """One feature around 1e6 with a margin of 2e-8: within 1e-9 of its size the hulls met."""
    rng = np.random.default_rng(0)
    sides = 1e-8 + np.append(0.0, np.abs(rng.normal(size=9)))
    X, y = 1e6 + np.concatenate([-sides, sides])[:, None], np.repeat([0, 1], 10)
    for storage in (np.asarray, sp.csr_array):
        problem = gl.Problem(storage(X), y, C=np.inf)
        assert find_exact_ray(problem) is None
        for name in ("smo", "qp"):
            assert gl.solve(problem, name, max_iter=1e4).status is not gl.Status.NOT_SEPARABLE
    X[[0, 10]] = X[[10, 0]]  # now they overlap, by as little
    for storage in (np.asarray, sp.csr_array):
        problem = gl.Problem(storage(X), y, C=np.inf)
        check_exactly(find_exact_ray(problem), X, problem)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_close_points_are_not_the_same_point(intercept: str):
    """An RBF kernel separates all that differs; points 1e-9 apart were taken for one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    X, y = np.vstack([X, X + 1e-9]), np.repeat([0, 1], 10)
    problem = gl.Problem(X, y, kernel=gl.kernels.RBF(gamma=0.5), C=np.inf, intercept=intercept)
    assert find_ray(problem) is None
    assert gl.solve(problem, "smo", max_iter=1e4).status is not gl.Status.NOT_SEPARABLE


KERNELS = [
    None,
    gl.kernels.RBF(gamma=0.5),
    gl.kernels.Laplacian(),
    gl.kernels.Polynomial(degree=3),
    gl.kernels.Sigmoid(),
    gl.kernels.FunctionKernel(lambda x, z: np.exp(x @ z)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_array], ids=["dense", "float32", "csr"])
def test_a_point_with_both_labels_is_a_proof_under_every_kernel(kernel: Any, intercept: str, storage: Any):
    X, y = separable(n=20)
    X, y = np.vstack([X, X[3]]), np.append(y, -y[3])
    result = gl.solve(gl.Problem(storage(X), y, kernel=kernel, C=np.inf, intercept=intercept))
    assert result.status is gl.Status.NOT_SEPARABLE
    assert result.ray[[3, 20]].tolist() == [0.5 * y[3], -0.5 * y[3]] and np.count_nonzero(result.ray) == 2
    for stored in (result.w, result.beta, result.expansion, result.offsets):
        assert stored is None or np.isfinite(stored).all()


def test_an_estimators_table_of_kernel_entries_knows_equal_samples():
    X, y = separable(n=20)
    X, y = np.vstack([X, X[3]]), np.append(y, -y[3])
    with pytest.raises(InvalidInputError, match=r"^C=inf asks for a hard margin\. The data is not separable"):
        gl.SVC(C=np.inf, kernel="rbf").fit(X, y)


def test_equal_samples_of_a_tube_further_apart_than_twice_epsilon():
    X = np.array([[0.0], [1.0], [1.0], [1.0]])
    for kernel in (None, gl.kernels.RBF()):
        for epsilon, proven in ((0.1, True), (0.25, False)):
            loss = gl.losses.EpsilonInsensitive(epsilon)
            problem = gl.Problem(X, [0.0, 0.5, 0.75, 1.0], loss=loss, kernel=kernel, C=np.inf)
            ray = find_ray(problem)
            assert (ray is not None) == proven
            if proven:
                assert ray.tolist() == [0.0, -0.5, 0.0, 0.5]
    for epsilon in (0.1, float(np.nextafter(0.1, 0)), float(np.nextafter(0.1, 1))):  # 0.3 − 0.1, without its rounding
        loss = gl.losses.EpsilonInsensitive(epsilon)
        proven = Fraction(0.3) - Fraction(0.1) > 2 * Fraction(epsilon)
        assert (find_ray(gl.Problem([[1.0], [1.0]], [0.1, 0.3], loss=loss, C=np.inf)) is not None) == proven


def test_equal_samples_among_many_are_found_in_a_moment():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 20)), np.arange(100_000) % 2
    X[70_001] = X[30_000]
    result = gl.solve(gl.Problem(X, y, C=np.inf))
    assert result.status is gl.Status.NOT_SEPARABLE and result.iterations == 0
    assert np.flatnonzero(result.ray).tolist() == [30_000, 70_001]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(12, 1), (40, 3), (150, 30)])
def test_random_data_without_a_margin_is_proven_exactly(intercept: str, dtype: Any, n: int, d: int):
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = np.random.default_rng(0).normal(size=(n, d))
    X = (X * 10.0 ** np.random.default_rng(1).uniform(-6, 6, size=d) + 1e3).astype(dtype)
    problem = gl.Problem(X, y, C=np.inf, intercept=intercept, intercept_scale=0.1)
    ray = find_exact_ray(problem)
    check_exactly(ray, X, problem)
    assert len(ray.samples) <= d + 2


def test_the_tolerance_of_the_linear_program_does_not_decide():
    """The hulls overlap by 1e-12 of their size, and those of the first program, which is right to 1e-7, do not."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1e-12], [0.25, -1.0], [0.75, -1.0], [0.4, -1e-12]])
    problem = gl.Problem(X, [0, 0, 0, 1, 1, 1], C=np.inf)
    assert find_exact_ray(problem) is None
    X[5, 1] = 2.0**-42  # some 2e-13, below the line to 1e-12
    problem = gl.Problem(X, [0, 0, 0, 1, 1, 1], C=np.inf)
    check_exactly(find_exact_ray(problem), X, problem)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(
    "kernel",
    [
        gl.kernels.Polynomial(degree=2),
        (gl.kernels.Linear() + 1.0) ** 2,
        gl.kernels.polynomial(0.5 * gl.kernels.Linear(), (1.0, 2.0, 3.0)),
        gl.kernels.FeatureMapKernel(lambda X: np.column_stack([X, X**2, X[:, 0] * X[:, 1], np.ones(len(X))])),
        gl.kernels.FunctionKernel(lambda x, z: (x @ z + 1.0) ** 2),
        None,
    ],
    ids=["polynomial", "power", "series", "map", "function", "precomputed"],
)
def test_a_kernel_of_degree_two_is_proven_by_its_monomials(kernel: gl.kernels.Kernel | None, intercept: str):
    X, y = overlapping(n=30, d=2)
    X = np.round(4 * X)  # so that what a function or a map rounds, or a Gram matrix, is exact
    samples = X
    if kernel is None:
        samples, kernel = np.arange(30)[:, None], gl.kernels.Precomputed((X @ X.T + 1.0) ** 2)
    problem = gl.Problem(samples, y, kernel=kernel, C=np.inf, intercept=intercept)
    monomials = np.column_stack([np.ones(30), X, X**2, X[:, 0] * X[:, 1]])
    check_exactly(find_exact_ray(problem), monomials, problem)


def test_a_polynomial_of_features_of_many_scales_is_proven():
    """The kernel matrix in float64 has lost the small feature, and the linear program with it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)) * [1e8, 1e-4], np.arange(20) % 2
    problem = gl.Problem(X, y, kernel=gl.kernels.Linear() + gl.kernels.Linear(), C=np.inf)
    check_exactly(find_exact_ray(problem), X, problem)


def test_a_gram_matrix_that_is_not_quite_singular_proves_nothing():
    """Rounded once, the third row is no longer the mean of the first two."""
    factor = np.array([[1.0, 0.0], [0.1, 1.0], [0.55, 0.5]])
    K = factor @ factor.T
    K = 0.5 * (K + K.T) + np.diag([0.0, 0.0, 1e-16])
    problem = gl.Problem(np.arange(3)[:, None], [0, 0, 1], kernel=gl.kernels.Precomputed(K), C=np.inf)
    assert find_ray(problem) is None


def test_an_indefinite_gram_matrix_gives_no_warning():
    """The square root of its negative diagonal did."""
    K = np.array([[1.0, 2.0, 0.0], [2.0, -1.0, 0.5], [0.0, 0.5, 1.0]])
    for intercept in INTERCEPTS:
        kernel = gl.kernels.Precomputed(K)
        problem = gl.Problem(np.arange(3)[:, None], [0, 1, 0], kernel=kernel, C=np.inf, intercept=intercept)
        assert gl.solve(problem, "smo", max_iter=1e3).status is not gl.Status.NOT_SEPARABLE


def test_exact_arithmetic_ends_with_the_clock():
    X, y = overlapping(n=900, d=300)
    began = time.perf_counter()
    assert find_ray(gl.Problem(X, y, C=np.inf), seconds=0.2) is None
    assert time.perf_counter() - began < 30.0


ENTRIES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3, width=32),
    st.floats(-1e3, 1e3),
    st.sampled_from([1e-300, 1e6, 1e6 + 1e-9, 1.0 + 2.0**-52]),
)


@st.composite
def hard_problems(draw: st.DrawFn) -> gl.Problem:
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(ENTRIES, min_size=n * d, max_size=n * d))).reshape(n, d)
    options: dict[str, Any] = {"C": np.inf, "intercept": draw(st.sampled_from(INTERCEPTS))}
    if draw(st.booleans()):
        y = [0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
        return gl.Problem(X, y, loss=draw(st.sampled_from(["hinge", "squared_hinge"])), **options)
    loss = gl.losses.EpsilonInsensitive(draw(st.sampled_from([0.0, 0.1, 1.0])))
    return gl.Problem(X, draw(st.lists(ENTRIES, min_size=n, max_size=n)), loss=loss, **options)


@given(hard_problems())
def test_what_is_claimed_is_proven(problem: gl.Problem):
    ray = find_exact_ray(problem)
    if ray is not None:
        check_exactly(ray, np.asarray(problem.X), problem, getattr(problem.loss, "epsilon", 0.0))
