"""Matrix–vector products in float64, whatever the storage, without a float64 copy of float32 data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

_CHUNK = 1 << 21  # entries converted at a time: 16 MiB


def matvec(X: np.ndarray | sp.csr_array, w: np.ndarray) -> np.ndarray:
    """X w in float64."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ w)
    return np.concatenate([X[part].astype(np.float64) @ w for part in _chunks(X)])


def rmatvec(X: np.ndarray | sp.csr_array, beta: np.ndarray) -> np.ndarray:
    """Xᵀ β in float64."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ beta)
    total = np.zeros(X.shape[1])
    for part in _chunks(X):
        total += X[part].astype(np.float64).T @ beta[part]
    return total


def _chunks(X: np.ndarray) -> Iterator[slice]:
    step = max(1, _CHUNK // X.shape[1])
    for start in range(0, X.shape[0], step):
        yield slice(start, start + step)
