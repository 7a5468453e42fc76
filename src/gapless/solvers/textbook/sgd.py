"""Stochastic sub-gradient descent on the primal, one sample a step, O(nnz of xᵢ).

A step shrinks w by (1 − ηₜ) and adds ηₜ n gᵢ xᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)); a free b moves by ηₜ n gᵢ. For the hinge: when y f ≥ 1 only
the shrinking, otherwise also ηₜ n C y x to w and ηₜ n C y to b.

w = a·v with a scalar a, so that shrinking is free. β follows w (w = Σβᵢxᵢ), and an average of iterates is kept for β alone: with
S = Σ aₜ since the average began and q the S-weighted updates, Σₜ βₜ = S u − q where β = a·u. w̄ = Σ β̄ᵢxᵢ is formed when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import row_entries
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Advance,
    Budget,
    Engine,
    Solver,
    Targets,
    check_choice,
    check_positive,
    refuse_hard_margin,
    refuse_kernel,
    start_beta,
)
from gapless.solvers.textbook.sampling import SAMPLINGS, Order
from gapless.solvers.textbook.spectrum import unbounded_curvature

STEPS = ("constant", "decay")
AVERAGINGS = ("tail", "none")


@dataclass(frozen=True)
class SGD(Solver):
    """Stochastic sub-gradient descent.

    ``step_rule``: ``"decay"`` is ηₜ = η/(t + t₀), ``"constant"`` is ηₜ = η; t₀ counts samples and defaults to n, or where the loss is squared to n
    times the largest curvature of one sample's loss. ``averaging``: ``"tail"`` returns the average from T₀ on, where T₀ is the last power of two of
    epochs; ``"none"`` the last iterate. ``sampling``: ``"epochs"`` or ``"uniform"``.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, SGD(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    """

    step_rule: str = "decay"
    eta: float = 1.0
    t0: float | None = None
    averaging: str = "tail"
    sampling: str = "epochs"
    name: ClassVar[str] = "sgd"

    def __post_init__(self) -> None:
        check_choice("step_rule", self.step_rule, STEPS)
        check_choice("averaging", self.averaging, AVERAGINGS)
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_positive("eta", self.eta)
        if self.t0 is not None:
            check_positive("t0", self.t0)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SgdEngine:
        beta = start_beta(problem, start)
        b = problem.shift * float(beta.sum())
        if problem.intercept == "free" and start is not None:
            b = float(start.b or 0.0)
        return SgdEngine(self, problem, beta, b, Order(problem.n_samples, self.sampling, rng))


class SgdEngine(Engine):
    """v and u with w = a·v, β = a·u; a, b and the steps made; and since the average began q, Σa, Σb and the number of its iterates."""

    def __init__(self, solver: SGD, problem: Problem, beta: np.ndarray, b: float, order: Order) -> None:
        self.solver, self.problem, self.order = solver, problem, order
        n = problem.n_samples
        bend = max(1.0, float((problem.diagonal * unbounded_curvature(problem)).max()))
        self.t0 = n * bend if solver.t0 is None else solver.t0
        # b moves by reach · ηg and shrinks by penalty · ηb.
        self.reach = problem.shift if problem.intercept == "regularized" else float(problem.intercept == "free")
        self.penalty = float(problem.intercept == "regularized")
        self.v, self.u, self.scale = problem.weights(beta), beta, 1.0
        self.b = b
        self.t = 0
        self.next_average = n
        self._begin_average()

    def _begin_average(self) -> None:
        self.q, self.sum_scale, self.sum_b, self.count = np.zeros_like(self.u), 0.0, 0.0, 0

    def step(self, budget: Budget, targets: Targets) -> Advance:
        problem, n, cost = self.problem, self.problem.n_samples, 2 * row_entries(self.problem.rows)
        if self.t == self.next_average:
            self.next_average *= 2
            self._begin_average()
        piece = self.order.next(self.samples_ahead(budget, n, cost))
        # For each i of the piece: w ← (1 − ηₜ)w + ηₜ n gᵢ xᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)), and b likewise.
        self.scale, self.b, self.sum_scale, self.sum_b = _native.descend_sgd(
            problem.rows, problem.dual, piece, self.t,
            self.solver.eta, self.t0, self.solver.step_rule == "constant", self.reach, self.penalty,
            self.scale, self.b, self.sum_scale, self.sum_b, self.v, self.u, self.q,
        )  # fmt: skip
        self.t += len(piece)
        self.count += len(piece)
        return Advance(len(piece) / n, cost * len(piece))

    def point(self) -> Point:
        problem = self.problem
        beta, b = self.scale * self.u, self.b
        if self.solver.averaging == "tail" and self.count:
            beta, b = (self.sum_scale * self.u - self.q) / self.count, self.sum_b / self.count
        # Where the loss is smooth, its derivative at w is a better dual point than the average of derivatives.
        return Point(beta=beta if problem.loss.kinks(problem.y) else None, w=problem.weights(beta), b=b)
