"""The best intercept of a w that comes without one, by bisection of the slope of P, in plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.points import Point

_FAR = 1e300  # no best b is looked for beyond this distance


def with_best_b(problem: Problem, point: Point, f: np.ndarray) -> Point:
    """The point, where it has a w without b with the best b for it; f are the values ⟨w, xᵢ⟩.

    >>> import numpy as np
    >>> problem = Problem([[-1.0], [1.0], [3.0]], [0, 1, 1], C=10.0, intercept="regularized")
    >>> with_best_b(problem, Point(w=np.ones(1)), problem.X[:, 0]).b
    0.0
    """
    if problem.intercept == "none" or problem.is_hard or problem.is_nu or not np.isfinite(f).all():
        return point

    def slope(b: float) -> float:
        held_back = b / problem.shift if problem.shift else 0.0
        return held_back + float(problem.cost @ problem.loss.derivative(problem.y, f + b))

    # The slope never falls, and the best b are where it is zero: from where on it is not below zero, up to where it rises above.
    first, last = _crossing(lambda b: slope(b) >= 0.0), _crossing(lambda b: slope(b) > 0.0)
    b = 0.5 * (first + last)
    return replace(point, b=b) if math.isfinite(b) and abs(b) < _FAR else point


def _crossing(holds: Callable[[float], bool]) -> float:
    """The least b from which on a condition holds, to the last digit."""
    low, high, step = -1.0, 1.0, 1.0
    while holds(low) and step < _FAR:
        low -= (step := 2.0 * step)
    while not holds(high) and step < _FAR:
        high += (step := 2.0 * step)
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
