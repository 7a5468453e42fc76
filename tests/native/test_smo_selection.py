"""Who enters an active set, who stays in it, and a solver's own view of its gap."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless import _native
from gapless.kernels import RBF

rng = np.random.default_rng(3)
X = rng.normal(size=(300, 5))
KERNEL = RBF(0.3)


def test_the_worst_of_both_ends_enter():
    up, down = np.array([3.0, 0.5, -9.0, 2.0, 2.5]), np.array([9.0, 0.4, -4.0, 9.0, 2.4])
    groups, offsets = np.zeros(5, dtype=np.int64), np.array([0.4])
    inside = np.array([False, False, False, False, True])
    assert _native.smo_entrants(up, down, groups, offsets, True, 0.1, inside, 4).tolist() == [0, 2, 3]
    assert _native.smo_entrants(up, down, groups, offsets, True, 0.1, inside, 2).tolist() == [0, 2]
    far = np.array([50.0])  # an offset beyond one end leaves no end empty
    assert 0 in _native.smo_entrants(up, down, groups, far, True, 0.1, inside, 4)


def test_the_nearest_stay_in_order():
    assert _native.smo_nearest(np.array([0.1, 5.0, -1.0, np.inf, 3.0]), 3).tolist() == [1, 3, 4]
    assert _native.smo_nearest(np.array([1.0, 1.0, 1.0]), 2).tolist() == [0, 1]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_a_solvers_own_gap_is_the_certificates(loss, intercept):
    y = np.where(X[:300, 0] + rng.normal(size=300) > 0, 1, -1)
    problem = gl.Problem(X[:300], y, C=2.0, loss=loss, intercept=intercept, kernel=KERNEL)
    result = gl.solve(problem, "smo", tol=1e-3).certified
    offsets = np.zeros(1)
    f = KERNEL(X[:300], X[:300]) @ result.beta
    gap, primal = _native.smo_own_gap(
        problem.dual, result.beta, f, problem.groups, problem.totals, intercept == "free", offsets
    )
    assert primal == pytest.approx(result.certificate.primal, rel=1e-9)
    assert gap == pytest.approx(result.certificate.gap, abs=1e-9 * primal)
