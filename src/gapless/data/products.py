"""Matrix–vector products in float64, whatever the storage, without a float64 copy of float32 data and without reading a mapped file twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from gapless.data.rows import FASTMATH, arrays_add, arrays_dot, arrays_of, as_rows, frozen
from gapless.data.second_thread import second_thread

_TWO_THREADS = 1 << 19  # stored entries from which a second thread pays


def matvec(X: np.ndarray | sp.csr_array, w: np.ndarray) -> np.ndarray:
    """X w in float64; w may have several columns."""
    if w.ndim == 2 and (X.dtype != np.float64 or sp.issparse(X)):
        return np.column_stack([matvec(X, np.ascontiguousarray(column)) for column in w.T])
    if sp.issparse(X):
        if X.dtype == np.float64 and len(X.data) < _TWO_THREADS:
            return np.asarray(X @ w)  # nothing to convert
        out, arrays = np.empty(X.shape[0]), arrays_of(as_rows(X))
        _on_halves(X, lambda begin, end: _dots(*arrays, begin, end, w, out))
        return out
    if X.dtype == np.float64:
        return np.asarray(X @ w)
    out, values = np.empty(X.shape[0]), frozen(X)
    _on_halves(X, lambda begin, end: _dense_dots(values, begin, end, w, out))
    return out


def rmatvec(X: np.ndarray | sp.csr_array, beta: np.ndarray) -> np.ndarray:
    """Xᵀ β in float64."""
    if sp.issparse(X):
        arrays = arrays_of(as_rows(X))
        return sum(_on_halves(X, lambda begin, end: _combine(*arrays, begin, end, beta, X.shape[1])))
    if X.dtype == np.float64:
        return np.asarray(X.T @ beta)
    values = frozen(X)
    return sum(_on_halves(X, lambda begin, end: _dense_combine(values, begin, end, beta)))


def _on_halves(X: Any, work):  # type: ignore[no-untyped-def]
    """What ``work(begin, end)`` gives for all rows, or for each half of many: the split, and so the rounding, never depends on the machine."""
    n, entries = X.shape[0], X.nnz if sp.issparse(X) else X.size
    if entries < _TWO_THREADS:
        return [work(0, n)]
    middle = int(np.searchsorted(X.indptr, X.indptr.dtype.type(X.nnz // 2))) if sp.issparse(X) else n // 2
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _dense_dots(X, begin, end, w, out):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        row, total = X[i], 0.0
        for j in range(len(w)):
            total += row[j] * w[j]
        out[i] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _dense_combine(X, begin, end, beta):  # type: ignore[no-untyped-def]
    """Four rows at a time, so that the sums are read and written a quarter as often."""
    out = np.zeros(X.shape[1])
    last = end - (end - begin) % 4
    for i in range(begin, last, 4):
        p, q, r, s = beta[i], beta[i + 1], beta[i + 2], beta[i + 3]
        if p != 0.0 or q != 0.0 or r != 0.0 or s != 0.0:
            a, b, c, d = X[i], X[i + 1], X[i + 2], X[i + 3]
            for j in range(len(out)):
                out[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])
    for i in range(last, end):
        for j in range(len(out)):
            out[j] += beta[i] * X[i, j]
    return out
