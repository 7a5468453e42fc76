"""Stochastic sub-gradient descent on the primal, one sample a step, O(nnz of xᵢ).

A step shrinks w by (1 − ηₜ) and adds ηₜ n gᵢ xᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)); a free b moves by ηₜ n gᵢ. For the hinge: when y f ≥ 1 only
the shrinking, otherwise also ηₜ n C y x to w and ηₜ n C y to b. (Here ηₜ is the step on ½‖w‖² + Σ cᵢ ℓ, see ``step_sizes.py``.)

w = a·v with a scalar a, so that shrinking takes one multiplication. β follows w (w = Σβᵢxᵢ), and the average of the iterates is kept for β alone:
with S = Σ aₜ since the average began and q the updates of u, each times its S, Σₜ βₜ = S u − q where β = a·u. w̄ = Σ β̄ᵢxᵢ is computed on demand.
The part of a start's w that is not its Σβᵢxᵢ shrinks like a sample that is never visited: the last entry of u and q is its coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import row_entries
from gapless.data.scale import LARGEST
from gapless.errors import InvalidInputError
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, refuse_hard_margin, refuse_kernel
from gapless.solvers.textbook.primal_start import primal_start
from gapless.solvers.textbook.sampling import Order, check_sampling
from gapless.solvers.textbook.spectrum import unbounded_curvature
from gapless.solvers.textbook.step_sizes import StepSizes, check_steps

STEPS = ("constant", "decay")
AVERAGINGS = ("tail", "none")


@dataclass(frozen=True)
class SGD(Solver):
    """Stochastic sub-gradient descent.

    ``step_rule``: ``"decay"`` is ηₜ = η/(t + t₀), ``"constant"`` is ηₜ = η, and a function of t = 1, 2, … any other; t counts samples. ``eta`` is in
    the convention that the problem was stated in, and defaults to 1/λ (to one for C); t₀ defaults to n, or where the loss is squared to n times the
    largest curvature of one sample's loss. ``averaging``: ``"tail"`` returns the average from T₀ on, where T₀ is the last power of two of epochs; a
    number T₀ the average of the iterates after the steps t > T₀; ``"none"`` the last iterate. ``sampling``: ``"epochs"``, ``"uniform"``,
    ``"cyclic"``, or the indices to visit, which are repeated when they end.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, SGD(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    >>> SGD(step_rule=lambda t: 0.1 / t**0.5, averaging=100, sampling=[0, 1, 1]).sampling
    (0, 1, 1)
    """

    step_rule: str | Callable[[int], float] = "decay"
    eta: float | None = None
    t0: float | None = None
    averaging: str | int = "tail"
    sampling: str | Sequence[int] = "epochs"
    name: ClassVar[str] = "sgd"

    def __post_init__(self) -> None:
        check_steps(self.step_rule, self.eta, self.t0, STEPS)
        if not _is_count(self.averaging) and self.averaging not in AVERAGINGS:
            raise InvalidInputError(
                f"averaging must be one of {', '.join(AVERAGINGS)}, or a number of steps; got {self.averaging!r}."
            )
        object.__setattr__(self, "sampling", check_sampling(self.sampling))

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SgdEngine:
        return SgdEngine(self, problem, start, Order(problem.n_samples, self.sampling, rng))


class SgdEngine(Engine):
    """v and u with w = a·v, β = a·u; a, b and the number of steps; and since the average began q, Σa, Σb and the number of iterates in it."""

    def __init__(self, solver: SGD, problem: Problem, start: Point | None, order: Order) -> None:
        self.problem, self.order = problem, order
        n = problem.n_samples
        bend = max(1.0, float((problem.diagonal * unbounded_curvature(problem)).max()))
        t0 = n * bend if solver.t0 is None else solver.t0
        self.steps = StepSizes.of(problem, solver.step_rule, solver.eta, t0)
        self.grain = 1.0 / n
        # b moves by reach · η g, and shrinks by penalty · η b.
        self.reach = problem.shift if problem.intercept == "regularized" else float(problem.intercept == "free")
        self.penalty = float(problem.intercept == "regularized")
        self.v, self.b, beta = primal_start(problem, start)
        self.rest = self.v - problem.weights(beta)
        self.u, self.scale = np.append(beta, 1.0), 1.0
        self.t = 0
        # The step after which the average begins anew; with "tail" that is after each power of two of epochs.
        self.averages, self.doubles = solver.averaging != "none", solver.averaging == "tail"
        begin = float(solver.averaging) if self.averages and not self.doubles else math.inf
        self.next_average = float(n) if self.doubles else begin
        self._begin_average()

    def _begin_average(self) -> None:
        self.q, self.sum_scale, self.sum_b, self.count = np.zeros_like(self.u), 0.0, 0.0, 0

    def step(self, budget: Budget, targets: Targets) -> Advance:
        problem, n, cost = self.problem, self.problem.n_samples, 2 * row_entries(self.problem.rows)
        if self.t == self.next_average:
            self.next_average = 2 * self.next_average if self.doubles else math.inf
            self._begin_average()
        piece = self.order.next(int(min(self.samples_ahead(budget, n, cost), self.next_average - self.t)))
        self.visited = piece
        # For each i of the piece: w ← (1 − ηₜ)w + ηₜ n gᵢ xᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)), and b likewise.
        self.scale, self.b, self.sum_scale, self.sum_b, made = _native.descend_sgd(
            problem.rows, problem.dual, piece, self.steps.after(self.t, len(piece)), self.reach, self.penalty,
            self.scale, self.b, self.sum_scale, self.sum_b, self.v, self.u, self.q,
        )  # fmt: skip
        self.t += made
        self.count += made
        # Where the steps are so large that the iterates diverge, the last iterate below LARGEST stays.
        has_run_away = made < len(piece) or not abs(self.b) <= LARGEST
        return Advance(made / n, cost * made, Outcome.STALLED if has_run_away else Outcome.RUNNING)

    def point(self) -> Point:
        problem = self.problem
        if self.averages and self.count and (self.doubles or self.next_average == math.inf):
            mean = (self.sum_scale * self.u - self.q) / self.count
            beta, b = mean[:-1], self.sum_b / self.count
            w = problem.weights(beta) + mean[-1] * self.rest
        else:
            w, b, beta = self.scale * self.v, self.b, self.scale * self.u[:-1]
        # Where the loss is smooth, its derivative at w is a better dual point than the average of derivatives.
        return Point(beta=beta if problem.loss.kinks(problem.y) else None, w=w, b=b)


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= 0)
