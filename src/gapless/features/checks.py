"""Checks of the input and the parameters that all feature maps share."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.utils.validation import validate_data

from gapless.data import check_matrix
from gapless.data.structure import check_kind, check_structure
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Kernel


def check_input(estimator: BaseEstimator, X: Any, *, reset: bool, sparse: bool) -> np.ndarray | sp.csr_array:
    """X as finite floats, dense or (where ``sparse``) CSR; ``reset`` records the number and names of its columns, otherwise they are compared."""
    # X gets one memory layout, so that the output's last bit does not depend on the container (a DataFrame is stored by columns).
    accept_sparse = "csr" if sparse else False
    check_kind(X, "X")
    check_structure(X)
    X = validate_data(estimator, X, reset=reset, accept_sparse=accept_sparse, dtype=(np.float64, np.float32), order="C")
    return check_matrix(X) if sp.issparse(X) else X  # products of entries need CSR without duplicates


def input_names(estimator: BaseEstimator, input_features: Any) -> np.ndarray:
    """The names of the input columns: as given, as seen in ``fit``, or x0, x1, …"""
    return OneToOneFeatureMixin.get_feature_names_out(estimator, input_features)  # scikit-learn's own rule for names


def check_switch(value: Any, name: str) -> bool:
    """The value as a bool; refused unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_kernel(kernel: Any, X: np.ndarray | sp.csr_array) -> Kernel:
    """The given kernel; for None an RBF kernel whose width follows the data's spread, γ = 1 / (n_features · var X)."""
    if isinstance(kernel, Kernel):
        return kernel
    if kernel is not None:
        raise InvalidInputError(f"kernel must be a kernel of gapless.kernels, or None for RBF; got {kernel!r}.")
    total = X.shape[0] * X.shape[1]
    mean = float(X.sum(dtype=np.float64)) / total
    entries = np.asarray(X.data if sp.issparse(X) else X, dtype=np.float64)
    squares = float(np.square(entries).sum()) / total
    variance = squares - mean**2
    # A variance below rounding (some five units in the last place of the mean square) is that of constant data.
    return RBF(gamma=1.0 / (X.shape[1] * variance) if variance > 1e-15 * squares else 1.0)
