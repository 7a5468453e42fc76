"""Newton's method for linear models whose loss has kinks: the hinge and the ε-insensitive loss, rounded off less and less.

A loss with kinks is φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β|. Near some β̄ it is rounded off by − ½ d (β − β̄)², d = width / max(upper,
−lower), which is the dual box of another p and d: what is left is piecewise quadratic, for finite Newton (``newton.py``), with a Hessian of the rows
near a kink alone. With β = β(f) of the rounded loss, the gap of the loss itself splits exactly into what is known for nothing:

    P(w) − D(β) = S + K,   S = ½ ‖w − Σ βᵢxᵢ‖²,   K = Σ φᵢ(fᵢ) − βᵢ(pᵢ − fᵢ) + ε|βᵢ|

K falls as width²: Newton steps bring a round near its optimum, in the last round S below K, then β̄ becomes β and the width shrinks, by no more than
the gap asks for. So each round is an augmented Lagrangian of the dual, and the rounds end, after finitely many steps, at the optimum to rounding
(Rockafellar 1976; Li, Sun & Toh 2018).
With many rows the first model comes from a sample of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numba import njit

from gapless.data import Rows, require_memory
from gapless.data.products import matvec, rmatvec
from gapless.data.rows import as_rows
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, refuse_kernel, start_weights
from gapless.solvers.interior_point.mehrotra import GRAM_FLOPS, factored
from gapless.solvers.newton.newton import line_search
from gapless.solvers.newton.row_sampling import (
    box_of,
    draw,
    first_size,
    gather,
    least_squares,
    leverage,
    refuse_smooth,
    ridge,
    spread,
)
from gapless.solvers.newton.sparse_gram import sparse_gram, stays_sparse
from gapless.solvers.newton.two_threads import by_halves, times, transposed_times

_ROUGH = 1e-2  # relative gap to which a sample is solved: what sampling costs is of that size
_SOLVED = 0.3  # of K, to which S is brought in a round
_AFTER = 0.05  # of the squared Newton decrement of a step: half of what is left to gain after it, where some rows changed their piece
_FINE = 1e-9  # relative gap below which widths must not shrink faster than K does, since rounding grows with 1/width
_NARROW = 0.2  # least share of the width that is left from one round to the next
_LEAST = 1e-10  # of the residuals' size: width below which rounding takes over
_NOTHING = 1e-14  # of P: what a step gains where it may be rounding
_TRIES = 6  # such steps in a row, and rounds without gain, after which nothing more is to be had
_MANY = 1000  # columns, or the root of entries, from which memory is asked for: asking takes as long as a step
_PANEL = 1 << 22  # bytes of rows that are gathered at a time: each such panel reads and writes the whole Hessian
_SINGLE = 1e-4  # relative gap down to which Hessians of float32 rows are summed in float32


class Data(Protocol):
    """The products with rows that a descent needs, the intercept being the last column where there is one."""

    def times(self, w: np.ndarray) -> np.ndarray:
        """⟨aᵢ, w⟩ of each row."""

    def combine(self, beta: np.ndarray) -> np.ndarray:
        """Σ βᵢ aᵢ."""

    def gram(self, rows: np.ndarray, weight: np.ndarray, rough: bool) -> np.ndarray:
        """Σ weight · aaᵀ over some rows a; ``rough``: float32 will do."""


@dataclass(frozen=True)
class Stored:
    """Rows as they are stored, ``ones`` telling whether there is an intercept."""

    X: Any
    rows: Rows
    ones: bool

    def times(self, w: np.ndarray) -> np.ndarray:
        f = matvec(self.X, w[: self.X.shape[1]])
        f += w[-1] if self.ones else 0.0
        return f

    def combine(self, beta: np.ndarray) -> np.ndarray:
        own = rmatvec(self.X, beta)
        return np.append(own, beta.sum()) if self.ones else own

    def gram(self, rows: np.ndarray, weight: np.ndarray, rough: bool) -> np.ndarray:
        stored, d, ones = self.rows, self.X.shape[1], self.ones
        if stays_sparse(stored, d):
            return sparse_gram(stored, rows, weight, d + ones, ones=ones)
        dtype = np.float32 if rough and _is_single(self.X) else np.float64
        return _panel_gram(lambda chosen, out: gather(stored, chosen, d, out), rows, weight, d + ones, dtype)


@dataclass(frozen=True)
class Part:
    """Some rows as a dense matrix."""

    A: np.ndarray

    def times(self, w: np.ndarray) -> np.ndarray:
        return times(self.A, w)

    def combine(self, beta: np.ndarray) -> np.ndarray:
        return transposed_times(self.A, beta)

    def gram(self, rows: np.ndarray, weight: np.ndarray, rough: bool) -> np.ndarray:
        return _panel_gram(
            lambda chosen, out: np.take(self.A, chosen, axis=0, out=out, mode="clip"),
            rows, weight, self.A.shape[1], np.float64,
        )  # fmt: skip


class Descent:
    """The rounds on some data: w, f and β, the parts S and K of their gap, and P."""

    def __init__(
        self,
        data: Data,
        box: DualBox,
        rho: np.ndarray,
        w: np.ndarray,
        width: float,
        length: float,
        proves: bool = True,
    ) -> None:
        self.data, self.box, self.rho, self.w, self.length, self.proves = data, box, rho, w, length, proves
        self.f = data.times(w)
        self.reach = np.maximum(box.upper, -box.lower)
        self.poor = 0
        self.best = np.inf
        self.rough = True  # whether a Hessian in float32 will do
        self.begin(width, _middle(box.p, box.lower, box.upper, self.f))

    def begin(self, width: float, centre: np.ndarray) -> None:
        """A round with the loss rounded off around ``centre``."""
        self.width = width
        d = np.divide(width, self.reach, out=np.ones_like(self.reach), where=self.reach > 0)
        self.inverse = 1.0 / d
        self.dual = DualBox(self.box.p + d * centre, self.box.epsilon, d, self.box.lower, self.box.upper)
        self.idle, self.decrement = 0, np.inf
        self.summed: tuple[np.ndarray, np.ndarray] | None = None  # β and Σ βᵢaᵢ of the last look in this round
        self.hessian: tuple[np.ndarray, np.ndarray, bool] | None = None  # the last, of which rows, whether rough
        self.look()

    def look(self) -> None:
        """β, the slope of the rounded objective, S, K and P at w and f."""
        dual, rho, w = self.dual, self.rho, self.w
        self.beta, self.inside, loss, self.lacking = _judge(
            self.box.p, dual.p, dual.epsilon, dual.lower, dual.upper, self.inverse, self.f
        )
        self.slope = slope = rho * w - self._combined()
        self.value = 0.5 * float(rho @ (w * w)) + loss
        bounded = rho > 0
        self.short = 0.5 * float((slope[bounded] ** 2 / rho[bounded]).sum())
        # what the certificate loses where it restores Σβ = 0, roughly
        self.short += float((np.abs(slope[~bounded]) * (np.abs(w[~bounded]) + self.length)).sum())

    @property
    def gap(self) -> float:
        """P − D; with a free intercept an estimate. Where nothing is to be proven, K and what P of the rounded loss is above its least."""
        return (self.short if self.proves else self.near) + self.lacking

    @property
    def near(self) -> float:
        """About what P of the rounded loss is above its least: by the last Newton step, where S does not say better."""
        return min(self.short, self.decrement)

    @property
    def stuck(self) -> bool:
        """Whether rounding leaves nothing to gain."""
        return self.poor >= _TRIES

    def narrow(self, goal: float) -> None:
        """Begin the next round, with the width at which K will be about half of ``goal``."""
        share = np.sqrt(0.5 * goal / self.lacking) if self.lacking > 0 else 0.5
        width = max(self.width * min(0.7, max(_NARROW, share)), _LEAST * self.length)
        self.poor = 0 if self.gap < 0.7 * self.best else self.poor + 1
        self.best = min(self.best, self.gap)
        self.begin(width, self.beta)

    def step(self) -> bool:
        """A Newton step; False where rounding leaves none."""
        rho = self.rho
        dw = factored(self._hessian(), rho)(-self.slope)
        decrement = -float(self.slope @ dw)
        if not decrement > 0:
            return False
        df = self.data.times(dw)
        along = float(rho @ (self.w * dw)), float(rho @ (dw * dw))
        t = line_search(self.dual, self.inverse, self.f, df, *along, decrement)
        self.w = self.w + t * dw
        self.f += t * df
        before = self.short
        self.look()
        self.decrement = _AFTER * decrement  # roughly what P of the rounded loss is still above its least
        self.idle = self.idle + 1 if decrement < _NOTHING * abs(self.value) and self.short > 0.5 * before else 0
        return t > 0 and self.idle < _TRIES

    def advance(self, goal: float) -> None:
        """A Newton step, or where the round is done by then the next one and its first."""
        self.rough = goal >= _SINGLE * abs(self.value)
        if self.solved(goal):
            self.narrow(goal)
        if not self.step():
            self.narrow(goal)

    def solved(self, goal: float) -> bool:
        """Whether the round has given what it can: where its K is too large for the goal, a w that is good enough to go on from;
        in the last round also a β that proves it, which takes a far smaller slope. To come near rounding level every round has to."""
        strict = self.proves and (self.lacking <= goal or goal < _FINE * abs(self.value))
        return (self.short if strict else self.near) <= _SOLVED * self.lacking

    def _combined(self) -> np.ndarray:
        """Σ βᵢaᵢ: within a round by what changed, since most rows stay at a bound and cost nothing then."""
        if self.summed is None:
            total = self.data.combine(self.beta)
        else:
            before, total = self.summed
            total = total + self.data.combine(self.beta - before)
        self.summed = self.beta, total
        return total

    def _hessian(self) -> np.ndarray:
        """Σ aᵢaᵢᵀ/dᵢ over the rows inside a quadratic piece: within a round by the rows that came and went, unless many did."""
        inside, weight = self.inside, self.inverse
        H, members, rough = self.hessian or (None, inside, self.rough)
        changed = np.flatnonzero(inside != members)
        if H is None or rough != self.rough or 2 * len(changed) >= np.count_nonzero(inside):
            rows = np.flatnonzero(inside)
            H = self.data.gram(rows, weight[rows], self.rough)
        else:
            came, went = changed[inside[changed]], changed[members[changed]]
            H = H + self.data.gram(came, weight[came], self.rough) - self.data.gram(went, weight[went], self.rough)
        if not self.rho[-1] and not inside.any():
            H[-1, -1] = float(weight.sum())  # a free intercept that nothing holds
        self.hessian = H, inside, self.rough
        return H


def _panel_gram(
    take: Callable[[np.ndarray, np.ndarray], object], rows: np.ndarray, weight: np.ndarray, columns: int, dtype: Any
) -> np.ndarray:
    """Σ weight · aaᵀ over rows that ``take`` writes into a panel, a cache full at a time."""
    step = max(1, _PANEL // (columns * np.dtype(dtype).itemsize))
    root = np.sqrt(weight).astype(dtype)

    def of(part: slice) -> np.ndarray:
        H = np.zeros((columns, columns))
        panel = np.empty((min(step, part.stop - part.start), columns), dtype=dtype)
        for begin in range(part.start, part.stop, step):
            chosen = rows[begin : min(begin + step, part.stop)]
            A = panel[: len(chosen)]
            take(chosen, A)
            A *= root[begin : begin + len(chosen), None]
            H += A.T @ A
        return H

    first, *second = by_halves(of, rows, large=len(rows) * columns**2 >= GRAM_FLOPS)
    return first + second[0] if second else first


def _is_single(X: Any) -> bool:
    """Whether rows are dense and float32, so that a copy in float64 would take twice the memory."""
    return isinstance(X, np.ndarray) and X.dtype == np.float32


@dataclass
class SmoothedState(State):
    """The descent on all rows."""

    descent: Descent = None  # type: ignore[assignment]


@dataclass(frozen=True)
class SmoothedNewton(Solver):
    """Newton's method on a loss whose kinks are rounded off less and less.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> gl.solve(problem, SmoothedNewton()).w.round(6)
    array([2.])
    """

    name: ClassVar[str] = "smoothed_newton"
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 1000

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_smooth(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SmoothedState:
        n, rho = problem.n_samples, ridge(problem)
        if len(rho) > _MANY:
            require_memory(
                8 * len(rho) ** 2 * 4,
                f"{self.name} factors a matrix of the features: {len(rho):,} x {len(rho):,} in float64, which",
            )
        state = SmoothedState(rng, holds=True)
        box, length = box_of(problem), spread(problem)
        w, b = start_weights(problem, start)
        w, width = np.append(w, b)[: len(rho)], length
        data: Data = Stored(problem.X, problem.rows, problem.intercept != "none")
        if not w.any() and stays_sparse(problem.rows, problem.n_features):
            w, width = _regression(data, box, rho)
            state.work += 3.0 * n * problem.entry_work
        elif not w.any():
            rows, factor = np.arange(n), np.ones(n)
            size = first_size(n, len(rho))
            if size < n:
                rows, factor = draw(leverage(problem), size, rng)
            part, scaled = self._part(problem, rows), _scaled(box, rows, factor)
            w, width = _regression(part, scaled, rho)
            state.work += 3.0 * (len(rows) + n) * problem.entry_work
            if size < n:
                first = Descent(part, scaled, rho, w, width, length, proves=False)
                for _ in range(40):
                    if first.stuck or first.gap <= _ROUGH * abs(first.value):
                        break
                    first.advance(_ROUGH * abs(first.value))
                    state.work += 2.0 * len(rows) * problem.entry_work
                w, width = first.w, first.width
            else:
                data = part
        state.descent = Descent(data, box, rho, w, width, length)
        return state

    def step(self, problem: Problem, state: SmoothedState) -> None:
        descent = state.descent
        aim = (1.0 if problem.intercept != "free" else 0.55) * state.target
        descent.advance(aim * abs(descent.value))
        state.iterations += 1
        state.work += 3.0 * problem.n_samples * problem.entry_work
        state.ready = descent.gap <= 0.9 * aim * abs(descent.value)
        state.done = descent.stuck

    def point(self, problem: Problem, state: SmoothedState) -> Point:
        d, w = problem.n_features, state.descent.w
        return Point(beta=state.descent.beta.copy(), w=w[:d].copy(), b=float(w[d]) if len(w) > d else 0.0)

    def _part(self, problem: Problem, rows: np.ndarray) -> Data:
        ones = problem.intercept != "none"
        if _is_single(problem.X):
            X = problem.X if len(rows) == problem.n_samples else problem.X[rows]
            return Stored(X, as_rows(X), ones)
        columns = problem.n_features + ones
        if len(rows) * columns > _MANY**2:
            require_memory(
                8 * len(rows) * columns,
                f"{self.name} holds {len(rows):,} rows of {columns:,} entries in float64, which",
            )
        A = np.empty((len(rows), columns))
        gather(problem.rows, rows, problem.n_features, A)
        return Part(A)


def _regression(data: Data, box: DualBox, rho: np.ndarray) -> tuple[np.ndarray, float]:
    """(w, width) to begin with: those of the ridge regression of the targets."""
    price = np.maximum(box.upper, -box.lower)
    H = data.gram(np.arange(len(price)), price, rough=True)
    w, width = least_squares(H, data.combine(price * box.p), data.times, rho, box.p)
    return w, 2.0 * width


def _scaled(box: DualBox, rows: np.ndarray, factor: np.ndarray) -> DualBox:
    """The box of some rows, each of which stands for ``factor`` of them."""
    return DualBox(box.p[rows], box.epsilon[rows], box.d[rows], box.lower[rows] * factor, box.upper[rows] * factor)


@njit(cache=True, nogil=True, error_model="numpy")
def _middle(p, lower, upper, f):
    """Half way between zero and the bound on whose side a decision lies: a loss that is rounded off there is so to both sides of its kink."""
    out = np.empty(len(f))
    for i in range(len(f)):
        out[i] = 0.5 * (lower[i] + upper[i])
        if lower[i] < 0.0 < upper[i]:
            out[i] = 0.5 * (upper[i] if f[i] < p[i] else lower[i])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _judge(target, p, epsilon, lower, upper, inverse, f):
    """(β, who is inside a quadratic piece, Σ φ, K): p is that of the rounded loss, ``target`` that of the loss itself."""
    beta, inside = np.empty(len(f)), np.empty(len(f), dtype=np.bool_)
    loss, lacking = 0.0, 0.0
    for i in range(len(f)):
        e = p[i] - f[i]
        free = (max(e - epsilon[i], 0.0) + min(e + epsilon[i], 0.0)) * inverse[i]
        b = min(max(free, lower[i]), upper[i])
        beta[i] = b
        inside[i] = b == free and b != 0.0
        e = target[i] - f[i]
        # φ(f) − β(p − f) + ε|β|, whichever of the three pieces φ is on
        most = upper[i] if e > epsilon[i] else (lower[i] if e < -epsilon[i] else 0.0)
        loss += most * e - epsilon[i] * abs(most)
        lacking += (most - b) * e - epsilon[i] * (abs(most) - abs(b))
    return beta, inside, loss, lacking
