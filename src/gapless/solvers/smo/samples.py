"""The samples that the solver works on: equal samples are one variable, and many samples come in random order; and the β that a solve begins with."""

from __future__ import annotations

import numpy as np

from gapless import _native
from gapless.data.distinct import distinct_samples
from gapless.losses import DualEntropy, DualTerms
from gapless.problems.problem import Problem
from gapless.proof.feasible import feasible, first_point
from gapless.record import changed, record

FEW = 1200  # the most samples whose kernel entries are float64 from the start
WHOLE = (
    _native.SMO_WHOLE
)  # the most samples that are all in the active set, and whose kernel entries are all kept once they are float64
_MANY = 4 * WHOLE  # more samples come in random order: they are solved on growing parts first


@record
class Samples:
    """The distinct samples in the solver's own order.

    ``order`` holds the original place of each distinct sample, ``which`` the distinct sample that each original one is equal to, and ``portion`` its
    share of that one's β. All three are None where all samples are distinct and in their own order.
    """

    dual: DualTerms
    diagonal: np.ndarray
    groups: np.ndarray
    order: np.ndarray | None = None
    which: np.ndarray | None = None
    portion: np.ndarray | None = None

    @classmethod
    def of(cls, problem: Problem) -> Samples:
        """All samples, as they are."""
        return cls(problem.dual, problem.diagonal, problem.groups)

    def at_costs_of(self, problem: Problem) -> Samples:
        """The same samples with the costs of another problem, a multiple of those here."""
        if self.which is None or self.order is None:
            return changed(self, dual=problem.dual)
        cost = np.bincount(self.which, weights=problem.cost, minlength=len(self.order))
        return changed(self, dual=problem.loss.taken(self.order).dual_box(np.asarray(problem.y)[self.order], cost))

    def joined(self, beta: np.ndarray) -> np.ndarray:
        """β of the distinct samples."""
        return beta if self.which is None else np.bincount(self.which, weights=beta, minlength=len(self.groups))

    def spread(self, beta: np.ndarray) -> np.ndarray:
        """β of all samples, a copy."""
        if self.which is None:
            return beta.copy()
        return beta[self.which] if self.portion is None else beta[self.which] * self.portion


def distinct(problem: Problem, rng: np.random.Generator) -> Samples:
    """The distinct samples; where there are many, in random order, so that the first of them are like the rest."""
    n, y = problem.n_samples, np.asarray(problem.y)
    first = which = np.arange(n)
    if not problem.is_hard:
        first, which = problem.distinct  # the proof needs it too, and it is computed once
        if len(first) < n:
            first, which = distinct_samples(problem.rows, problem.loss.marks(y), np.asarray(problem.groups))
    cost, portion = np.asarray(problem.cost), None
    if len(first) < n:
        cost = np.bincount(which, weights=problem.cost, minlength=len(first))
        portion = np.divide(problem.cost, cost[which], out=np.zeros(n), where=cost[which] > 0)
    elif len(first) <= _MANY:
        return Samples.of(problem)
    if len(first) > _MANY:
        shuffled = rng.permutation(len(first))
        place = np.empty(len(first), dtype=np.int64)
        place[shuffled] = np.arange(len(first))
        first, which, cost = first[shuffled], place[which], cost[shuffled]
    dual = problem.loss.taken(first).dual_box(y[first], cost)
    return Samples(dual, problem.diagonal[first], problem.groups[first], first, which, portion)


def begin(problem: Problem) -> np.ndarray:
    """β to begin with: zero; in a ν-form a point that meets its totals; for the entropy the middle of its box, at whose ends slopes are infinite."""
    if problem.is_nu:
        return first_point(problem)
    if isinstance(problem.dual, DualEntropy):
        return feasible(problem, 0.5 * (problem.dual.lower + problem.dual.upper))[0]
    return np.zeros(problem.n_samples)
