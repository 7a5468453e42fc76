"""Dense and CSR rows behind one set of compiled accessors, so that every loop over samples is written once.

The arrays are read-only views: a solver cannot write into the caller's data, and Numba sees one type for every input.
``hasattr(rows, "indptr")`` is decided at compile time, so that the other branch costs nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numba import njit

# The subset of fast-math that keeps NaN, infinities and their comparisons intact.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "afn"}


class DenseRows(NamedTuple):
    """An (n, d) C-contiguous array of float32 or float64."""

    values: np.ndarray


class CsrRows(NamedTuple):
    """The three arrays of a CSR matrix: values float32 or float64, indices uint32, indptr int64.

    Unsigned, because Numba then need not test whether an index counts from the end.
    """

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


Rows: TypeAlias = DenseRows | CsrRows


def as_rows(X: Any) -> Rows:
    """View a checked matrix (see :func:`gapless.data.check_matrix`) as rows, without copying its values."""
    if not sp.issparse(X):
        return DenseRows(frozen(X))
    return CsrRows(
        frozen(X.data),
        frozen(np.ascontiguousarray(X.indices, dtype=np.uint32)),
        frozen(np.ascontiguousarray(X.indptr, dtype=np.int64)),
    )


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def row_entries(rows: Rows) -> float:
    """Stored entries of an average row, at least one: what a pass over one row costs."""
    if isinstance(rows, DenseRows):
        return float(rows.values.shape[1])
    return max(1.0, len(rows.values) / max(1, len(rows.indptr) - 1))


@njit(cache=True, error_model="numpy", inline="always")
def row_dot(rows, i, w):
    """⟨xᵢ, w⟩ in float64."""
    if hasattr(rows, "indptr"):
        total = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += rows.values[k] * w[rows.indices[k]]
        return total
    else:
        return _dense_dot(rows.values[i], w)


@njit(cache=True, error_model="numpy", inline="always")
def row_add(rows, i, scale, w):
    """w += scale · xᵢ, writing w."""
    if hasattr(rows, "indptr"):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            w[rows.indices[k]] += scale * rows.values[k]
    else:
        x = rows.values[i]
        for j in range(x.shape[0]):
            w[j] += scale * x[j]


# Reordered sums vectorise, which pays on long dense rows and costs on the few entries of a sparse one.
@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _dense_dot(x, w):
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * w[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def squared_norms(rows, n):
    """‖xᵢ‖² of the first n rows, in float64."""
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        if hasattr(rows, "indptr"):
            for k in range(rows.indptr[i], rows.indptr[i + 1]):
                total += np.float64(rows.values[k]) ** 2
        else:
            x = rows.values[i]
            for j in range(x.shape[0]):
                total += np.float64(x[j]) ** 2
        out[i] = total
    return out
