"""Newton's method on all classes of multinomial regression together, on the explicit kernel matrix (``kernel_newton.py``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg as la

from gapless.problems.multinomial import MultinomialProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.multinomial import best_offsets, log_sums
from gapless.solvers.base import Solver, own_solver
from gapless.solvers.newton.kernel_newton import KernelNewtonEngine, LossAt, refuse_invalid_kernel


@dataclass(frozen=True)
class MultinomialNewton(Solver):
    """Newton's method on all classes together; see :mod:`gapless.solvers.newton.kernel_newton`."""

    name: ClassVar[str] = "multinomial_newton"
    unit: ClassVar[str] = "Newton steps"
    max_iter: ClassVar[int] = 200

    def unsupported(self, problem: Problem) -> str | None:
        if not isinstance(problem, MultinomialProblem):
            return f"{self.name} solves a MultinomialProblem alone; got a {type(problem).__name__}."
        return refuse_invalid_kernel(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> KernelNewtonEngine:
        assert isinstance(problem, MultinomialProblem)
        shape = (problem.n_samples, problem.n_classes)
        return KernelNewtonEngine(
            problem, self.name, start, shape, lambda F, former: multinomial_loss(problem, F, former)
        )


def multinomial_loss(problem: MultinomialProblem, F: np.ndarray, former: np.ndarray | None) -> LossAt:
    """The loss of all classes with the best offsets; the search for them begins at ``former``."""
    cost, free, k = np.asarray(problem.cost), problem.intercept == "free", problem.n_classes
    b = best_offsets(F, problem.targets, cost, former) if free else np.zeros(k)
    logs, p = log_sums(F + b)
    weighted = cost[:, None] * p
    own = np.arange(len(F)), problem.y
    losses = logs - (F[own] + b[problem.y])
    sums = weighted.sum(axis=0)
    between = np.diag(sums) - p.T @ weighted + sums.sum() / k  # the last term makes it regular along (1, …, 1)

    inverse = la.pinv(between, rtol=np.finfo(float).eps) if free else between

    def bent(U: np.ndarray) -> np.ndarray:
        return weighted * (U - (p * U).sum(axis=1)[:, None])

    def curve(U: np.ndarray) -> np.ndarray:
        out = bent(U)
        return bent(U - inverse @ out.sum(axis=0)) if free else out

    beta = -weighted
    beta[own] += cost
    return LossAt(float(cost @ losses), beta, b, curve, (weighted * (1.0 - p)).mean(axis=1))


@own_solver.register
def _(problem: MultinomialProblem) -> Solver:
    return MultinomialNewton()
