"""Projected gradient ascent on the dual box: β ← proj(β + (1/L) ∇), with ∇ from matrix products only.

The separable part of the dual is maximised exactly inside the projection, so that only ½βᵀKβ is linearised and L is the largest eigenvalue of K
(plus s²), found by power iteration. With ``acceleration`` the step starts from Nesterov's extrapolation, restarted whenever the dual falls.

Linear problems need X(Xᵀβ) alone. A kernel is held as an n×n matrix, and refused when that does not fit.
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
    Outcome,
    Solver,
    Targets,
    full_gram,
    refuse_free_intercept,
    start_beta,
)
from gapless.solvers.textbook.spectrum import largest_eigenvalue, product


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

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> ProjectedGradientEngine:
        K = None if problem.is_linear else full_gram(problem, self.name)
        return ProjectedGradientEngine(problem, K, start_beta(problem, start), self.acceleration)


class ProjectedGradientEngine(Engine):
    """β with f = Kβ, the point z of extrapolation with its product, the dual's value, and the momentum's counter."""

    def __init__(self, problem: Problem, K: np.ndarray | None, beta: np.ndarray, acceleration: bool) -> None:
        n = problem.n_samples
        self.problem, self.K, self.acceleration = problem, K, acceleration
        self.cost = 2 * n * row_entries(problem.rows) if K is None else float(n * n)
        self.L = largest_eigenvalue(problem, K)
        self.beta, self.f = beta, product(problem, K, beta)
        self.z, self.f_z = self.beta, self.f
        self.value = self._dual_value(self.beta, self.f)
        self.momentum = 1.0

    def step(self, budget: Budget, targets: Targets) -> Advance:
        done = 0
        outcome = Outcome.RUNNING
        while done < self.whole_steps(budget, self.cost) and outcome is Outcome.RUNNING:
            outcome = self._iterate()
            done += 1
        return Advance(done, done * self.cost, outcome)

    def _iterate(self) -> Outcome:
        beta = np.empty_like(self.beta)
        # β = proj(z + ∇/L), coordinate by coordinate.
        _native.project_gradient_step(self.problem.dual, self.z, self.f_z, self.L, beta)
        f = product(self.problem, self.K, beta)
        value = self._dual_value(beta, f)
        if value < self.value - 1e-12 * abs(self.value):
            if self.momentum > 1.0:  # the extrapolation overshot: start again from the last good point
                self.momentum = 1.0
            else:  # a power iteration estimates L from below
                self.L *= 2.0
            self.z, self.f_z = self.beta, self.f
            return Outcome.RUNNING
        stays = self.momentum == 1.0 and np.array_equal(beta, self.beta)
        follow = 0.0
        if self.acceleration:
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
            follow = (self.momentum - 1.0) / momentum
            self.momentum = momentum
        self.z = beta + follow * (beta - self.beta)
        self.f_z = f + follow * (f - self.f)
        self.beta, self.f, self.value = beta, f, max(value, self.value)
        return Outcome.STALLED if stays else Outcome.RUNNING

    def _dual_value(self, beta: np.ndarray, f: np.ndarray) -> float:
        problem = self.problem
        return float(problem.loss.dual_value(problem.y, problem.cost, beta).sum()) - 0.5 * float(beta @ f)

    def point(self) -> Point:
        return Point(beta=self.beta.copy())
