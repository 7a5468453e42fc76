"""Box-constrained coordinate ascent on an explicit matrix: αₖ ← clip(αₖ + (1 − (Qα)ₖ)/Qₖₖ), with Qα kept up to date, O(n) a step.

Holds the n×n kernel matrix, and refuses when that does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.data.rows import FASTMATH
from gapless.losses.steps import dual_step
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Solver,
    State,
    check_choice,
    full_gram,
    refuse_free_intercept,
    samples_ahead,
    start_beta,
)
from gapless.solvers.textbook.sampling import SAMPLINGS, Order


@dataclass
class CoordinateAscentState(State):
    """β, f = Kβ, and K."""

    K: np.ndarray = None  # type: ignore[assignment]
    beta: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    order: Order = None  # type: ignore[assignment]


@dataclass(frozen=True)
class CoordinateAscent(Solver):
    """Coordinate ascent on the explicit dual matrix. ``sampling``: reshuffled ``"epochs"`` or ``"uniform"`` draws.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], kernel=gl.kernels.RBF(), intercept="none")
    >>> gl.solve(problem, CoordinateAscent()).alpha().round(4)
    array([1., 1.])
    """

    sampling: str = "epochs"
    name: ClassVar[str] = "coordinate_ascent"
    max_iter: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        check_choice("sampling", self.sampling, SAMPLINGS)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_free_intercept(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> CoordinateAscentState:
        K = full_gram(problem, self.name)
        beta = start_beta(problem, start)
        f = problem.expand(beta) + problem.shift * float(beta.sum())
        return CoordinateAscentState(rng, K=K, beta=beta, f=f, order=Order.start(len(beta), self.sampling, rng))

    def step(self, problem: Problem, state: CoordinateAscentState) -> None:
        n = problem.n_samples
        piece = state.order.next(samples_ahead(state, n, n))
        _ascend(problem.dual, state.K, piece, state.beta, state.f)
        state.iterations += len(piece) / n
        state.work += float(len(piece) * n)

    def point(self, problem: Problem, state: CoordinateAscentState) -> Point:
        return Point(beta=state.beta.copy())


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def _ascend(dual, K, piece, beta, f):
    """One exact maximisation for each index of ``piece``; writes beta and f."""
    for k in range(len(piece)):
        i = piece[k]
        old = beta[i]
        new = dual_step(dual, i, f[i], old, K[i, i])
        if new != old:
            beta[i] = new
            row = K[i]
            for j in range(len(f)):
                f[j] += (new - old) * row[j]
