"""How far a dual point is from the optimality conditions, by LIBSVM's criterion; compiled, since a certificate of few samples is short work."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from gapless.data.rows import FASTMATH
from gapless.losses import DualBox
from gapless.problems.problem import Problem


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
    if n_groups == 1 and np.isfinite(_total_slope(p, d, beta, f)):
        top, bottom = _extremes(p, epsilon, d, lower, upper, beta, f)
        return max(0.0, top - bottom if free else max(top, -bottom))
    at_lower, at_upper = _at_bounds(lower, upper, beta)
    tops, bottoms = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    for k in range(len(beta)):
        slope = p[k] - d[k] * beta[k] - f[k]
        if np.isnan(slope):
            return np.nan
        g = groups[k]
        if not at_upper[k]:  # |β| has its kink at zero
            tops[g] = max(tops[g], slope - (epsilon[k] if beta[k] >= 0 else -epsilon[k]))
        if not at_lower[k]:
            bottoms[g] = min(bottoms[g], slope - (epsilon[k] if beta[k] > 0 else -epsilon[k]))
    worst = 0.0
    for g in range(n_groups):
        worst = max(worst, tops[g] - bottoms[g] if free else max(tops[g], -bottoms[g]))
    return worst


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH | {"nnan"})
def _extremes(p, epsilon, d, lower, upper, beta, f):
    """(largest slope upwards, least downwards) of one group, without a branch; nothing may be NaN."""
    largest = 0.0
    for k in range(len(beta)):
        largest = max(largest, abs(beta[k]))
    top, bottom = -np.inf, np.inf
    for k in range(len(beta)):
        slope = p[k] - d[k] * beta[k] - f[k]
        width = upper[k] - lower[k]
        slack = 1e-12 * (width if width < np.inf else largest)
        rise = slope - (epsilon[k] if beta[k] >= 0 else -epsilon[k])
        fall = slope - (epsilon[k] if beta[k] > 0 else -epsilon[k])
        top = max(top, rise if beta[k] < upper[k] - slack else -np.inf)
        bottom = min(bottom, fall if beta[k] > lower[k] + slack else np.inf)
    return top, bottom


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _total_slope(p, d, beta, f):
    """Σ of the slopes, not finite where one is NaN."""
    total = 0.0
    for k in range(len(beta)):
        total += p[k] - d[k] * beta[k] - f[k]
    return total
