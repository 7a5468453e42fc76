"""Coordinate descent for the ℓ₁ penalty; its passes are native (``native/l1``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.data.products import matvec
from gapless.data.rows import as_rows
from gapless.problems.l1 import L1Problem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.l1 import weights_of
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, own_solver
from gapless.solvers.l1.barrier import L1Barrier, expected_work
from gapless.solvers.l1.newton_step import newton_cost

# The most passes over the non-zero weights between two passes over all weights; they end before where their violation has fallen to this share of
# the violation of the last pass over all.
_INNER_PASSES = 20
_INNER_SHARE = 0.1
# Times the expected work of the interior-point method, after which it takes over: an entry takes a pass three times as long. Also after so many
# epochs, whatever they cost: LinearSVC allows ten times as many.
_PATIENCE, _MOST_EPOCHS = 0.7, 100.0
_SURE = 0.9  # share of the target at which the gap is worth a certificate
_FINEST = 1e-12  # relative gap below which slow passes are rounding's doing, which no other method escapes
# Passes over all weights that leave P where it was, to its last digit: from there on weights only change places within rounding.
_IDLE_PASSES = 10


@dataclass(frozen=True)
class L1CoordinateDescent(Solver):
    """Coordinate descent on the primal: a Newton step with line search for one weight after the other (Yuan et al. 2010).

    A pass over all weights alternates with passes over those that are not zero. Where features are correlated this creeps, so that whenever as much
    work has gone into passes as it costs, one Newton step moves all non-zero weights together, with an exact line search through the kinks. Where a
    large C or features of very different scales make all of that creep, an interior-point method finds the model, and passes go on from there.
    """

    name: ClassVar[str] = "l1_coordinate_descent"
    max_iter: ClassVar[int] = 10_000

    def unsupported(self, problem: Problem) -> str | None:
        if isinstance(problem, L1Problem):
            return None
        return f"{self.name} solves an L1Problem alone; got a {type(problem).__name__}."

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> L1Engine:
        return L1Engine(problem, *weights_of(problem, start), rng)


class L1Engine(Engine):
    """A = (y ∘ X̃)ᵀ with a row for each weight, the weights (the intercept's is the last), the shortfalls 1 − yᵢf(xᵢ), and the present pass."""

    judges = True

    def __init__(self, problem: Problem, w: np.ndarray, b: float, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.A = _signed_columns(problem)
        self.columns = as_rows(self.A)
        self.squares = matvec(self.A.multiply(self.A) if sp.issparse(self.A) else self.A * self.A, problem.cost)
        self.size = float(max(1, self.A.nnz if sp.issparse(self.A) else self.A.size))
        self.w = np.append(w, b / problem.intercept_scale) if problem.intercept == "regularized" else w.copy()
        self.begun = False  # whether a step was taken
        self.saved = 0.0  # work since the last Newton step
        self.settled = 0.0  # the violation that ends the inner passes
        self.lowest, self.idle = math.inf, 0  # the smallest P, and passes over all weights since
        self.barrier: L1Barrier | None = None
        self.beta: np.ndarray | None = None  # the barrier's dual point, once it has ended
        work = expected_work(*self.A.shape)
        self.patience = min(_PATIENCE * work, _MOST_EPOCHS * self.size) if work < math.inf else math.inf
        self._pass_over_all()

    def _pass_over_all(self) -> None:
        # The shortfalls are computed anew, so that the rounding of their updates does not add up.
        self.short = 1.0 - np.asarray(self.A.T @ self.w)
        self.value = float(np.abs(self.w).sum() + self.problem.cost @ np.maximum(0.0, self.short) ** 2)
        self.lowest, self.idle = (self.value, 0) if self.value < self.lowest else (self.lowest, self.idle + 1)
        self.fresh = True
        self._begin_pass(np.arange(len(self.w)), 0)

    def _begin_pass(self, weights: np.ndarray, inner: int) -> None:
        self.order, self.position = self.rng.permutation(weights), 0
        self.inner = inner  # the number of this pass since the last pass over all weights, which is 0
        self.violation, self.moved = 0.0, False  # the largest violation of this pass, and whether a weight has moved

    def step(self, budget: Budget, targets: Targets) -> Advance:
        self.begun = True
        if self.barrier is not None:
            return self._barrier_step(min(targets))
        advance = self._descend(budget)
        if not min(targets) >= _FINEST:
            return advance
        if self.fresh:  # at the end of a pass, when the shortfalls are exact, the gap takes one product
            self.fresh = False
            if advance.outcome is Outcome.RUNNING and self._gap() <= _SURE * min(targets) * self.value:
                return advance._replace(outcome=Outcome.READY)
        self.patience -= advance.work
        creeps = self.patience <= 0 or (advance.outcome is Outcome.STALLED and self.patience < math.inf)
        if not creeps or self.beta is not None:
            return advance
        self.barrier = L1Barrier(self.A, self.problem.cost, self.w)
        return advance._replace(outcome=Outcome.RUNNING)

    def _gap(self) -> float:
        """P − D of w and the best multiple of the dual point that its shortfalls call for."""
        alpha = 2.0 * self.problem.cost * np.maximum(0.0, self.short)
        reach, linear = float(np.abs(np.asarray(self.A @ alpha)).max()), float(alpha.sum())
        square = 0.5 * float(alpha @ np.maximum(0.0, self.short))  # Σ α²/(4c)
        if not square > 0:
            return self.value
        t = min(0.5 * linear / square, 1.0 / reach if reach > 0 else math.inf)
        return self.value - (t * linear - t * t * square)

    def _barrier_step(self, target: float) -> Advance:
        """One step of the interior-point method; at its end the passes go on from its model."""
        barrier = self.barrier
        assert barrier is not None
        before = barrier.work
        if barrier.step(target):
            self.barrier, self.beta = None, self.problem.y * barrier.alpha
            self._take(barrier, target)
        work = barrier.work - before
        return Advance(min(1.0, work / self.size), work)

    def _take(self, barrier: L1Barrier, target: float) -> None:
        """Go on from the barrier's model: the sparsest that is as good, exact on its non-zero weights."""
        enough = (1.0 + target) * self._value(barrier.w)
        found = []
        for w in barrier.models():
            support = np.flatnonzero(w)
            if len(support) and newton_cost(self.A, support) < math.inf:
                short = 1.0 - np.asarray(self.A.T @ w)
                _native.newton_l1(self.columns, self.problem.cost, w, short)
            found.append((self._value(w), w))
            if found[-1][0] <= enough:
                break
        self.w, self.lowest, self.idle = min(found, key=lambda each: each[0])[1], math.inf, 0
        self._pass_over_all()

    def _value(self, w: np.ndarray) -> float:
        """P."""
        short = np.maximum(0.0, 1.0 - np.asarray(self.A.T @ w))
        return float(np.abs(w).sum() + self.problem.cost @ short**2)

    def _descend(self, budget: Budget) -> Advance:
        """A piece of a pass of coordinate descent, and where that is its end the next one's begin."""
        entries = min(budget.work, budget.iterations * self.size)
        self.position, work, violation, moved = _native.descend_l1(
            self.columns, self.problem.cost, self.squares, self.order, self.position, entries, self.w, self.short
        )
        self.violation = max(self.violation, violation)
        self.moved |= moved
        self.saved += work
        if self.position < len(self.order):
            return Advance(work / self.size, work)
        if self.inner == 0 and (not self.moved or self.idle >= _IDLE_PASSES):
            return Advance(work / self.size, work, Outcome.STALLED)
        return Advance(work / self.size, work + self._end_pass())

    def _end_pass(self) -> float:
        """Take a Newton step where it is due, and begin the next pass; returns the work of the Newton step."""
        if self.inner == 0:
            self.settled = _INNER_SHARE * self.violation
        support, work = np.flatnonzero(self.w), 0.0
        cost = newton_cost(self.A, support)
        if len(support) and cost <= self.saved:
            _native.newton_l1(self.columns, self.problem.cost, self.w, self.short)
            support, work = np.flatnonzero(self.w), cost
            self.saved = 0.0
        settled = self.inner > 0 and self.violation <= self.settled
        if settled or self.inner >= _INNER_PASSES or not len(support):
            self._pass_over_all()
        else:
            self._begin_pass(support, self.inner + 1)
        return work

    def point(self) -> Point:
        if not self.begun and not self.w.any():
            return Point()  # zero, of which every solve knows P; that it is the optimum takes a proof of its own
        d = self.problem.n_features
        b = self.problem.intercept_scale * float(self.w[d]) if len(self.w) > d else 0.0
        return Point(w=self.w[:d].copy(), b=b, beta=self.beta)


@own_solver.register
def _(problem: L1Problem) -> Solver:
    return L1CoordinateDescent()


def _signed_columns(problem: Problem) -> Any:
    """(y ∘ X̃)ᵀ, where X̃ has the intercept's constant feature as its last column."""
    X, y = problem.X, problem.y
    extra = int(problem.intercept == "regularized")
    if sp.issparse(X):
        last = np.tile(problem.intercept_scale * y, (extra, 1))
        return sp.csr_array(sp.vstack([(sp.csr_array(sp.diags(y)) @ X).T, last], format="csr"))
    columns = np.empty((X.shape[1] + extra, len(y)))
    np.multiply(X.T, y, out=columns[: X.shape[1]])
    columns[X.shape[1] :] = problem.intercept_scale * y
    return columns
