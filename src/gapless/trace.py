"""The history of a solve, and what a callback is told while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gapless.proof.certificate import Certificate, Iterate
from gapless.record import record

_TINY = float(np.finfo(float).tiny)


@record
class Progress:
    """What a callback receives after each check: the iterate, the best bounds so far, and how far the solve has come.

    ``primal`` and ``dual`` are the iterate's own values; ``iterate`` is the algorithm's own point, whose arrays are not to be written to.
    """

    solver: str
    iterations: float
    seconds: float
    certificate: Certificate
    tol: float
    primal: float = math.nan
    dual: float = math.nan
    iterate: Iterate | None = field(default=None, repr=False, compare=False)


class Callback(Protocol):
    """Called after each check; returning True stops the solve, which then keeps its best iterate."""

    def __call__(self, progress: Progress, /) -> bool | None: ...


@dataclass
class Trace:
    """One row a check, in the convention that the problem was stated in.

    ``primal`` and ``dual`` are the values of P and D at the algorithm's own iterate, D −∞ where that is not feasible. ``best_primal`` and
    ``best_dual`` are the best bounds proven so far, from whichever points: a stochastic solver's own values bounce, these do not.
    """

    unit: str = "epochs"
    iterations: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    primal: list[float] = field(default_factory=list)
    dual: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list, repr=False)
    lower: list[float] = field(default_factory=list, repr=False)

    def append(
        self, iterations: float, seconds: float, values: tuple[float, float], bounds: tuple[float, float]
    ) -> None:
        """Add a check: (P, D) of the iterate, and the best bounds (from above, from below) so far."""
        self.iterations.append(iterations)
        self.seconds.append(seconds)
        primal, dual = values
        self.primal.append(primal)
        self.dual.append(dual)
        upper, lower = bounds
        self.upper.append(upper)
        self.lower.append(lower)

    def __len__(self) -> int:
        return len(self.iterations)

    @property
    def best_primal(self) -> np.ndarray:
        """The least bound from above that was proven up to each check."""
        return np.asarray(self.upper, dtype=np.float64)

    @property
    def best_dual(self) -> np.ndarray:
        """The greatest bound from below that was proven up to each check."""
        return np.asarray(self.lower, dtype=np.float64)

    @property
    def relative_gap(self) -> np.ndarray:
        """(best primal − best dual) / |best primal| at each check; inf where one of them is."""
        primal, dual = self.best_primal, self.best_dual
        finite = np.isfinite(primal) & np.isfinite(dual)
        safe = np.where(finite, primal, 1.0)
        with np.errstate(over="ignore"):  # a primal value of zero
            gap = (safe - np.where(finite, dual, 0.0)) / np.maximum(np.abs(safe), _TINY)
        return np.where(finite, gap, np.inf)


# An ascent has stalled when its last so many checks, over which its work grew by this factor and by this many entries (a second or so), closed less
# than this share of the gap.
_STALL_CHECKS, _STALL_GROWTH, _STALL_WORK, _STALL_SHARE = 10, 4.0, 1e8, 1e-3


class Ascent:
    """The dual values of a method that should raise them with every step: whether they still rise."""

    def __init__(self) -> None:
        self._risen, self._risen_at = -math.inf, 0.0
        self._checks, self._work = 0, 0.0

    def see(self, dual: float, gap: float, work: float) -> None:
        """One check: the iterate's dual value, the best gap, and the work until then."""
        self._work = work
        self._checks += 1
        if not dual < self._risen + _STALL_SHARE * min(gap, max(abs(dual), _TINY)):
            self._risen, self._risen_at, self._checks = dual, work, 0

    @property
    def has_stalled(self) -> bool:
        """Whether the last checks have closed next to nothing of the gap."""
        return self._checks >= _STALL_CHECKS and self._work > _STALL_WORK + _STALL_GROWTH * self._risen_at
