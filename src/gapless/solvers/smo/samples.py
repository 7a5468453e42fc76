"""The samples as SMO sees them: equal ones are one variable, in random order where there are many; and where β begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapless.data.distinct import distinct_samples
from gapless.losses import DualEntropy, DualTerms, Loss
from gapless.problems.problem import Problem
from gapless.proof.feasible import feasible

FEW = 1200  # up to this many samples all kernel entries are kept, in float64, where there is room for them
WHOLE = 2048  # up to this many samples all are in the active set


@dataclass(frozen=True)
class Samples:
    """The samples as the solver sees them: the distinct ones, in its own order."""

    y: np.ndarray
    cost: np.ndarray
    groups: np.ndarray
    totals: np.ndarray
    loss: Loss
    dual: DualTerms
    diagonal: np.ndarray

    def first(self, n: int) -> Samples:
        """The first n of them."""
        if n == len(self.y):
            return self
        dual = type(self.dual)(*(vector[:n] for vector in self.dual))
        return Samples(self.y[:n], self.cost[:n], self.groups[:n], self.totals, self.loss, dual, self.diagonal[:n])


def distinct(problem: Problem, rng: np.random.Generator) -> tuple[Samples, np.ndarray, np.ndarray, np.ndarray]:
    """(distinct samples, where each was, which of them each sample is, and its portion of that one's β).

    Where all are distinct and in order, the two lists of places are one and the same. Where there are many they come in random order, so that the
    first of them are like the rest.
    """
    n = problem.n_samples
    which = first = np.arange(n)
    portion = np.ones(n)
    if n > FEW and not problem.is_hard:
        first, which = problem.distinct  # which the proof asks for too
        if len(first) < n:
            first, which = distinct_samples(problem.rows, np.asarray(problem.y), np.asarray(problem.groups))
    first = which if len(first) == n else first
    cost, order = np.asarray(problem.cost), first
    if len(first) < n:
        cost = np.bincount(which, weights=problem.cost, minlength=len(first))
        portion = np.divide(problem.cost, cost[which], out=np.zeros(n), where=cost[which] > 0)
    if len(first) > 4 * WHOLE:
        shuffled = rng.permutation(len(first))
        place = np.empty(len(first), dtype=np.int64)
        place[shuffled] = np.arange(len(first))
        order, which, cost = first[shuffled], place[which], cost[shuffled]
    if order is first and len(first) == n:
        return (
            Samples(problem.y, problem.cost, problem.groups, problem.totals, problem.loss, problem.dual, problem.diagonal),
            order, which, portion,
        )  # fmt: skip
    y = np.asarray(problem.y)[order]
    dual = problem.loss.dual_box(y, cost)
    return (
        Samples(y, cost, problem.groups[order], problem.totals, problem.loss, dual, problem.diagonal[order]),
        order, which, portion,
    )  # fmt: skip


def begin(problem: Problem) -> np.ndarray:
    """Where to begin: at zero; in a ν-form where its totals are met; with the entropy in the middle of its box, at whose ends slopes are infinite."""
    if problem.is_nu:
        return _first_in(problem)
    if isinstance(problem.dual, DualEntropy):
        return feasible(problem, 0.5 * (problem.dual.lower + problem.dual.upper))[0]
    return np.zeros(problem.n_samples)


def both_ends(samples: Samples) -> bool:
    """Whether a part of the samples is a problem of its own: one group, and no total to reach."""
    return not samples.totals.any()


def _first_in(problem: Problem) -> np.ndarray:
    """A point that meets the totals of a ν-form with few support vectors: each group's first samples at their bound."""
    beta = np.zeros(problem.n_samples)
    for g, total in enumerate(problem.totals):
        members = np.flatnonzero(problem.groups == g)
        reach = problem.cost[members]
        before = np.cumsum(reach) - reach
        beta[members] = np.sign(total) * np.clip(abs(total) - before, 0.0, reach)
    return feasible(problem, beta)[0]
