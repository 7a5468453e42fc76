"""The point of a ν-SVR from what its model stores: the difference of two dual variables of a sample, and b, but neither the variables nor ε."""

from __future__ import annotations

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.points import Point


def nu_regression_point(problem: Problem, coefficients: np.ndarray, b: float) -> Point:
    """The dual point with α − α* = ``coefficients``, and the model's w and b with the best ε for them.

    Where the tube is closed, samples have weight on both sides, which cancels in the model: both variables of a sample are raised by the same share
    of the room that is left, until their sums are those of the ν-form. Neither w nor D depends on how the shares are chosen.
    """
    n = len(coefficients)
    above, below = np.maximum(coefficients, 0.0), np.maximum(-coefficients, 0.0)
    room = np.maximum(problem.cost[:n] - np.maximum(above, below), 0.0)
    missing = float(problem.totals[0]) - 0.5 * float(np.abs(coefficients).sum())
    if missing > 0.0 and room.any():
        both = room * min(1.0, missing / float(room.sum()))
        above, below = above + both, below + both
    beta = np.concatenate([above, -below])
    once = np.concatenate([coefficients, np.zeros(n)])
    target = np.asarray(problem.loss.target)[:n]  # type: ignore[attr-defined]
    epsilon = _best_width(np.abs(target - problem.expand(once)[:n] - b), problem.cost[:n], float(problem.totals[0]))
    return Point(beta=beta, offsets=np.array([b + epsilon, b - epsilon]))


def _best_width(residuals: np.ndarray, cost: np.ndarray, total: float) -> float:
    """The ε ≥ 0 of the least Σ cᵢ max(0, rᵢ − ε) + 2 total ε: no more than 2 total of the costs have larger residuals.

    >>> _best_width(np.array([1.0, 2.0, 3.0]), np.ones(3), 0.75)
    2.0
    """
    order = np.argsort(-residuals, kind="stable")
    larger = np.cumsum(cost[order])
    first = int(np.searchsorted(larger, 2.0 * total * (1.0 + 1e-12), side="right"))
    return float(residuals[order[first]]) if first < len(order) else 0.0
