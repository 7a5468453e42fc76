"""Products of a matrix with vectors in float64, whatever its storage: float32 values are not copied to float64, and a mapped file is read once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.data.rows import as_rows
from gapless.errors import InvalidInputError


def matvec(X: np.ndarray | sp.csr_array, w: np.ndarray) -> np.ndarray:
    """X w in float64; w may have several columns."""
    if not sp.issparse(X) and X.dtype == np.float64:
        return np.asarray(X @ w)
    w = np.ascontiguousarray(w, dtype=np.float64)
    out = np.empty((X.shape[0], *w.shape[1:]))
    _native.matvec(as_rows(X), X.shape[1], w, out)
    return out


def row_products(X: np.ndarray | sp.csr_array, w: np.ndarray) -> np.ndarray:
    """X w in float64 like :func:`matvec`, but never by BLAS, whose last bits depend on the other rows: equal rows have equal products here."""
    w = np.ascontiguousarray(w, dtype=np.float64)
    if X.shape[1] != w.shape[0]:
        raise InvalidInputError(f"X must have {w.shape[0]} columns, as many as there are weights; got {X.shape[1]}.")
    X = X if sp.issparse(X) else np.ascontiguousarray(X)
    out = np.empty((X.shape[0], *w.shape[1:]))
    _native.matvec(as_rows(X), X.shape[1], w, out)
    return out


def rmatvec(X: np.ndarray | sp.csr_array, beta: np.ndarray) -> np.ndarray:
    """Xᵀ β in float64; β may have several columns."""
    if not sp.issparse(X) and X.dtype == np.float64:
        return np.asarray(X.T @ beta)
    beta = np.ascontiguousarray(beta, dtype=np.float64)
    out = np.empty((X.shape[1], *beta.shape[1:]))
    _native.rmatvec(as_rows(X), X.shape[1], beta, out)
    return out
