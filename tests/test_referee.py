"""Independent referees: Clarabel on formulations written here, and scikit-learn's LIBSVM, LIBLINEAR and L-BFGS."""

from __future__ import annotations

import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import gapless as gl
from tests.reference import loss_value

INTERCEPTS = ("free", "regularized", "none")
EPSILON = 0.2


def classes(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n, :8]), np.where(y[:n] == 1, 1.0, -1.0)


def targets(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X[:n]), y[:n] / 100 - 1.5


def data_of(loss: str) -> tuple[np.ndarray, np.ndarray]:
    return targets() if "insensitive" in loss else classes()


def problem_of(loss: str, intercept: str, C: float = 0.5, **options: object) -> gl.Problem:
    kind = gl.losses.LOSSES[loss]
    X, y = data_of(loss)
    return gl.Problem(
        X, y, loss=kind(EPSILON) if "insensitive" in loss else kind(), C=C, intercept=intercept, **options
    )


def clarabel(P: np.ndarray, q: np.ndarray, **constraints: object) -> tuple[np.ndarray, float]:
    """(x, objective) of min ½xᵀPx + qᵀx."""
    named = {k: sp.csc_matrix(v) if k in "GA" and v is not None else v for k, v in constraints.items()}
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    solution = qpsolvers.solve_problem(qpsolvers.Problem(sp.csc_matrix(P), q, **named), solver="clarabel", **tight)
    assert solution.found
    return solution.x, float(0.5 * solution.x @ P @ solution.x + q @ solution.x)


def primal_by_clarabel(loss: str, intercept: str, C: float) -> tuple[np.ndarray, float]:
    """((w, b), P): variables w, b and one slack a sample (two in a regression), with the constraints as the textbook has them."""
    X, y = data_of(loss)
    n, d = X.shape
    rows = np.hstack([X, np.ones((n, 1))])
    if "insensitive" in loss:  # y − f ≤ ε + ξ and f − y ≤ ε + ξ*
        margins, offsets = np.vstack([-rows, rows]), np.concatenate([EPSILON - y, EPSILON + y])
    else:  # y f ≥ 1 − ξ
        margins, offsets = -y[:, None] * rows, -np.ones(n)
    m = len(margins)
    G = np.hstack([margins, -np.eye(m)])
    b_penalty = 1.0 if intercept == "regularized" else 0.0
    slack = 2 * C if loss.startswith("squared") else 0.0
    P = np.diag(np.concatenate([np.ones(d), [b_penalty], np.full(m, slack)]))
    q = np.concatenate([np.zeros(d + 1), np.full(m, 0.0 if slack else C)])
    b_bound = 0.0 if intercept == "none" else np.inf
    lower = np.concatenate([np.full(d, -np.inf), [-b_bound], np.zeros(m)])
    upper = np.concatenate([np.full(d, np.inf), [b_bound], np.full(m, np.inf)])
    x, value = clarabel(P, q, G=G, h=offsets, lb=lower, ub=upper)
    return x[: d + 1], value


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_clarabel_on_the_primal_with_slacks(loss: str, intercept: str):
    (*w, b), value = primal_by_clarabel(loss, intercept, C=0.5)
    problem = problem_of(loss, intercept)
    for solver in ("smo", "sdca") if intercept != "free" else ("smo",):
        result = gl.solve(problem, solver, tol=1e-9)
        assert result.status is gl.Status.CONVERGED
        assert result.certificate.primal == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(result.w, w, atol=1e-3 * np.abs(w).max())
        assert result.b == pytest.approx(b, abs=1e-3)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_clarabel_on_the_dual_box_of_a_kernel(loss: str, intercept: str):
    C, (X, y) = 2.0, data_of(loss)
    distance = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    K = np.exp(-0.1 * distance) + (1.0 if intercept == "regularized" else 0.0)
    Q = y[:, None] * K * y + (np.eye(len(y)) / (2 * C) if loss == "squared_hinge" else 0.0)
    equality = {"A": y[None, :], "b": np.zeros(1)} if intercept == "free" else {}
    upper = np.full(len(y), C if loss == "hinge" else np.inf)
    alpha, value = clarabel(Q, -np.ones(len(y)), lb=np.zeros(len(y)), ub=upper, **equality)
    result = gl.solve(problem_of(loss, intercept, C, kernel=gl.kernels.RBF(gamma=0.1)), "smo", tol=1e-9)
    assert result.certificate.dual == pytest.approx(-value, rel=1e-6)
    assert result.certificate.primal == pytest.approx(-value, rel=1e-6)
    np.testing.assert_allclose(result.alpha(), alpha, atol=1e-3 * C)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_libsvm_classifies_alike(kernel: str):
    X, y = classes()
    ours = {
        "linear": None,
        "rbf": gl.kernels.RBF(gamma=0.1),
        "poly": gl.kernels.Polynomial(degree=2, gamma=0.1, coef0=1.0),
    }[kernel]
    theirs = SVC(C=1.5, kernel=kernel, gamma=0.1, degree=2, coef0=1.0, tol=1e-8).fit(X, y)
    result = gl.solve(gl.Problem(X, y, kernel=ours, C=1.5), "smo", tol=1e-9)
    f = theirs.decision_function(X)
    beta = np.zeros(len(y))
    beta[theirs.support_] = theirs.dual_coef_[0]
    regularizer = 0.5 * beta @ (f - theirs.intercept_[0])
    objective = regularizer + 1.5 * sum(loss_value("hinge", 0.0, *pair) for pair in zip(y, f, strict=True))
    assert result.certificate.primal == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(result.decision_function(X), f, atol=1e-4)
    if kernel == "linear":
        np.testing.assert_allclose(result.w, theirs.coef_[0], atol=1e-4)
        assert result.b == pytest.approx(theirs.intercept_[0], abs=1e-4)


def test_libsvm_regresses_alike():
    X, y = targets()
    theirs = SVR(C=1.0, kernel="rbf", gamma=0.1, epsilon=EPSILON, tol=1e-8).fit(X, y)
    problem = problem_of("epsilon_insensitive", "free", 1.0, kernel=gl.kernels.RBF(gamma=0.1))
    result = gl.solve(problem, "smo", tol=1e-9)
    beta = np.zeros(len(y))
    beta[theirs.support_] = theirs.dual_coef_[0]
    np.testing.assert_allclose(gl.certify(problem, gl.Point(beta=beta)).primal, result.certificate.primal, rtol=1e-6)
    np.testing.assert_allclose(result.predict(X), theirs.predict(X), atol=1e-4)


@pytest.mark.parametrize("intercept", ["regularized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"])
def test_liblinear_agrees(loss: str, intercept: str):
    C, (X, y) = 0.1, data_of(loss)
    options = {
        "C": C, "loss": loss, "dual": True, "tol": 1e-10, "max_iter": 10**6,
        "fit_intercept": intercept != "none", "intercept_scaling": 2.0, "random_state": 0,
    }  # fmt: skip
    theirs = LinearSVR(epsilon=EPSILON, **options) if "insensitive" in loss else LinearSVC(**options)
    theirs.fit(X, y)
    w, b = np.ravel(theirs.coef_), float(np.ravel(theirs.intercept_)[0]) if intercept != "none" else 0.0
    result = gl.solve(problem_of(loss, intercept, C, intercept_scale=2.0), "sdca", tol=1e-10)
    losses = [loss_value(loss, EPSILON, *pair) for pair in zip(y, X @ w + b, strict=True)]
    assert result.certificate.primal == pytest.approx(0.5 * w @ w + 0.5 * b**2 / 4 + C * sum(losses), rel=1e-6)
    np.testing.assert_allclose(result.w, w, atol=1e-4)
    assert result.b == pytest.approx(b, abs=1e-4)


@pytest.mark.parametrize(("intercept", "solver"), [("free", "smo"), ("none", "smo"), ("none", "sdca")])
def test_logistic_regression_agrees(intercept: str, solver: str):
    C, (X, y) = 0.5, classes()
    theirs = LogisticRegression(C=C, fit_intercept=intercept == "free", tol=1e-10, max_iter=10**5).fit(X, y)
    w, b = theirs.coef_[0], float(theirs.intercept_[0])
    result = gl.solve(problem_of("logistic", intercept, C), solver, tol=1e-9)
    objective = 0.5 * w @ w + C * sum(loss_value("logistic", 0.0, *pair) for pair in zip(y, X @ w + b, strict=True))
    assert result.certificate.primal == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(result.w, w, atol=1e-4)
    assert result.b == pytest.approx(b, abs=1e-4)
