"""From any dual point to a feasible one, and to its best multiple."""

from __future__ import annotations

import numpy as np

from gapless import _native
from gapless.losses import DualBox
from gapless.problems.problem import Problem


def feasible(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(a feasible β, how far the given β was from the box, how far its sums were from their totals).

    β is clipped to its box. With a free intercept its heavier side (the positive or the negative entries) is then scaled down until Σβ = 0, so that
    zeros stay zeros.
    """
    dual = problem.dual
    free = problem.intercept == "free"
    return _native.proof_feasible(dual.lower, dual.upper, problem.groups, problem.totals, free, beta)


def best_multiple(box: DualBox, beta: np.ndarray, square: float) -> tuple[float, float]:
    """(s, D(sβ)) for the best s that stays in the box, where ``square`` is βᵀKβ."""
    return _native.proof_best_multiple(box, beta, square)
