"""Dual coordinate ascent for linear models that keeps w up to date (Hsieh et al. 2008; Shalev-Shwartz & Zhang 2013).

Each step maximises the dual exactly along one βᵢ, reading ⟨w, xᵢ⟩ and writing w += (new − old) xᵢ: O(nnz of xᵢ), independent of n,
no step size, and the dual value rises at every step. For the hinge this is δ = (1 − yᵢ⟨w,xᵢ⟩)/‖xᵢ‖², ᾱ = clip(αᵢ + δ, 0, C).

The epochs are native (``native/sdca``). Where they become slow (a large C), second-order steps take over (``newton/proximal_newton.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import compact, row_entries
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Advance,
    Budget,
    Engine,
    Outcome,
    Solver,
    Targets,
    refuse_kernel,
    refuse_nu,
    start_beta,
)
from gapless.solvers.interior_point.relay import relayed
from gapless.solvers.newton.descent import DENSE_COLUMNS
from gapless.solvers.newton.proximal_newton import ProximalNewton, covers, expected_work
from gapless.solvers.newton.row_sampling import NEAR, factoring_work
from gapless.solvers.textbook.sampling import check_sampling, given_order, seed_of

# Stored entries of the active rows from which on two threads are faster than one: an epoch then takes some 20 ms.
LEAST_ENTRIES = 2e7
# Epochs between two forecasts of how many are left; the first forecast compares the gaps of the first and the third epoch.
_FORECAST = 2


@dataclass(frozen=True)
class SDCA(Solver):
    """Dual coordinate ascent with w kept up to date.

    ``sampling``: reshuffled ``"epochs"``, ``"uniform"`` draws, ``"cyclic"``, or the indices to visit, which are repeated when they end.
    ``shrinking`` leaves out samples that stay at their bound until the others are solved, ``second_order`` goes on by Newton steps where these are
    forecast to be faster, and ``halves`` gives half of many rows to a second thread; the textbook's method is all three off. They belong to epochs:
    in every other order they have no effect, and the method is the textbook's.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, SDCA()).w
    array([1.])
    >>> gl.solve(problem, SDCA(sampling="cyclic"), max_iter=1).w
    array([1.])
    """

    sampling: str | Sequence[int] = "epochs"
    shrinking: bool = True
    second_order: bool = True
    halves: bool = True
    name: ClassVar[str] = "sdca"
    max_iter: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "sampling", check_sampling(self.sampling))

    def unsupported(self, problem: Problem) -> str | None:
        if problem.is_hard and problem.intercept == "free" and problem.is_linear:
            return (
                f"{self.name} finds a free intercept as a multiplier, which may grow without bound under a hard margin; "
                "use solver='smo' or 'qp', or intercept='regularized' or 'none'."
            )
        return refuse_kernel(problem, self.name) or refuse_nu(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> Engine:
        engine = SdcaEngine(self, problem, start, seed_of(rng))
        if not (self.second_order and self.sampling == "epochs"):
            return engine
        return relayed(problem, engine, epoch=2.0 * problem.n_samples * engine.entries)


class SdcaEngine(Engine):
    """The native epochs, or the Newton steps that have taken over."""

    def __init__(self, solver: SDCA, problem: Problem, start: Point | None, seed: int) -> None:
        free, in_epochs = problem.intercept == "free", solver.sampling == "epochs"
        curvature, shift = problem.diagonal, problem.shift
        if free:
            # The penalty on Σβ acts as one more feature: its square is the mean of ‖x‖², or at least so large that Σβ = Σc moves b by one.
            shift = max(float(curvature.mean()), 1.0 / float(problem.cost.sum()))
            curvature = curvature + shift
        self.is_free, self.shift = free, shift
        self.problem, self.rows = problem, compact(problem.rows)
        self.entries = row_entries(self.rows)
        self.epochs = _native.Sdca(
            self.rows,
            problem.n_features,
            problem.dual,
            curvature,
            shift=shift,
            free_intercept=free,
            uniform=solver.sampling == "uniform",
            shrinks=solver.shrinking,
            halved_from=LEAST_ENTRIES if solver.halves else math.inf,
            seed=seed,
            order=(order := given_order(problem.n_samples, solver.sampling)),
        )
        self.order, self.visits = order, 0  # a given order, and how many of its visits are made
        self.judges = isinstance(problem.dual, DualBox) and in_epochs
        self.grain = 1.0 / problem.n_samples
        self.newton: ProximalNewton | None = None
        # The expected work of Newton steps; infinite where they are not available.
        self.newton_work = math.inf
        if solver.second_order and in_epochs and covers(problem):
            self.newton_work = expected_work(problem, self.rows)
        self.work = 0.0
        self.seen = (0.0, math.inf)  # work and gap at the last forecast
        beta = start_beta(problem, start)
        if beta.any():
            self._resume(beta, start.b if start is not None and start.b is not None else 0.0)

    @property
    def beta(self) -> np.ndarray:
        """The dual variables."""
        return self.epochs.beta if self.newton is None else self.newton.beta

    @property
    def w(self) -> np.ndarray:
        """Σ βᵢxᵢ; where Newton steps have taken over, their primal iterate."""
        return self.epochs.w if self.newton is None else self.newton.w

    @property
    def b(self) -> float:
        """s² Σβ; for a free intercept the multiplier plus the part of the penalty on Σβ."""
        return self.epochs.offset if self.newton is None else self.newton.b

    def step(self, budget: Budget, targets: Targets) -> Advance:
        before, target, epoch = self.work, min(targets), 2 * self.problem.n_samples * self.entries
        if self.newton is None:
            ready, factoring = self._visit(budget, target), 0.0
        else:
            ready, factoring = self._newton_steps(budget, target, epoch)
        work = self.work - before
        epochs = work / epoch
        work += factoring
        return Advance(min(epochs, budget.iterations), work, Outcome.READY if ready else Outcome.RUNNING)

    def point(self) -> Point:
        if self.newton is None:
            beta = self.beta
            if not self.is_free:
                return Point(beta=beta)
            return Point(
                beta=beta, b=self.b - self.shift * float(beta.sum())
            )  # the multiplier, which a start goes on from
        return Point(beta=self.beta.copy(), w=self.w.copy(), b=self.b)

    def _visit(self, budget: Budget, target: float) -> bool:
        """Make a part of an epoch, or some; returns whether the target is reached. Newton steps follow where they are forecast to be faster."""
        n = self.problem.n_samples
        visits = self.samples_ahead(budget, n, 2 * self.entries)
        if self.newton_work < math.inf:
            visits = min(visits, (1 if self.seen[1] == math.inf else _FORECAST) * n)
        made = self.epochs.step(visits, target)
        self.work += 2 * self.entries * made
        if self.order is not None:
            self.visited = self.order.take(np.arange(self.visits, self.visits + made), mode="wrap")
            self.visits += made
        if not self.epochs.ready and self._epochs_lose(target):
            self.newton = ProximalNewton(self.problem, self.rows, self.epochs.beta, self.epochs.w, self.epochs.offset)
        return bool(self.epochs.ready)

    def _epochs_lose(self, target: float) -> bool:
        """Whether the remaining epochs, at the rate since the last forecast, are expected to take more work than Newton steps."""
        work, gap = self.seen
        now = self.epochs.gap
        if self.newton_work == math.inf or not target > 0 or not math.isfinite(now):
            return False
        epoch = 2 * self.problem.n_samples * self.entries
        since = self.work - work
        if since < max(epoch * (1 if gap == math.inf else _FORECAST), min(work, 0.1 * self.newton_work)):
            return False
        self.seen = (self.work, now)
        if not math.isfinite(gap):
            return False
        rate = math.log(gap / now) / since if 0 < now < gap else 0.0
        left = math.log(max(1.0, now / (target * (abs(self.epochs.dual_value) + now))))
        return left > rate * self.newton_work

    def _newton_steps(self, budget: Budget, target: float, epoch: float) -> tuple[bool, float]:
        """Take Newton steps within a budget, at least one; returns (whether the target is reached, the work of their factorisations)."""
        before, factoring = self.work, 0.0
        one = factoring_work(self.problem, NEAR) if self.problem.n_features < DENSE_COLUMNS else 0.0
        while self.newton is not None:
            ready = self._newton_step(target)
            factoring += one
            done = self.work - before
            if ready or done + factoring >= budget.work or done >= budget.iterations * epoch:
                return ready, factoring
        return False, factoring

    def _newton_step(self, target: float) -> bool:
        """Take one Newton step; returns whether the target is reached. Where Newton's method is stuck, epochs go on from the better point."""
        newton = self.newton
        assert newton is not None
        done = newton.work
        newton.step(target)
        self.work += newton.work - done
        ready = newton.gap <= target * abs(newton.primal)
        if newton.stuck and not ready:
            self.newton, self.newton_work = None, math.inf
            if newton.primal - newton.gap > self.epochs.dual_value:
                self._resume(newton.beta, newton.b)
        return bool(ready)

    def _resume(self, beta: np.ndarray, b: float) -> None:
        """Let the epochs go on from β and, with a free intercept, from b."""
        problem = self.problem
        separable = float(problem.loss.dual_value(problem.y, problem.cost, beta).sum())
        self.epochs.resume(beta, problem.weights(beta), b if problem.intercept == "free" else 0.0, separable)
