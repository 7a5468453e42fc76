"""Sequential minimal optimisation in blocks: the dual by pairs of variables, chosen by the KKT conditions (Platt 1998; Fan, Chen & Lin 2005).

With a free intercept Σβ = 0 couples the variables, so that the least step moves a pair: βᵢ up and βⱼ down by the same amount. i is the largest
violation; j is, among those that can fall below it, the one whose step gains most, (vᵢ − vⱼ)²/η with η = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
(``pairs="second_order"``), or the other end of the violation (``"maximal_violation"``). Without the constraint one variable at a time moves.

Three levels keep the work where it pays. An active set of some thousands, whose kernel matrix is kept (``active_gram.py``), takes in the worst
violators of all samples at each round, and loses those that are farthest from violating; the dual is maximised over it, by blocks that fit a core's
cache (``blocks.py``, ``pairs.py``), and in the end, when hardly a variable meets a bound any more, by Newton's method (``face.py``); then what moved
is expanded to those samples outside that it may bring to violate (``laggards.py``), through panels that keep no kernel row (``kernels/panel.py``),
or to all of them through rows that are kept where an entry is costly (``kept_rows.py``). Equal samples are one variable. A large problem is solved on
growing random parts of it first, so that a round on all samples begins near the optimum.

Few samples, all of whose entries fit, need none of this (``whole.py``).

Kernel entries are float32 where there are many; f = Kβ is float64, and refreshed from scratch when its error could matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless.kernels import Linear, Panels
from gapless.losses import DualBox, DualEntropy, DualTerms
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.feasible import feasible
from gapless.solvers.base import Solver, State, check_choice, check_positive, start_beta, whole_steps
from gapless.solvers.smo.active_gram import ActiveGram
from gapless.solvers.smo.blocks import solve_active, survey
from gapless.solvers.smo.face import pays, solve_face
from gapless.solvers.smo.judge import own_gap
from gapless.solvers.smo.kept_rows import KeptRows
from gapless.solvers.smo.laggards import Laggards
from gapless.solvers.smo.samples import FEW, WHOLE, Samples, begin, both_ends, distinct
from gapless.solvers.smo.selection import entrants, nearest, outlying, violation
from gapless.solvers.smo.whole import climb

PAIRS = ("second_order", "maximal_violation")
_BLOCK = 512  # variables of a block: its kernel matrix is a MiB of float32
_ENTER = 2048  # samples that enter it in a round, at most
# Samples of the active set: few where there are few support vectors, most where many of them are free.
_LEAST, _MOST, _FULL = 2048, 6144, 8192
_FLOOR = 0.05  # and violate by at least this share of the largest violation
_TABLE = 4 * _MOST**2  # bytes of the active set's entries where rows are kept too: those get the rest
_LEVEL_GAP = 0.1  # the relative gap at which a part of the samples has taught enough
_PATIENCE = 50  # fresh starts after which a move no longer counts as progress
_MOST_STEPS = 200_000  # pairs of a round, so that an interruption is heard
_OFF = 4.0  # errors of f up to so many times their mean are expected
_NEAR = 10.0  # largest violations from violating, up to which f is refreshed
_LOOSE = 1e-4  # float32 entries farther off than this are not worth having
_ROUND = 0.1  # share of the violation that a round leaves in its active set
_FACED = 0.02  # the same for one with Newton steps
_SHARE = 0.1  # and a block in its own


@dataclass
class SmoState(State):
    """β and f = Kβ (s² included) of the distinct samples in the solver's order, and where they are among all samples."""

    samples: Samples = None  # type: ignore[assignment]
    which: np.ndarray = None  # type: ignore[assignment]
    portion: np.ndarray = None  # type: ignore[assignment]
    order: np.ndarray = None  # type: ignore[assignment]
    beta: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    panels: Panels = None  # type: ignore[assignment]
    active: ActiveGram = None  # type: ignore[assignment]
    rows: KeptRows | None = None
    late: Laggards = None  # type: ignore[assignment]
    reach: int = 0  # how many of the samples take part so far
    table: np.ndarray | None = None  # all entries, where they are few: β, f and panels are then all else that is set
    known: np.ndarray = None  # type: ignore[assignment]  # β for which f was computed in float64
    refreshed: int = 0  # how often f was computed from scratch since nothing moved on it
    stuck: int = 0  # the same, in a row
    asked: bool = False  # for a proof, and nothing moved since
    face: bool = False  # whether so few variables change bounds that Newton's method is worth its factorisation


@dataclass(frozen=True)
class SMO(Solver):
    """Two-variable decomposition of the dual, in blocks.

    ``pairs``: ``"second_order"`` or ``"maximal_violation"``; ``cache_mb`` bounds the kernel entries that are kept: those of the active set, which
    takes 151 MB for 6,144 samples and at most 268 MB, and of costly kernels the rows of support vectors. One table of up to 160 MB stays for the next
    solver of the process, since fresh memory is slow.

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
        beta = begin(problem) if start is None else feasible(problem, start_beta(problem, start))[0]
        kernel = Linear() if problem.kernel is None else problem.kernel
        if problem.n_samples <= FEW and 8 * problem.n_samples**2 <= self.cache_mb * 2**20:
            panels = Panels(kernel, problem.X, np.float64)
            table = panels.square(np.arange(panels.n))
            state = SmoState(rng, beta=beta, f=np.zeros(panels.n), panels=panels)
            state.table = table + problem.shift if problem.shift else table
            if beta.any():
                self._refresh(problem, state)
            return state
        samples, order, which, portion = distinct(problem, rng)
        n = len(order)
        rows = None if order is which else order
        panels = Panels(kernel, problem.X, np.float64 if n <= FEW else np.float32, rows)
        if n > FEW and panels.error > _LOOSE:
            panels = Panels(kernel, problem.X, np.float64, rows)
        state = SmoState(rng, samples=samples, order=order, which=which, portion=portion, panels=panels)
        state.beta = np.bincount(which, weights=beta, minlength=n)
        state.f = np.zeros(n)
        state.active = ActiveGram(panels, problem.shift, min(_MOST, self._most(panels)))
        state.late = Laggards(n)
        room = int((self.cache_mb * 2**20 - _TABLE) / (panels.dtype.itemsize * n))
        if n > 2 * WHOLE and panels.costly and room > 0:
            state.rows = KeptRows(panels, min(n, room))
        state.reach = n if beta.any() or n <= 4 * WHOLE or not both_ends(samples) else WHOLE
        self._refresh(problem, state, exact=False)
        return state

    def step(self, problem: Problem, state: SmoState) -> None:
        if state.table is None:
            self._advance(problem, state)
        else:
            self._climb(problem, state, state.table)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows shows in the certificate
    def _advance(self, problem: Problem, state: SmoState) -> None:
        """A round: choose, solve among the chosen, expand."""
        if state.asked:  # and the proof did not agree
            self._catch_up(problem, state, state.late.among(slice(state.reach)))
        samples = state.samples.first(state.reach)
        n, coupled, n_groups = state.reach, problem.intercept == "free", len(samples.totals)
        beta, f = state.beta[:n], state.f[:n]
        up, down = np.empty(n), np.empty(n)
        noise, worst = survey(samples.dual, samples.diagonal, beta, f, samples.groups, n_groups, coupled, up, down)
        state.work += 4.0 * n
        offsets, gap = _suggested(problem, samples, beta, f)
        levels = _levels(problem, samples, up, down, offsets)
        if n < len(state.beta):
            if gap <= _LEVEL_GAP or worst <= noise:
                self._grow(problem, state)
                return
        elif worst <= state.kkt_target and (worst if problem.is_hard else gap / 0.95) <= state.gap_target:
            if not state.asked:
                state.ready = state.asked = True
                return
            self._stalled(problem, state)  # the proof did not agree
            state.asked = False
            return
        elif 0.1 * worst < _OFF * state.panels.error * float(np.linalg.norm(state.beta - state.known)):
            slack = -outlying(up, down, samples.groups, levels)
            self._refresh(problem, state, np.flatnonzero(~(slack > _NEAR * worst)))
            return
        state.asked = False
        self._enter(problem, state, up, down, levels)
        self._catch_up(problem, state, state.late.among(state.active.ids))
        chosen, K = state.active.ids, state.active.table
        new, values, groups = beta[chosen], f[chosen], samples.groups[chosen]
        target = self._round(state, worst, violation(up[chosen], down[chosen], groups, n_groups, coupled), gap)
        part = type(samples.dual)(*(np.ascontiguousarray(vector[chosen]) for vector in samples.dual))
        taken = self._maximise(problem, state, part, samples.diagonal[chosen], K, groups, target, new, values)
        state.iterations += taken
        state.work += 4.0 * taken * min(len(chosen), _BLOCK)
        before, swing = state.beta.copy(), float(np.abs(values - f[chosen]).max(initial=0.0))
        beta[chosen], f[chosen] = new, values
        if not np.array_equal(before[:n], beta):
            if len(chosen) < n:
                # Where rows are kept, or slopes are no distances, all follow at once.
                at_once = state.rows is not None or isinstance(samples.dual, DualEntropy)
                state.late.record(before, np.inf if at_once else swing)
                state.late.settle(chosen)
                self._catch_up(problem, state, state.late.due(-outlying(up, down, samples.groups, levels)))
            state.stuck = 0 if state.refreshed < _PATIENCE else state.stuck
        else:
            state.ready = state.reach == len(state.beta)
            self._stalled(problem, state)

    def _maximise(
        self, problem: Problem, state: SmoState, part: DualTerms, diagonal: np.ndarray, K: np.ndarray, groups: np.ndarray, target: float,
        beta: np.ndarray, f: np.ndarray,
    ) -> int:  # fmt: skip
        """The dual among the active samples, to a violation of ``target``; writes beta and f, and returns the pairs that moved."""
        coupled, n_groups, moved = problem.intercept == "free", len(problem.totals), 0
        if state.face and isinstance(part, DualBox):
            moved = solve_face(part, diagonal, K, coupled, target, beta, f) // 2
        before = beta.copy()
        taken = solve_active(
            part, diagonal, K, groups, n_groups, coupled, self.pairs == "second_order", _BLOCK, target, _SHARE, self._steps(state), beta, f,
        )  # fmt: skip
        if taken and isinstance(part, DualBox) and n_groups == 1 and self.pairs == "second_order":
            room = self.cache_mb * 2**20 - K.nbytes if state.rows is None else 0.0  # rows have the room beyond
            state.face = pays(part, before, beta, taken, room)
        return moved + taken

    def _catch_up(self, problem: Problem, state: SmoState, late: np.ndarray) -> None:
        """f of these samples, up to β as it is."""
        for to, past in state.late.batches(late):
            change = state.beta - past
            moved = np.flatnonzero(change)
            self._expand(problem, state, moved, change[moved], to)

    def _climb(self, problem: Problem, state: SmoState, table: np.ndarray) -> None:
        """All entries are at hand: on until both targets are met."""
        n, coupled, steps = len(state.beta), problem.intercept == "free", whole_steps(state, 4 * len(state.beta))
        taken, state.ready = climb(
            problem.dual, problem.diagonal, table, problem.groups, problem.totals, coupled, self.pairs == "second_order",
            problem.is_hard, state.kkt_target, state.gap_target, state.asked, steps, state.beta, state.f,
        )  # fmt: skip
        state.asked = state.ready
        state.iterations += taken
        state.work += 4.0 * (taken + 1) * n + (0.0 if state.work else float(table.size) * problem.entry_work)
        if taken:
            state.stuck = 0 if state.refreshed < _PATIENCE else state.stuck
        elif not state.ready:
            state.ready = True
            self._stalled(problem, state)

    def _round(self, state: SmoState, worst: float, within: float, gap: float) -> float:
        """The violation that a round ends at: no less than what is asked for calls for."""
        wanted = min(state.kkt_target, worst * state.gap_target / max(gap, 1e-300), within)
        return max((_FACED if state.face else _ROUND) * within, 0.5 * wanted)

    def _stalled(self, problem: Problem, state: SmoState) -> None:
        """Nothing moves on f as it was kept; f as it is may still tell something, but not for ever."""
        if state.table is None and state.reach < len(state.beta):
            self._grow(problem, state)
            return
        self._refresh(problem, state)
        state.refreshed += 1
        state.stuck += 1
        state.done = state.stuck > 3

    def _steps(self, state: SmoState) -> int:
        if state.reach <= WHOLE:
            return whole_steps(state, 4 * min(state.reach, _BLOCK))
        return int(max(1, min(_MOST_STEPS, np.ceil(state.limit - state.iterations))))

    def _enter(self, problem: Problem, state: SmoState, up: np.ndarray, down: np.ndarray, offsets: np.ndarray) -> None:
        """The worst violators join the active set; those that are farthest from violating leave where it is full."""
        n, active = state.reach, state.active
        if len(active.ids) == len(state.beta):
            return
        limit = self._limit(state)
        groups, inside, m = state.samples.groups[:n], active.inside[:n], len(active.ids)
        if n <= min(WHOLE, limit):
            new = np.flatnonzero(~inside)
        else:
            most = max(2, min(_ENTER, limit // 2))
            new = entrants(up, down, groups, offsets, problem.intercept == "free", _FLOOR, inside, most)
        if m + len(new) > limit:  # more leave than need to, since that moves the entries of all who stay
            scores = outlying(up[active.ids], down[active.ids], groups[active.ids], offsets)
            active.keep(nearest(scores, max(limit // 4, limit - len(new) - limit // 4)))
        active.enter(new, limit)
        state.work += float(len(new)) * len(active.ids) * problem.entry_work

    def _limit(self, state: SmoState) -> int:
        """How many samples the active set may hold: all free support vectors, as far as there is room, and those that enter."""
        if state.panels.n <= _LEAST:
            return self._most(state.panels)
        box, beta = state.samples.dual, state.beta
        free = int(np.count_nonzero((box.lower < beta) & (beta < box.upper) & (beta != 0.0)))
        wanted = -(-(5 * free // 4 + _ENTER) // 1024) * 1024
        usual = min(_MOST, -(-(_BLOCK + 3 * int(np.count_nonzero(beta)) // 2) // 1024) * 1024)
        most = _FULL if state.rows is None else _MOST  # rows have the room beyond
        return min(self._most(state.panels), max(len(state.active.table), usual, min(wanted, most), _LEAST))

    def _most(self, panels: Panels) -> int:
        return max(2, min(panels.n, int(np.sqrt(self.cache_mb * 2**20 / panels.dtype.itemsize))))

    def _expand(
        self, problem: Problem, state: SmoState, moved: np.ndarray, change: np.ndarray, to: np.ndarray | slice
    ) -> None:
        if state.rows is not None:
            state.rows.expand(moved, change, state.f, to, state.reach)
        else:
            state.panels.expand(moved, change, state.f, to)
        if problem.shift:
            state.f[to] += problem.shift * float(change.sum())
        state.work += float(len(moved)) * len(state.f[to]) * problem.entry_work

    def _grow(self, problem: Problem, state: SmoState) -> None:
        """Twice as many samples take part."""
        begin, state.reach = state.reach, min(2 * state.reach, len(state.beta))
        support = np.flatnonzero(state.beta[:begin])
        self._expand(problem, state, support, state.beta[support], slice(begin, state.reach))
        state.late.settle(slice(begin, state.reach))

    def _refresh(self, problem: Problem, state: SmoState, near: np.ndarray | None = None, exact: bool = True) -> None:
        """f from scratch, in float64: of all samples, or of those that are near to violating."""
        if state.table is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                state.f[:] = state.table @ state.beta
            return
        support = np.flatnonzero(state.beta)
        state.known = np.zeros_like(state.beta)
        if near is None:
            state.f[:] = 0.0
            state.late.forget()
        if len(support) == 0:
            return
        if exact and state.panels.dtype == np.float32:
            beta, shift = self._all(state), problem.shift * float(state.beta.sum())
            if near is None:
                state.f[:] = problem.expand(beta)[state.order] + shift
            else:
                state.f[near] = problem.expand(beta, problem.X[state.order[near]]) + shift
                state.late.settle(near)
            state.known = state.beta.copy()
        else:
            self._expand(problem, state, support, state.beta[support], slice(None))

    def _all(self, state: SmoState) -> np.ndarray:
        if state.table is not None:
            return state.beta.copy()
        return state.beta[state.which] * state.portion

    def point(self, problem: Problem, state: SmoState) -> Point:
        return Point(beta=self._all(state))


def _suggested(problem: Problem, samples: Samples, beta: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, float]:
    """(best offsets, relative duality gap) that f as it is kept suggests; no proof."""
    offsets = np.zeros(len(samples.totals))
    if problem.is_hard:
        return offsets, np.inf
    coupled = problem.intercept == "free"
    gap, primal = own_gap(samples.dual, beta, f, samples.groups, samples.totals, coupled, offsets)
    return offsets, float(gap / max(abs(primal), np.finfo(float).tiny))


def _levels(problem: Problem, samples: Samples, up: np.ndarray, down: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The offsets against which samples violate: the best ones; the entropy's ends are relative already; a hard margin's are in the middle."""
    if isinstance(samples.dual, DualEntropy):
        return np.zeros_like(offsets)
    if not problem.is_hard or problem.intercept != "free":
        return offsets
    return np.array(
        [0.5 * (up[samples.groups == g].max() + down[samples.groups == g].min()) for g in range(len(offsets))]
    )
