"""SMO where all kernel entries are at hand in float64: few samples, and one compiled call that ends where the solver knows both criteria to hold."""

from __future__ import annotations

import numpy as np
from numba import njit

from gapless.kernels.tiles import picked
from gapless.solvers.smo.blocks import solve_active, solve_block, survey
from gapless.solvers.smo.judge import own_gap

_ROUND = 0.1  # share of the violation that a further round leaves, at least
_TINY = np.finfo(float).tiny


@njit(cache=True, nogil=True, error_model="numpy")
def climb(
    dual, diagonal, K, groups, totals, coupled, second_order, hard, kkt_target, gap_target, further, max_steps, beta, f
):  # fmt: skip
    """Maximise the dual until violation and relative gap, as f tells them, are at their targets; writes beta and f.

    ``further`` asks for progress even where they are. Returns the steps taken and whether the targets are met.
    """
    n, n_groups = len(beta), len(totals)
    up, down, offsets, starts = np.empty(n), np.empty(n), np.zeros(n_groups), np.array([0, n])
    steps, taken = 0, 1
    while True:
        noise, worst = survey(dual, diagonal, beta, f, groups, n_groups, coupled, up, down)
        target = kkt_target
        if worst <= kkt_target:
            gap = worst
            if not hard:
                difference, primal = own_gap(dual, beta, f, groups, totals, coupled, offsets)
                gap = difference / (0.95 * max(abs(primal), _TINY))
            if gap <= gap_target and not (further and steps == 0):
                return steps, True
            target = max(_ROUND * worst, 0.5 * min(min(kkt_target, worst), worst * gap_target / max(gap, 1e-300)))
        if taken == 0 or steps >= max_steps or worst <= (noise * noise if hasattr(dual, "cost") else noise):
            return steps, False
        if n_groups == 1:
            budget = min(max_steps - steps, max(1000, 10 * n))
            taken = solve_block(dual, diagonal, K, starts, coupled, second_order, target, budget, beta, f)
        else:
            taken = solve_active(
                dual, diagonal, K, groups, n_groups, coupled, second_order, n, target, 0.2, max_steps - steps, beta, f
            )  # fmt: skip
        steps += taken


@njit(cache=True, nogil=True, error_model="numpy")
def climb_table(gram, places, dual, groups, totals, second_order, kkt_target, gap_target, max_steps):
    """``climb`` from zero, for samples of a Gram matrix with a free intercept: (β, steps, whether the targets are met)."""
    n, whole = len(places), len(places) == len(gram)
    for k in range(n):
        whole = whole and places[k] == k
    K = gram if whole else picked(gram, places, np.empty((n, n)))
    diagonal, beta, f = np.empty(n), np.zeros(n), np.zeros(n)
    for k in range(n):
        diagonal[k] = K[k, k]
    steps, met = climb(
        dual, diagonal, K, groups, totals, True, second_order, False, kkt_target, gap_target, False, max_steps, beta, f
    )  # fmt: skip
    return beta, steps, met
