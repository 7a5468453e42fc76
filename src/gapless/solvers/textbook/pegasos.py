"""Pegasos (Shalev-Shwartz et al. 2011) in its dual-averaging form, for the hinge loss.

θ ← 0; at step t, wₜ = ηₜθ with ηₜ = 1/(λt); a uniform sample i with yᵢ⟨wₜ,xᵢ⟩ < 1 adds (cᵢ/c̄) yᵢxᵢ to θ. The method returns the average of
w₁, …, w_T, or the iterate w_{T+1} that the next step would begin with. With λ = 1/Σcᵢ its objective is the problem's own divided by Σcᵢ, weights
included. Each sample's errors are counted, so that wₜ = Σβᵢxᵢ with βᵢ = yᵢ n cᵢ · errorsᵢ/t, and the average of all wₜ needs two numbers a sample:
a step takes O(nnz of xᵢ), the average included. The steps 1/(λt) presume θ = 0 at t = 0, so that a start is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import row_entries
from gapless.losses import Hinge
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Solver, Targets, refuse_hard_margin, refuse_kernel
from gapless.solvers.textbook.sampling import Order, check_sampling


@dataclass(frozen=True)
class Pegasos(Solver):
    """Pegasos: steps 1/(λt) on θ, the average of all iterates (``average=False``: the last one).

    ``sampling``: ``"uniform"`` draws, reshuffled ``"epochs"``, ``"cyclic"``, or the indices to visit, which are repeated when they end.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, Pegasos(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    """

    average: bool = True
    sampling: str | Sequence[int] = "uniform"
    name: ClassVar[str] = "pegasos"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sampling", check_sampling(self.sampling))

    def unsupported(self, problem: Problem) -> str | None:
        if not isinstance(problem.loss, Hinge):
            return f"pegasos is defined for the hinge loss, not for {problem.loss.name}; use solver='sgd'."
        if problem.intercept == "free":
            return (
                "pegasos needs a strongly convex objective, which P is not with a free intercept; "
                "use solver='sgd', or intercept='regularized' or 'none'."
            )
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> PegasosEngine:
        return PegasosEngine(problem, self.average, Order(problem.n_samples, self.sampling, rng))


class PegasosEngine(Engine):
    """θ and its intercept entry; for each sample the number of its errors and the sum of their H; t and H = Σ 1/s for s ≤ t."""

    def __init__(self, problem: Problem, average: bool, order: Order) -> None:
        n, d = problem.X.shape
        self.problem, self.average, self.order = problem, average, order
        self.grain = 1.0 / n
        self.theta, self.theta_b = np.zeros(d), 0.0
        self.errors, self.weighted = np.zeros(n), np.zeros(n)
        self.t, self.harmonic = 0.0, 0.0

    def step(self, budget: Budget, targets: Targets) -> Advance:
        problem, n, cost = self.problem, self.problem.n_samples, 2 * row_entries(self.problem.rows)
        piece = self.order.next(self.samples_ahead(budget, n, cost))
        self.visited = piece
        # For each i of the piece: t ← t + 1; where yᵢ⟨θ, xᵢ⟩/t < 1, θ += n cᵢ yᵢ xᵢ and the error is counted.
        self.theta_b, self.t, self.harmonic = _native.walk_pegasos(
            problem.rows, problem.y, problem.cost, problem.shift, piece,
            self.theta_b, self.t, self.harmonic, self.theta, self.errors, self.weighted,
        )  # fmt: skip
        return Advance(len(piece) / n, cost * len(piece))

    def point(self) -> Point:
        problem, counts, t = self.problem, self.errors, self.t + 1.0
        if self.average:  # an update at step s is in wₜ = θ/t for s < t ≤ T, with weights 1/t that add up to H_T − H_s
            counts, t = self.harmonic * self.errors - self.weighted, max(self.t, 1.0)
        beta = problem.y * problem.cost * problem.n_samples * counts / t
        return Point(beta=beta, w=problem.weights(beta), b=problem.shift * float(beta.sum()))
