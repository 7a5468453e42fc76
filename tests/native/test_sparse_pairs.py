"""Pairs on a table nearly all of whose entries are negligible, as `_native.SharedFits` solves them, against a QP solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from gapless import _native
from gapless.kernels import RBF
from gapless.kernels.rounding import UNIT, distance_magnitudes

qpsolvers = pytest.importorskip("qpsolvers")

N = 1100  # more than are one block of pairs
AIM = {"kkt": 1e-3, "ahead": 0.01, "stricter": 0.3, "turns": 2000.0}


class Clusters:
    """Samples in clusters of three, with some labels at random; the second member leaves a part of them out."""

    def __init__(self, regression: bool, dtype: type = np.float64) -> None:
        rng = np.random.default_rng(0)
        centres = 30.0 * rng.normal(size=(N // 3 + 1, 2))
        self.X = (centres[:, None] + 0.6 * rng.normal(size=(len(centres), 3, 2))).reshape(-1, 2)[:N]
        self.margins, self.epsilon = not regression, np.full(2, 0.2 if regression else 0.0)
        side = np.where((self.X[:, 0] > 0) ^ (rng.random(N) < 0.3), 1.0, -1.0)
        self.p = side + 0.3 * rng.normal(size=N) if regression else side
        self.weights = np.array([np.ones(N), np.where(np.arange(N) % 4 > 0, 1.0, 0.0)])
        self.K = RBF(1.0)(self.X)
        g, r = distance_magnitudes(self.X)
        if dtype is np.float32:  # each entry is rounded once more, by at most 2⁻²⁴ of it
            r = r + 0.5 * (1 + 1e-6) * 2.0**-24 / UNIT * g
        self.native = _native.SharedFits(
            self.K.astype(dtype), np.ones(N), g, r, np.arange(N), np.array([0, N]), self.p, self.margins,
            self.weights, self.epsilon, np.arange(N), np.empty(_native.SharedFits.room_for(np.array([0, N])), np.float32),
        )  # fmt: skip

    def optimum(self, C: float, member: int) -> float:
        """The optimal value, by a QP solver: of classifiers in β, of regressions in both parts of β."""
        cost = C * self.weights[member]
        K = np.where(self.K > 1e-18, self.K, 0.0)
        if self.margins:
            low, high = np.where(self.p < 0, -cost, 0.0), np.where(self.p > 0, cost, 0.0)
            found = qpsolvers.solve_problem(
                qpsolvers.Problem(csc_matrix(K), -self.p, A=csc_matrix(np.ones((1, N))), b=np.zeros(1), lb=low, ub=high),
                solver="clarabel", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12,
            )  # fmt: skip
            return -found.obj
        P = np.block([[K, -K], [-K, K]])
        q = np.concatenate([self.epsilon[member] - self.p, self.epsilon[member] + self.p])
        A = np.concatenate([np.ones(N), -np.ones(N)])[None]
        found = qpsolvers.solve_problem(
            qpsolvers.Problem(csc_matrix(P), q, A=csc_matrix(A), b=np.zeros(1), lb=np.zeros(2 * N), ub=np.tile(cost, 2)),
            solver="clarabel", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12,
        )  # fmt: skip
        return -found.obj


def test_few_entries_are_left():
    assert (Clusters(False).K > 3e-8).mean() < 0.01


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("regression", [False, True])
def test_optimum_is_that_of_a_solver(every_level, regression, dtype):
    task = Clusters(regression, dtype)
    gap = 1e-6 if dtype is np.float64 else 0.9  # of entries in float32 the rounding is most of a gap
    for C in (0.1, 1.0, 30.0):
        task.native.advance(np.full(2, C), np.full(2, gap), **AIM)
        assert task.native.done.all() and (task.native.violation <= 1e-3).all()
        for member in range(2):
            primal, dual = task.native.primal[member], task.native.dual[member]
            assert 0 <= primal - dual <= min(gap, 2e-5) * primal + task.native.rounding[member]
            exact = task.optimum(C, member)
            assert dual - 1e-7 * abs(exact) <= exact <= primal + 1e-7 * abs(exact)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pairs_are_few(dtype):
    """Each variable moves a few times, where blocks of variables that hardly see each other would be copied again and again."""
    task = Clusters(False, dtype)
    task.native.advance(np.full(2, 1.0), np.full(2, 0.9), **AIM)
    assert task.native.done.all()
    assert 0 < task.native.steps.max() < 8 * N


def test_a_closer_proof_goes_on_from_there():
    task = Clusters(False)
    task.native.advance(np.full(2, 10.0), np.full(2, 1e-3), **(AIM | {"ahead": 0.8}))
    before, steps = task.native.apart.copy(), task.native.steps.copy()
    task.native.tighten(np.full(2, 1e-9), **AIM)
    assert (task.native.apart <= 1e-9 * task.native.primal).all() and (before > task.native.apart).all()
    assert (task.native.steps >= steps).all()
