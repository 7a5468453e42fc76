"""A solver's own view of its gap, compiled: from β and f = Kβ as it keeps them, and from nothing that the certificate computes.

The loss of a sample is the conjugate of its dual term, c ℓ(y, v) = max over t of h(t) − v t, so that P − D is the sum of what each β falls short of
its own maximum. The t at which it is reached fall as v = f + b rises, and the best b of a group is where they add up to its total.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gapless.losses.steps import dual_of

_HALVINGS = 60
_FAR = 50.0  # from where on the entropy calls for nothing


@njit(cache=True, nogil=True, error_model="numpy")
def own_gap(dual, beta, f, groups, totals, coupled, offsets):
    """(P − D, P), with the best offset of each group, which are written to ``offsets``, where they are free."""
    gap, value, square = 0.0, 0.0, 0.0
    for g in range(len(totals)):
        b = _best_offset(dual, f, groups, g, totals[g]) if coupled else 0.0
        offsets[g] = b
        for k in range(len(beta)):
            if groups[k] == g:
                level, term = f[k] + b, _term(dual, k, beta[k])
                called = _called(dual, k, level)
                gap += (_term(dual, k, called) - level * called) - (term - level * beta[k])
                value += term
                square += beta[k] * f[k]
    return gap, gap + value - 0.5 * square


@njit(cache=True, nogil=True, error_model="numpy")
def _best_offset(dual, f, groups, g, total):
    low, high = np.inf, -np.inf
    for k in range(len(f)):
        if groups[k] == g:
            if hasattr(dual, "cost"):
                low, high = min(low, -f[k] - _FAR), max(high, _FAR - f[k])
            else:
                low, high = min(low, dual.p[k] - f[k] - dual.epsilon[k]), max(high, dual.p[k] - f[k] + dual.epsilon[k])
    open_, settled = np.flatnonzero(groups == g), -total
    count = len(open_)
    for _ in range(_HALVINGS):
        b = 0.5 * (low + high)
        if not low < b < high:
            break
        surplus = settled
        for k in open_[:count]:
            surplus += _called(dual, k, f[k] + b)
        if surplus == 0.0:
            return b
        low, high = (b, high) if surplus > 0.0 else (low, b)
        left = 0
        for k in open_[:count]:  # what calls for the same at both ends does so between them
            called = _called(dual, k, f[k] + low)
            if called == _called(dual, k, f[k] + high):
                settled += called
            else:
                open_[left] = k
                left += 1
        count = left
    return 0.5 * (low + high)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _called(dual, k, v):
    """The β that a decision value calls for."""
    if hasattr(dual, "cost"):
        return dual_of(dual, k, v) if dual.cost[k] > 0.0 else 0.0
    else:
        return _of_box(dual.p[k] - v, dual.epsilon[k], dual.d[k], dual.lower[k], dual.upper[k])


@njit(cache=True, nogil=True, error_model="numpy")
def _of_box(slope, epsilon, d, lower, upper):
    rest = max(slope - epsilon, 0.0) + min(slope + epsilon, 0.0)
    if d > 0.0:
        return min(max(rest / d, lower), upper)
    return upper if rest > 0.0 else lower if rest < 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _term(dual, k, beta):
    """A sample's own part of the dual, h(β)."""
    if hasattr(dual, "cost"):
        if dual.cost[k] == 0.0:
            return 0.0
        a = min(max(dual.y[k] * beta / dual.cost[k], 0.0), 1.0)
        return -dual.cost[k] * (_xlogx(a) + _xlogx(1.0 - a))
    else:
        return dual.p[k] * beta - dual.epsilon[k] * abs(beta) - 0.5 * dual.d[k] * beta * beta


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _xlogx(a):
    return a * np.log(a) if a > 0.0 else 0.0
