"""The sequential dual method for Crammer and Singer's machine; its passes are native (``native/crammer_singer``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import DenseRows, row_entries
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.crammer_singer import feasible_blocks
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, own_solver
from gapless.solvers.crammer_singer.barrier import CrammerSingerBarrier, expected_work
from gapless.solvers.crammer_singer.two_classes import TwoClassEngine
from gapless.solvers.interior_point.relay import Relay
from gapless.solvers.textbook.sampling import seed_of

# Passes over the blocks that moved end, for a pass over all blocks, where one gains less than this share of what the last pass over all gained.
_SHARE = 0.1
_INNER_PASSES = 1000  # and after so many, where rounding is all that is left


@dataclass(frozen=True)
class CrammerSingerDual(Solver):
    """The sequential dual method (Keerthi et al. 2008): D is maximised exactly over the block of one sample after the other, with W kept up to date.

    A pass over all samples and classes alternates with some passes over the samples that it moved, and over the classes whose β is not zero there.
    An epoch is as much work as a pass over all samples and classes. Where passes have taken far longer than an interior point is expected to
    (``second_order``), its steps take over: they do not feel the scales of the features. With two classes the method is ``sdca`` for the hinge.
    """

    second_order: bool = True
    name: ClassVar[str] = "crammer_singer_dual"
    max_iter: ClassVar[int] = 100_000

    def unsupported(self, problem: Problem) -> str | None:
        if isinstance(problem, CrammerSingerProblem):
            return None
        return f"{self.name} solves a CrammerSingerProblem alone; got a {type(problem).__name__}."

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> Engine:
        assert isinstance(problem, CrammerSingerProblem)
        beta = np.zeros((problem.n_samples, problem.n_classes))
        if start is not None and start.beta is not None:
            beta = feasible_blocks(problem, start.beta)[0]
        # A sample that is zero, and has no intercept, has the loss one whatever W is: its best block is known.
        for i in np.flatnonzero((problem.diagonal == 0) & (problem.cost > 0)):
            beta[i] = 0.0
            beta[i, problem.y[i]] = problem.cost[i]
            beta[i, problem.y[i] - 1] = -problem.cost[i]
        if problem.n_classes == 2:
            return TwoClassEngine(problem, beta, rng, self.second_order)
        engine, work = CrammerSingerEngine(problem, beta, rng), expected_work(problem)
        if work is None or not self.second_order:
            return engine
        return Relay(engine, lambda: CrammerSingerBarrier(problem), work)


class CrammerSingerEngine(Engine):
    """β, the weights W and offsets b that follow from it, and the samples to visit next."""

    judges = True

    def __init__(self, problem: CrammerSingerProblem, beta: np.ndarray, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.entries = row_entries(problem.rows) + 1.0
        self.size = problem.n_samples * problem.n_classes * self.entries
        self.beta = beta
        # As native/crammer_singer has them: where rows are dense, the weights of a class are side by side.
        W = problem.weights(beta)
        self.W = np.ascontiguousarray(W.T if isinstance(problem.rows, DenseRows) else W)
        self.b = problem.shift * beta.sum(axis=0)
        self.moved = np.zeros(problem.n_samples, dtype=np.bool_)  # the samples whose block the pass has moved
        self.every = np.flatnonzero((problem.diagonal > 0) & (problem.cost > 0))
        # Inner passes are over the samples that the last pass over all has moved, and over the classes whose β is not zero there: the samples in
        # the order of their visits, the passes that have ended, and the gain of one below which they end.
        self.inner, self.active, self.passes, self.enough = False, self.every[:0], 0, 0.0
        self._begin_pass()

    def _dual(self) -> float:
        """D."""
        problem = self.problem
        offsets = float(self.b @ self.b) / problem.shift if problem.shift else 0.0
        linear = float(self.beta[np.arange(len(self.beta)), problem.y].sum())
        return linear - 0.5 * (float(np.vdot(self.W, self.W)) + offsets)

    def _begin_pass(self) -> None:
        """Begin a pass over all samples and classes."""
        self.order = self.rng.permutation(self.every)
        self.position, self.gain, self.gap = 0, 0.0, 0.0
        self.inner = self.moved[:] = False

    def step(self, budget: Budget, targets: Targets) -> Advance:
        problem = self.problem
        entries = min(budget.work, budget.iterations * self.size)
        given = (problem.rows, problem.y, problem.cost, problem.diagonal, problem.shift, self.entries)
        if self.inner:
            self.position, self.gain, self.passes, work, ended = _native.ascend_again(
                *given, self.active, self.position, self.gain, self.passes, self.enough, _INNER_PASSES, entries, seed_of(self.rng),
                self.beta, self.W, self.b, self.moved,
            )  # fmt: skip
            if ended:
                self._begin_pass()
            return Advance(work / self.size, work)
        self.position, work, gap, gain = _native.ascend_blocks(
            *given, self.order, self.position, entries, True, self.beta, self.W, self.b, self.moved
        )
        self.gap += gap
        self.gain += gain
        if self.position < len(self.order):
            return Advance(work / self.size, work)
        # The gap of the blocks as the pass has met them, which is hardly less than that of the pass's end.
        ready = self.gap <= min(targets) * abs(self._dual())
        outcome = Outcome.RUNNING if self.moved.any() else Outcome.STALLED
        self._end_pass()
        return Advance(work / self.size, work, Outcome.READY if ready else outcome)

    def _end_pass(self) -> None:
        """After a pass over all, go on with the samples that it has moved, or with another pass over all."""
        if not self.gain > 0:
            self._begin_pass()
            return
        self.enough, self.active = _SHARE * self.gain, np.flatnonzero(self.moved)
        self.inner, self.position, self.gain, self.passes = True, 0, 0.0, 0

    def point(self) -> Point:
        return Point(beta=self.beta.copy())


@own_solver.register
def _(problem: CrammerSingerProblem) -> Solver:
    return CrammerSingerDual()
