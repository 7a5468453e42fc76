"""``max_time`` of an estimator: one clock for all of a fit, its set-up and all its subproblems included."""

from __future__ import annotations

import math
import threading
from time import perf_counter

_MOMENT = 1e-9  # the seconds that a subproblem gets which begins too late: it then ends at once, with a certificate


class Deadline:
    """A clock that runs from its construction on. The subproblems that have not begun share the time that is left in equal parts.

    Each subproblem thus gets some time, and the time that one does not need is left to the others.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = math.inf if seconds is None else float(seconds)
        self._began = perf_counter()
        self._waiting = self._jobs = 1
        self._lock = threading.Lock()

    def expect(self, subproblems: int, jobs: int) -> None:
        """Say how many subproblems are to come, and how many of them run at a time."""
        self._waiting, self._jobs = subproblems, jobs

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.left <= 0

    @property
    def left(self) -> float:
        """The seconds that are left; infinite where there is no bound."""
        return self._seconds - (perf_counter() - self._began)

    def next_share(self) -> float | None:
        """The seconds for the next subproblem; None where there is no bound."""
        if self._seconds == math.inf:
            return None
        with self._lock:
            rounds = max(1, math.ceil(self._waiting / self._jobs))
            self._waiting -= 1
        return max(_MOMENT, self.left / rounds)
