"""The walk over faces: it ends at the optimum that an independent QP solver finds, from any feasible point, and keeps every constraint."""

from __future__ import annotations

import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless import _native
from gapless.losses import EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive, SquaredHinge
from gapless.solvers import SMO

REACHED, TIRED, LOST = 0, 1, 2
_LOSSES = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "epsilon_insensitive": EpsilonInsensitive(0.1),
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive(0.1),
}
_KERNELS = {
    "rbf": gl.kernels.RBF(gamma=0.3),
    "wide_rbf": gl.kernels.RBF(gamma=0.01),  # nearly singular
    "linear": gl.kernels.Linear(),  # of rank 3
    "poly": gl.kernels.Polynomial(degree=3, gamma=0.05, coef0=1.0),
}


def data(loss: str, kernel: str, n: int = 80, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1]
    y = X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=n)
    y = y if "insensitive" in loss else np.where(y > 0, 1.0, -1.0)
    K = _KERNELS[kernel](X)
    return _LOSSES[loss].dual_box(y, rng.uniform(0.5, 20.0, size=n)), np.ascontiguousarray(0.5 * (K + K.T))


def value(dual, K, beta):
    return dual.p @ beta - dual.epsilon @ np.abs(beta) - 0.5 * dual.d @ beta**2 - 0.5 * beta @ K @ beta


def violation(dual, K, beta, groups, coupled):
    """The largest violation of the optimality conditions, from their definition: D is concave, so that none means the optimum."""
    f = K @ beta
    up = np.where(beta < dual.upper, dual.p - dual.d * beta - np.where(beta >= 0, 1, -1) * dual.epsilon - f, -np.inf)
    down = np.where(beta > dual.lower, dual.p - dual.d * beta - np.where(beta > 0, 1, -1) * dual.epsilon - f, np.inf)
    if not coupled:
        return max(0.0, up.max(), -down.min())
    return max(0.0, *(up[groups == g].max() - down[groups == g].min() for g in np.unique(groups)))


def best_value(dual, K):
    """The optimum of a dual with Σβ = 0 by Clarabel, with β = r − s for the sake of |β|."""
    n = len(dual.p)
    M = K + np.diag(dual.d)
    P = np.block([[M, -M], [-M, M]])
    q = np.concatenate([dual.epsilon - dual.p, dual.epsilon + dual.p])
    upper = np.concatenate([np.clip(dual.upper, 0, 1e3), np.clip(-dual.lower, 0, 1e3)])
    A = sp.csc_matrix(np.repeat([[1.0, -1.0]], n, axis=1))
    problem = qpsolvers.Problem(sp.csc_matrix(P), q, A=A, b=np.zeros(1), lb=np.zeros(2 * n), ub=upper)
    found = qpsolvers.solve_problem(problem, solver="clarabel", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert found.found
    return -float(0.5 * found.x @ P @ found.x + q @ found.x)


def walk(dual, K, beta, *, groups=None, totals=(0.0,), coupled=True, target=1e-7, work=np.inf):
    beta = beta.copy()
    f = K @ beta
    groups = np.zeros(len(beta), dtype=np.int64) if groups is None else groups
    totals = np.asarray(totals, dtype=float)
    end, spent = _native.smo_walk(dual, K.diagonal().copy(), K, groups, totals, coupled, target, work, beta, f)
    return end, spent, beta, f


def check_feasible(dual, beta, groups, totals, coupled):
    assert ((dual.lower <= beta) & (beta <= dual.upper)).all()
    if coupled:
        sums = np.bincount(groups, weights=beta, minlength=len(totals))
        assert np.abs(sums - totals).max() <= 1e-13 * np.abs(beta).sum()


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("kernel", _KERNELS)
@pytest.mark.parametrize("loss", _LOSSES)
def test_it_ends_at_the_optimum(loss, kernel, coupled):
    dual, K = data(loss, kernel)
    groups = np.zeros(len(K), dtype=np.int64)
    end, _, beta, f = walk(dual, K, np.zeros(len(K)), coupled=coupled)
    assert end == REACHED
    check_feasible(dual, beta, groups, [0.0], coupled)
    np.testing.assert_allclose(f, K @ beta, atol=1e-9 * (1.0 + np.abs(K) @ np.abs(beta)).max())
    assert violation(dual, K, beta, groups, coupled) <= 1e-7 + 1e-15 * (np.abs(K) @ np.abs(beta)).max()


@pytest.mark.parametrize("loss", _LOSSES)
def test_it_ends_where_an_independent_solver_ends(loss):
    dual, K = data(loss, "rbf")
    _, _, beta, _ = walk(dual, K, np.zeros(len(K)))
    assert value(dual, K, beta) == pytest.approx(best_value(dual, K), rel=1e-7)


@pytest.mark.parametrize("kernel", _KERNELS)
@pytest.mark.parametrize("nu", [0.05, 0.4])
def test_two_groups_keep_their_totals(kernel, nu):
    """The dual of a ν-SVC: the sum of each class is given."""
    _, K = data("hinge", kernel)
    signs = np.where(np.random.default_rng(1).normal(size=len(K)) + np.arange(len(K)) / 20 > 2, 1.0, -1.0)
    problem = gl.nu.nu_classification(np.eye(len(K)), signs > 0, nu=nu)
    dual, groups, totals = problem.dual, np.asarray(problem.groups), np.asarray(problem.totals)
    start = gl.proof.feasible.first_point(problem)
    end, _, beta, _ = walk(dual, K, start, groups=groups, totals=totals, target=1e-9)
    assert end == REACHED
    check_feasible(dual, beta, groups, totals, True)
    assert violation(dual, K, beta, groups, True) <= 1e-9 + 1e-15 * (np.abs(K) @ np.abs(beta)).max()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(_LOSSES)), st.sampled_from(sorted(_KERNELS)), st.booleans(), st.integers(0, 10**6))
def test_it_never_lowers_the_dual_whenever_it_ends(loss, kernel, coupled, seed):
    dual, K = data(loss, kernel, n=30, seed=seed)
    groups, before = np.zeros(30, dtype=np.int64), 0.0
    beta = np.zeros(30)
    for work in (1.0, 5e3, 2e4, 1e5):
        _, _, beta, _ = walk(dual, K, beta, coupled=coupled, work=work)
        check_feasible(dual, beta, groups, [0.0], coupled)
        now = value(dual, K, beta)
        assert now >= before - 1e-9 * abs(before)
        before = now


def test_equal_samples_and_samples_of_no_weight():
    dual, K = data("hinge", "rbf", n=40)
    twice = np.tile(np.arange(40), 3)
    K = np.ascontiguousarray(K[np.ix_(twice, twice)])
    dual = type(dual)(*(np.tile(each, 3) for each in dual))
    dual.lower[:5] = dual.upper[:5] = 0.0
    end, _, beta, _ = walk(dual, K, np.zeros(120))
    assert end == REACHED and not beta[:5].any()
    assert value(dual, K, beta) == pytest.approx(best_value(dual, K), rel=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_variables_that_belong_at_an_end_of_their_box_are_put_there(seed):
    """More samples on the margin than the model needs: the β of all but one are zero at the optimum, of which rounding and the ridge left 1e-13."""
    rng = np.random.default_rng(seed)
    Z = np.zeros((7, 6))
    Z[:, 0], Z[0, 0] = 1.0, -1.0
    Z[2:, 1:] = np.eye(5) * 10.0 ** rng.uniform(-2, 2, size=(5, 1))
    X = Z @ np.linalg.qr(rng.normal(size=(6, 6)))[0].T
    K = np.ascontiguousarray(X @ X.T)
    dual = Hinge().dual_box(Z[:, 0].copy(), np.full(7, 10.0))
    beta = np.concatenate([[-0.5], np.full(6, 0.5 / 6)])
    end, _, beta, _ = walk(dual, K, beta)
    assert end == REACHED
    check_feasible(dual, beta, np.zeros(7, dtype=np.int64), [0.0], True)
    assert not ((beta != 0) & (np.abs(beta) <= 1e-12)).any()
    assert violation(dual, K, beta, np.zeros(7, dtype=np.int64), True) <= 1e-7


def test_a_bound_on_its_work_is_kept():
    dual, K = data("hinge", "wide_rbf", n=200)
    end, spent, _, _ = walk(dual, K, np.zeros(200), work=3e4)
    assert end == TIRED and 3e4 <= spent <= 6e4


def test_an_indefinite_matrix_is_told():
    dual, K = data("hinge", "rbf")
    K = K - 0.95 * np.eye(80)
    assert np.linalg.eigvalsh(K)[0] < -0.1 and K.diagonal().min() > 0.0
    end, _, beta, _ = walk(dual, K, np.zeros(80))
    assert end == LOST
    check_feasible(dual, beta, np.zeros(80, dtype=np.int64), [0.0], True)


def crawling() -> gl.Problem:
    """Pairs alone take a hundred thousand steps for it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6)) * 10.0 ** np.arange(-2, 4)
    y = X @ (rng.normal(size=6) / 10.0 ** np.arange(-2, 4)) > 0
    return gl.Problem(X, y, kernel=gl.kernels.Polynomial(degree=2, gamma=1e-6, coef0=1.0), C=1e4)


def test_the_engine_takes_it_where_pairs_crawl():
    ours = gl.solve(crawling(), SMO(), tol=1e-6)
    assert ours.status.proven and ours.iterations < 50_000
    textbook = gl.solve(crawling(), SMO(pairs="maximal_violation"), tol=1e-6, max_iter=50_000)
    assert textbook.status is gl.Status.MAX_ITER
    assert ours.certificate.dual >= textbook.certificate.dual
