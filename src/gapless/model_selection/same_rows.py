"""Samples that are the same: of data with few features, or few values of each, many are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def first_of_same(X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first, which): the first of all samples that are the same, ascending, and for each sample the place of its own among these.

    Samples are the same where their features and their numbers y are, to the bit. Sparse rows are not compared: each is its own.

    >>> first_of_same(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]), np.array([0, 1, 0, 0]))
    (array([0, 1, 2]), array([0, 1, 2, 0]))
    """
    n = X.shape[0]
    if sp.issparse(X) or X.shape[1] == 0:
        return np.arange(n), np.arange(n)
    rows = np.ascontiguousarray(X)
    rows = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    features, targets = (np.unique(each, return_inverse=True)[1].astype(np.int64) for each in (rows, y))
    _, first, which = np.unique(features * n + targets, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which]
