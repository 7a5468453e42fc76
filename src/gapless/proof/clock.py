"""The clock of a solve: how much of ``max_time`` is left, and whether the certificate of a point still fits into it."""

from __future__ import annotations

import math
import time

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Point

# How long a certificate with a kernel will take is told by one row of so many: measuring costs half a percent of the certificate itself.
_PROBE = 200


class Clock:
    """Runs from its creation; ``max_time`` None is no bound."""

    def __init__(self, problem: Problem, max_time: float | None) -> None:
        self.problem = problem
        self.max_time = math.inf if max_time is None else max_time
        self._began = time.perf_counter()
        self._entry_seconds = math.inf  # of one kernel entry, the least that was measured

    def seconds(self) -> float:
        """The seconds so far."""
        return time.perf_counter() - self._began

    def left(self) -> float:
        """The seconds until ``max_time``."""
        return math.inf if self.max_time == math.inf else self.max_time - self.seconds()

    def is_late(self, point: Point | None = None) -> bool:
        """Whether ``max_time`` is over, or would be over after the certificate of ``point``."""
        left = self.left()
        return left <= 0 or (point is not None and left < math.inf and left <= self.proof_seconds(point))

    def proof_seconds(self, point: Point) -> float:
        """About how long the certificate of a point takes: with a kernel the time for Kβ, measured on some of the rows; otherwise nothing.

        Where the machine was busy with something else for a moment, some rows seem to take seconds. So no measurement is trusted alone that says that
        the time is up.
        """
        beta = point.beta
        columns = 0 if self.problem.is_linear or beta is None or beta.ndim > 1 else int(np.count_nonzero(beta))
        if beta is None or not columns:
            return 0.0
        for _ in range(3):
            if self._entry_seconds * self.problem.n_samples * columns < self.left():
                break
            self._entry_seconds = min(self._entry_seconds, self._measured(beta, columns))
        return self._entry_seconds * self.problem.n_samples * columns

    def _measured(self, beta: np.ndarray, columns: int) -> float:
        rows = min(self.problem.n_samples, max(16, self.problem.n_samples // _PROBE))
        began = time.perf_counter()
        self.problem.expand(beta, self.problem.X[:rows])
        return (time.perf_counter() - began) / (rows * columns)
