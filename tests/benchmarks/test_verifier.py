from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

import gapless as gl
from benchmarks._verifier import feasible, judge, kernel_product


@pytest.fixture
def problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((700, 4))
    return X, np.where(X[:, 0] + 0.8 * rng.standard_normal(700) > 0.3, 1, -1)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("tol", [1.0, 1e-1, 1e-6])
def test_the_judge_and_our_certificate_agree_on_anybodys_model(problem, tol):
    X, y = problem
    model = SVC(C=3.0, gamma=0.5, tol=tol).fit(X, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    verdict = judge(X, y, 3.0, 0.5, beta)
    ours = gl.certify(gl.Problem(X, y, kernel=gl.kernels.RBF(0.5), C=3.0), gl.Point(beta=beta))
    assert ours.primal - ours.rounding <= verdict.primal * (1 + 1e-12) and verdict.primal <= ours.primal * (1 + 1e-12)
    assert ours.dual * (1 - 1e-12) <= verdict.dual <= (ours.dual + ours.rounding) * (1 + 1e-12)
    assert ours.rounding <= 1e-9 * ours.primal
    assert judge(sp.csr_matrix(X), y, 3.0, 0.5, beta) == verdict


def test_the_best_intercept_is_no_worse_than_any(problem, rng):
    X, y = problem
    beta, *_ = feasible(y * rng.random(len(y)), y, 1.0)
    f = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)) @ beta
    np.testing.assert_allclose(kernel_product(X, X, 0.5, beta), f, atol=1e-11)
    primal = judge(X, y, 1.0, 0.5, beta).primal
    at = [0.5 * beta @ f + np.maximum(0, 1 - y * (f + b)).sum() for b in np.linspace(-9, 9, 2001)]
    assert primal <= min(at) <= primal + 9e-3 * len(y)


@pytest.mark.parametrize("damage", ["sum", "box", "one class"])
def test_an_infeasible_point_is_repaired(problem, rng, damage):
    _, y = problem
    beta, *_ = feasible(y * rng.random(len(y)), y, 1.0)
    if damage == "sum":
        beta[y > 0] *= 0.5
    elif damage == "box":
        beta[:50] = 7.0 * y[:50]
    else:
        beta[y < 0] = 0.0
    repaired, box_violation, sum_violation = feasible(beta, y, 1.0)
    assert abs(repaired.sum()) <= 1e-9
    assert ((repaired * y >= 0) & (repaired * y <= 1)).all()
    assert (box_violation > 5) == (damage == "box")
    assert sum_violation > 1 or damage == "box"
