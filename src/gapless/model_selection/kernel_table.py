"""The kernel entries of all samples of a search, in memory: computed once for all folds, values of C and pairs of classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gapless.data.scale import LARGEST
from gapless.kernels import Kernel, Panels
from gapless.kernels.rounding import UNIT, magnitudes

FULL_BYTES = 2**30
"""The most memory for a table in float64; a larger one is in float32."""
MOST_BYTES = 2**31
"""The most memory for a table in float32: that of 23,170 samples. A search over more samples has no table."""

_STRIP = 1024  # rows of float64 that are computed at a time where the table is in float32
_ROUNDED = 2.0**-24  # the error of an entry that is rounded to float32, as a share of it


class KernelTable(NamedTuple):
    """Entries of the kernel, and numbers of each sample that bound them and their errors (:mod:`gapless.kernels.rounding`)."""

    entries: np.ndarray
    diagonal: np.ndarray
    g: np.ndarray
    r: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, X: Any) -> KernelTable | None:
        """The table of these samples; None where an entry is too large for a proof.

        Entries are computed in float64. In a table of float32 each is rounded once more, by at most 2⁻²⁴ of it, which ``r`` counts.
        """
        n = X.shape[0]
        g, r = magnitudes(kernel, X)
        with np.errstate(over="ignore", invalid="ignore"):
            diagonal = kernel.diag(X)
            if not (np.isfinite(diagonal).all() and diagonal.max() <= LARGEST**2):
                return None
            if 8 * n**2 <= FULL_BYTES:
                entries = Panels(kernel, X, np.float64).square(np.arange(n))
                return cls(entries, diagonal, g, r) if np.isfinite(entries).all() else None
            entries = np.empty((n, n), dtype=np.float32)
            for begin in range(0, n, _STRIP):
                strip = Panels(kernel, X[begin:], np.float64).cross(X[begin : begin + _STRIP])
                if not np.isfinite(strip).all():
                    return None
                entries[begin : begin + _STRIP, begin:] = strip
                entries[begin:, begin : begin + _STRIP] = strip.T
        return cls(entries, diagonal, g, r + 0.5 * (1 + 1e-6) * _ROUNDED / UNIT * g)


def fits_in_memory(n: int) -> bool:
    """Whether a search over n samples has a table."""
    return 4 * n**2 <= MOST_BYTES
