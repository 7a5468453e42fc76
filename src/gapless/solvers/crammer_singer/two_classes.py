r"""Crammer and Singer's machine for two classes: the binary machine with the hinge, by ``sdca``.

A block sums to zero, so that with two classes it has one free number, βᵢ₁ = −βᵢ₀, and W has the columns −u/2 and u/2. Then

    P(W) = ½ · 2 ‖u/2‖² + Σᵢ cᵢ max(0, 1 − yᵢ⟨u, x̃ᵢ⟩) = ½ · [½ ‖u‖² + Σᵢ 2cᵢ max(0, 1 − yᵢ⟨u, x̃ᵢ⟩)]

is half of the objective of the hinge with costs 2cᵢ, whose dual variables are 2βᵢ₁; and the exact maximum over a block is the step of ``sdca``, which
reads a row for one function and not for two, leaves out samples at their bound, and goes on by Newton steps.
"""

from __future__ import annotations

import numpy as np

from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Targets
from gapless.solvers.sdca.solver import SDCA


class TwoClassEngine(Engine):
    """The engine of ``sdca`` for the binary problem; its points are told as those of both classes."""

    def __init__(
        self, problem: CrammerSingerProblem, beta: np.ndarray, rng: np.random.Generator, second_order: bool
    ) -> None:
        binary = Problem(
            problem.X, problem.y == 1, loss="hinge", intercept=problem.intercept, intercept_scale=problem.intercept_scale,
            sample_weight=2.0 * problem.cost,
        )  # fmt: skip
        start = Point(beta=2.0 * beta[:, 1]) if beta.any() else None
        self.n = problem.n_samples
        self.engine = SDCA(second_order=second_order).init(binary, start, rng)
        self._take_flags()

    def step(self, budget: Budget, targets: Targets) -> Advance:
        advance = self.engine.step(budget, targets)
        self._take_flags()
        return advance

    def point(self) -> Point:
        found = self.engine.point()
        # A method that has not moved yet has no β: that is zero.
        beta = _both(np.zeros(self.n) if found.beta is None else found.beta)
        if found.w is None:
            return Point(beta=beta)
        return Point(beta=beta, w=_both(found.w), offsets=_both(np.float64(found.b or 0.0)))

    def _take_flags(self) -> None:
        engine = self.engine
        self.judges, self.holds, self.rises, self.grain = engine.judges, engine.holds, engine.rises, engine.grain


def _both(values: np.ndarray | np.float64) -> np.ndarray:
    """The numbers of the two classes, a column each, from those of the binary machine."""
    return np.stack([-0.5 * values, 0.5 * values], axis=-1)
