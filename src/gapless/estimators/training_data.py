"""The training data that an estimator takes: what scikit-learn's validation makes of it, by a short way where there is nothing to make."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from gapless.data.validate import is_finite


def take_training_data(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """(X, y) checked: X of float32 or float64, C-contiguous or CSR; ``y=None`` is for estimators without targets.

    The features' names and number are noted on the estimator. Most of scikit-learn's time goes into asking what kinds of tables X and y might be;
    arrays that need no conversion are asked the questions that are left for them.
    """
    options: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C", "accept_sparse": "csr"}
    if _needs_nothing(X) and (y is None or _is_targets(y, len(X))):
        options = {"skip_check_array": True}
    if y is None:
        return validate_data(estimator, X, **options), None
    X, y = validate_data(estimator, X, y, **options)
    return X, y


def _needs_nothing(X: Any) -> bool:
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "fd"
        and X.flags.carray
        and X.size > 0
        and is_finite(X)
    )


def _is_targets(y: Any, n: int) -> bool:
    if type(y) is not np.ndarray or y.shape != (n,):
        return False
    return y.dtype.kind in "biu" or (y.dtype.char in "fd" and is_finite(y))
