"""A hard tube, and a narrower tube whose points hold the first one in exact arithmetic."""

from __future__ import annotations

import copy
from dataclasses import replace

from gapless.problems.problem import Problem


def is_hard_tube(problem: Problem) -> bool:
    """Whether the problem is a regression without slack: |y − f| ≤ ε for every sample."""
    return problem.is_hard and problem.loss.task == "regression"


def narrowed(problem: Problem, share: float) -> Problem:
    """The same problem with a narrower tube, ε (1 − share): an f that holds the narrower tube to rounding holds the problem's own tube exactly.

    >>> import numpy as np
    >>> from gapless.losses import EpsilonInsensitive
    >>> tube = Problem([[0.0], [1.0]], [0.0, 1.0], loss=EpsilonInsensitive(0.5), C=np.inf)
    >>> narrowed(tube, 0.5).dual.epsilon
    array([0.25, 0.25])
    """
    inner = copy.copy(problem)
    inner.__dict__.pop("dual", None)
    inner.__dict__["loss"] = replace(problem.loss, epsilon=problem.loss.epsilon * (1.0 - share))  # type: ignore[type-var, attr-defined]
    return inner
