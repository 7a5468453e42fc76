"""Fits that differ in C alone, one after the other: what they have in common is made once, and each begins where the last one ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gapless.estimators.every_pair import EveryPair, multiple
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.solved import Solved
from gapless.kernels import Validity
from gapless.losses import DualBox
from gapless.problems.along_c import first_of_chain, with_c
from gapless.problems.problem import Problem
from gapless.record import changed

Resolved = tuple[KernelSpec, Any, KernelSpec]
"""The kernel that the parameters name, the samples as the problem sees them, and the kernel on those."""


class Chain:
    """The problem of an estimator with a kernel, or its pairs of classes, from C to C, and the last solution.

    What a solver keeps of the samples, such as kernel entries, stays for the next fit. A fit whose estimator has such a chain as ``_chain`` has to be
    on the same rows as the fits before it.
    """

    def __init__(self) -> None:
        self._first: Problem | None = None
        self._last: tuple[float, Solved] | None = None
        self._pairs: tuple[float, EveryPair] | None = None
        self._samples: Resolved | None = None

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
        p, epsilon = self._first.dual.p, self._first.dual.epsilon
        linear = float(p @ solved.beta - epsilon @ np.abs(solved.beta))
        return changed(solved, beta=multiple(linear, solved.certificate.dual, C / before) * solved.beta)

    def end_fit(self, C: float, solved: Solved) -> None:
        """Keep the solution of a fit, for the fit with the next C to begin from."""
        self._last = C, solved

    def begin_pairs(self, C: float, together: EveryPair) -> None:
        """Begin the pairs of classes of a fit where those of the last C ended."""
        if self._pairs is not None:
            before, pairs = self._pairs
            together.begin_at(pairs, C / before)

    def end_pairs(self, C: float, together: EveryPair) -> None:
        """Keep the solutions of all pairs of classes of a fit, for the fit with the next C to begin from."""
        self._pairs = C, together

    def samples(self, make: Callable[[], Resolved]) -> Resolved:
        """The samples as the problems see them, and the kernels: ``make()`` for the first fit, and the same for all fits."""
        if self._samples is None:
            self._samples = make()
        return self._samples
