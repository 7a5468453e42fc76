"""Dual coordinate ascent for linear models that keeps w up to date (Hsieh et al. 2008; Shalev-Shwartz & Zhang 2013).

Each step maximises the dual exactly along one βᵢ, reading ⟨w, xᵢ⟩ and writing w += (new − old) xᵢ: O(nnz of xᵢ), independent of n,
no step size, and the dual value rises at every step. For the hinge this is δ = (1 − yᵢ⟨w,xᵢ⟩)/‖xᵢ‖², ᾱ = clip(αᵢ + δ, 0, C).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.certificate import Point
from gapless.data.rows import row_add, row_dot, row_entries
from gapless.losses.steps import dual_step
from gapless.problem import Problem
from gapless.solvers.base import (
    Solver,
    State,
    check_choice,
    refuse_free_intercept,
    refuse_kernel,
    samples_ahead,
    start_beta,
)  # fmt: skip
from gapless.solvers.sampling import SAMPLINGS, Order


@dataclass
class SdcaState(State):
    """β, the augmented weights they give, and the order of visits."""

    beta: np.ndarray = None  # type: ignore[assignment]
    w: np.ndarray = None  # type: ignore[assignment]
    b: np.ndarray = None  # type: ignore[assignment]  # s² Σβ, one entry
    order: Order = None  # type: ignore[assignment]


@dataclass(frozen=True)
class SDCA(Solver):
    """Dual coordinate ascent with w kept up to date. ``sampling``: reshuffled ``"epochs"`` or ``"uniform"`` draws.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, SDCA()).w
    array([1.])
    """

    sampling: str = "epochs"
    name: ClassVar[str] = "sdca"
    max_iter: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        check_choice("sampling", self.sampling, SAMPLINGS)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_free_intercept(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SdcaState:
        beta = start_beta(problem, start)
        return SdcaState(
            rng,
            beta=beta,
            w=problem.weights(beta),
            b=np.array([problem.shift * beta.sum()]),
            order=Order.start(problem.n_samples, self.sampling, rng),
        )

    def step(self, problem: Problem, state: SdcaState) -> None:
        entries = row_entries(problem.rows)
        piece = state.order.next(samples_ahead(state, problem.n_samples, 2 * entries))
        _ascend(problem.rows, problem.dual, problem.diagonal, problem.shift, piece, state.beta, state.w, state.b)
        state.iterations += len(piece) / problem.n_samples
        state.work += 2 * len(piece) * entries

    def point(self, problem: Problem, state: SdcaState) -> Point:
        return Point(beta=state.beta.copy())


@njit(cache=True, nogil=True, error_model="numpy")
def _ascend(rows, dual, diagonal, shift, piece, beta, w, b):
    """One exact maximisation for each index of ``piece``; writes beta, w and b."""
    intercept = b[0]
    for k in range(len(piece)):
        i = piece[k]
        old = beta[i]
        new = dual_step(dual, i, row_dot(rows, i, w) + intercept, old, diagonal[i])
        if new != old:
            beta[i] = new
            intercept += shift * (new - old)
            row_add(rows, i, new - old, w)
    b[0] = intercept
