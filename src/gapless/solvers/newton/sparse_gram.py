"""The weighted Gram matrix of the features over some sparse rows, entry by entry.

A row with m entries adds m²/2 products to XᵀTX. Where m is far below the number of features, that is less than what BLAS makes of the
row written out with its zeros.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gapless.data.rows import CsrRows, Rows, arrays_of, row_entries
from gapless.solvers.newton.two_threads import by_halves

_SHARE = 0.25  # of entries that are not zero, up to which single products are cheaper than BLAS
_LARGE = 1_000_000  # products from which a second thread pays


def stays_sparse(rows: Rows, columns: int) -> bool:
    """Whether rows with so many columns have few enough entries."""
    return isinstance(rows, CsrRows) and row_entries(rows) < _SHARE * columns


def sparse_gram(rows: Rows, chosen: np.ndarray, weight: np.ndarray, columns: int, ones: bool = False) -> np.ndarray:
    """Σ weight · xxᵀ over the chosen rows x, which are sparse, in float64; ``ones``: of (x, 1)."""
    arrays = arrays_of(rows)

    def of(part: slice) -> np.ndarray:
        lower = np.zeros((columns, columns))
        _add_products(*arrays, chosen[part], weight[part], ones, lower)
        return lower

    first, *second = by_halves(of, chosen, len(chosen) * row_entries(rows) ** 2 >= 2 * _LARGE)
    _merge(first, second[0] if second else np.empty((0, 0)))
    return first


@njit(cache=True, nogil=True, error_model="numpy")
def _add_products(values, indices, indptr, chosen, weight, ones, lower):
    """Σ weight · xⱼxₖ for each pair of entries of a row, whose places rise; writes lower."""
    for k in range(len(chosen)):
        i = np.int64(chosen[k])
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for e in range(first, last):
            row = lower[np.uint64(indices[e])]
            if len(values) == 0:
                scaled = weight[k]
                for g in range(first, e + np.uint64(1)):
                    row[np.uint64(indices[g])] += scaled
            else:
                scaled = weight[k] * values[e]
                for g in range(first, e + np.uint64(1)):
                    row[np.uint64(indices[g])] += scaled * values[g]
            if ones:
                lower[-1, np.uint64(indices[e])] += scaled
        if ones:
            lower[-1, -1] += weight[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _merge(lower, other):
    """Add what the other thread found, and mirror the sum; writes lower."""
    for i in range(len(lower)):
        for j in range(i + 1):
            if len(other):
                lower[i, j] += other[i, j]
            lower[j, i] = lower[i, j]
