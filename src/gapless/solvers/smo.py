"""Sequential minimal optimisation in blocks: the dual by pairs of variables, chosen by the KKT conditions (Platt 1998; Fan, Chen & Lin 2005).

With a free intercept Σβ = 0 couples the variables, so that the least step moves a pair: βᵢ up and βⱼ down by the same amount. i is the largest
violation; j is, among those that can fall below it, the one whose step gains most, (vᵢ − vⱼ)²/η with η = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
(``pairs="second_order"``), or the other end of the violation (``"maximal_violation"``). Without the constraint one variable at a time moves.

Three levels keep the work where it pays. A round takes the free variables and the worst violators among all samples, an active set of some
thousands, and computes their kernel matrix; the dual is maximised over them, by blocks that fit a core's cache (``blocks.py``); then what moved is
expanded to all samples, through panels that keep no kernel row (``kernels/panel.py``). Equal samples are one variable. A large problem is solved on
growing random parts of it first, so that a round on all samples begins near the optimum.

Kernel entries are float32 where there are many; f = Kβ is float64, and refreshed from scratch when its error could matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gapless.certificate import Point
from gapless.data.distinct import distinct_samples
from gapless.kernels import Linear, Panels
from gapless.losses import DualEntropy, DualTerms, Loss
from gapless.problem import Problem
from gapless.repair import feasible
from gapless.solvers.base import Solver, State, check_choice, check_positive, start_beta, whole_steps
from gapless.solvers.blocks import ends, solve_active, violation, working_set
from gapless.solvers.judge import own_gap

PAIRS = ("second_order", "maximal_violation")
_EXACT = 1200  # up to this many samples all kernel entries are kept, in float64
_BLOCK = 512  # variables of a block: its kernel matrix is a MiB of float32
_ACTIVE, _LEAST_ACTIVE = 4096, 1024  # variables of an active set: few where there are few support vectors
_LEVEL_GAP = 0.1  # the relative gap at which a part of the samples has taught enough
_PATIENCE = 50  # fresh starts after which a move no longer counts as progress
_MOST_STEPS = 200_000  # pairs of a round, so that an interruption is heard
_LOOSE = 1e-4  # float32 entries farther off than this are not worth having
_ROUND = 0.1  # share of the violation that a round leaves in its active set
_SHARE = 0.1  # and a block in its own


@dataclass(frozen=True)
class _Samples:
    """The samples as the solver sees them: the distinct ones, in its own order."""

    y: np.ndarray
    cost: np.ndarray
    groups: np.ndarray
    totals: np.ndarray
    loss: Loss
    dual: DualTerms
    diagonal: np.ndarray

    def first(self, n: int) -> _Samples:
        """The first n of them."""
        if n == len(self.y):
            return self
        dual = type(self.dual)(*(vector[:n] for vector in self.dual))
        return _Samples(self.y[:n], self.cost[:n], self.groups[:n], self.totals, self.loss, dual, self.diagonal[:n])


@dataclass
class SmoState(State):
    """β and f = Kβ (s² included) of the distinct samples in the solver's order, and where they are among all samples."""

    samples: _Samples = None  # type: ignore[assignment]
    which: np.ndarray = None  # type: ignore[assignment]
    portion: np.ndarray = None  # type: ignore[assignment]
    order: np.ndarray = None  # type: ignore[assignment]
    beta: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    panels: Panels = None  # type: ignore[assignment]
    room: np.ndarray | None = field(default=None, repr=False)
    gram: np.ndarray | None = field(default=None, repr=False)
    reach: int = 0  # how many of the samples take part so far
    drift: float = 0.0  # about how far f may be off
    refreshed: int = 0  # how often f was computed from scratch since nothing moved on it
    stuck: int = 0  # the same, in a row
    asked: bool = False  # for a proof, and nothing moved since


@dataclass(frozen=True)
class SMO(Solver):
    """Two-variable decomposition of the dual, in blocks.

    ``pairs``: ``"second_order"`` or ``"maximal_violation"``; ``cache_mb`` bounds the kernel entries that are kept, which is the size of an
    active set: 64 MB hold the largest there is, 4,096 samples in float32.

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
        samples, order, which, portion = _distinct(problem, rng)
        kernel = Linear() if problem.kernel is None else problem.kernel
        n = len(order)
        X = problem.X if len(order) == problem.n_samples and (np.diff(order) == 1).all() else problem.X[order]
        panels = Panels(kernel, X, np.float64 if n <= _EXACT else np.float32)
        if n > _EXACT and panels.error > _LOOSE:
            panels = Panels(kernel, X, np.float64)
        state = SmoState(rng, samples=samples, order=order, which=which, portion=portion, panels=panels)
        state.beta = np.bincount(which, weights=beta, minlength=n)
        state.f = np.zeros(n)
        state.reach = n if beta.any() or n <= 2 * _ACTIVE or not _both_ends(samples) else _ACTIVE // 2
        self._refresh(problem, state, exact=False)
        return state

    @np.errstate(over="ignore", invalid="ignore")  # what overflows shows in the certificate
    def step(self, problem: Problem, state: SmoState) -> None:
        """A round: choose, solve among the chosen, expand."""
        samples = state.samples.first(state.reach)
        n, coupled, n_groups = state.reach, problem.intercept == "free", len(samples.totals)
        beta, f = state.beta[:n], state.f[:n]
        up, down = np.empty(n), np.empty(n)
        noise = ends(samples.dual, samples.diagonal, beta, f, up, down)
        worst = violation(up, down, samples.groups, n_groups, coupled)
        state.work += 4.0 * n
        if n < len(state.beta):
            if _relative_gap(problem, samples, beta, f) <= _LEVEL_GAP or worst <= noise:
                self._grow(problem, state)
                return
        elif self._is_ready(problem, state, samples, worst):
            if not state.asked:
                state.ready = state.asked = True
                return
            if n > _EXACT:
                self._stalled(problem, state)  # the proof did not agree
                state.asked = False
                return
        elif 0.1 * worst < state.drift:
            self._refresh(problem, state)
            return
        state.asked = False
        whole = n <= self._active(state)
        if whole:
            chosen = np.arange(n)
            steps = whole_steps(state, 4 * min(n, _BLOCK))
        else:
            free = (samples.dual.lower < beta) & (beta < samples.dual.upper)
            size = min(self._active(state), max(_LEAST_ACTIVE, _BLOCK + 3 * int(np.count_nonzero(beta)) // 2))
            chosen, _ = working_set(up, down, free, samples.groups, n_groups, coupled, size)
            steps = int(max(1, min(_MOST_STEPS, np.ceil(state.limit - state.iterations))))
            worst = violation(up[chosen], down[chosen], samples.groups[chosen], n_groups, coupled)
        K = self._square(problem, state, chosen, whole)
        new, values = beta[chosen], f[chosen]
        part = type(samples.dual)(*(np.ascontiguousarray(vector[chosen]) for vector in samples.dual))
        taken = solve_active(
            part, samples.diagonal[chosen], K, samples.groups[chosen], n_groups, coupled, self.pairs == "second_order",
            n if n <= _EXACT else _BLOCK, self._round(state, worst, n), _SHARE, steps, new, values,
        )  # fmt: skip
        state.iterations += taken
        state.work += 4.0 * taken * min(len(chosen), _BLOCK)
        change = new - beta[chosen]
        moved = np.flatnonzero(change)
        beta[chosen] = new
        if whole:
            f[:] = values
            state.drift += float(state.panels.dtype == np.float32) * state.panels.error * float(np.linalg.norm(change))
        elif len(moved):
            self._expand(problem, state, chosen[moved], change[moved], 0, n)
        if len(moved) == 0:
            state.ready = state.reach == len(state.beta)
            self._stalled(problem, state)
        elif state.refreshed < _PATIENCE:
            state.stuck = 0

    def _round(self, state: SmoState, worst: float, n: int) -> float:
        """The violation that a round ends at: with all entries at hand, in float64, the one that is asked for."""
        return state.kkt_target if n <= _EXACT and state.kkt_target < worst else _ROUND * worst

    def _stalled(self, problem: Problem, state: SmoState) -> None:
        """Nothing moves on f as it was kept; f as it is may still tell something, but not for ever."""
        if state.reach < len(state.beta):
            self._grow(problem, state)
            return
        self._refresh(problem, state)
        state.refreshed += 1
        state.stuck += 1
        state.done = state.stuck > 3

    def _is_ready(self, problem: Problem, state: SmoState, samples: _Samples, worst: float) -> bool:
        if worst > state.kkt_target:
            return False
        if problem.is_hard:
            return worst <= state.gap_target
        return _relative_gap(problem, samples, state.beta, state.f) <= 0.95 * state.gap_target

    def _active(self, state: SmoState) -> int:
        return max(2, min(_ACTIVE, int(np.sqrt(self.cache_mb * 2**20 / state.panels.dtype.itemsize))))

    def _square(self, problem: Problem, state: SmoState, chosen: np.ndarray, whole: bool) -> np.ndarray:
        if state.gram is not None and whole and len(state.gram) == len(chosen):
            return state.gram
        m = len(chosen)
        if state.room is None or len(state.room) < m * m:
            state.room = np.empty(m * m, dtype=state.panels.dtype)
        room = state.room[: m * m].reshape(m, m)
        K = state.panels.square(chosen, room)
        if problem.shift:
            K = np.add(K, K.dtype.type(problem.shift), out=room)
        state.gram = K if whole else None
        state.work += float(m) * m * problem.entry_work
        return K

    def _expand(
        self, problem: Problem, state: SmoState, moved: np.ndarray, change: np.ndarray, begin: int, end: int
    ) -> None:
        state.panels.expand(moved, change, state.f, begin, end)
        if problem.shift:
            state.f[begin:end] += problem.shift * float(change.sum())
        state.drift += float(state.panels.dtype == np.float32) * state.panels.error * float(np.linalg.norm(change))
        state.work += float(len(moved)) * (end - begin) * problem.entry_work

    def _grow(self, problem: Problem, state: SmoState) -> None:
        """Twice as many samples take part."""
        begin, end = state.reach, min(2 * state.reach, len(state.beta))
        support = np.flatnonzero(state.beta[:begin])
        drift = state.drift
        self._expand(problem, state, support, state.beta[support], begin, end)
        state.drift = max(drift, state.drift - drift)
        state.reach = end
        state.gram = None

    def _refresh(self, problem: Problem, state: SmoState, exact: bool = True) -> None:
        """f from scratch, in float64."""
        support = np.flatnonzero(state.beta)
        state.f[:] = 0.0
        state.drift = 0.0
        if len(support) == 0:
            return
        if exact and state.panels.dtype == np.float32:
            full = problem.expand(self._all(state)) + problem.shift * float(state.beta.sum())
            state.f[:] = full[state.order]
        else:
            self._expand(problem, state, support, state.beta[support], 0, len(state.beta))

    def _all(self, state: SmoState) -> np.ndarray:
        return state.beta[state.which] * state.portion

    def point(self, problem: Problem, state: SmoState) -> Point:
        return Point(beta=self._all(state))


def _relative_gap(problem: Problem, samples: _Samples, beta: np.ndarray, f: np.ndarray) -> float:
    """The relative duality gap that f as it is kept suggests; no proof."""
    gap, primal = own_gap(samples.dual, beta, f, samples.groups, samples.totals, problem.intercept == "free")
    return float(gap / max(abs(primal), np.finfo(float).tiny))


def _distinct(problem: Problem, rng: np.random.Generator) -> tuple[_Samples, np.ndarray, np.ndarray, np.ndarray]:
    """(distinct samples, where each was, which of them each sample is, and its portion of that one's β).

    Where there are many they come in random order, so that the first of them are like the rest.
    """
    n = problem.n_samples
    which, portion, first = np.arange(n), np.ones(n), np.arange(n)
    if n > _EXACT and not problem.is_hard:
        first, which = distinct_samples(problem.rows, np.asarray(problem.y), np.asarray(problem.groups))
    cost, order = np.asarray(problem.cost), first
    if len(first) < n:
        cost = np.bincount(which, weights=problem.cost, minlength=len(first))
        portion = np.divide(problem.cost, cost[which], out=np.zeros(n), where=cost[which] > 0)
    if len(first) > 2 * _ACTIVE:
        shuffled = rng.permutation(len(first))
        place = np.empty(len(first), dtype=np.int64)
        place[shuffled] = np.arange(len(first))
        order, which, cost = first[shuffled], place[which], cost[shuffled]
    if order is first and len(first) == n:
        return (
            _Samples(problem.y, problem.cost, problem.groups, problem.totals, problem.loss, problem.dual, problem.diagonal),
            order, which, portion,
        )  # fmt: skip
    y = np.asarray(problem.y)[order]
    dual = problem.loss.dual_box(y, cost)
    return (
        _Samples(y, cost, problem.groups[order], problem.totals, problem.loss, dual, problem.diagonal[order]),
        order, which, portion,
    )  # fmt: skip


def _both_ends(samples: _Samples) -> bool:
    """Whether a part of the samples is a problem of its own: one group, and no total to reach."""
    return not samples.totals.any()


def _first_in(problem: Problem) -> np.ndarray:
    """A point that meets the totals of a ν-form with few support vectors: each group's first samples at their bound."""
    beta = np.zeros(problem.n_samples)
    for g, total in enumerate(problem.totals):
        members = np.flatnonzero(problem.groups == g)
        reach = problem.cost[members]
        before = np.cumsum(reach) - reach
        beta[members] = np.sign(total) * np.clip(abs(total) - before, 0.0, reach)
    return feasible(problem, beta)[0]
