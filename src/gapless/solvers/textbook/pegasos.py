"""Pegasos (Shalev-Shwartz et al. 2011) in its dual-averaging form, for the hinge loss.

θ ← 0; at step t, w = ηₜθ with ηₜ = 1/(λt); a uniform sample i with yᵢ⟨w,xᵢ⟩ < 1 adds (cᵢ/c̄) yᵢxᵢ to θ. Returns the average of all wₜ. With
λ = 1/Σcᵢ this is the problem's own objective divided by Σcᵢ, weights included. θ counts how often each sample erred, so that
w = Σβᵢxᵢ with βᵢ = yᵢ n cᵢ · errorsᵢ/t, and the average of all wₜ needs two numbers a sample: O(nnz of xᵢ) a step, the average included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.data.rows import row_add, row_dot, row_entries
from gapless.losses import Hinge
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, refuse_hard_margin, refuse_kernel, samples_ahead
from gapless.solvers.textbook.sampling import Order


@dataclass
class PegasosState(State):
    """θ and its intercept entry; per sample the number of errors and its harmonic-weighted twin; t and H = Σ 1/s for s ≤ t."""

    theta: np.ndarray = None  # type: ignore[assignment]
    errors: np.ndarray = None  # type: ignore[assignment]
    weighted: np.ndarray = None  # type: ignore[assignment]
    scalars: np.ndarray = None  # type: ignore[assignment]  # θ_b, t, H
    order: Order = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Pegasos(Solver):
    """Pegasos: steps 1/(λt) on θ, uniform samples, the average of all iterates (``average=False``: the last one).

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, Pegasos(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    """

    average: bool = True
    name: ClassVar[str] = "pegasos"

    def unsupported(self, problem: Problem) -> str | None:
        if not isinstance(problem.loss, Hinge):
            return f"pegasos is defined for the hinge loss, not for {problem.loss.name}; use solver='sgd'."
        if problem.intercept == "free":
            return (
                "pegasos needs a strongly convex objective, which a free intercept is not; "
                "use solver='sgd', or intercept='regularized' or 'none'."
            )
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> PegasosState:
        n, d = problem.X.shape
        order = Order.start(n, "uniform", rng)
        return PegasosState(
            rng, theta=np.zeros(d), errors=np.zeros(n), weighted=np.zeros(n), scalars=np.zeros(3), order=order
        )  # fmt: skip

    def step(self, problem: Problem, state: PegasosState) -> None:
        n = problem.n_samples
        entries = row_entries(problem.rows)
        piece = state.order.next(samples_ahead(state, problem.n_samples, 2 * entries))
        _walk(
            problem.rows, problem.y, problem.cost, problem.shift, piece, state.theta, state.errors, state.weighted, state.scalars
        )  # fmt: skip
        state.iterations += len(piece) / n
        state.work += 2 * len(piece) * entries

    def point(self, problem: Problem, state: PegasosState) -> Point:
        _, t, harmonic = state.scalars
        counts = (
            (harmonic * state.errors - state.weighted) / max(t, 1.0) if self.average else state.errors / max(t, 1.0)
        )
        beta = problem.y * problem.cost * problem.n_samples * counts
        return Point(beta=beta, w=problem.weights(beta), b=problem.shift * float(beta.sum()))


@njit(cache=True, nogil=True, error_model="numpy")
def _walk(rows, y, cost, shift, piece, theta, errors, weighted, scalars):
    """One step for each index of ``piece``; writes theta, errors, weighted and the scalars. θ is kept in the scaling w = θ/t."""
    n = len(y)
    theta_b, t, harmonic = scalars[0], scalars[1], scalars[2]
    for k in range(len(piece)):
        i = piece[k]
        t += 1.0
        harmonic += 1.0 / t
        f = (row_dot(rows, i, theta) + theta_b) / t
        if y[i] * f < 1.0 and cost[i] > 0.0:
            change = n * cost[i] * y[i]
            row_add(rows, i, change, theta)
            theta_b += shift * change
            errors[i] += 1.0
            weighted[i] += harmonic  # an update at s is part of θ/t for s < t ≤ T, which adds up to H_T − H_s
    scalars[0], scalars[1], scalars[2] = theta_b, t, harmonic
