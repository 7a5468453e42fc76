"""Which samples are the same: equal rows, equal targets, equal groups."""

from __future__ import annotations

import numpy as np
from numba import njit

from gapless.data.rows import Rows


def distinct_samples(rows: Rows, y: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first, which): the first sample of each kind, in order, and for each sample its kind's place in ``first``.

    >>> import numpy as np
    >>> from gapless.data.rows import as_rows
    >>> first, which = distinct_samples(as_rows(np.array([[1.0], [2.0], [1.0]])), np.ones(3), np.zeros(3, dtype=np.int64))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    keys = _keys(rows, y, groups)
    leader = _leaders(rows, y, groups, keys, np.argsort(keys, kind="stable"))
    first = np.flatnonzero(leader == np.arange(len(y)))
    place = np.empty(len(y), dtype=np.int64)
    place[first] = np.arange(len(first))
    return first, place[leader]


@njit(cache=True, nogil=True, error_model="numpy")
def _mix(key, number):
    """The next key of a chain, over the bits of a number."""
    key ^= np.float64(number).view(np.uint64)
    key *= np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))


@njit(cache=True, nogil=True, error_model="numpy")
def _keys(rows, y, groups):
    keys = np.empty(len(y), dtype=np.uint64)
    for i in range(len(y)):
        key = _mix(np.uint64(groups[i] + 1), y[i])
        if hasattr(rows, "indptr"):
            for k in range(rows.indptr[i], rows.indptr[i + 1]):
                key = _mix(_mix(key, rows.indices[k]), rows.values[k])
        else:
            x = rows.values[i]
            for k in range(len(x)):
                key = _mix(key, x[k])
        keys[i] = key
    return keys


@njit(cache=True, nogil=True, error_model="numpy")
def _equal(rows, i, j):
    if hasattr(rows, "indptr"):
        a, b = rows.indptr[i], rows.indptr[j]
        if rows.indptr[i + 1] - a != rows.indptr[j + 1] - b:
            return False
        for k in range(rows.indptr[i + 1] - a):
            if rows.indices[a + k] != rows.indices[b + k] or rows.values[a + k] != rows.values[b + k]:
                return False
    else:
        for k in range(rows.values.shape[1]):
            if rows.values[i, k] != rows.values[j, k]:
                return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _leaders(rows, y, groups, keys, order):
    """For each sample the first one that equals it; equal keys are neighbours in ``order``."""
    leader = np.arange(len(y))
    at = 0
    for place in range(1, len(order)):
        i, j = order[at], order[place]
        if keys[i] != keys[j] or y[i] != y[j] or groups[i] != groups[j] or not _equal(rows, i, j):
            at = place
        else:
            leader[j] = i
    return leader
