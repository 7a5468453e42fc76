"""Checks of the arrays behind a matrix, before any loop reads them: compiled code, SciPy's as well as ours, does not check an index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.errors import InvalidInputError

_TIMES = ("m", "M")  # the kinds of NumPy's datetime64 and timedelta64


def check_structure(X: Any, name: str = "X") -> bool:
    """Refuse a sparse matrix whose indices or lengths contradict each other or its shape; returns whether X was checked.

    Checked are CSR, CSC, BSR and COO, the formats whose conversion to CSR trusts their indices, in one pass over the indices.
    """
    if isinstance(X, np.ndarray) or not sp.issparse(X):
        return False
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, name)
    elif X.format == "coo":
        _check_coordinates(X, name)
    else:
        return False
    return True


def check_kind(values: Any, name: str) -> None:
    """Refuse values that NumPy would silently take for numbers: masked entries, by ignoring the mask, and times, as counts of nanoseconds."""
    if type(values) is np.ndarray and values.dtype.kind not in _TIMES:
        return
    if np.ma.is_masked(values):  # readers of NetCDF and FITS files give masked arrays of which nothing is masked
        raise InvalidInputError(
            f"{name} must be a plain array; got a masked array, whose mask would be ignored: "
            f"leave the masked samples out, or fill them: {name}.filled(value)."
        )
    time = _time_type(values)
    if time is not None:
        raise InvalidInputError(f"{name} must hold real numbers; got the type {time}.")


def _time_type(values: Any) -> str | None:
    """The first type of a date or a time, among the type of an array or the types of a table's columns; None where there is none."""
    types: Any = getattr(values, "dtypes", None)  # a table has one a column
    if types is None:
        types = getattr(values, "dtype", None)
    kinds = list(types) if isinstance(types, Iterable) else [types]
    return next((str(kind) for kind in kinds if getattr(kind, "kind", None) in _TIMES), None)


def _check_compressed(X: Any, name: str) -> None:
    kind = X.format.upper()
    indptr, indices, data = X.indptr, X.indices, X.data
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    rows, columns = (X.shape[k] // blocks[k] for k in (0, 1))
    if X.format == "csc":
        rows, columns = columns, rows
    for part, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidInputError(f"{name} is {kind} whose {part} must be a vector of integers; got {array.dtype}.")
    if len(indptr) != rows + 1:
        raise InvalidInputError(
            f"{name} is {kind} whose indptr must have {rows + 1:,} entries for its shape {X.shape}; got {len(indptr):,}."
        )
    if indptr[0] != 0:
        raise InvalidInputError(f"{name} is {kind} whose indptr must begin with 0; got {indptr[0]}.")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        k = int(np.argmax(falls))
        raise InvalidInputError(
            f"{name} is {kind} whose indptr must not fall; entry {k + 1} is {indptr[k + 1]} after {indptr[k]}."
        )
    if indptr[-1] != len(indices) or len(data) != len(indices):
        raise InvalidInputError(
            f"{name} is {kind} whose indptr must end with the number of its entries; it ends with {indptr[-1]:,}, "
            f"with {len(indices):,} indices and {len(data):,} values."
        )
    _check_range(indices, columns, f"{name} is {kind} whose indices")


def _check_coordinates(X: Any, name: str) -> None:
    coordinates = (
        (X.row, X.col) if X.ndim == 2 else X.coords
    )  # SciPy has ``coords`` from 1.13 on, and one dimension, too
    if any(len(each) != len(X.data) for each in coordinates):
        raise InvalidInputError(f"{name} is COO that must have as many coordinates as its {len(X.data):,} values.")
    for each, size, axis in zip(coordinates, X.shape, ("rows", "columns"), strict=False):
        _check_range(each, size, f"{name} is COO whose {axis}")


def _check_range(indices: np.ndarray, size: int, what: str) -> None:
    if not len(indices):
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise InvalidInputError(f"{what} must lie between 0 and {size - 1:,}; got {wrong:,}.")
