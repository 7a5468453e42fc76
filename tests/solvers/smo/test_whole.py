"""SMO with all kernel entries at hand: at once or through the loop, the same proof."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.kernels import RBF, Precomputed
from gapless.solvers import SMO


def _problem(members: np.ndarray, C: float = 10.0) -> gl.Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    return gl.Problem(members[:, None].astype(float), y[members], kernel=Precomputed(RBF(0.5)(X, X)), C=C)


@pytest.mark.parametrize(
    "members", [np.arange(60), np.arange(60)[::-1], np.r_[40:60, 5:30]], ids=["all", "back", "runs"]
)
@pytest.mark.parametrize("pairs", ["second_order", "maximal_violation"])
def test_at_once_and_through_the_loop(members, pairs):
    problem, solver, checks = _problem(members), SMO(pairs), []
    at_once = gl.solve(problem, solver, tol=1e-6, kkt_tol=1e-6)
    looped = gl.solve(problem, solver, tol=1e-6, kkt_tol=1e-6, callback=checks.append)
    assert solver.at_once(problem, 1e-6, 1e-6, np.inf) is not None and checks
    for result in (at_once, looped):
        assert result.status is gl.Status.CONVERGED
        assert result.certificate.relative_gap <= 1e-6 and result.certificate.kkt_violation <= 1e-6
        assert gl.certify(problem, result).dual == pytest.approx(result.certificate.dual, rel=1e-12)
    assert at_once.certificate.primal == pytest.approx(looped.certificate.primal, rel=2e-6)
    assert at_once.trace.primal[0] == looped.trace.primal[0] and at_once.trace.dual[0] == 0.0
    assert at_once.trace.iterations[-1] == at_once.iterations > 0


def test_what_is_not_reached_at_once_goes_through_the_loop():
    problem = _problem(np.arange(60))
    assert SMO().at_once(problem, 1e-6, 1e-6, 3) is None
    result = gl.solve(problem, SMO(), max_iter=3)
    assert result.status is gl.Status.MAX_ITER and result.iterations == 3


def test_a_table_without_room_is_not_made():
    problem = _problem(np.arange(60))
    assert SMO(cache_mb=8 * 20**2 / 2**20).at_once(problem, 1e-6, 1e-6, np.inf) is None


def test_only_a_matrix_at_hand_is_taken_at_once():
    rng = np.random.default_rng(0)
    problem = gl.Problem(rng.normal(size=(20, 2)), np.arange(20) % 2, kernel=RBF(1.0))
    assert SMO().at_once(problem, 1e-3, 1e-3, np.inf) is None
    assert gl.solve(problem, SMO()).status is gl.Status.CONVERGED
