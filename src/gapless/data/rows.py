"""Dense and CSR rows as the compiled core reads them (native/core/rows.hpp): C-contiguous arrays of a few types.

The arrays are read-only views: a solver cannot write into the caller's data.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gapless import _native

# Values that ``compact`` looks at together: half a megabyte, which stays in the cache between two looks. Where values are neither ones nor float32,
# the first block mostly tells, and the rest is not read.
_BLOCK = 1 << 16


class DenseRows(NamedTuple):
    """An (n, d) C-contiguous array of float32 or float64."""

    values: np.ndarray


class CsrRows(NamedTuple):
    """The three arrays of a CSR matrix: values float32 or float64, indices uint32, indptr int64."""

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
    if isinstance(X, np.ndarray):
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
    """The same CSR rows in less memory, for loops that read them many times: without values where all are one, in float32 where that is exact."""
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
    """‖xᵢ‖² in float64 for i = 0, step, 2 step, … below n."""
    out = np.empty((n + step - 1) // step)
    _native.squared_norms(rows, n, step, out)
    return out


def row_entries(rows: Rows) -> float:
    """The stored entries of an average row, at least one: the work of a pass over it."""
    if isinstance(rows, DenseRows):
        return float(rows.values.shape[1])
    return max(1.0, len(rows.indices) / max(1, len(rows.indptr) - 1))
