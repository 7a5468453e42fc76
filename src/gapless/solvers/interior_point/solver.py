"""An interior-point method for linear models with few features and many samples, from both ends: by leaving out, and to the last digit.

For the hinge and the ε-insensitive loss all but about d samples end at a bound of their box, and a model trained on a sample of the data already
tells which bound for most. So the barrier method (``mehrotra.py``) sees few rows:

1. it solves for a random sample, roughly; rows of high leverage, those with a rare feature say, are drawn more often, and cost less;
2. the rows near a kink of the loss under that model, the band, enter as they are, all others as one constant vector g = Σ βᵢxᵢ at their bounds.
   Near is relative to the row's leverage, with which the sampling error of its decision grows;
3. now and then a pass over the data finds the rows outside that are on the wrong side by now. They come in, until there are none.

Each solve ends in an active-set method (``active_set.py``), which is exact. Portnoy & Koenker (1997) do this for quantile regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.data import require_memory
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, refuse_kernel, start_beta, start_weights
from gapless.solvers.interior_point.active_set import fenchel_gap, pin
from gapless.solvers.interior_point.mehrotra import Barrier, Halves, halves_of, weighted_gram
from gapless.solvers.newton.row_sampling import (
    band_size,
    box_of,
    decisions,
    draw,
    gather,
    least_squares,
    leverage,
    part_size,
    refuse_smooth,
    ridge,
    spread,
)
from gapless.solvers.newton.two_threads import times, transposed_times

_ROUGH = 1e-2  # relative gap to which a sample is solved: what sampling costs is of that size
_SURE = 0.3  # share of the target that a part's own gap may take
_LOOK = 1e-2  # relative gap of a part from which the rows outside are looked at
_AGAIN = 10.0  # times the present μ: with which a barrier begins anew where rows came in
_WAIT = 8  # steps after which they are looked at all the same: a part without the rows that hold it may run away
_MANY = 1000  # columns, or the root of entries, from which memory is asked for: asking takes as long as a step
_PIN = 1e-5  # relative gap from which the active set is worth a guess, then wherever it has fallen to a thirtieth


@dataclass
class InteriorState(State):
    """The model (w, b), its decisions and the dual point of all samples; the rows of the current part, its barrier and what the rest adds."""

    w: np.ndarray = None  # type: ignore[assignment]  # the best of all samples so far, with the intercept as its last entry
    f: np.ndarray | None = None
    beta: np.ndarray = None  # type: ignore[assignment]
    size: int = 0  # rows of a new part
    rows: np.ndarray | None = None  # None: all
    sampled: bool = False
    barrier: Barrier | None = None
    dual: DualBox = None  # type: ignore[assignment]  # that of the part
    buffer: np.ndarray = None  # type: ignore[assignment]
    leverage: np.ndarray = None  # type: ignore[assignment]  # Σⱼ xᵢⱼ² / Σₖ xₖⱼ², plus as much for all rows alike
    pinned: np.ndarray | None = None  # w of the active set's exact end
    next_pin: float = _PIN
    next_look: float = _LOOK  # likewise, for a look at the rows outside
    looked: float = 0.0  # when that was last
    length: float = 1.0  # the size of residuals
    width: float = 1.0  # with which a barrier begins


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Mehrotra's predictor–corrector method on the (d+1)×(d+1) system, on the rows that matter, and an active-set end.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> gl.solve(problem, InteriorPoint()).w.round(6)
    array([2.])
    """

    name: ClassVar[str] = "interior_point"
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 500

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_smooth(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> InteriorState:
        n, columns = problem.n_samples, problem.n_features + (problem.intercept != "none")
        if columns > _MANY:
            require_memory(
                8 * columns * columns * 4,
                f"{self.name} factors a matrix of the features: {columns:,} x {columns:,} in float64, which",
            )
        state = InteriorState(rng, beta=start_beta(problem, start), w=np.zeros(columns))
        w, b = start_weights(problem, start)
        state.w[: problem.n_features] = w
        if problem.intercept != "none":
            state.w[-1] = b
        state.length = spread(problem)
        state.size = band_size(n, columns)
        return state

    def step(self, problem: Problem, state: InteriorState) -> None:
        end = state.work + state.quantum
        while True:
            self._iterate(problem, state)
            if state.done or state.ready or state.work >= end or state.iterations >= state.limit:
                break

    def _iterate(self, problem: Problem, state: InteriorState) -> None:
        if state.barrier is None:
            self._open(problem, state)
        barrier = state.barrier
        assert barrier is not None
        goal = max(_ROUGH, 0.1 * state.target) if state.sampled else _SURE * state.target
        if state.pinned is None and not barrier.stuck and barrier.share > goal:
            barrier.iterate()
            state.work += barrier.A.size * 6.0
            share = barrier.share
            late = state.iterations - state.looked >= _WAIT and share > _LOOK
            if state.holds and not state.sampled and (share <= state.next_look or late):
                state.next_look, state.looked = 0.03 * share, state.iterations
                barrier = self._look(problem, state, barrier.w, decisions(problem, barrier.w)) or barrier
            if not state.sampled and barrier.share <= state.next_pin:
                state.next_pin = barrier.share / 30.0
                self._pin(state, barrier.f, barrier.beta, barrier.w, goal)
        if state.pinned is not None or barrier.stuck or barrier.share <= goal:
            self._close(problem, state)
        state.iterations += 1

    def point(self, problem: Problem, state: InteriorState) -> Point:
        d, w = problem.n_features, state.w
        if state.f is None and (state.barrier is None or state.sampled):
            return Point(beta=state.beta.copy()) if state.beta.any() else Point()
        if state.barrier is not None:
            w = state.barrier.w if state.pinned is None else state.pinned
            if state.pinned is None:
                state.beta[_all(state.rows)] = state.barrier.beta
        return Point(beta=state.beta.copy(), w=w[:d].copy(), b=float(w[d]) if len(w) > d else 0.0)

    # --- the parts

    def _open(self, problem: Problem, state: InteriorState) -> None:
        """Choose the rows of the next part and put them together."""
        n, d = problem.X.shape
        reduces = 2 * state.size < n
        fresh = state.f is None and not state.w.any()
        state.sampled = reduces and fresh
        state.holds = reduces
        if reduces and state.leverage is None:
            state.leverage = leverage(problem)
            state.work += 2.0 * n * problem.entry_work
        factor: float | np.ndarray = 1.0
        constant, g = 0.0, np.zeros(len(state.w))
        state.width = 3.0 * state.length
        if state.sampled:
            state.rows, factor = draw(state.leverage, part_size(n, len(state.w)) // 2, state.rng)
        elif reduces:
            if state.f is None:
                state.f = decisions(problem, state.w)
            distance = _survey(box_of(problem), state.f, state.beta) / np.sqrt(state.leverage)
            state.rows = np.sort(np.argpartition(distance, state.size)[: state.size])
            state.width = float(distance[state.rows].max()) * float(np.sqrt(np.median(state.leverage)))
            band = state.beta[state.rows]
            state.beta[state.rows] = 0.0
            g[:d] = problem.weights(state.beta)
            g[d:] = state.beta.sum()
            constant = float(box_of(problem).p @ state.beta - box_of(problem).epsilon @ np.abs(state.beta))
            state.beta[state.rows] = band
            state.work += 2.0 * n * problem.entry_work
        else:
            state.rows = None
        A = self._rows(problem, state, np.arange(n) if state.rows is None else state.rows)
        rho, halves = ridge(problem), halves_of(box_of(problem), _all(state.rows), factor)
        if fresh:
            p, price = box_of(problem).p[_all(state.rows)], halves.price.max(axis=0)
            moment = transposed_times(A, price * p)
            state.w, state.width = least_squares(weighted_gram(A, price), moment, partial(times, A), rho, p)
        self._begin(problem, state, A, rho, g, halves, constant)

    def _begin(
        self,
        problem: Problem,
        state: InteriorState,
        A: np.ndarray,
        rho: np.ndarray,
        g: np.ndarray,
        halves: Halves,
        constant: float,
    ) -> Barrier:
        state.dual = DualBox(*(v[_all(state.rows)] for v in box_of(problem)))
        barrier = state.barrier = Barrier.start(A, rho, g, halves, constant, state.w, state.width)
        state.work += 3.0 * A.size
        state.pinned, state.next_pin, state.next_look, state.looked = None, _PIN, _LOOK, state.iterations
        return barrier

    def _rows(self, problem: Problem, state: InteriorState, rows: np.ndarray, after: int = 0) -> np.ndarray:
        """Rows as a dense matrix, below those that are there, in a buffer that all parts share."""
        count, columns = after + len(rows), len(state.w)
        if state.buffer is None or len(state.buffer) < count:
            room = min(problem.n_samples, max(2 * after, int(1.2 * max(count, state.size))))
            if room * columns > _MANY**2:
                require_memory(
                    8 * room * columns, f"{self.name} holds {room:,} rows of {columns:,} entries in float64, which"
                )
            grown = np.empty((room, columns))
            if after:
                grown[:after] = state.buffer[:after]
            state.buffer = grown
        gather(problem.rows, rows, problem.n_features, state.buffer[after:count])
        return state.buffer[:count]

    def _pin(self, state: InteriorState, f: np.ndarray, beta: np.ndarray, w: np.ndarray, goal: float) -> None:
        """Guess the active set; keep the end that it leads to where that is one."""
        barrier = state.barrier
        assert barrier is not None
        found = pin(barrier.A, barrier.rho, barrier.g, state.dual, f, beta, w, state.length)
        state.work += 4.0 * barrier.A.size
        if found is not None and found.gap <= max(goal, 1e-13) * abs(barrier.value):
            state.pinned = found.w
            state.beta[_all(state.rows)] = found.beta

    def _close(self, problem: Problem, state: InteriorState) -> None:
        """The part is solved: see what its model is worth for all samples, and who is on the wrong side."""
        barrier = state.barrier
        assert barrier is not None
        w = barrier.w.copy() if state.pinned is None else state.pinned
        if not state.sampled and state.pinned is None:
            state.beta[_all(state.rows)] = barrier.beta
        if state.rows is None:
            state.ready, state.w = True, w
            state.done = state.pinned is not None or barrier.stuck
            return
        f = decisions(problem, w)
        state.work += problem.n_samples * problem.entry_work
        if state.sampled:
            state.w, state.f, state.rows, state.barrier = w, f, None, None
            return
        gap = float(fenchel_gap(box_of(problem), f, state.beta))
        state.ready = gap <= state.target * abs(barrier.value)
        if state.ready:
            return
        if self._look(problem, state, w, f) is None:
            state.done = state.pinned is not None or barrier.stuck
            state.target *= 0.1

    def _look(self, problem: Problem, state: InteriorState, w: np.ndarray, f: np.ndarray) -> Barrier | None:
        """Let the rows outside that are on the wrong side of their kink come in, and begin anew between the best and the new model."""
        barrier, present = state.barrier, state.rows
        assert barrier is not None and present is not None
        state.work += problem.n_samples * problem.entry_work
        wrong = _wrong_side(box_of(problem), f, state.beta)
        wrong[present] = False
        others = np.flatnonzero(wrong)
        if not len(others):
            return None
        A = self._rows(problem, state, others, len(present))
        beta = state.beta[others]
        g = barrier.g - A[len(present) :].T @ beta
        constant = barrier.constant - float(
            box_of(problem).p[others] @ beta - box_of(problem).epsilon[others] @ np.abs(beta)
        )
        _move(box_of(problem), state, barrier.rho, w, f)
        state.width = min(state.width, _AGAIN * barrier.mu)
        state.rows = np.concatenate([present, others])
        return self._begin(problem, state, A, barrier.rho, g, halves_of(box_of(problem), state.rows), constant)


def _all(rows: np.ndarray | None) -> np.ndarray | slice:
    return slice(None) if rows is None else rows


def _move(dual: DualBox, state: InteriorState, rho: np.ndarray, w: np.ndarray, f: np.ndarray) -> None:
    """From the best model to the lowest point on the way to a new one, found by halving: its decisions need no pass over the data."""
    dw, df = w - state.w, f - state.f
    low, high = 0.0, 2.0
    for _ in range(6):
        t = 0.5 * (low + high)
        if float((rho * (state.w + t * dw)) @ dw) + _loss_slope(dual, state.f, df, t) > 0:
            high = t
        else:
            low = t
        if low == 1.0:
            break
    state.w = state.w + low * dw
    state.f = state.f + low * df


@njit(cache=True, nogil=True, error_model="numpy")
def _loss_slope(dual, f, df, t):
    """The derivative of Σ φᵢ(fᵢ + t dfᵢ) by t."""
    total = 0.0
    for i in range(len(f)):
        e = dual.p[i] - f[i] - t * df[i]
        if e > dual.epsilon[i]:
            total -= dual.upper[i] * df[i]
        elif e < -dual.epsilon[i]:
            total -= dual.lower[i] * df[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _wrong_side(dual, f, beta):
    """Whose β does not maximise β (p − f) − ε|β|."""
    out = np.empty(len(f), dtype=np.bool_)
    for i in range(len(f)):
        e = dual.p[i] - f[i]
        best = 0.0
        if e > dual.epsilon[i]:
            best = dual.upper[i]
        elif e < -dual.epsilon[i]:
            best = dual.lower[i]
        out[i] = beta[i] != best and abs(abs(e) - dual.epsilon[i]) > 1e-14
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _survey(dual, f, beta):
    """How far each decision is from a kink of its loss; writes beta, the bound (or zero) on which side of the kink it lies."""
    distance = np.empty(len(f))
    for i in range(len(f)):
        e, epsilon = dual.p[i] - f[i], dual.epsilon[i]
        near = np.inf
        beta[i] = 0.0
        if dual.upper[i] > 0.0:
            near = abs(e - epsilon)
            if e > epsilon:
                beta[i] = dual.upper[i]
        if dual.lower[i] < 0.0:
            near = min(near, abs(e + epsilon))
            if e < -epsilon:
                beta[i] = dual.lower[i]
        distance[i] = near
    return distance
