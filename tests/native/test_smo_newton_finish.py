"""The second-order finish: it ends where pairs end, never lowers the dual, and is what large problems end with."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless import _native
from gapless.losses import EpsilonInsensitive, Hinge, SquaredHinge
from gapless.solvers import SMO

_LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "epsilon_insensitive": EpsilonInsensitive(0.1)}


def _problem(loss: str, n: int = 250, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = gl.kernels.RBF(gamma=0.5)(X)
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)
    y = y if loss == "epsilon_insensitive" else np.where(y > 0, 1.0, -1.0)
    return _LOSSES[loss].dual_box(y, rng.uniform(0.5, 2.0, size=n)), K


def _value(dual, K, beta):
    return dual.p @ beta - dual.epsilon @ np.abs(beta) - 0.5 * dual.d @ beta**2 - 0.5 * beta @ K @ beta


def _worst(dual, K, beta, coupled):
    m = len(beta)
    return _native.smo_survey(
        dual, K.diagonal().copy(), beta, K @ beta, np.zeros(m, dtype=np.int64), 1, coupled, np.empty(m), np.empty(m)
    )[1]


def _by_pairs(dual, K, coupled, target):
    m = len(dual.p)
    beta, f = np.zeros(m), np.zeros(m)
    groups = np.zeros(m, dtype=np.int64)
    _native.smo_blocks(dual, K.diagonal().copy(), K, groups, 1, coupled, True, 512, target, 0.2, 10**6, beta, f)
    return beta, f


def _face(dual, K, coupled, target, beta, f, groups=None, most=None):
    groups = np.zeros(len(beta), dtype=np.int64) if groups is None else groups
    return _native.smo_face(
        dual, K.diagonal().copy(), K, groups, int(groups.max()) + 1, coupled, target, most or len(beta), beta, f
    )


def test_a_face_that_is_too_large_is_left_to_pairs():
    dual, K = _problem("hinge")
    beta, f = _by_pairs(dual, K, True, 1e-2)
    free = int(np.count_nonzero((dual.lower < beta) & (beta < dual.upper) & (beta != 0)))
    before = beta.copy()
    assert _face(dual, K, True, 1e-8, beta, f, most=free - 1) == 0
    np.testing.assert_array_equal(beta, before)
    assert _face(dual, K, True, 1e-8, beta, f, most=len(beta)) > 0


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("loss", _LOSSES)
def test_it_ends_at_the_optimum_of_pairs(loss, coupled):
    dual, K = _problem(loss)
    beta, f = _by_pairs(dual, K, coupled, 1e-4)
    best = _value(dual, K, _by_pairs(dual, K, coupled, 1e-10)[0])
    assert _face(dual, K, coupled, 1e-8, beta, f) > 0
    assert _worst(dual, K, beta, coupled) <= 1e-8
    assert _value(dual, K, beta) == pytest.approx(best, rel=1e-10)
    assert np.all((dual.lower <= beta) & (beta <= dual.upper))
    np.testing.assert_allclose(f, K @ beta, atol=1e-9)
    if coupled:
        assert abs(beta.sum()) < 1e-9


@pytest.mark.parametrize("rough", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("loss", _LOSSES)
def test_it_never_lowers_the_dual_even_where_the_face_is_not_known(loss, rough):
    for seed in range(5):
        dual, K = _problem(loss, n=120, seed=seed)
        beta, f = _by_pairs(dual, K, True, rough)
        before = _value(dual, K, beta)
        _face(dual, K, True, 1e-6, beta, f)
        assert _value(dual, K, beta) >= before - 1e-10 * abs(before)
        assert np.all((dual.lower <= beta) & (beta <= dual.upper)) and abs(beta.sum()) < 1e-9


@pytest.mark.parametrize("form", ["nu_regression", "nu_classification"])
def test_each_group_keeps_its_sum(form):
    """In a ν-form the step leaves the sum of each group as it is, and ends where pairs end."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=150)
    problem = getattr(gl.nu, form)(X, y if form == "nu_regression" else y > 0, nu=0.3, kernel=gl.kernels.RBF(gamma=0.5))
    dual, K, groups = problem.dual, problem.kernel(problem.X), np.asarray(problem.groups)
    beta = gl.proof.feasible.first_point(problem)
    f = K @ beta

    def pairs(target, beta, f):
        steps = 10**6
        _native.smo_blocks(dual, K.diagonal().copy(), K, groups, 2, True, True, 512, target, 0.2, steps, beta, f)

    pairs(1e-3, beta, f)
    best, best_f = beta.copy(), f.copy()
    pairs(1e-10, best, best_f)
    assert _face(dual, K, True, 1e-8, beta, f, groups) > 0
    assert _value(dual, K, beta) == pytest.approx(_value(dual, K, best), rel=1e-10)
    sums = np.bincount(groups, weights=beta)
    np.testing.assert_allclose(sums, problem.totals, rtol=1e-12)
    assert np.all((dual.lower <= beta) & (beta <= dual.upper))
    np.testing.assert_allclose(f, K @ beta, atol=1e-9)


def _large():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X)) > 0, 1.0, -1.0)
    return gl.Problem(X, y, kernel=gl.kernels.RBF(gamma=0.3), C=20.0)


def _run(solver: SMO, tol: float):
    """The engine when it is ready."""
    engine = solver.init(_large(), None, np.random.default_rng(0))
    while (
        engine.step(gl.solvers.base.Budget(), gl.solvers.base.Targets(tol)).outcome is gl.solvers.base.Outcome.RUNNING
    ):
        pass
    return engine


def test_a_large_problem_ends_with_it_and_agrees_with_pairs_alone():
    assert _run(SMO(), 1e-7).native.finishes > 0
    ours = gl.solve(_large(), SMO(), tol=1e-7)
    textbook = SMO(pairs="maximal_violation")
    assert _run(textbook, 1e-5).native.finishes == 0
    pairs = gl.solve(_large(), textbook, tol=1e-5)
    assert ours.status.proven and pairs.status.proven
    assert abs(ours.certificate.primal - pairs.certificate.primal) <= ours.certificate.gap + pairs.certificate.gap
