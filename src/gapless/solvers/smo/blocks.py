"""Compiled decomposition of a dual whose kernel matrix is at hand: blocks of variables, and in each block pairs (or single variables) by SMO.

``up[k]`` tells how the dual rises with βₖ, ``down[k]`` how it falls with it: of two samples that share an offset, the pair (i, j) violates the
optimality conditions by up[i] − down[j]. Without a common constraint each violates by itself, by up[k] or −down[k].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gapless.losses import DualBox, DualEntropy
from gapless.losses.steps import bend, dual_of, dual_step, fall_slope, pair_step, rise_slope
from gapless.solvers.smo.pairs import box_pairs
from gapless.solvers.smo.selection import BIG, violation, working_set

_NOISE = np.finfo(float).eps  # of f: a violation below it is rounding
_FINE = 2e-5  # of the range of residuals: a target below it is lost in float32
_FAST = {"reassoc", "contract", "nsz", "arcp", "nnan"}


@njit(cache=True, nogil=True, error_model="numpy")
def take(dual, chosen):
    """The terms of some variables."""
    if hasattr(dual, "cost"):
        return DualEntropy(dual.y[chosen], dual.cost[chosen], dual.lower[chosen], dual.upper[chosen])
    else:
        return DualBox(dual.p[chosen], dual.epsilon[chosen], dual.d[chosen], dual.lower[chosen], dual.upper[chosen])


@njit(cache=True, nogil=True, error_model="numpy")
def ends(dual, diagonal, beta, f, up, down):
    """Fill ``up`` and ``down``; returns the rounding noise of f. The entropy's are what a step gains, to second order, against a common level."""
    size = 0.0
    for k in range(len(beta)):
        size = max(size, abs(f[k]))
    if hasattr(dual, "cost"):
        level = _level(dual, beta, f)
        for k in range(len(beta)):
            up[k], down[k] = -BIG, BIG
            if dual.cost[k] > 0.0:
                slope = rise_slope(dual, k, beta[k]) - f[k] - level
                gain = _gain(dual, k, slope, diagonal[k] + bend(dual, k, beta[k], slope > 0.0), beta[k], f[k] + level)
                if slope > 0.0:
                    up[k] = gain
                elif slope < 0.0:
                    down[k] = -gain
    else:
        for k in range(len(beta)):
            up[k] = max(-BIG, rise_slope(dual, k, beta[k]) - f[k])
            down[k] = min(BIG, fall_slope(dual, k, beta[k]) - f[k])
    return _NOISE * (1.0 + size)


@njit(cache=True, nogil=True, error_model="numpy")
def survey(dual, diagonal, beta, f, groups, n_groups, coupled, up, down):
    """Fill ``up`` and ``down``; returns the rounding noise of f and the largest violation."""
    noise = ends(dual, diagonal, beta, f, up, down)
    return noise, violation(up, down, groups, n_groups, coupled)


@njit(cache=True, nogil=True, error_model="numpy")
def _level(dual, beta, f):
    """The intercept that the entropy's slopes suggest: their mean, weighted by how far each can move."""
    total, weight = 0.0, 1e-300
    for k in range(len(beta)):
        if dual.cost[k] > 0.0:
            a = dual.y[k] * beta[k] / dual.cost[k]
            reach = dual.cost[k] * max(a * (1.0 - a), 1e-12)
            total += reach * (rise_slope(dual, k, beta[k]) - f[k])
            weight += reach
    return total / weight


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _gain(dual, k, slope, curvature, beta, f):
    """What a step of βₖ gains where f is its decision value; the entropy's, at most the slope times the way to the β that f calls for."""
    gain = slope * slope / max(curvature, 1e-300)
    if hasattr(dual, "cost"):
        gain = min(gain, abs(slope * (dual_of(dual, k, f) - beta)))
    return gain


@njit(cache=True, nogil=True, error_model="numpy")
def solve_active(dual, diagonal, K, groups, n_groups, coupled, second_order, size, target, share, max_steps, beta, f):
    """Maximise the dual of the first samples of K, by blocks of at most ``size``, until nothing violates by more than ``target``; writes beta and f.

    Each block stops at ``share`` of the violation it began with. Returns the steps taken.
    """
    m = len(beta)
    up, down = np.empty(m), np.empty(m)
    last = np.zeros(m, dtype=np.bool_)
    steps = 0
    while True:
        noise, worst = survey(dual, diagonal, beta, f, groups, n_groups, coupled, up, down)
        if worst <= target:
            return steps
        if worst <= (noise * noise if hasattr(dual, "cost") else noise):
            return steps
        if steps >= max_steps:
            return steps
        for k in range(m):
            last[k] = last[k] and dual.lower[k] < beta[k] < dual.upper[k]
        chosen, starts = working_set(up, down, last, groups, n_groups, coupled, size)
        last[:] = False
        block = gather_block(K, chosen)
        part, within, old = take(dual, chosen), diagonal[chosen], beta[chosen]
        new, values = beta[chosen], f[chosen]
        stop = max(0.5 * target, share * worst)
        budget = min(max_steps - steps, max(1000, 10 * len(chosen)))
        taken = solve_block(part, within, block, starts, coupled, second_order, stop, budget, new, values)
        steps += taken
        change = new - old
        moved = np.flatnonzero(change)
        beta[chosen], last[chosen] = new, True
        spread(K, chosen[moved], change[moved], f)
        if taken == 0 or len(moved) == 0:
            return steps


@njit(cache=True, nogil=True, error_model="numpy")
def gather_block(K, chosen):
    """K[chosen][:, chosen], each entry above the diagonal read once: rows of K come from memory."""
    q = len(chosen)
    block = np.empty((q, q), dtype=K.dtype)
    for first in range(0, q, 16):  # as many columns as a line of the cache holds
        last = min(first + 16, q)
        for i in range(first, last):
            row, to = K[chosen[i]], block[i]
            for j in range(first, q):
                to[j] = row[chosen[j]]
        for j in range(last, q):
            to = block[j]
            for i in range(first, last):
                to[i] = block[i, j]
    return block


@njit(cache=True, nogil=True, error_model="numpy")
def solve_block(dual, diagonal, K, starts, coupled, second_order, target, max_steps, beta, f):
    """The same for one block, whose groups are side by side; ``starts`` tells where. Writes beta, and f in the precision of K."""
    if coupled:
        if hasattr(dual, "cost"):
            return _entropy_pairs(dual, diagonal, K, second_order, max_steps, beta, f)
        else:
            if K.itemsize == 4 and target < _FINE * np.ptp(dual.p - f):
                return box_pairs(dual, diagonal, K.astype(np.float64), starts, second_order, target, max_steps, beta, f)
            return box_pairs(dual, diagonal, K, starts, second_order, target, max_steps, beta, f)
    return _singles(dual, diagonal, K, target, max_steps, beta, f)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def spread(K, moved, change, f):
    """Add Σ of K[moved[i]] · change[i] to f, by four rows at once, and by 32 in the precision of K."""
    total = np.zeros(len(f), dtype=K.dtype)
    factor = change.astype(K.dtype)
    n = len(moved)
    for begin in range(0, n, 4):
        if begin + 4 <= n:
            a, b, c, d = K[moved[begin]], K[moved[begin + 1]], K[moved[begin + 2]], K[moved[begin + 3]]
            p, q, r, s = factor[begin], factor[begin + 1], factor[begin + 2], factor[begin + 3]
            for k in range(len(total)):
                total[k] += p * a[k] + q * b[k] + r * c[k] + s * d[k]
        else:
            for i in range(begin, n):
                a, p = K[moved[i]], factor[i]
                for k in range(len(total)):
                    total[k] += p * a[k]
        if begin % 32 == 28 or begin + 4 >= n:
            for k in range(len(total)):
                f[k] += total[k]
                total[k] = 0


@njit(cache=True, nogil=True, error_model="numpy")
def _entropy_pairs(dual, diagonal, K, second_order, max_steps, beta, f):
    """SMO on a block where the dual has an entropy: pairs (i up, j down); returns the steps taken."""
    q = len(beta)
    for step in range(max_steps):
        i, j = _ends_by_gain(dual, diagonal, beta, f)
        if i >= 0 and second_order:
            j = _partner(dual, diagonal, i, K[i], beta, f)
        if i < 0 or j < 0 or j == i:
            return step
        row, other = K[i], K[j]
        eta = max(diagonal[i] + diagonal[j] - 2.0 * row[j], 1e-12 * (diagonal[i] + diagonal[j]))
        new_i, new_j = pair_step(dual, i, j, f[i], f[j], beta[i], beta[j], max(eta, 1e-300))
        change_i, change_j = new_i - beta[i], new_j - beta[j]
        if change_i == 0.0 and change_j == 0.0:
            return step
        beta[i], beta[j] = new_i, new_j
        for k in range(q):
            f[k] += change_i * row[k] + change_j * other[k]
    return max_steps


@njit(cache=True, nogil=True, error_model="numpy")
def _partner(dual, diagonal, i, row, beta, f):
    """The other end of the entropy's pair: the one whose step gains most."""
    j, best = -1, 0.0
    top = rise_slope(dual, i, beta[i]) - f[i]
    for k in range(len(beta)):
        eta = max(diagonal[i] + diagonal[k] - 2.0 * row[k], 1e-12 * (diagonal[i] + diagonal[k]))
        eta += bend(dual, i, beta[i], True) + bend(dual, k, beta[k], False)
        gain = _gain(dual, k, max(top - (fall_slope(dual, k, beta[k]) - f[k]), 0.0), eta, beta[k], f[k] + top)
        if gain > best and k != i:
            best, j = gain, k
    return j


@njit(cache=True, nogil=True, error_model="numpy")
def _ends_by_gain(dual, diagonal, beta, f):
    """The same for the entropy, whose slopes are logarithms and large where nothing is to gain."""
    up, down = np.empty(len(beta)), np.empty(len(beta))
    noise = ends(dual, diagonal, beta, f, up, down)
    i, j = np.argmax(up), np.argmin(down)
    if up[i] <= -BIG or down[j] >= BIG or up[i] - down[j] <= noise * noise:
        return -1, -1
    return i, j


@njit(cache=True, nogil=True, error_model="numpy")
def _singles(dual, diagonal, K, target, max_steps, beta, f):
    """The one variable that gains most, again and again; returns the steps taken."""
    q = len(beta)
    for step in range(max_steps):
        i, best, worst = -1, 0.0, 0.0
        for k in range(q):
            up, down = rise_slope(dual, k, beta[k]) - f[k], f[k] - fall_slope(dual, k, beta[k])
            slope = max(up, down)
            if slope > 0.0:
                worst = max(worst, slope)
                gain = _gain(dual, k, slope, diagonal[k] + bend(dual, k, beta[k], up > down), beta[k], f[k])
                if gain > best:
                    i, best = k, gain
        if i < 0 or (worst <= target and not hasattr(dual, "cost")):
            return step
        new = dual_step(dual, i, f[i], beta[i], diagonal[i])
        change = new - beta[i]
        if change == 0.0:
            return step
        beta[i] = new
        row = K[i]
        for k in range(q):
            f[k] += change * row[k]
    return max_steps
