"""The kernel entries of all samples of a search, in memory: computed once for all folds, values of C and pairs of classes."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.data.scale import LARGEST
from gapless.kernels import RBF, Kernel, Panels
from gapless.kernels.rounding import UNIT, distance_magnitudes, magnitudes
from gapless.model_selection.families import Families

FULL_BYTES = 2**30
"""The most memory for a table in float64; a larger one is in float32."""
MOST_BYTES = 2**31
"""The most memory for a table in float32: that of 23,170 samples. A search over more samples has no table."""

_FEW_FEATURES = 256  # with more, products by BLAS's tricks are several times faster than differences
_STRIP = 1024  # rows of float64 that are computed at a time where the table is in float32
_ROUNDED = 2.0**-24  # the error of an entry that is rounded to float32, as a share of it


class KernelTable(NamedTuple):
    """Entries of the kernel, and numbers of each sample that bound them and their errors (:mod:`gapless.kernels.rounding`)."""

    entries: np.ndarray
    diagonal: np.ndarray
    g: np.ndarray
    r: np.ndarray


class Tables:
    """The tables of several kernels on the same samples, one at a time: a table is no longer of use when the next one is asked for.

    For Gaussian kernels the distances are computed once.
    """

    def __init__(self, X: Any, kernels: Iterable[Kernel]) -> None:
        self.X = X
        self._gaussians = sum(_by_distance(kernel, X) for kernel in kernels)
        self._distances: np.ndarray | None = None
        self._room: np.ndarray | None = None
        self._entries: np.ndarray | None = (
            None  # the last table, whose memory serves the next one: the first touch of fresh memory is slow
        )

    def beside(self) -> Tables:
        """Tables of the same kernels with memory of their own, so that a table of each is of use at a time; both have the distances."""
        if self._gaussians > 1:
            self._measured()
        other = copy(self)
        other._room = other._entries = None
        return other

    def table(self, kernel: Kernel) -> KernelTable | None:
        """The table of a kernel; None where an entry is too large for a proof, or too large or too small for float32 where that is needed.

        Entries are computed in float64. In a table of float32 each is rounded once more, by at most 2⁻²⁴ of it, which ``r`` counts.
        """
        n = self.X.shape[0]
        if _by_distance(kernel, self.X):
            return KernelTable(
                self._gaussian(float(kernel.get_params()["gamma"])), np.ones(n), *distance_magnitudes(self.X)
            )
        g, r = magnitudes(kernel, self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            diagonal = kernel.diag(self.X)
            if not (np.isfinite(diagonal).all() and diagonal.max() <= LARGEST**2):
                return None
            if 8 * n**2 <= FULL_BYTES:
                entries = Panels(kernel, self.X, np.float64).square(np.arange(n))
                return KernelTable(entries, diagonal, g, r) if np.isfinite(entries).all() else None
            if not _suits_float32(g):
                return None
            entries = np.empty((n, n), dtype=np.float32)
            for begin in range(0, n, _STRIP):
                strip = Panels(kernel, self.X[begin:], np.float64).cross(self.X[begin : begin + _STRIP])
                if not np.isfinite(strip).all():
                    return None
                entries[begin : begin + _STRIP, begin:] = strip
                entries[begin:, begin : begin + _STRIP] = strip.T
        return KernelTable(entries, diagonal, g, r + 0.5 * (1 + 1e-6) * _ROUNDED / UNIT * g)

    def room(self, families: Families) -> np.ndarray:
        """Memory for entries in float32 of these families, which is no longer of use when it is asked for again."""
        numbers = _native.SharedFits.room_for(families.starts)
        if self._room is None or len(self._room) < numbers:
            self._room = np.empty(numbers, dtype=np.float32)
        return self._room

    def _gaussian(self, gamma: float) -> np.ndarray:
        distances = self._measured()
        if self._gaussians == 1:  # nobody else needs the distances
            self._entries, self._distances = distances, None
        elif self._entries is None:
            self._entries = np.empty_like(distances)
        _native.gaussian(distances, gamma, self._entries)
        return self._entries

    def _measured(self) -> np.ndarray:
        """The squared distances of all samples, which are computed once."""
        if self._distances is None:
            n = self.X.shape[0]
            self._distances = np.empty((n, n))
            _native.squared_distances(np.ascontiguousarray(self.X, dtype=np.float64), self._distances)
        return self._distances


def _by_distance(kernel: Kernel, X: Any) -> bool:
    """Whether the table is computed from distances: that of a Gaussian kernel in float64, on rows that are few features long."""
    return (
        isinstance(kernel, RBF)
        and not sp.issparse(X)
        and X.shape[1] <= _FEW_FEATURES
        and 8 * X.shape[0] ** 2 <= FULL_BYTES
    )


def _suits_float32(g: np.ndarray) -> bool:
    """Whether the entries, at most g(x) g(z) each, are rounded to float32 by no more than ``_ROUNDED`` of these bounds."""
    limits, least = np.finfo(np.float32), g.min(where=g > 0, initial=np.inf)
    # Below the least normal number the error is the same for all numbers: that share of the least normal one.
    return bool(least >= np.sqrt(limits.tiny) and g.max() <= np.sqrt(0.5 * limits.max))


def most_tables(n: int) -> int:
    """How many tables of n samples may be in memory at a time, for kernels that are worked on side by side."""
    return max(1, FULL_BYTES // (8 * n**2))


def fits_in_memory(n: int) -> bool:
    """Whether a search over n samples has a table."""
    return 4 * n**2 <= MOST_BYTES
