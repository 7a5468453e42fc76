"""Compiled SMO on a block of variables whose kernel matrix is at hand: pairs (i up, j down) that share an offset, one after the other.

A step is two sweeps over the block, in the precision of its matrix: one finds j, the other moves f and finds the next i. In float32 what moves is f
less its value at the margin, so that it has all its digits where they matter. Sweeps look for the largest of numbers by their bits, which as integers
sort as the numbers do, with the place written over the last ones: one maximum of integers tells value and place, and compiles to vector instructions.
What is lost are digits of the choice, not of the step, which is float64.
"""

from __future__ import annotations

import numpy as np
from numba import njit, typeof, types
from numba.extending import overload

from gapless.losses.steps import fall_slope, pair_step, rise_slope

_FAST = {"contract", "nsz", "arcp", "nnan"}  # differences as they are written: that of a sample and itself is 0
_NEVER = 1e30  # stands for "can't move"; finite in float32


def _key(x, place, low):
    """An integer as wide as x: its bits, ordered as the numbers are, negative ones too, with the place in the last bits, those of ``low``.

    Of equal numbers the first has the largest key.
    """
    return _typed_key(typeof(x), place, low)(x, place, low)


@overload(_key)
def _typed_key(x, place, low):
    if x == types.float32:

        def key(x, place, low):
            # Numba widens each result to 64 bits; taken back at once, the loop keeps its eight lanes
            bits = np.float32(x).view(np.int32)
            flip = np.int32(np.int32(bits >> np.int32(31)) & np.int32(0x7FFFFFFF))
            ordered = np.int32(np.int32(bits ^ flip) & np.int32(~low))
            return np.int32(ordered | np.int32(low - place))
    else:

        def key(x, place, low):
            bits = np.float64(x).view(np.int64)
            ordered = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
            return (ordered & ~low) | (low - place)

    return key


@njit(cache=True, nogil=True, error_model="numpy")
def box_pairs(dual, diagonal, K, starts, second_order, target, max_steps, beta, f):
    """Pairs until nothing violates by more than ``target``; writes beta, and f as far as the precision of K goes. Returns the steps taken."""
    q, n_groups = len(beta), len(starts) - 1
    low = 1
    while low < q - 1:  # the bits of a place
        low = 2 * low + 1
    near = dual.p - _middle(dual, beta, f) if K.itemsize == 4 else np.zeros(q)
    g, both = np.empty(q, dtype=K.dtype), np.empty(q, dtype=K.dtype)
    rise, fall = np.empty(q, dtype=K.dtype), np.empty(q, dtype=K.dtype)
    for k in range(q):
        g[k], both[k] = f[k] - near[k], diagonal[k] + dual.d[k]
        rise[k], fall[k] = _slopes(dual, k, beta[k], near[k])
    change = np.zeros(2, dtype=K.dtype)
    flat, least = np.array([1e-6 if K.itemsize == 4 else 1e-12, -3.0 * _NEVER]).astype(K.dtype)
    i = j = step = begin = end = 0
    while True:
        i_next, j_next, worst = -1, -1, target
        for group in range(n_groups):
            first, last = starts[group], starts[group + 1]
            if first == last:
                continue
            upper, lower = _move(
                g[first:last], rise[first:last], fall[first:last], K[i, first:last], K[j, first:last], change[0], change[1], least, low
            )  # fmt: skip
            top, bottom = first + low - (upper & low), first + low - (lower & low)
            up, down = rise[top] - g[top], fall[bottom] - g[bottom]
            if up - down <= target:  # keys have fewer digits
                top, bottom = (
                    first + np.argmax(rise[first:last] - g[first:last]),
                    first + np.argmin(fall[first:last] - g[first:last]),
                )
                up, down = rise[top] - g[top], fall[bottom] - g[bottom]
            if up > -0.5 * _NEVER and down < 0.5 * _NEVER and up - down > worst:
                i_next, j_next, worst, begin, end = top, bottom, up - down, first, last
        i, j = i_next, j_next
        if i < 0 or step == max_steps:
            break
        if second_order:
            up = rise[i] - g[i]
            key = _partner(g[begin:end], fall[begin:end], K[i, begin:end], both[begin:end], both[i], up, flat, low)
            j = begin + low - (key & low)
        eta = max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], 1e-12 * (diagonal[i] + diagonal[j]))
        new_i, new_j = pair_step(dual, i, j, g[i] + near[i], g[j] + near[j], beta[i], beta[j], max(eta, 1e-300))
        change[0], change[1] = new_i - beta[i], new_j - beta[j]
        if i == j or (new_i == beta[i] and new_j == beta[j]):
            break
        beta[i], beta[j] = new_i, new_j
        rise[i], fall[i] = _slopes(dual, i, new_i, near[i])
        rise[j], fall[j] = _slopes(dual, j, new_j, near[j])
        step += 1
    for k in range(q):
        f[k] = g[k] + near[k]
    return step


@njit(cache=True, nogil=True, error_model="numpy")
def _middle(dual, beta, f):
    """Between both ends of the violation: what differs from p by about that is at the margin."""
    top, bottom = -np.inf, np.inf
    for k in range(len(beta)):
        top = max(top, rise_slope(dual, k, beta[k]) - f[k])
        bottom = min(bottom, fall_slope(dual, k, beta[k]) - f[k])
    middle = 0.5 * (top + bottom)
    return middle if np.isfinite(middle) else 0.0


@njit(cache=True, error_model="numpy")
def _slopes(dual, k, beta, near):
    """The slopes of the separable part as βₖ rises and falls, less ``near``."""
    return max(-_NEVER, rise_slope(dual, k, beta) - near), min(_NEVER, fall_slope(dual, k, beta) - near)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _move(g, rise, fall, row, other, change_i, change_j, least, low):
    """Add the change of f to g; returns the keys of the largest rise − g and of the least fall − g."""
    top = bottom = _key(least, low, low)
    for k in range(len(g)):
        value = g[k] + (change_i * row[k] + change_j * other[k])
        g[k] = value
        up, down = _key(rise[k] - value, k, low), _key(value - fall[k], k, low)
        top = up if up > top else top
        bottom = down if down > bottom else bottom
    return top, bottom


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _partner(g, fall, row, both, own, up, flat, low):
    """The key of the largest (slope of the pair)² / its curvature: what the step with k as the other end gains."""
    zero = up - up
    tiny = own * flat
    best = _key(zero, low, low)
    for k in range(len(g)):
        slope = max(up - (fall[k] - g[k]), zero)
        gain = _key(slope * slope / max(own + both[k] - (row[k] + row[k]), tiny), k, low)
        best = gain if gain > best else best
    return best
