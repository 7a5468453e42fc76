"""Box-constrained coordinate ascent on an explicit matrix: αₖ ← clip(αₖ + (1 − (Qα)ₖ)/Qₖₖ), with Qα kept up to date, O(n) a step.

The solver holds the n×n kernel matrix, and refuses a problem whose matrix does not fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless import _native
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Advance,
    Budget,
    Engine,
    Solver,
    Targets,
    full_gram,
    refuse_free_intercept,
    start_beta,
)
from gapless.solvers.textbook.sampling import Order, check_sampling


@dataclass(frozen=True)
class CoordinateAscent(Solver):
    """Coordinate ascent on the explicit dual matrix.

    ``sampling``: reshuffled ``"epochs"``, ``"uniform"`` draws, ``"cyclic"``, or the indices to visit, which are repeated when they end.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], kernel=gl.kernels.RBF(), intercept="none")
    >>> gl.solve(problem, CoordinateAscent()).alpha().round(4)
    array([1., 1.])
    >>> gl.solve(problem, CoordinateAscent(sampling=[1, 0]), max_iter=0.5).alpha().round(4)
    array([0., 1.])
    """

    sampling: str | Sequence[int] = "epochs"
    name: ClassVar[str] = "coordinate_ascent"
    max_iter: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "sampling", check_sampling(self.sampling))

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_free_intercept(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> CoordinateAscentEngine:
        order = Order(problem.n_samples, self.sampling, rng)
        return CoordinateAscentEngine(problem, full_gram(problem, self.name), start_beta(problem, start), order)


class CoordinateAscentEngine(Engine):
    """β, f = Kβ, and K."""

    def __init__(self, problem: Problem, K: np.ndarray, beta: np.ndarray, order: Order) -> None:
        self.problem, self.K, self.order = problem, K, order
        self.grain = 1.0 / problem.n_samples
        self.beta = beta
        self.f = problem.expand(beta) + problem.shift * float(beta.sum())

    def step(self, budget: Budget, targets: Targets) -> Advance:
        n = self.problem.n_samples
        piece = self.order.next(self.samples_ahead(budget, n, n))
        self.visited = piece
        # For each k of the piece: βₖ ← the maximiser of the dual along its coordinate, f += (new − old) Kₖ.
        _native.ascend_coordinates(self.problem.dual, self.K, piece, self.beta, self.f)
        return Advance(len(piece) / n, float(len(piece) * n))

    def point(self) -> Point:
        return Point(beta=self.beta.copy())
