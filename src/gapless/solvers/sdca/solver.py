"""Dual coordinate ascent for linear models that keeps w up to date (Hsieh et al. 2008; Shalev-Shwartz & Zhang 2013).

Each step maximises the dual exactly along one βᵢ, reading ⟨w, xᵢ⟩ and writing w += (new − old) xᵢ: O(nnz of xᵢ), independent of n,
no step size, and the dual value rises at every step. For the hinge this is δ = (1 − yᵢ⟨w,xᵢ⟩)/‖xᵢ‖², ᾱ = clip(αᵢ + δ, 0, C).

Where epochs stop paying (a large C), the solve goes on by second-order steps (``proximal_newton.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless.data.rows import Rows, arrays_of, compact, row_entries
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, check_choice, refuse_kernel, refuse_nu, samples_ahead, start_beta
from gapless.solvers.newton.proximal_newton import ProximalNewton, covers, expected_work
from gapless.solvers.sdca.halves import LEAST_ENTRIES, advance_in_halves
from gapless.solvers.sdca.sweep import (
    ACTIVE,
    DUAL,
    LAST_GAP,
    LONG,
    OFFSET,
    PLAIN,
    READY,
    SINGLY,
    TOTAL,
    Epoch,
    advance,
    bring_back,
    inverse_curvature,
    is_plain,
    start_epoch,
)
from gapless.solvers.textbook.sampling import SAMPLINGS

# Epochs between two forecasts of how many are left; the first needs what one epoch has left.
_FORECAST = 2


@dataclass
class SdcaState(State):
    """β, the augmented weights they give, and where the epoch stands; or the Newton steps that have taken over."""

    rows: Rows = None  # type: ignore[assignment]
    epoch: Epoch = None  # type: ignore[assignment]
    diagonal: np.ndarray = None  # type: ignore[assignment]
    inverse: np.ndarray = None  # type: ignore[assignment]
    shift: float = 0.0
    may_halve: bool = False
    newton: ProximalNewton | None = None
    newton_work: float = math.inf  # what Newton steps would cost; infinite where they are no choice
    seen: tuple[float, float] = (0.0, math.inf)  # work and gap at the last forecast

    @property
    def beta(self) -> np.ndarray:
        """The dual variables."""
        return self.epoch.beta if self.newton is None else self.newton.found

    @property
    def w(self) -> np.ndarray:
        """Σ βᵢxᵢ; of the Newton steps the primal iterate."""
        return self.epoch.w if self.newton is None else self.newton.w

    @property
    def b(self) -> float:
        """s² Σβ; of a free intercept its present multiplier."""
        return float(self.epoch.numbers[OFFSET]) if self.newton is None else self.newton.b


@dataclass(frozen=True)
class SDCA(Solver):
    """Dual coordinate ascent with w kept up to date.

    ``sampling``: reshuffled ``"epochs"`` or ``"uniform"`` draws. ``shrinking`` leaves out samples that stay at their bound until the others are
    solved, ``second_order`` goes on by Newton steps where these are forecast to be faster, and ``halves`` gives half of many rows to a second thread;
    the textbook's method is all three off.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, SDCA()).w
    array([1.])
    """

    sampling: str = "epochs"
    shrinking: bool = True
    second_order: bool = True
    halves: bool = True
    name: ClassVar[str] = "sdca"
    max_iter: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        check_choice("sampling", self.sampling, SAMPLINGS)

    def unsupported(self, problem: Problem) -> str | None:
        if problem.is_hard and problem.intercept == "free" and problem.is_linear:
            return (
                f"{self.name} finds a free intercept as a multiplier, which a hard margin leaves without bound on the way; "
                "use solver='smo' or 'qp', or intercept='regularized' or 'none'."
            )
        return refuse_kernel(problem, self.name) or refuse_nu(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SdcaState:
        n, d = problem.X.shape
        free, uniform = problem.intercept == "free", self.sampling == "uniform"
        epoch = start_epoch(n, d, rng, uniform=uniform, shrinks=self.shrinking and not uniform, free=free)
        epoch.numbers[PLAIN] = float(is_plain(problem.dual))
        epoch.counts[SINGLY] = row_entries(problem.rows) > LONG
        diagonal, shift = problem.diagonal, problem.shift
        if free:
            # The penalty on Σβ is like one more feature, as long as all others together, or long enough for Σβ = Σc to move b by one.
            shift = max(float(diagonal.mean()), 1.0 / float(problem.cost.sum()))
            diagonal = diagonal + shift
        state = SdcaState(rng, rows=compact(problem.rows), epoch=epoch, diagonal=diagonal, shift=shift)
        state.inverse = inverse_curvature(problem.dual, diagonal)
        if self.second_order and not uniform and covers(problem):
            state.newton_work = expected_work(problem, state.rows)
        state.may_halve = self.halves and not uniform and isinstance(problem.dual, DualBox)
        state.judges = isinstance(problem.dual, DualBox) and not uniform
        beta = start_beta(problem, start)
        if beta.any():
            b = start.b if free and start is not None and start.b is not None else 0.0
            _resume(problem, state, beta, problem.weights(beta), b)
        return state

    def step(self, problem: Problem, state: SdcaState) -> None:
        before = state.work
        if state.newton is not None:
            _newton_step(problem, state)
        else:
            entries = row_entries(state.rows)
            visits = samples_ahead(state, problem.n_samples, 2 * entries)
            if state.newton_work < math.inf:
                visits = min(visits, (1 if state.seen[1] == math.inf else _FORECAST) * problem.n_samples)
            args = (*arrays_of(state.rows), problem.dual, state.diagonal, state.inverse, state.shift, state.epoch)
            if state.may_halve and state.epoch.counts[ACTIVE] * entries >= LEAST_ENTRIES:
                made = advance_in_halves(*args, entries, visits, state.target)
            else:
                made = advance(*args, visits, state.target)
            state.work += 2 * entries * made
            state.ready = bool(state.epoch.counts[READY])
            if not state.ready and _epochs_lose(problem, state):
                w, b = state.epoch.w.copy(), float(state.epoch.numbers[OFFSET])
                state.newton = ProximalNewton(problem, state.rows, state.epoch.beta.copy(), w, b)
        epochs = (state.work - before) / (2 * problem.n_samples * row_entries(state.rows))
        state.iterations = min(max(state.limit, state.iterations), state.iterations + epochs)

    def point(self, problem: Problem, state: SdcaState) -> Point:
        if state.newton is None:
            return Point(beta=state.beta.copy())
        return Point(beta=state.beta.copy(), w=state.w.copy(), b=state.b)


def _resume(problem: Problem, state: SdcaState, beta: np.ndarray, w: np.ndarray, b: float) -> None:
    """Let the epochs go on from β, and with a free intercept from b."""
    numbers, total = state.epoch.numbers, float(beta.sum())
    state.epoch.beta[:] = beta
    state.epoch.w[:] = w
    numbers[TOTAL] = total
    numbers[OFFSET] = b + state.shift * total
    separable = float(problem.loss.dual_value(problem.y, problem.cost, beta).sum())
    numbers[DUAL] = separable - 0.5 * float(w @ w) - (b + 0.5 * state.shift * total) * total
    bring_back(state.epoch)


def _epochs_lose(problem: Problem, state: SdcaState) -> bool:
    """Whether the epochs left, at the rate since the last forecast, cost more than Newton steps would."""
    work, gap = state.seen
    now = float(state.epoch.numbers[LAST_GAP])
    if state.newton_work == math.inf or not state.target > 0 or not math.isfinite(now):
        return False
    epochs = 1 if gap == math.inf else _FORECAST
    if state.work - work < max(
        epochs * 2 * problem.n_samples * row_entries(state.rows), min(work, 0.1 * state.newton_work)
    ):
        return False
    state.seen = (state.work, now)
    if not math.isfinite(gap):
        return False
    rate = math.log(gap / now) / (state.work - work) if 0 < now < gap else 0.0
    left = math.log(max(1.0, now / (state.target * (abs(state.epoch.numbers[DUAL]) + now))))
    return left > rate * state.newton_work


def _newton_step(problem: Problem, state: SdcaState) -> None:
    newton = state.newton
    assert newton is not None
    done = newton.work
    newton.step()
    state.work += newton.work - done
    state.ready = newton.gap <= state.target * abs(newton.primal)
    if newton.stuck and not state.ready:
        state.newton, state.newton_work = None, math.inf
        if newton.primal - newton.gap > state.epoch.numbers[DUAL]:
            b = newton.b if problem.intercept == "free" else 0.0
            _resume(problem, state, newton.found, problem.weights(newton.found), b)
