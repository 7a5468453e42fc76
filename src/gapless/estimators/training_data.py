"""Checks of the data that an estimator takes: by scikit-learn's validation, with a short cut for arrays that need no conversion."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from gapless.data.labels import check_objects
from gapless.data.rows import kept_matrix
from gapless.data.scale import check_scale, check_width, is_moderate
from gapless.data.structure import check_kind, check_structure
from gapless.data.validate import check_room
from gapless.errors import InvalidInputError
from gapless.estimators.report import NOT_FINITE

_OPTIONS: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C", "accept_sparse": "csr"}


def take_training_data(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """(X, y) checked: X of float32 or float64, C-contiguous or CSR; ``y=None`` is for estimators without targets.

    The features' names and number are noted on the estimator. Most of scikit-learn's time goes into asking what kinds of tables X and y might be;
    arrays and CSR matrices that need no conversion, and have no names, are not asked.
    """
    require_targets(estimator, y)
    if _needs_nothing(X) and (y is None or _is_targets(y, X.shape[0])):
        X = _on_own_structure(X)
        check_width(X)
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        return X, y
    if y is None:
        return take_features(estimator, X, reset=True), None
    return take_samples(estimator, X, y, reset=True)


def require_targets(estimator: Any, y: Any) -> None:
    """Refuse ``y=None`` where the estimator learns targets, in scikit-learn's words."""
    if y is None and get_tags(estimator).target_tags.required:
        raise InvalidInputError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )


def take_samples(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """(X, y) of a fit, checked by scikit-learn, and for faults that scikit-learn lets pass."""
    check_kind(y, "y")
    check_objects(y, "y")
    _check_before(X)
    X, y = validate_data(estimator, X, y, reset=reset, **_OPTIONS)
    X = _on_own_structure(X)
    _check_after(X)
    if y.dtype.kind == "f":
        check_scale(y, "y")
    return X, y


def take_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X of a fit without targets (``reset``) or of a prediction, checked by scikit-learn, and for faults that scikit-learn lets pass.

    scikit-learn trusts the indices of sparse matrices, ignores masks, and takes times for numbers. An array that needs no conversion, and has the
    columns of a fit whose features have no names, has passed all checks already.
    """
    known = vars(estimator)
    if (
        not reset
        and _needs_nothing(X)
        and X.shape[1] == known.get("n_features_in_")
        and "feature_names_in_" not in known
    ):
        return _on_own_structure(X)
    _check_before(X)
    X = validate_data(estimator, X, reset=reset, accept_large_sparse=True, **_OPTIONS)
    X = _on_own_structure(X)
    if reset:
        _check_after(X)
    return X


def _on_own_structure(X: Any) -> Any:
    """X, where it is sparse on checked indices of its own, without duplicates: SciPy trusts indices, and another thread may write to them."""
    check_structure(X)
    if not sp.issparse(X):
        return X
    X = kept_matrix(X, "X")
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return kept_matrix(X, "X")


def _check_after(X: Any) -> None:
    check_width(X)
    try:
        check_scale(X.data if sp.issparse(X) else X, "X")
    except InvalidInputError as error:  # scikit-learn's words, which its users know, come first
        raise InvalidInputError(f"{NOT_FINITE} {error}") from None


def _check_before(X: Any) -> None:
    check_kind(X, "X")
    check_room(X, "X")
    if getattr(X, "format", "csr") != "csr":  # a CSR matrix is checked after the validation
        check_structure(X)


def _needs_nothing(X: Any) -> bool:
    if type(X) in (sp.csr_matrix, sp.csr_array):  # its indices are checked later
        values = X.data
        plain = type(values) is np.ndarray and values.ndim == 1 and values.dtype.char in "fd"
        return plain and X.ndim == 2 and min(X.shape) > 0 and is_moderate(values)
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "fd"
        and X.flags.carray
        and X.size > 0
        and is_moderate(X)
    )


def _is_targets(y: Any, n: int) -> bool:
    if type(y) is not np.ndarray or y.shape != (n,):
        return False
    return y.dtype.kind in "biu" or (y.dtype.char in "fd" and is_moderate(y))
