"""The history of a solve, and what a callback is told while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gapless.proof.certificate import Certificate


@dataclass(frozen=True)
class Progress:
    """What a callback receives after each check: the best bounds so far, and how far the solve has come."""

    solver: str
    iterations: float
    seconds: float
    certificate: Certificate
    tol: float


class Callback(Protocol):
    """Called after each check; returning True stops the solve, which then keeps its best iterate."""

    def __call__(self, progress: Progress, /) -> bool | None: ...


@dataclass
class Trace:
    """One row a check. ``primal`` and ``dual`` are the iterate's own values; the best seen so far are ``best_primal`` and ``best_dual``.

    A stochastic solver's own values bounce; the best ones, from whichever iterates, do not.
    """

    unit: str = "epochs"
    iterations: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    primal: list[float] = field(default_factory=list)
    dual: list[float] = field(default_factory=list)

    def append(self, iterations: float, seconds: float, primal: float, dual: float) -> None:
        """Add a check."""
        self.iterations.append(iterations)
        self.seconds.append(seconds)
        self.primal.append(primal)
        self.dual.append(dual)

    def __len__(self) -> int:
        return len(self.iterations)

    @property
    def best_primal(self) -> np.ndarray:
        """The smallest primal value up to each check."""
        return np.minimum.accumulate(np.asarray(self.primal))

    @property
    def best_dual(self) -> np.ndarray:
        """The largest dual value up to each check."""
        return np.maximum.accumulate(np.asarray(self.dual))

    @property
    def relative_gap(self) -> np.ndarray:
        """(best primal − best dual) / |best primal| at each check; inf where one of them is."""
        primal, dual = self.best_primal, self.best_dual
        finite = np.isfinite(primal) & np.isfinite(dual)
        safe = np.where(finite, primal, 1.0)
        with np.errstate(over="ignore"):  # a primal value of zero
            gap = (safe - np.where(finite, dual, 0.0)) / np.maximum(np.abs(safe), np.finfo(float).tiny)
        return np.where(finite, gap, np.inf)
