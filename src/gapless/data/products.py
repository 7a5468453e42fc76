"""Matrix–vector products in float64, whatever the storage, without a float64 copy of float32 data and without reading a mapped file twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numba import njit

from gapless.data.rows import arrays_add, arrays_dot, arrays_of, as_rows
from gapless.data.second_thread import second_thread

_CHUNK = 1 << 21  # entries converted at a time: 16 MiB
_TWO_THREADS = 1 << 19  # stored entries from which a second thread pays


def matvec(X: np.ndarray | sp.csr_array, w: np.ndarray) -> np.ndarray:
    """X w in float64."""
    if sp.issparse(X):
        if X.dtype == np.float64 and len(X.data) < _TWO_THREADS:
            return np.asarray(X @ w)  # nothing to convert
        out, arrays = np.empty(X.shape[0]), arrays_of(as_rows(X))
        _on_halves(X, lambda begin, end: _dots(*arrays, begin, end, w, out))
        return out
    if X.dtype == np.float64:
        return np.asarray(X @ w)
    return np.concatenate([X[part].astype(np.float64) @ w for part in _chunks(X)])


def rmatvec(X: np.ndarray | sp.csr_array, beta: np.ndarray) -> np.ndarray:
    """Xᵀ β in float64."""
    if sp.issparse(X):
        arrays = arrays_of(as_rows(X))
        return sum(_on_halves(X, lambda begin, end: _combine(*arrays, begin, end, beta, X.shape[1])))
    if X.dtype == np.float64:
        return np.asarray(X.T @ beta)
    total = np.zeros(X.shape[1])
    for part in _chunks(X):
        total += X[part].astype(np.float64).T @ beta[part]
    return total


def _chunks(X: np.ndarray) -> Iterator[slice]:
    step = max(1, _CHUNK // X.shape[1])
    for start in range(0, X.shape[0], step):
        yield slice(start, start + step)


def _on_halves(X: sp.csr_array, work):  # type: ignore[no-untyped-def]
    """What ``work(begin, end)`` gives for all rows, or for each half of many: the split, and so the rounding, never depends on the machine."""
    n = X.shape[0]
    if X.nnz < _TWO_THREADS:
        return [work(0, n)]
    middle = int(np.searchsorted(X.indptr, X.indptr.dtype.type(X.nnz // 2)))
    second = second_thread().submit(work, middle, n)
    return [work(0, middle), second.result()]


@njit(cache=True, nogil=True, error_model="numpy")
def _dots(values, indices, indptr, begin, end, w, out):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        out[i] = arrays_dot(values, indices, indptr, i, w)


@njit(cache=True, nogil=True, error_model="numpy")
def _combine(values, indices, indptr, begin, end, beta, d):  # type: ignore[no-untyped-def]
    out = np.zeros(d)
    for i in range(begin, end):
        if beta[i] != 0.0:
            arrays_add(values, indices, indptr, i, beta[i], out)
    return out
