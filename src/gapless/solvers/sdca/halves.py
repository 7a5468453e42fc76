"""Epochs of coordinate ascent on two threads, each with half of the visits and a copy of w of its own (Jaggi et al. 2014, CoCoA).

After each round the two changes are added with the exact step η = argmax over [0, 1] of D(β + η(Δβ₁ + Δβ₂)), so that the dual rises whatever the
halves have in common. The halves are the same on any machine, one core or many: the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from gapless.data.second_thread import second_thread
from gapless.solvers.sdca.sweep import (
    ACTIVE,
    DUAL,
    GAP,
    LARGEST,
    LENGTH,
    OFFSET,
    POSITION,
    READY,
    TOTAL,
    Epoch,
    _finish,
    _order,
    sweep,
)

# Stored entries of the active rows from which a second thread pays, and entries between two merges for each number that a merge touches.
LEAST_ENTRIES = 2e7
_ENTRIES_A_NUMBER = 6.0


def advance_in_halves(
    values: Any,
    indices: Any,
    indptr: Any,
    dual: Any,
    q: Any,
    inverse: Any,
    shift: float,
    epoch: Epoch,
    entries: float,
    visits: int,
    target: float,
) -> int:
    """What :func:`gapless.solvers.sdca.sweep.advance` does, on two threads; stops where too few rows are left for them."""
    counts, made = epoch.counts, 0
    others = [np.empty_like(epoch.w) for _ in range(2)]
    counts[READY] = 0
    pool = second_thread()
    while made < visits:
        if counts[POSITION] == counts[LENGTH]:
            if made and counts[ACTIVE] * entries < LEAST_ENTRIES:
                break
            _order(epoch)
        piece = int(max(1024.0, _ENTRIES_A_NUMBER * (len(epoch.w) + 1) / entries))
        stop = int(min(counts[LENGTH], counts[POSITION] + min(piece, visits - made)))
        visit = epoch.visit[counts[POSITION] : stop]
        middle = len(visit) // 2
        parts = visit[:middle], visit[middle:]
        old = epoch.beta[visit]
        sums = [epoch.numbers.copy() for _ in range(2)]
        for part in sums:
            part[GAP] = part[DUAL] = 0.0
        tasks = [
            (
                values,
                indices,
                indptr,
                dual,
                q,
                inverse,
                shift,
                parts[k],
                epoch.beta,
                others[k],
                sums[k],
                epoch.gone,
                epoch.w,
            )
            for k in range(2)
        ]
        second = pool.submit(_sweep_copy, *tasks[1])
        try:
            _sweep_copy(*tasks[0])
        finally:
            second.result()  # nobody writes into the epoch after an interruption
        _merge(dual, shift, epoch, visit, old, others[0], others[1], sums[0], sums[1])
        made += len(visit)
        counts[POSITION] = stop
        if stop == counts[LENGTH]:
            _finish(epoch, shift, target)
            if counts[READY] == 1:
                break
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep_copy(values, indices, indptr, dual, q, inverse, shift, visit, beta, own, numbers, gone, w):
    own[:] = w
    sweep(values, indices, indptr, dual, q, inverse, shift, visit, beta, own, numbers, gone)


@njit(cache=True, nogil=True, error_model="numpy")
def _merge(dual, shift, epoch, visit, old, first, second, a, b):
    """Add both halves' changes with the exact step; |β| is replaced by its chord, which bounds it, so that the dual rises at least as reckoned."""
    beta, w, numbers = epoch.beta, epoch.w, epoch.numbers
    linear, square, moved = 0.0, 0.0, 0.0
    for k in range(len(visit)):
        i = np.int64(visit[k])
        change = beta[i] - old[k]
        if change != 0.0:
            moved += change
            linear += change * (dual.p[i] - dual.d[i] * old[k]) - dual.epsilon[i] * (abs(beta[i]) - abs(old[k]))
            square += dual.d[i] * change * change
    linear -= numbers[OFFSET] * moved
    square += shift * moved * moved
    for j in range(len(w)):
        change = (first[j] - w[j]) + (second[j] - w[j])
        first[j] = change
        linear -= w[j] * change
        square += change * change
    step = 1.0 if linear >= square else max(0.0, linear / square)
    for j in range(len(w)):
        w[j] += step * first[j]
    if step < 1.0:
        for k in range(len(visit)):
            i = np.int64(visit[k])
            beta[i] = old[k] + step * (beta[i] - old[k])
    numbers[OFFSET] += step * shift * moved
    numbers[TOTAL] += step * moved
    numbers[DUAL] += step * linear - 0.5 * step * step * square
    numbers[GAP] += a[GAP] + b[GAP]
    numbers[LARGEST] = max(a[LARGEST], b[LARGEST])
