"""Fits that differ in C alone, one after the other: their problem is stated once, and each begins where the last one ended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapless.estimators.solved import Solved
from gapless.kernels import Validity
from gapless.losses import DualBox
from gapless.problems.along_c import first_of_chain, with_c
from gapless.problems.problem import Problem
from gapless.record import changed


class Chain:
    """The one problem of an estimator with a kernel, from C to C, and the last solution.

    What a solver keeps of the samples, such as kernel entries, stays for the next fit. A fit whose estimator has such a chain as ``_chain`` has to be
    on the same rows as the fits before it.
    """

    def __init__(self) -> None:
        self._first: Problem | None = None
        self._last: tuple[float, Solved] | None = None

    def problem(self, C: float, make: Callable[[], Problem]) -> Problem:
        """The problem with this C: ``make()`` for the first fit, whose C the fits after it change."""
        if self._first is None:
            self._first = first_of_chain(make())
            return self._first
        return with_c(self._first, C)

    def start(self, C: float) -> Solved | None:
        """Where a fit with this C begins: at a multiple of the last β; where the optimum depends on the start, as it would by itself."""
        if self._last is None or self._first is None or not isinstance(self._first.dual, DualBox):
            return None
        if self._first.validity is Validity.NOT_VALID:
            return None
        before, solved = self._last
        return changed(solved, beta=_multiple(self._first.dual, solved, C / before) * solved.beta)

    def end_fit(self, C: float, solved: Solved) -> None:
        """Keep the solution of a fit, for the fit with the next C to begin from."""
        self._last = C, solved


def _multiple(dual: DualBox, solved: Solved, ratio: float) -> float:
    """What β is multiplied by where C is multiplied by ``ratio``.

    Where most of P is loss, β grows as C does, and otherwise hardly at all: the multiple with the highest dual value tells, linear / bend, where
    linear − bend / 2 is the dual value of β. Near the ratio it is the ratio itself, at which β that were at their bounds are so again.
    """
    linear = float(dual.p @ solved.beta - dual.epsilon @ np.abs(solved.beta))
    bend = 2.0 * (linear - solved.certificate.dual)
    if not (bend > 0 and linear > 0):
        return ratio
    best = linear / bend
    return ratio if best >= ratio**0.5 else max(1.0, best)
