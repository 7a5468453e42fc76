"""The history of a solve, and what a callback is told while the solve runs."""

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

    Attributes
    ----------
    solver : str
        The name of the solver.
    iterations : float
        The iterations so far, in the solver's own unit (epochs; pairs for ``smo``).
    seconds : float
        The seconds since the solve began.
    certificate : Certificate
        The best bounds that are proven so far, from whichever iterates.
    tol : float
        The relative gap at which the solve will stop.
    primal, dual : float
        P and D at the algorithm's own iterate; D is −∞ where the iterate is not feasible.
    iterate : Iterate
        The algorithm's own point (w, b, β); its arrays are not to be written to.

    Examples
    --------
    >>> import gapless as gl
    >>> def stop_at_a_tenth(progress):
    ...     return progress.certificate.relative_gap < 0.1
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> gl.solve(problem, "subgradient", tol=1e-9, callback=stop_at_a_tenth).status.name
    'CALLBACK'
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
    """A function that a solve calls after each check; returning True stops the solve, which then keeps its best iterate."""

    def __call__(self, progress: Progress, /) -> bool | None: ...


@dataclass
class Trace:
    """The history of a solve: one entry in each list for each check, in the convention that the problem was stated in.

    ``primal`` and ``dual`` are the iterate's own values, which bounce in a stochastic solver; ``best_primal`` and ``best_dual`` are the best
    bounds proven so far, from whichever points, which do not.

    Attributes
    ----------
    unit : str
        What an iteration of the solver is: ``"epochs"``, ``"pairs"``, …
    iterations : list of float
        The iterations up to each check.
    seconds : list of float
        The seconds up to each check.
    primal, dual : list of float
        P and D at the algorithm's own iterate; D is −∞ where the iterate is not feasible.
    upper, lower : list of float
        The best bounds on the optimum so far, as lists; ``best_primal`` and ``best_dual`` are the same as arrays.

    Examples
    --------
    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> trace = gl.solve(problem, "sgd", tol=0.1).trace
    >>> trace.unit, len(trace) == len(trace.seconds), bool(trace.relative_gap[-1] <= 0.1)
    ('epochs', True, True)
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
        """(best primal − best dual) / |best primal| at each check; inf where one of the two is infinite."""
        primal, dual = self.best_primal, self.best_dual
        finite = np.isfinite(primal) & np.isfinite(dual)
        safe = np.where(finite, primal, 1.0)
        with np.errstate(over="ignore"):  # a primal value of zero makes the quotient overflow to inf
            gap = (safe - np.where(finite, dual, 0.0)) / np.maximum(np.abs(safe), _TINY)
        return np.where(finite, gap, np.inf)


# A method that should raise the dual value with every step has stalled when no check raised the value by more than a thousandth of the gap
# (_STALL_SHARE) for ten checks (_STALL_CHECKS), over which the work, counted in entries touched, grew to four times (_STALL_GROWTH) what it was at
# the last rise, plus about a second's (_STALL_WORK). All four are by hand, and large on purpose: a solve that is taken for stalled by mistake ends
# too early, one that is found stalled late only costs time.
_STALL_SHARE = 1e-3
_STALL_CHECKS = 10
_STALL_GROWTH = 4.0
_STALL_WORK = 1e8


class Ascent:
    """Watches the dual values of a method that should raise them with every step, and tells whether they still rise."""

    def __init__(self) -> None:
        self._risen, self._risen_at = -math.inf, 0.0
        self._checks, self._work = 0, 0.0

    def see(self, dual: float, gap: float, work: float) -> None:
        """Take note of a check: the iterate's dual value, the best gap, and the work so far."""
        self._work = work
        self._checks += 1
        if not dual < self._risen + _STALL_SHARE * min(gap, max(abs(dual), _TINY)):
            self._risen, self._risen_at, self._checks = dual, work, 0

    @property
    def has_stalled(self) -> bool:
        """Whether the last checks have closed next to nothing of the gap."""
        return self._checks >= _STALL_CHECKS and self._work > _STALL_WORK + _STALL_GROWTH * self._risen_at
