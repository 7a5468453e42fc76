"""Sequential minimal optimisation: the dual by pairs of variables, chosen by the KKT conditions (Platt 1998; Fan, Chen & Lin 2005).

With a free intercept Σβ = 0 couples the variables, so that the least step moves a pair: βᵢ up and βⱼ down by the same amount. i is the largest
violation max over {β can rise} of ∂⁺ᵢ − fᵢ; j is, among those that can fall below it, the one whose step gains most, (vᵢ − vⱼ)²/η with
η = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ (``pairs="second_order"``), or the other end of the violation (``"maximal_violation"``). The step is exact. Without the
constraint one variable at a time is the least step, and the one that gains most is taken.

Kernel rows come from a cache of bounded size; f = Kβ is kept up to date in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.certificate import Point, feasible
from gapless.kernels import Linear, RowCache
from gapless.losses import DualEntropy
from gapless.losses.steps import bend, dual_of, dual_step, fall_slope, pair_step, rise_slope
from gapless.problem import Problem
from gapless.solvers.base import Solver, State, check_choice, check_positive, start_beta, whole_steps

PAIRS = ("second_order", "maximal_violation")
# A slope below this multiple of the rounding of f is noise: nothing is left to gain.
_NOISE = 8 * np.finfo(float).eps
# What a compiled loop returns in place of an index: the largest violation is noise, or it is at most the target.
_AT_NOISE, _AT_TARGET = -1, -2


@dataclass
class SmoState(State):
    """β, f = Kβ (s² included), the row cache, and how often f was recomputed from scratch."""

    beta: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    cache: RowCache = None  # type: ignore[assignment]
    refreshed: int = 0


@dataclass(frozen=True)
class SMO(Solver):
    """Two-variable decomposition of the dual. ``pairs``: ``"second_order"`` or ``"maximal_violation"``; ``cache_mb`` bounds the cached kernel rows.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1], C=10.0)
    >>> result = gl.solve(problem, SMO())
    >>> result.w.round(6), round(result.b, 6)
    (array([2.]), -3.0)
    """

    pairs: str = "second_order"
    cache_mb: float = 512.0
    name: ClassVar[str] = "smo"
    unit: ClassVar[str] = "pairs"
    max_iter: ClassVar[int] = 10_000_000

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, PAIRS)
        check_positive("cache_mb", self.cache_mb)

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SmoState:
        beta = (
            _first_in(problem) if problem.is_nu and start is None else feasible(problem, start_beta(problem, start))[0]
        )
        if isinstance(problem.dual, DualEntropy) and start is None:
            # The entropy's slope is infinite at the box: begin in the middle.
            beta = feasible(problem, 0.5 * (problem.dual.lower + problem.dual.upper))[0]
        kernel = Linear() if problem.kernel is None else problem.kernel
        room = max(int(self.cache_mb * 2**20), 2 * 8 * problem.n_samples)
        return SmoState(rng, beta=beta, f=_fresh_f(problem, beta), cache=RowCache(kernel, problem.X, room))

    def step(self, problem: Problem, state: SmoState) -> None:
        n = problem.n_samples
        budget = whole_steps(state, 4 * n)
        work = 0.0
        while budget > 0 and work < state.quantum:
            taken, i, j = self._advance(problem, state, budget)
            budget -= taken
            state.iterations += taken
            work += 4.0 * n * max(1, taken)
            if i < 0:
                state.ready = True
                if i == _AT_NOISE:  # on f as it was kept; f as it is may still tell something, but not for ever
                    state.f = _fresh_f(problem, state.beta)
                    state.refreshed += 1
                    state.done = state.refreshed > 3
                break
            if taken == 0 or budget > 0:
                misses = state.cache.misses
                state.cache.fetch(np.array([i, j]) if j >= 0 else np.array([i]))
                work += n * problem.entry_work * (state.cache.misses - misses)
        state.work += work

    def _advance(self, problem: Problem, state: SmoState, budget: int) -> tuple[int, int, int]:
        arguments = (
            problem.dual, problem.diagonal, state.cache.rows, state.cache.slot_of, budget, state.target, state.beta, state.f
        )  # fmt: skip
        if problem.intercept == "free":
            return _move_pairs(*arguments, problem.groups, len(problem.totals), self.pairs == "second_order")
        return _move_single(*arguments, problem.shift)

    def point(self, problem: Problem, state: SmoState) -> Point:
        return Point(beta=state.beta.copy())


def _first_in(problem: Problem) -> np.ndarray:
    """A point that meets the totals of a ν-form with few support vectors: each group's first samples at their bound."""
    beta = np.zeros(problem.n_samples)
    for g, total in enumerate(problem.totals):
        members = np.flatnonzero(problem.groups == g)
        reach = problem.cost[members]
        before = np.cumsum(reach) - reach
        beta[members] = np.sign(total) * np.clip(abs(total) - before, 0.0, reach)
    return feasible(problem, beta)[0]


def _fresh_f(problem: Problem, beta: np.ndarray) -> np.ndarray:
    return problem.expand(beta) + problem.shift * float(beta.sum())


@njit(cache=True, nogil=True, error_model="numpy")
def _move_pairs(dual, diagonal, rows, slot_of, budget, target, beta, f, groups, n_groups, second_order):
    """Up to ``budget`` pair steps; writes beta and f. Returns (steps taken, i, j).

    Stops early for a row that is not cached (i, and j once it is known, tell which) or with i < 0 where no pair violates more than noise or target.
    """
    n = len(beta)
    for taken in range(budget):
        if hasattr(dual, "cost"):
            i, low, top = _ends_by_gain(dual, diagonal, beta, f)
        else:
            i, low, top = _ends_by_violation(dual, target, beta, f, groups, n_groups)
        if i < 0 or low < 0:
            return taken, i, -1
        if slot_of[i] < 0:
            return taken, i, -1
        row_i = rows[slot_of[i]]
        j = low
        if second_order:
            best = -1.0
            bend_i = bend(dual, i, beta[i], True)
            for k in range(n):
                difference = top - (fall_slope(dual, k, beta[k]) - f[k])
                if difference > 0.0 and k != i and groups[k] == groups[i]:
                    eta = diagonal[i] + diagonal[k] - 2.0 * row_i[k]
                    eta = max(eta, 1e-12 * (diagonal[i] + diagonal[k])) + bend_i + bend(dual, k, beta[k], False)
                    gain = _gain(dual, k, difference, eta, beta[k], f[k] + top)
                    if gain > best:
                        best, j = gain, k
        if j == i:
            return taken, _AT_NOISE, -1
        if slot_of[j] < 0:
            return taken, i, j
        row_j = rows[slot_of[j]]
        eta = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], 1e-12 * (diagonal[i] + diagonal[j]))
        new_i, new_j = pair_step(dual, i, j, f[i], f[j], beta[i], beta[j], max(eta, 1e-300))
        change_i, change_j = new_i - beta[i], new_j - beta[j]
        if change_i == 0.0 and change_j == 0.0:
            return taken, _AT_NOISE, -1
        beta[i], beta[j] = new_i, new_j
        for k in range(n):
            f[k] += change_i * row_i[k] + change_j * row_j[k]
    return budget, 0, 0


@njit(cache=True, error_model="numpy", inline="always")
def _gain(dual, k, slope, curvature, beta, f):
    """What a step of βₖ gains, to second order, where f is its decision value.

    The slopes of the entropy are logarithms, large where there is no way to go: there the gain is at most the slope times the way to the β
    that f calls for.
    """
    gain = slope * slope / max(curvature, 1e-300)
    if hasattr(dual, "cost"):
        gain = min(gain, abs(slope * (dual_of(dual, k, f) - beta)))
    return gain


@njit(cache=True, error_model="numpy")
def _ends_by_violation(dual, target, beta, f, groups, n_groups):
    """(i, j, slope of i's rise): the two ends of the largest violation inside a group; i < 0 where it is noise, or at most the target."""
    best_i, best_j, best_top, best_violation = _AT_NOISE, -1, 0.0, 0.0
    for g in range(n_groups):
        i, j, top, bottom, size = -1, -1, -np.inf, np.inf, 0.0
        for k in range(len(beta)):
            if groups[k] == g:
                rise = rise_slope(dual, k, beta[k]) - f[k]
                fall = fall_slope(dual, k, beta[k]) - f[k]
                if rise > top:
                    i, top = k, rise
                if fall < bottom:
                    j, bottom = k, fall
                size = max(size, abs(f[k]))
        if i >= 0 and j >= 0 and top - bottom > max(best_violation, _NOISE * (1.0 + size)):
            best_i, best_j, best_top, best_violation = i, j, top, top - bottom
    if 0.0 < best_violation <= target:
        best_i = _AT_TARGET
    return best_i, best_j, best_top


@njit(cache=True, error_model="numpy")
def _ends_by_gain(dual, diagonal, beta, f):
    """The same for the entropy, whose slopes are logarithms and large where nothing is to gain: i and j gain most against a common level.

    The level (the intercept that the slopes suggest) is their mean, weighted by how far each can move.
    """
    n = len(beta)
    total, weight = 0.0, 0.0
    for k in range(n):
        if dual.cost[k] > 0.0:
            a = dual.y[k] * beta[k] / dual.cost[k]
            reach = dual.cost[k] * max(a * (1.0 - a), 1e-12)
            total += reach * (rise_slope(dual, k, beta[k]) - f[k])
            weight += reach
    level = total / weight
    i, j, up, down, size = -1, -1, 0.0, 0.0, 0.0
    for k in range(n):
        size = max(size, abs(f[k]))
        if dual.cost[k] > 0.0:
            slope = rise_slope(dual, k, beta[k]) - f[k] - level
            curvature = diagonal[k] + bend(dual, k, beta[k], slope > 0.0)
            gain = _gain(dual, k, slope, curvature, beta[k], f[k] + level)
            if slope > 0.0 and gain > up:
                i, up = k, gain
            if slope < 0.0 and gain > down:
                j, down = k, gain
    if i < 0 or j < 0 or up + down <= (_NOISE * (1.0 + size)) ** 2:
        return _AT_NOISE, -1, 0.0
    return i, j, rise_slope(dual, i, beta[i]) - f[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _move_single(dual, diagonal, rows, slot_of, budget, target, beta, f, shift):
    """Up to ``budget`` steps of the one variable that gains most; writes beta and f. Returns as ``_move_pairs``, with j = −1."""
    n = len(beta)
    for taken in range(budget):
        i, best, size, largest = _AT_NOISE, 0.0, 0.0, 0.0
        for k in range(n):
            size = max(size, abs(f[k]))
        for k in range(n):
            rise, fall = rise_slope(dual, k, beta[k]) - f[k], f[k] - fall_slope(dual, k, beta[k])
            violation = max(rise, fall)
            if violation > _NOISE * (1.0 + size):
                largest = max(largest, violation)
                curvature = diagonal[k] + bend(dual, k, beta[k], rise > fall)
                gain = _gain(dual, k, violation, curvature, beta[k], f[k])
                if gain > best:
                    i, best = k, gain
        if i >= 0 and largest <= target:
            i = _AT_TARGET
        if i < 0:
            return taken, i, -1
        if slot_of[i] < 0:
            return taken, i, -1
        new = dual_step(dual, i, f[i], beta[i], diagonal[i])
        change = new - beta[i]
        if change == 0.0:
            return taken, _AT_NOISE, -1
        beta[i] = new
        row = rows[slot_of[i]]
        for k in range(n):
            f[k] += change * (row[k] + shift)
    return budget, 0, 0
