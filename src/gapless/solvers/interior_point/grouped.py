r"""The barrier method for the ν-forms on few features: an offset with a price is one more weight, without a penalty and with a linear term.

    min over w, b    ½‖w‖² + Σ cᵢ ℓ(yᵢ, ⟨w, xᵢ⟩ + b_{g(i)}) + Σ_g totals_g b_g

With a column for each group, one for its samples and zero for others, the barrier of ``native/interior_point/barrier.hpp`` solves it as it is: its
constant vector g, of which ρ∘(w, b) = g + Aᵀβ, is −totals for these columns, so that Σβ over a group is its total.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, refuse_kernel
from gapless.solvers.newton.row_sampling import box_of, require_rows, require_system

_SURE = 0.3  # share of the target that the barrier's own estimate of the gap may take


@dataclass(frozen=True)
class GroupedInteriorPoint(Solver):
    """Mehrotra's predictor–corrector method on the (d + groups)² system of a ν-form, on all rows at once.

    >>> import gapless as gl
    >>> problem = gl.nu.one_class([[1.0], [2.0], [3.0], [4.0]], nu=0.5)
    >>> result = gl.solve(problem, GroupedInteriorPoint(), tol=1e-9)
    >>> round(float(result.beta.sum()), 6), round(-result.b, 4)
    (2.0, 7.5)
    """

    name: ClassVar[str] = "interior_point"  # one method by two engines: progress and traces tell its steps
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 200

    def unsupported(self, problem: Problem) -> str | None:
        if not problem.is_nu:
            return "GroupedInteriorPoint is for ν-forms, whose offsets have a price; use solver='interior_point'."
        return refuse_kernel(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> GroupedEngine:
        return GroupedEngine(problem)


class GroupedEngine(Engine):
    """The barrier on all rows. It begins at the dual point that spreads each total evenly, whatever start is given: a bound is no interior."""

    judges = True

    def __init__(self, problem: Problem) -> None:
        d, groups = problem.n_features, len(problem.totals)
        n, columns, box = problem.n_samples, d + groups, box_of(problem)
        require_system(GroupedInteriorPoint.name, columns)
        require_rows(GroupedInteriorPoint.name, n, columns)
        self.A = np.zeros((n, columns))  # the barrier looks at it for as long as it lives
        X: Any = problem.X
        self.A[:, :d] = X.toarray() if sp.issparse(X) else X
        self.A[np.arange(n), d + problem.groups] = 1.0
        rho = np.concatenate([np.ones(d), np.zeros(groups)])
        g = np.concatenate([np.zeros(d), -problem.totals])
        carried = np.bincount(problem.groups, weights=problem.cost, minlength=groups)
        w = np.zeros(columns)
        w[:d] = problem.weights(problem.cost * (problem.totals / carried)[problem.groups])
        rest = box.p - self.A @ w
        w[d:] = [np.median(rest[problem.groups == k]) for k in range(groups)]
        width = float(np.abs(box.p - self.A @ w).mean()) or 1.0
        self.barrier = _native.Barrier(self.A, box, None, rho, g, 0.0, w, width)

    def step(self, budget: Budget, targets: Targets) -> Advance:
        goal, work, steps, outcome = _SURE * min(targets), 6.0 * self.A.size, 0, Outcome.RUNNING
        for _ in range(self.whole_steps(budget, work)):
            if self.barrier.stuck:
                outcome = Outcome.STALLED
                break
            self.barrier.iterate()
            steps += 1
            if self.barrier.gap <= goal * abs(self.barrier.value):
                outcome = Outcome.READY
                break
        return Advance(steps, steps * work, outcome)

    def point(self) -> Point:
        return Point(beta=np.asarray(self.barrier.beta()))
