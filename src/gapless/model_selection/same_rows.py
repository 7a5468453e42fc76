"""Samples that are the same: of data with few features, or few values of each, many are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def numbers_of_rows(X: Any) -> np.ndarray:
    """A number for each row of X, the same where the features are, to the bit. Sparse rows are not compared: each is its own.

    >>> numbers_of_rows(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 2.0]]))
    array([1, 1, 0])
    """
    if sp.issparse(X) or X.shape[1] == 0:
        return np.arange(X.shape[0])
    rows = np.ascontiguousarray(X)
    rows = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    return np.unique(rows, return_inverse=True)[1].astype(np.int64)


def first_of_same(rows: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first, which): the first of all samples that are the same, ascending, and for each sample the place of its own among these.

    Samples are the same where their numbers ``rows`` and y are.

    >>> first_of_same(np.array([1, 1, 0, 1]), np.array([0, 1, 0, 0]))
    (array([0, 1, 2]), array([0, 1, 2, 0]))
    """
    targets = np.unique(y, return_inverse=True)[1].astype(np.int64)
    _, first, which = np.unique(rows * len(rows) + targets, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which]
