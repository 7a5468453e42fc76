"""Compiled choice of variables by how far they violate the optimality conditions: of a block, and of those that enter or leave an active set."""

from __future__ import annotations

import numpy as np
from numba import njit

BIG = 1e300  # stands for "can't move"; finite, so that the loops may assume finite numbers


@njit(cache=True, nogil=True, error_model="numpy")
def violation(up, down, groups, n_groups, coupled):
    """The largest violation of the optimality conditions."""
    largest = 0.0
    for g in range(n_groups):
        top, bottom = -BIG, BIG
        for k in range(len(up)):
            if groups[k] == g:
                top, bottom = max(top, up[k]), min(bottom, down[k])
        if not coupled:
            largest = max(largest, max(top, -bottom))
        elif top > -BIG and bottom < BIG:
            largest = max(largest, top - bottom)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def working_set(up, down, keep, groups, n_groups, coupled, size):
    """At most ``size`` variables, those of a group side by side in order: up to half of them from ``keep``, the rest the ends of the violation.

    Returns them and where each group begins.
    """
    n = len(up)
    chosen = np.empty(min(size, n), dtype=np.int64)
    starts = np.zeros(n_groups + 1, dtype=np.int64)
    taken = np.zeros(n, dtype=np.bool_)
    count = 0
    for g in range(n_groups):
        room = (len(chosen) - count) // (n_groups - g)
        begin = count
        top, bottom = -BIG, BIG
        for k in range(n):
            if groups[k] == g:
                top, bottom = max(top, up[k]), min(bottom, down[k])
        low, high = (bottom, top) if coupled else (0.0, 0.0)
        middle = 0.5 * (low + high)
        count = _largest(
            np.where(keep & (groups == g), np.abs(0.5 * (up + down) - middle), -1.0),
            0.0,
            room // 2,
            taken,
            chosen,
            count,
        )
        half = (room - (count - begin) + 1) // 2
        count = _largest(np.where(groups == g, up, -BIG), max(low, -0.5 * BIG), half, taken, chosen, count)
        rest = room - (count - begin)
        count = _largest(np.where(groups == g, -down, -BIG), max(-high, -0.5 * BIG), rest, taken, chosen, count)
        chosen[begin:count].sort()
        starts[g + 1] = count
    return chosen[:count], starts


@njit(cache=True, nogil=True, error_model="numpy")
def outlying(up, down, groups, offsets):
    """How far each variable violates the optimality conditions for given offsets; negative: how far it is from that. Both ends come first."""
    out = np.empty(len(up))
    for k in range(len(up)):
        b = offsets[groups[k]]
        out[k] = max(up[k] - b, b - down[k])
    for g in range(len(offsets)):
        top, bottom = -1, -1
        for k in range(len(up)):
            if groups[k] == g:
                top = k if top < 0 or up[k] > up[top] else top
                bottom = k if bottom < 0 or down[k] < down[bottom] else bottom
        if top >= 0:
            out[top] = out[bottom] = np.inf
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def entrants(up, down, groups, offsets, coupled, share, inside, most):
    """The worst violators that are not inside, in order of place: of each group and each end those that violate by ``share`` of its worst.

    An end is measured from the group's offset, or from the middle between both ends where that is nearer to the other end, so that no end is empty.
    """
    taken = inside.copy()
    chosen = np.empty(min(most, len(up)), dtype=np.int64)
    count = 0
    for g in range(len(offsets)):
        mine = groups == g
        room = (len(chosen) - count) // (len(offsets) - g)
        top, bottom = np.where(mine, up, -BIG).max(), np.where(mine, down, BIG).min()
        middle = 0.5 * (top + bottom) if coupled else 0.0
        low, high = min(offsets[g], middle), max(offsets[g], middle)
        begin = count
        count = _largest(
            np.where(mine, up, -BIG), low + share * max(top - low, 0.0), (room + 1) // 2, taken, chosen, count
        )
        rest = room - (count - begin)
        count = _largest(
            np.where(mine, -down, -BIG), share * max(high - bottom, 0.0) - high, rest, taken, chosen, count
        )
    return np.sort(chosen[:count])


@njit(cache=True, nogil=True, error_model="numpy")
def nearest(score, most):
    """The places of the ``most`` largest scores, in order."""
    taken = np.zeros(len(score), dtype=np.bool_)
    chosen = np.empty(min(most, len(score)), dtype=np.int64)
    count = _largest(score, -np.inf, len(chosen), taken, chosen, 0)
    return np.sort(chosen[:count])


@njit(cache=True, nogil=True, error_model="numpy")
def _largest(score, floor, most, taken, chosen, count):
    """Append the ``most`` largest scores from ``floor`` on that are not taken yet; returns the new count."""
    open_ = np.empty(len(score), dtype=np.int64)
    n = 0
    for k in range(len(score)):
        if not taken[k] and score[k] >= floor:
            open_[n] = k
            n += 1
    if most <= 0 or n == 0:
        return count
    values = score[open_[:n]]
    threshold = np.partition(values, n - most)[n - most] if most < n else -np.inf
    for strict in (True, False):
        for h in range(n):
            if most > 0 and (values[h] > threshold if strict else values[h] == threshold):
                taken[open_[h]] = True
                chosen[count] = open_[h]
                count += 1
                most -= 1
    return count
