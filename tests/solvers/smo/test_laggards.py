"""Samples whose f follows late: who is due, for which β each is current, and that a solver which uses them proves what it says."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.solvers.smo.laggards import Laggards


def rounds(*swings, n=4):
    late = Laggards(n)
    for k, swing in enumerate(swings):
        late.record(np.full(n, float(k)), swing)
    return late


def test_a_sample_is_due_when_f_may_have_moved_as_far_as_its_slack():
    late = rounds(1.0, 0.5)
    assert late.due(np.array([-1.0, 1.4, 1.5, 1.6])).tolist() == [0, 1, 2]


def test_what_is_current_is_not_due():
    late = rounds(1.0)
    late.settle(np.array([0, 2]))
    assert late.due(np.zeros(4)).tolist() == [1, 3]
    assert late.among(np.array([2, 3])).tolist() == [3]


@pytest.mark.parametrize("swing", [np.inf, np.nan])
def test_all_are_due_where_nobody_knows_how_far_f_moved(swing):
    assert rounds(swing).due(np.full(4, 1e300)).tolist() == [0, 1, 2, 3]


def test_batches_tell_the_beta_of_each_and_leave_all_of_them_current():
    late = rounds(1.0)
    late.settle(np.array([1, 3]))
    late.record(np.full(4, 1.0), 1.0)
    found = {tuple(to.tolist()): past[0] for to, past in late.batches(np.arange(4))}
    assert found == {(0, 2): 0.0, (1, 3): 1.0}
    assert not len(late.among(slice(None)))


def test_after_many_rounds_all_who_wait_are_due_and_the_rounds_are_forgotten():
    late = rounds(*([0.0] * 100))
    assert late.due(np.ones(4)).tolist() == [0, 1, 2, 3]
    list(late.batches(np.arange(4)))
    late.record(np.zeros(4), 0.5)
    assert late.due(np.ones(4)).tolist() == []


@pytest.mark.parametrize("intercept", ["free", "regularized"])
def test_smo_proves_its_gap_where_most_samples_follow_late(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=6000) > 0.5).astype(int)
    problem = gl.Problem(X, y, kernel=gl.kernels.RBF(0.5), C=20.0, intercept=intercept)
    result = gl.solve(problem, "smo", tol=1e-5, kkt_tol=1e-3)
    assert result.status is gl.Status.CONVERGED
    assert gl.certify(problem, result).kkt_violation <= 1e-3
