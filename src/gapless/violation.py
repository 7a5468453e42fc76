"""How far a dual point is from the optimality conditions, by LIBSVM's criterion; compiled, since a certificate of few samples is short work."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from gapless.losses import DualBox
from gapless.problem import Problem


def at_bounds(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which βᵢ are at their lower, and which at their upper bound, to the rounding of a repaired sum."""
    return _at_bounds(problem.dual.lower, problem.dual.upper, beta)


def kkt_violation(problem: Problem, beta: np.ndarray, f: np.ndarray) -> float:
    """LIBSVM's m(α) − M(α), with f = Kβ; NaN for the entropy, whose slopes are infinite at its ends."""
    box = problem.dual
    if not isinstance(box, DualBox):
        return math.nan
    free = problem.intercept == "free"
    return largest_violation(
        box.p, box.epsilon, box.d, box.lower, box.upper, beta, f, problem.groups, len(problem.totals), free
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _at_bounds(lower, upper, beta):
    largest = np.abs(beta).max() if len(beta) else 0.0
    width = upper - lower
    slack = 1e-12 * np.where(np.isfinite(width), width, largest)
    return beta <= lower + slack, beta >= upper - slack


@njit(cache=True, nogil=True, error_model="numpy")
def largest_violation(p, epsilon, d, lower, upper, beta, f, groups, n_groups, free):
    """The largest violation: inside a group where the sum of its β is fixed, of a single β otherwise."""
    at_lower, at_upper = _at_bounds(lower, upper, beta)
    top, bottom = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    for k in range(len(beta)):
        slope = p[k] - d[k] * beta[k] - f[k]
        if np.isnan(slope):
            return np.nan
        g = groups[k]
        if not at_upper[k]:  # |β| has its kink at zero
            top[g] = max(top[g], slope - (epsilon[k] if beta[k] >= 0 else -epsilon[k]))
        if not at_lower[k]:
            bottom[g] = min(bottom[g], slope - (epsilon[k] if beta[k] > 0 else -epsilon[k]))
    worst = 0.0
    for g in range(n_groups):
        worst = max(worst, top[g] - bottom[g] if free else max(top[g], -bottom[g]))
    return worst
