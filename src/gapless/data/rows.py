"""Dense and CSR rows as the compiled core reads them (native/core/rows.hpp): C-contiguous arrays of a few types.

The arrays are read-only views: a solver cannot write into the caller's data.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.errors import InvalidInputError

# Values that ``compact`` looks at together: half a megabyte, which stays in the cache between two looks. Where values are neither ones nor float32,
# the first block mostly tells, and the rest is not read.
_BLOCK = 1 << 16


class DenseRows(NamedTuple):
    """An (n, d) C-contiguous array of float32 or float64."""

    values: np.ndarray


class CsrRows(NamedTuple):
    """The values of a CSR matrix, float32 or float64, and where they are."""

    values: np.ndarray
    structure: _native.Structure

    @property
    def indices(self) -> np.ndarray:
        """The columns of the values, uint32."""
        return self.structure.indices

    @property
    def indptr(self) -> np.ndarray:
        """Where each row begins, int64."""
        return self.structure.indptr


class OnesRows(NamedTuple):
    """CSR rows whose stored values all are one: the structure says everything."""

    structure: _native.Structure

    @property
    def indices(self) -> np.ndarray:
        """The columns of the ones, uint32."""
        return self.structure.indices

    @property
    def indptr(self) -> np.ndarray:
        """Where each row begins, int64."""
        return self.structure.indptr


Rows: TypeAlias = DenseRows | CsrRows | OnesRows


def as_rows(X: Any) -> Rows:
    """View a checked matrix (see :func:`gapless.data.check_matrix`) as rows, without copying its values.

    The structure of a sparse matrix, a third of its memory in float64, is a copy that cannot be written to, unless X has such a copy or is mapped.
    """
    if isinstance(X, np.ndarray):
        return DenseRows(frozen(np.ascontiguousarray(X)))
    return CsrRows(frozen(np.ascontiguousarray(X.data)), structure_of(X))


def structure_of(X: Any, name: str = "X") -> _native.Structure:
    """The structure of a CSR matrix: its own if :func:`with_own_structure` has made the matrix, a checked copy otherwise."""
    own = getattr(X, _OWN, None)
    if own is not None and X.indices is own.indices and X.indptr is own.indptr and X.shape == own.shape:
        return own.structure
    indices, indptr = np.ascontiguousarray(X.indices), np.ascontiguousarray(X.indptr)
    mapped = indices.itemsize == 4 and _is_read_only_file(indices)
    try:
        structure = _native.Structure(indices, indptr, X.shape[1], mapped)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} is CSR whose {error}.") from None
    if structure.rows != X.shape[0]:
        raise InvalidInputError(
            f"{name} is CSR whose indptr must have {X.shape[0] + 1:,} entries for its shape {X.shape}; got {len(indptr):,}."
        )
    if len(X.data) != structure.entries:
        raise InvalidInputError(
            f"{name} is CSR whose indptr must end with the number of its entries; it ends with {structure.entries:,}, "
            f"with {len(X.data):,} values."
        )
    return structure


_OWN = "_gapless_structure"  # the attribute of a CSR matrix that has a structure of Gapless


@dataclass(frozen=True, eq=False)
class _Own:
    """A structure, and the arrays of a matrix that show it: whoever exchanges one of them for another has a matrix of another structure."""

    structure: _native.Structure
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # the arrays of a copied or pickled matrix can be written to


def with_own_structure(X: Any, structure: _native.Structure) -> Any:
    """The same CSR matrix or array on a structure that nobody can write to, without a copy of its values."""
    own = _Own(structure, X.indices, X.indptr, X.shape)
    if not _is_read_only_file(X.indices):
        if not structure.is_narrow:
            return X  # of 2³¹ features or entries and more, which SciPy numbers in int64
        own = _Own(structure, structure.indices.view(np.int32), structure.narrow_indptr, X.shape)
    same = (sp.csr_matrix if isinstance(X, sp.csr_matrix) else sp.csr_array)(X.shape, dtype=X.dtype)
    same.data, same.indices, same.indptr = X.data, own.indices, own.indptr
    same.has_canonical_format = structure.is_canonical
    setattr(same, _OWN, own)
    return same


def is_on(X: Any, structure: _native.Structure) -> bool:
    """Whether a CSR matrix shows this very structure."""
    own = getattr(X, _OWN, None)
    return own is not None and own.structure is structure


def kept_matrix(X: Any, name: str) -> Any:
    """A matrix that a model keeps, and that its owner can write to at any time, such that compiled code reads nothing outside of it.

    A sparse matrix gets a structure of its own, a dense one stays as it is.
    """
    if sp.issparse(X):
        return with_own_structure(X, structure_of(X, name))
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"):
        raise InvalidInputError(
            f"{name} was altered: it must be a matrix of floating-point numbers, as after fit; got {type(X).__name__}."
        )
    return X


def compact(rows: Rows) -> Rows:
    """The same CSR rows in less memory, for loops that read them many times: without values where all are one, in float32 where that is exact."""
    if not isinstance(rows, CsrRows) or is_mapped(rows.values):
        return rows
    values = rows.values
    blocks = [slice(begin, begin + _BLOCK) for begin in range(0, len(values), _BLOCK)]
    if values.size and all((values[block] == 1).all() for block in blocks):
        return OnesRows(rows.structure)
    if values.dtype == np.float64 and all(_is_single(values[block]) for block in blocks):
        return CsrRows(frozen(values.astype(np.float32)), rows.structure)
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


def _is_read_only_file(array: Any) -> bool:
    """Whether an array is a view of a file that was mapped for reading: no code of Python's can write to it through this mapping."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array is not None and memoryview(array).readonly


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view, whose shape and type are its own: the owner of the array can change the array's in place, if not those of the view."""
    view = array.view()
    view.setflags(write=False)
    return view


def sealed(places: np.ndarray) -> np.ndarray:
    """A copy of numbers by which compiled code finds its way in memory, such that no code of Python's can write to it."""
    return np.frombuffer(places.tobytes(), places.dtype)


def squared_norms(rows: Rows, n: int, step: int = 1) -> np.ndarray:
    """‖xᵢ‖² in float64 for i = 0, step, 2 step, … below n."""
    out = np.empty((n + step - 1) // step)
    _native.squared_norms(rows, n, step, out)
    return out


def row_entries(rows: Rows) -> float:
    """The stored entries of an average row, at least one: the work of a pass over it."""
    if isinstance(rows, DenseRows):
        return float(rows.values.shape[1])
    return max(1.0, rows.structure.entries / max(1, rows.structure.rows))
