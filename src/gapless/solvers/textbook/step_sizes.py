"""The step sizes ηₜ of the methods on the primal, t = 1, 2, …, in the convention that the problem was stated in.

A step is w ← w − ηₜ ∇P̂(w) with the stated objective P̂ = scale · P: on the internal P = ½‖w‖² + Σ cᵢ ℓ it is a step of scale · ηₜ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gapless.errors import InvalidInputError
from gapless.problems.problem import Problem
from gapless.solvers.base import check_positive

StepRule: TypeAlias = str | Callable[[int], float]


@dataclass(frozen=True)
class StepSizes:
    """ηₜ = η (``"constant"``), η/(t + t₀) (``"decay"``), or a function's value at t."""

    rule: StepRule
    eta: float
    t0: float
    scale: float

    @classmethod
    def of(cls, problem: Problem, rule: StepRule, eta: float | None, t0: float) -> StepSizes:
        """The step sizes of a problem; without η it is 1/scale, with which ``"constant"`` takes steps of one on the internal P."""
        return cls(rule, 1.0 / problem.scale if eta is None else float(eta), t0, problem.scale)

    def after(self, t: int, count: int) -> np.ndarray:
        """scale · η of the steps t + 1, …, t + count."""
        if self.rule == "constant":
            return np.full(count, self.scale * self.eta)
        if isinstance(self.rule, str):
            return self.scale * (self.eta / (np.arange(t + 1, t + count + 1) + self.t0))
        return self.scale * np.array([_called(self.rule, s) for s in range(t + 1, t + count + 1)])


def check_steps(rule: Any, eta: Any, t0: Any, choices: tuple[str, ...]) -> None:
    """Refuse options that are no step rule."""
    if callable(rule):
        if eta is not None or t0 is not None:
            raise InvalidInputError("step_rule is a function of t, which tells the whole step; leave out eta and t0.")
        return
    if rule not in choices:
        raise InvalidInputError(f"step_rule must be one of {', '.join(choices)}, or a function of t; got {rule!r}.")
    if eta is not None:
        check_positive("eta", eta)
    if t0 is not None and (not isinstance(t0, (int, float, np.number)) or not 0 <= t0 < np.inf):
        raise InvalidInputError(f"t0 must be zero or a positive number; got {t0!r}.")


def _called(rule: Callable[[int], float], t: int) -> float:
    eta = rule(t)
    if not isinstance(eta, (int, float, np.number)) or not 0 < eta < np.inf:
        raise InvalidInputError(f"step_rule must return a positive number; at t = {t} it returned {eta!r}.")
    return float(eta)
