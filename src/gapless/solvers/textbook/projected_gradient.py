"""Projected gradient ascent on the dual box: β ← proj(β + ε∇), with ∇ from matrix products only.

ε = 1/L by default, with L the largest eigenvalue of the dual's quadratic part: of K (plus s²), and for a squared loss its diagonal d. Where the
separable part of the dual is not smooth (the tube's ε|β|, the entropy), it is maximised exactly inside the projection, and only ½βᵀKβ is
linearised. With ``acceleration`` the step starts from Nesterov's extrapolation, restarted whenever the dual falls.

Linear problems need the products X(Xᵀβ) alone. For a kernel the n×n matrix is held, and refused where it does not fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import row_entries
from gapless.data.scale import LARGEST
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
    check_positive,
    full_gram,
    refuse_free_intercept,
    start_beta,
)
from gapless.solvers.textbook.spectrum import largest_eigenvalue, product


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """Projected gradient ascent on the dual; ``acceleration`` adds Nesterov's momentum.

    ``eta`` is the step ε of α ← proj(α + ε∇) on the dual as the problem was stated, which is taken as it is, also where it is too large; None is 1/L.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, ProjectedGradient(acceleration=True)).w.round(6)
    array([1.])
    """

    acceleration: bool = False
    eta: float | None = None
    name: ClassVar[str] = "projected_gradient"
    max_iter: ClassVar[int] = 100_000

    def __post_init__(self) -> None:
        if self.eta is not None:
            check_positive("eta", self.eta)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_free_intercept(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> ProjectedGradientEngine:
        K = None if problem.is_linear else full_gram(problem, self.name)
        return ProjectedGradientEngine(self, problem, K, start_beta(problem, start))


class ProjectedGradientEngine(Engine):
    """β with f = Kβ, the extrapolated point z with Kz, the value of the dual, and Nesterov's momentum counter.

    A step of ε on the stated dual is a step of ε/scale in β: 1/L with L = scale/ε.
    """

    def __init__(self, solver: ProjectedGradient, problem: Problem, K: np.ndarray | None, beta: np.ndarray) -> None:
        n, dual = problem.n_samples, problem.dual
        self.problem, self.K, self.acceleration = problem, K, solver.acceleration
        self.cost = 2 * n * row_entries(problem.rows) if K is None else float(n * n)
        self.smooth = isinstance(dual, DualBox) and not dual.epsilon.any()
        self.is_fixed = solver.eta is not None
        if solver.eta is not None:
            self.L = problem.scale / solver.eta
        else:
            bend = np.asarray(dual.d) if isinstance(dual, DualBox) and self.smooth else None
            self.L = largest_eigenvalue(problem, K, bend)
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
        beta = self._projected()
        if not np.abs(beta).max() <= LARGEST:  # ε is too large, and an infinite box lets the dual variables grow
            return Outcome.STALLED
        f = product(self.problem, self.K, beta)
        value = self._dual_value(beta, f)
        if value < self.value - 1e-12 * abs(self.value) and (self.momentum > 1.0 or not self.is_fixed):
            if self.momentum > 1.0:  # the extrapolation went too far: the method starts again from the last good point
                self.momentum = 1.0
            else:  # the computed L was below the largest eigenvalue
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
        self.beta, self.f = beta, f
        self.value = value if self.is_fixed else max(value, self.value)
        return Outcome.STALLED if stays else Outcome.RUNNING

    def _projected(self) -> np.ndarray:
        """proj(z + ∇/L)."""
        dual, z, f = self.problem.dual, self.z, self.f_z
        if self.smooth:
            assert isinstance(dual, DualBox)
            return np.clip(z + (dual.p - dual.d * z - f) / self.L, dual.lower, dual.upper)
        beta = np.empty_like(z)
        _native.project_gradient_step(dual, z, f, self.L, beta)
        return beta

    def _dual_value(self, beta: np.ndarray, f: np.ndarray) -> float:
        problem = self.problem
        return float(problem.loss.dual_value(problem.y, problem.cost, beta).sum()) - 0.5 * float(beta @ f)

    def point(self) -> Point:
        return Point(beta=self.beta.copy())
