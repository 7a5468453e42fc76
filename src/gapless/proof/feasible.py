"""From any dual point to a feasible one, and to its best multiple; compiled, since a certificate of few samples is short work."""

from __future__ import annotations

import numpy as np
from numba import njit

from gapless.data.rows import FASTMATH
from gapless.data.sums import BLOCK, add
from gapless.losses import DualBox
from gapless.problems.problem import Problem


def feasible(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(feasible β, how far the given one was from the box, and from Σβ = 0).

    β is clipped to its box; with a free intercept its heavier side is then scaled down until Σβ = 0, so that zeros stay zeros.
    """
    dual, coupled = problem.dual, problem.intercept == "free"
    return feasible_of(
        dual.lower, dual.upper, problem.groups, problem.totals, coupled, np.asarray(beta, dtype=np.float64)
    )


def best_multiple(box: DualBox, beta: np.ndarray, square: float) -> tuple[float, float]:
    """(s, D(sβ)) for the best s that stays in the box, where ``square`` is βᵀKβ."""
    return best_multiple_of(box.p, box.epsilon, box.d, box.lower, box.upper, beta, square)


@njit(cache=True, nogil=True, error_model="numpy")
def feasible_of(lower, upper, groups, totals, coupled, beta):
    """``feasible`` for compiled callers."""
    out, outside, off = np.empty(len(beta)), 0.0, 0.0
    for k in range(len(beta)):
        out[k] = min(max(beta[k], lower[k]), upper[k])
        if out[k] != beta[k]:
            outside = max(outside, abs(beta[k] - out[k]))
    if not coupled:
        return out, outside, off
    for g in range(len(totals)):
        excess = _sum_of_side(out, groups, g, 0) - totals[g]
        if excess == 0.0:
            continue
        off = max(off, abs(excess))
        side = 1 if excess > 0.0 else -1
        weight = abs(_sum_of_side(out, groups, g, side))
        if weight >= abs(excess):
            for k in range(len(out)):
                if groups[k] == g and side * out[k] > 0.0:
                    out[k] *= 1.0 - abs(excess) / weight
        else:  # a ν-form's total is not reached: all go towards their far bound alike
            bound = upper if excess < 0.0 else lower
            room = 0.0
            for k in range(len(out)):
                room += bound[k] - out[k] if groups[k] == g else 0.0
            part = min(-excess / room, 1.0) if room != 0.0 else 0.0  # all at their bounds: what is missing is rounding
            for k in range(len(out)):
                if groups[k] == g:
                    out[k] += (bound[k] - out[k]) * part
    return out, outside, off


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_of_side(values, groups, g, side):
    """The sum over a group, of its positive or its negative values or (side 0) of all, with what rounding lost added in the end."""
    total, lost = 0.0, 0.0
    for k in range(len(values)):
        if groups[k] == g and (side == 0 or side * values[k] > 0.0):
            total, lost = add(total, lost, values[k])
    return total + lost


@njit(cache=True, nogil=True, error_model="numpy")
def best_multiple_of(p, epsilon, d, lower, upper, beta, square):
    """``best_multiple`` for compiled callers."""
    linear, lost, bend, bend_lost, largest = 0.0, 0.0, 0.0, 0.0, np.inf
    for begin in range(0, len(beta), BLOCK):
        end = min(begin + BLOCK, len(beta))
        first, second, room = _block(p, epsilon, d, lower, upper, beta, begin, end)
        linear, lost = add(linear, lost, first)
        bend, bend_lost = add(bend, bend_lost, second)
        largest = min(largest, room)
    linear, curvature = linear + lost, square + (bend + bend_lost)
    if not beta.any():
        return 1.0, 0.0
    if linear <= 0.0:
        return 0.0, 0.0
    if curvature <= 0.0:
        return (1.0, np.inf) if largest == np.inf else (largest, largest * linear)
    scale = min(linear / curvature, largest)
    if abs(scale - 1.0) < 1e-9:  # the gain is of second order, and variables at their bound stay there exactly
        scale = 1.0
    return scale, scale * linear - 0.5 * scale * scale * curvature


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _block(p, epsilon, d, lower, upper, beta, begin, end):
    """(Σ pβ − ε|β|, Σ dβ², the multiple at which the first β is at its bound) of some samples."""
    linear, bend, largest = 0.0, 0.0, np.inf
    for k in range(begin, end):
        b = beta[k]
        linear += p[k] * b - epsilon[k] * abs(b)
        bend += d[k] * (b * b) if b != 0.0 else 0.0
        room = (upper[k] if b > 0.0 else lower[k]) / b if b != 0.0 else np.inf
        largest = room if room < largest else largest
    return linear, bend, largest
