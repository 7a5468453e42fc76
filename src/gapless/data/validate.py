"""The only place where input is checked: no layer below checks an array again."""

from __future__ import annotations

import contextlib
import math
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from gapless.data.labels import check_objects
from gapless.data.memory import require_memory
from gapless.data.rows import is_on, structure_of, with_own_structure
from gapless.data.scale import check_scale, is_moderate
from gapless.data.structure import check_kind, check_structure
from gapless.errors import InvalidInputError

_BOTH = np.array([False, True])  # the classes of labels that are booleans
_BOTH.setflags(write=False)
# Entries up to which ``np.isfinite(values).all()`` takes no longer than entering and leaving ``np.errstate``, about 2 µs.
_FEW = 4096


def check_matrix(X: Any, name: str = "X", n_features: int | None = None) -> np.ndarray | sp.csr_array:
    """X as a finite C-contiguous array, or a CSR array with sorted indices and no duplicates, of float32 or float64.

    Types that float32 holds exactly (booleans, 8- and 16-bit integers, half precision) become float32, all others float64.
    """
    check_kind(X, name)
    ready = _ready(X, name, n_features)
    if ready is not None:
        return ready
    checked = check_structure(X, name)
    if not hasattr(X, "ndim"):
        X = _as_array(X, f"{name} must be a matrix of numbers, dense or CSR")
    if getattr(X, "ndim", 2) != 2:
        raise InvalidInputError(f"{name} must have two dimensions (samples, features); got {X.ndim}.")
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind not in "biufO":
        raise InvalidInputError(f"{name} must hold real numbers; got the type {dtype}.")
    if type(X) is np.ndarray and dtype in (np.float32, np.float64) and X.flags.carray and n_features is None and X.size:
        _check_entries(X, name)  # the array has the type and the order of the core already: it is not converted
        return X
    check_room(X, name)
    small = isinstance(dtype, np.dtype) and dtype.kind in "biuf" and np.can_cast(dtype, np.float32)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # a cast that overflows to inf is refused, never silent
            X = check_array(
                X,
                accept_sparse="csr",
                dtype=np.float32 if small else np.float64,
                order="C",
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=0,
                accept_large_sparse=True,
                input_name=name,
            )
    except (ValueError, TypeError, OverflowError, RuntimeWarning) as error:
        raise InvalidInputError(
            f"{name} must be a matrix of numbers, dense or CSR; {_lower_first(str(error))}."
        ) from error
    n, d = X.shape
    if n == 0 or d == 0:
        raise InvalidInputError(f"{name} must have at least one sample and one feature; got the shape ({n}, {d}).")
    if d > np.iinfo(np.uint32).max:
        raise InvalidInputError(f"{name} must have fewer than 2³² features; got {d:,}.")
    if n_features is not None and d != n_features:
        raise InvalidInputError(f"{name} must have {n_features} features as in training; got {d}.")
    if sp.issparse(X):
        X = sp.csr_array(X)
        if not checked:  # the format was one without indices (DIA, LIL, DOK)
            check_structure(X, name)
        X = _canonical(X)
        X = with_own_structure(X, structure_of(X, name))
        _check_entries(X.data, name, X)
    else:
        X = np.require(X, requirements=["C", "A"])
        _check_entries(X, name)
    return X


def check_room(X: Any, name: str) -> None:
    """Refuse an array that has to be copied, and whose copy does not fit into memory: a view whose rows are all one row is small itself."""
    if isinstance(X, np.ndarray) and not (X.flags.c_contiguous and X.dtype.char in "fd"):
        require_memory(
            X.size * (4 if X.dtype == np.float32 else 8), f"{name}, of the shape {X.shape}, is copied, and its copy"
        )


def _check_entries(values: np.ndarray, name: str, sparse: sp.csr_array | None = None) -> None:
    if not is_moderate(values):
        _check_finite(values, name, sparse)
        check_scale(values, name)


def check_labels(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(signs, classes): −1 for classes[0] and +1 for classes[1], whatever the labels' type."""
    check_objects(y, "y")
    y = _check_vector(y, n, "y")
    if y.dtype.kind == "f":
        _check_finite(y, "y")
    if y.dtype.kind == "b" and 0 < np.count_nonzero(y) < n:
        return np.where(y, 1.0, -1.0), _BOTH
    if y.dtype.kind in "bif" and y.size:  # labels are mostly two numbers, which their extremes tell without a sort
        low, high = y.min(), y.max()
        upper = y == high
        if low < high and np.count_nonzero(upper) + np.count_nonzero(y == low) == len(y):
            return np.where(upper, 1.0, -1.0), np.array([low, high])
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError(f"y must hold labels of one type; {_lower_first(str(error))}.") from error
    missing = next((label for label in classes.tolist() if label != label), None)
    if missing is not None:
        raise InvalidInputError(f"y must have a label for every sample; got {missing}.")
    if len(classes) != 2:
        shown = ", ".join(repr(label) for label in classes[:5].tolist()) + (", …" if len(classes) > 5 else "")
        kind = "class" if len(classes) == 1 else "classes"
        raise InvalidInputError(
            f"y must have exactly two classes for a margin loss; got {len(classes)} {kind}: {shown}."
        )
    return np.where(codes.reshape(n) == 1, 1.0, -1.0), classes


def check_codes(codes: Any, n: int, n_classes: int | None) -> tuple[np.ndarray, int]:
    """(classes as int64 numbers from 0 on, how many classes there are); without ``n_classes`` the largest code tells their number."""
    codes = np.asarray(codes)
    if codes.shape != (n,) or codes.dtype.kind not in "iu":
        raise InvalidInputError(
            f"codes must be whole numbers, one for each of the {n} samples; got {codes.dtype} of the shape {codes.shape}."
        )
    n_classes = int(codes.max()) + 1 if n_classes is None else int(n_classes)
    if n_classes < 2 or codes.min() < 0 or codes.max() >= n_classes:
        raise InvalidInputError(
            f"codes must lie between 0 and n_classes - 1, of two classes at least; "
            f"got {codes.min()} to {codes.max()} and n_classes={n_classes}."
        )
    return codes.astype(np.int64), n_classes


def check_targets(y: Any, n: int) -> np.ndarray:
    """Finite float64 targets of a regression."""
    y = _check_numbers(y, n, "y", "y must hold numbers for a regression loss")
    _check_entries(y, "y")
    return y


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Non-negative finite float64 weights; None means one for every sample."""
    if sample_weight is None:
        return np.ones(n)
    weight = _check_numbers(sample_weight, n, "sample_weight", "sample_weight must hold numbers")
    _check_entries(weight, "sample_weight")
    if weight.min() < 0:
        i = int(np.argmin(weight))
        raise InvalidInputError(f"sample_weight must not be negative; entry {i} is {weight[i]:g}.")
    if not np.count_nonzero(weight):
        raise InvalidInputError("sample_weight must have a positive entry; all are zero.")
    return weight


def as_weights(sample_weight: Any) -> np.ndarray:
    """Weights as float64, finite and at most ``LARGEST`` (data/scale.py); the caller checks how many there are, and their signs."""
    check_kind(sample_weight, "sample_weight")
    sample_weight = _real(sample_weight, "sample_weight")
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"sample_weight must hold numbers; {_lower_first(str(error))}.") from error
    if not is_moderate(weight):
        if not np.isfinite(weight).all():
            raise InvalidInputError("sample_weight must be finite; it has NaN or infinite entries.")
        check_scale(weight, "sample_weight")
    return weight


def _real(values: Any, name: str) -> Any:
    """The values, which must not be complex: NumPy would leave out their imaginary parts, with no more than a warning."""
    kind = getattr(values, "dtype", None)
    if kind is None:
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            kind = np.asarray(values).dtype
    if getattr(kind, "kind", "") == "c":
        raise InvalidInputError(f"{name} must hold real numbers; got the type {kind}.")
    return values


def check_beta(beta: Any, n: int) -> np.ndarray:
    """Dual variables to start from, copied: a finite float64 for each sample."""
    beta = _check_numbers(beta, n, "start", "start must be a Result, a Point or numbers")
    _check_finite(beta, "start")
    return beta


def check_shape(values: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers as a contiguous float64 array of the given shape. They need not be finite: a proof of such a point has infinite bounds."""
    expected = f"{name} must hold numbers"
    given = _real(_as_array(values, expected), name)
    try:
        array = np.ascontiguousarray(given, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"{expected}; {_lower_first(str(error))}.") from error
    if array.shape != shape:
        raise InvalidInputError(f"{name} must have the shape {shape}; got {array.shape}.")
    return array


def _ready(X: Any, name: str, n_features: int | None) -> sp.csr_array | None:
    """A CSR matrix that has the type and the order of the core already, on a structure of its own; None where X must be converted or refused."""
    if isinstance(X, np.ndarray) or not (sp.issparse(X) and X.format == "csr" and X.ndim == 2 and np.size(X.data)):
        return None
    if (
        X.dtype not in (np.float32, np.float64)
        or X.shape[1] != (n_features or X.shape[1])
        or X.shape[1] > np.iinfo(np.uint32).max
    ):
        return None
    try:
        structure = structure_of(X, name)
    except InvalidInputError:  # said in other words by ``check_structure``
        return None
    if not structure.is_canonical:
        return None
    if not (isinstance(X, sp.csr_array) and is_on(X, structure)):
        X = with_own_structure(sp.csr_array(X), structure)
    _check_entries(X.data, name, X)
    return X


def _canonical(X: sp.csr_array) -> sp.csr_array:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _as_array(values: Any, expected: str) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InvalidInputError(f"{expected}; {_lower_first(str(error))}.") from error


def _check_numbers(values: Any, n: int, name: str, expected: str) -> np.ndarray:
    """A new vector of float64, whose entries the caller checks."""
    values = _check_vector(values, n, name)
    if values.dtype.kind not in "biufO":
        raise InvalidInputError(f"{expected}; got the type {values.dtype}.")
    try:
        values = values.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"{expected}; {_lower_first(str(error))}.") from error
    return values


def _check_vector(values: Any, n: int, name: str) -> np.ndarray:
    check_kind(values, name)
    values = _as_array(values, f"{name} must be a vector with one entry a sample")
    check_kind(values, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InvalidInputError(f"{name} must be a vector with one entry a sample; got the shape {values.shape}.")
    if len(values) != n:
        raise InvalidInputError(f"{name} must have one entry for each of the {n} samples; got {len(values)}.")
    return values


def is_finite(values: np.ndarray) -> bool:
    """Whether no number is NaN or infinite."""
    if values.size > _FEW:
        with np.errstate(over="ignore", invalid="ignore"):
            total = values.sum(dtype=np.float64)  # without a temporary; finite entries may overflow it
        if math.isfinite(total):
            return True
    return bool(np.isfinite(values).all())


def _check_finite(values: np.ndarray, name: str, sparse: sp.csr_array | None = None) -> None:
    if is_finite(values):
        return
    first = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
    if sparse is not None:
        k = int(first[0])
        first = (np.searchsorted(sparse.indptr, k, side="right") - 1, sparse.indices[k])
        value = values[k]
    else:
        value = values[first]
    where = f"row {first[0]}, column {first[1]}" if len(first) == 2 else f"entry {first[0]}"
    raise InvalidInputError(f"{name} must be finite; {where} is {value}.")


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")
