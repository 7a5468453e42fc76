"""Dense and CSR rows behind one set of compiled accessors, so that every loop over samples is written once.

The arrays are read-only views: a solver cannot write into the caller's data, and Numba sees one type for every input.
``hasattr(rows, "indptr")`` is decided at compile time, so that the other branch costs nothing.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numba import njit

from gapless import _native

_BLOCK = (
    1 << 16
)  # values that are looked at together: they stay in the cache, and the first block mostly tells what all are
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


class OnesRows(NamedTuple):
    """CSR rows whose stored values all are one: the indices say everything."""

    indices: np.ndarray
    indptr: np.ndarray


Rows: TypeAlias = DenseRows | CsrRows | OnesRows


def as_rows(X: Any) -> Rows:
    """View a checked matrix (see :func:`gapless.data.check_matrix`) as rows, without copying its values."""
    if not sp.issparse(X):
        return DenseRows(frozen(np.ascontiguousarray(X)))
    return CsrRows(
        frozen(X.data),
        frozen(_unsigned(X.indices)),
        frozen(np.ascontiguousarray(X.indptr, dtype=np.int64)),
    )


def _unsigned(indices: np.ndarray) -> np.ndarray:
    """The same indices as uint32, as a view where they have 32 bits."""
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices).view(np.uint32)
    return np.ascontiguousarray(indices, dtype=np.uint32)


def compact(rows: Rows) -> Rows:
    """The same numbers in less memory, for loops that read them many times: no values where all are one, float32 where that is exact."""
    if not isinstance(rows, CsrRows) or is_mapped(rows.values):
        return rows
    values = rows.values
    blocks = [slice(begin, begin + _BLOCK) for begin in range(0, len(values), _BLOCK)]
    if values.size and all((values[block] == 1).all() for block in blocks):
        return OnesRows(rows.indices, rows.indptr)
    if values.dtype == np.float64 and all(_is_single(values[block]) for block in blocks):
        return CsrRows(frozen(values.astype(np.float32)), rows.indices, rows.indptr)
    return rows


def _is_single(values: np.ndarray) -> bool:
    """Whether float32 holds all values exactly."""
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())


def is_mapped(array: Any) -> bool:
    """Whether an array is a view of a file, which must not be copied into memory."""
    while array is not None and not isinstance(array, (np.memmap, mmap.mmap)):
        array = getattr(array, "base", None)
    return array is not None


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view, or the array itself where it is one."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def squared_norms(rows: Rows, n: int, step: int = 1) -> np.ndarray:
    """‖xᵢ‖² of every so many of the first n rows, in float64."""
    out = np.empty((n + step - 1) // step)
    _native.squared_norms(rows, n, step, out)
    return out


def row_entries(rows: Rows) -> float:
    """Stored entries of an average row, at least one: what a pass over one row costs."""
    if isinstance(rows, DenseRows):
        return float(rows.values.shape[1])
    return max(1.0, len(rows.indices) / max(1, len(rows.indptr) - 1))


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


# The hottest loops take plain arrays: taken out of a tuple inside a loop, each would be counted at every use.


def arrays_of(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(values, indices, indptr) of rows, each of one dimension: indptr is empty where they are dense, values where all are one."""
    if isinstance(rows, DenseRows):
        return rows.values.reshape(-1), frozen(np.empty(0, np.uint32)), frozen(np.empty(0, np.int64))
    return getattr(rows, "values", frozen(np.empty(0, np.float32))), rows.indices, rows.indptr


@njit(cache=True, error_model="numpy", inline="always")
def arrays_dot(values, indices, indptr, i, w):
    """⟨xᵢ, w⟩ in float64, where w has an entry for each feature."""
    if len(indptr) == 0:
        return _flat_dot(values, i * len(w), w)
    # Two sums, so that an addition need not wait for the one before; unsigned, so that no index is tested for its sign.
    even, odd, one = 0.0, 0.0, np.uint64(1)
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    if len(values) == 0:
        while k + one < end:
            even += w[indices[k]]
            odd += w[indices[k + one]]
            k += np.uint64(2)
        if k < end:
            even += w[indices[k]]
    else:
        while k + one < end:
            even += values[k] * w[indices[k]]
            odd += values[k + one] * w[indices[k + one]]
            k += np.uint64(2)
        if k < end:
            even += values[k] * w[indices[k]]
    return even + odd


@njit(cache=True, error_model="numpy", inline="always")
def arrays_add(values, indices, indptr, i, scale, w):
    """w += scale · xᵢ, writing w."""
    if len(indptr) == 0:
        begin = np.uint64(i * len(w))
        for j in range(np.uint64(len(w))):
            w[j] += scale * values[begin + j]
    elif len(values) == 0:
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            w[indices[k]] += scale
    else:
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            w[indices[k]] += scale * values[k]


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _flat_dot(values, begin, w):
    total = 0.0
    for j in range(len(w)):
        total += values[begin + j] * w[j]
    return total


# Reordered sums vectorise, which pays on long dense rows and costs on the few entries of a sparse one.
@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _dense_dot(x, w):
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * w[j]
    return total
