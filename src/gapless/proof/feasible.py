"""From any dual point to a feasible one, and to its best multiple."""

from __future__ import annotations

import numpy as np

from gapless import _native
from gapless.losses import DualBox
from gapless.problems.problem import Problem


def feasible(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(a feasible β, how far the given β was from the box, how far its sums were from their totals).

    β is clipped to its box. With a free intercept its heavier side (the positive or the negative entries) is then scaled down until Σβ = 0, so that
    zeros stay zeros. In a ν-form the entries between zero and their bound take up what a group's sum is off its total, so that zeros stay zeros and
    entries at a bound stay there, as long as these entries have room for it.
    """
    dual = problem.dual
    free = problem.intercept == "free"
    return _native.proof_feasible(dual.lower, dual.upper, problem.groups, problem.totals, free, beta)


def first_point(problem: Problem) -> np.ndarray:
    """A point that meets the totals of a ν-form with few support vectors: each group's first samples at their bound."""
    beta = np.zeros(problem.n_samples)
    for g, total in enumerate(problem.totals):
        members = np.flatnonzero(problem.groups == g)
        reach = problem.cost[members]
        before = np.cumsum(reach) - reach
        beta[members] = np.sign(total) * np.clip(abs(total) - before, 0.0, reach)
    return feasible(problem, beta)[0]


def best_multiple(box: DualBox, beta: np.ndarray, square: float) -> tuple[float, float]:
    """(s, D(sβ)) for the best s that stays in the box, where ``square`` is βᵀKβ."""
    return _native.proof_best_multiple(box, beta, square)
