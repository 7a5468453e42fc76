"""Hard margins: the optimum where the data is separable, and a proof, checked here by plain NumPy, where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sp

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.proof.separability import find_ray
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
        result = gl.solve(problem, name, tol=1e-6)
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
        result = gl.solve(narrow, name)
        assert result.status is gl.Status.NOT_SEPARABLE
        tube_ray_is_a_proof(result.ray, X, y, 0.01, intercept)
    results = [gl.solve(wide, solver) for solver in [*names, gl.solvers.QP(form="primal")]]
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
    result = gl.solve(problem)
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
        find_ray(gl.Problem(X, y, kernel=gl.kernels.RBF(), C=np.inf))
