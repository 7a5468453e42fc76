"""Tables of kernel entries whose samples come and go, rows that are kept, and who enters."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.kernels import RBF, Panels
from gapless.solvers.smo.active_gram import ActiveGram
from gapless.solvers.smo.judge import own_gap
from gapless.solvers.smo.kept_rows import KeptRows
from gapless.solvers.smo.selection import entrants, nearest

rng = np.random.default_rng(3)
X = rng.normal(size=(3000, 5))
KERNEL = RBF(0.3)


def exact(ids, shift=0.0):
    return KERNEL.block(X[ids], X[ids]) + shift


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("wide", [0, 1000, 5000])
def test_a_table_holds_its_members_entries_through_all_changes(dtype, tolerance, wide):
    gram = ActiveGram(Panels(KERNEL, X, dtype), 0.5, wide)
    order = rng.permutation(len(X))
    for begin, end, limit in ((0, 700, 800), (700, 900, 1024), (900, 2200, 2300)):
        gram.enter(order[begin:end], limit)
        np.testing.assert_array_equal(gram.ids, order[:end])
        np.testing.assert_allclose(gram.table[:end, :end], exact(gram.ids, 0.5), atol=tolerance)
    kept = np.sort(rng.choice(2200, 500, replace=False))
    gram.keep(kept)
    np.testing.assert_array_equal(gram.ids, order[kept])
    gram.enter(order[2200:2500], 2300)
    assert len(gram.ids) == 800 == gram.inside.sum() and gram.inside[gram.ids].all()
    np.testing.assert_allclose(gram.table[:800, :800], exact(gram.ids, 0.5), atol=tolerance)


def test_a_table_serves_the_next_solver():
    panels = Panels(KERNEL, X)
    first = ActiveGram(panels, 0.0)
    first.enter(np.arange(1100), 1100)
    place = first.table.__array_interface__["data"][0]
    del first
    second = ActiveGram(panels, 0.0)
    second.enter(np.arange(1000), 1000)
    assert second.table.__array_interface__["data"][0] == place
    np.testing.assert_allclose(second.table[:1000, :1000], exact(np.arange(1000)), atol=2e-6)


@pytest.mark.parametrize("most", [40, 400])
def test_kept_rows_expand_like_panels(most):
    panels = Panels(KERNEL, X, np.float64)
    rows, f = KeptRows(panels, most), np.zeros(len(X))
    beta = np.zeros(len(X))
    for reach in (1000, 1000, 3000):
        moved = np.sort(rng.choice(1000, 60, replace=False))
        if reach == 3000:  # the others have not heard of anything yet
            support = np.flatnonzero(beta)
            rows.expand(support, beta[support], f, slice(1000, 3000), reach)
        change = rng.normal(size=60)
        beta[moved] += change
        rows.expand(moved, change, f, np.arange(reach), reach)
        np.testing.assert_allclose(f[:reach], KERNEL.block(X[:reach], X) @ beta, atol=1e-11)


def test_the_worst_of_both_ends_enter():
    up, down = np.array([3.0, 0.5, -9.0, 2.0, 2.5]), np.array([9.0, 0.4, -4.0, 9.0, 2.4])
    groups, offsets = np.zeros(5, dtype=np.int64), np.array([0.4])
    inside = np.array([False, False, False, False, True])
    assert entrants(up, down, groups, offsets, True, 0.1, inside, 4).tolist() == [0, 2, 3]
    assert entrants(up, down, groups, offsets, True, 0.1, inside, 2).tolist() == [0, 2]
    far = np.array([50.0])  # an offset beyond one end leaves no end empty
    assert 0 in entrants(up, down, groups, far, True, 0.1, inside, 4)


def test_the_nearest_stay_in_order():
    assert nearest(np.array([0.1, 5.0, -1.0, np.inf, 3.0]), 3).tolist() == [1, 3, 4]
    assert nearest(np.array([1.0, 1.0, 1.0]), 2).tolist() == [0, 1]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_a_solvers_own_gap_is_the_certificates(loss, intercept):
    y = np.where(X[:300, 0] + rng.normal(size=300) > 0, 1, -1)
    problem = gl.Problem(X[:300], y, C=2.0, loss=loss, intercept=intercept, kernel=KERNEL)
    result = gl.solve(problem, "smo", tol=1e-3)
    offsets = np.zeros(1)
    f = KERNEL.block(X[:300], X[:300]) @ result.beta
    gap, primal = own_gap(problem.dual, result.beta, f, problem.groups, problem.totals, intercept == "free", offsets)
    assert primal == pytest.approx(result.certificate.primal, rel=1e-9)
    assert gap == pytest.approx(result.certificate.gap, abs=1e-9 * primal)


def test_costly_kernels_are_solved_from_rows_that_are_kept():
    wide = np.random.default_rng(5).normal(size=(4500, 420)) / 20.0
    y = np.where(wide[:, 0] * wide[:, 1] + 0.02 * wide[:, 2] > 0, 1, -1)
    problem = gl.Problem(wide, y, C=1.0, kernel=RBF(1.0))
    solver = gl.solvers.SMO()
    assert solver.init(problem, None, np.random.default_rng(0)).rows is not None
    kept, computed = gl.solve(problem, solver, tol=1e-4), gl.solve(problem, gl.solvers.SMO(cache_mb=100.0), tol=1e-4)
    assert solver.init(gl.Problem(wide[:, :300], y, kernel=RBF(1.0)), None, np.random.default_rng(0)).rows is None
    for result in (kept, computed):
        assert result.status is gl.Status.CONVERGED
    assert abs(kept.certificate.primal - computed.certificate.primal) <= kept.certificate.gap + computed.certificate.gap
