"""Projected gradient ascent on the dual box: β ← proj(β + (1/L) ∇), with ∇ from matrix products only.

The separable part of the dual is maximised exactly inside the projection, so that only ½βᵀKβ is linearised and L is the largest eigenvalue of K
(plus s²), found by power iteration. With ``acceleration`` the step starts from Nesterov's extrapolation, restarted whenever the dual falls.

Linear problems need X(Xᵀβ) alone. A kernel is held as an n×n matrix, and refused when that does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.data.rows import row_entries
from gapless.losses.steps import dual_step
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, full_gram, refuse_free_intercept, start_beta, whole_steps
from gapless.solvers.textbook.spectrum import largest_eigenvalue, product


@dataclass
class ProjectedGradientState(State):
    """β with Kβ, the point of extrapolation with its product, and the momentum's counter."""

    K: np.ndarray | None = None
    L: float = 1.0
    beta: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    z: np.ndarray = None  # type: ignore[assignment]
    f_z: np.ndarray = None  # type: ignore[assignment]
    momentum: float = 1.0
    value: float = -np.inf


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """Projected gradient ascent on the dual, with the step 1/L; ``acceleration`` adds Nesterov's momentum.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, ProjectedGradient(acceleration=True)).w.round(6)
    array([1.])
    """

    acceleration: bool = False
    name: ClassVar[str] = "projected_gradient"
    max_iter: ClassVar[int] = 100_000

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_free_intercept(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> ProjectedGradientState:
        K = None if problem.is_linear else full_gram(problem, self.name)
        beta = start_beta(problem, start)
        state = ProjectedGradientState(rng, K=K, beta=beta, z=beta.copy())
        state.L = largest_eigenvalue(problem, K)
        state.f = product(problem, K, beta)
        state.f_z = state.f.copy()
        state.value = _dual_value(problem, beta, state.f)
        return state

    def step(self, problem: Problem, state: ProjectedGradientState) -> None:
        n = problem.n_samples
        cost = 2 * n * row_entries(problem.rows) if state.K is None else float(n * n)
        for _ in range(whole_steps(state, cost)):
            self._iterate(problem, state)
            state.iterations += 1
            state.work += cost
            if state.done:
                break

    def _iterate(self, problem: Problem, state: ProjectedGradientState) -> None:
        new = np.empty_like(state.beta)
        _project(problem.dual, state.z, state.f_z, state.L, new)
        f = product(problem, state.K, new)
        value = _dual_value(problem, new, f)
        if value < state.value - 1e-12 * abs(state.value):
            if state.momentum > 1.0:  # the extrapolation overshot: start again from the last good point
                state.momentum = 1.0
            else:  # a power iteration estimates L from below
                state.L *= 2.0
            state.z, state.f_z = state.beta.copy(), state.f.copy()
            return
        if state.momentum == 1.0 and np.array_equal(new, state.beta):
            state.done = True
        follow = 0.0
        if self.acceleration:
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.momentum**2))
            follow = (state.momentum - 1.0) / momentum
            state.momentum = momentum
        state.z = new + follow * (new - state.beta)
        state.f_z = f + follow * (f - state.f)
        state.beta, state.f, state.value = new, f, max(value, state.value)

    def point(self, problem: Problem, state: ProjectedGradientState) -> Point:
        return Point(beta=state.beta.copy())


def _dual_value(problem: Problem, beta: np.ndarray, f: np.ndarray) -> float:
    return float(problem.loss.dual_value(problem.y, problem.cost, beta).sum()) - 0.5 * float(beta @ f)


@njit(cache=True, nogil=True, error_model="numpy")
def _project(dual, z, f_z, L, out):
    """The best separable step of curvature L from z; writes out."""
    for i in range(len(z)):
        out[i] = dual_step(dual, i, f_z[i], z[i], L)
