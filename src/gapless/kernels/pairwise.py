"""Inner products and distances between all rows of X and all rows of Z, dense or CSR, in float64.

Every function returns a new C-contiguous array that the caller may overwrite.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances as _manhattan
from sklearn.utils.extmath import row_norms, safe_sparse_dot

Matrix: TypeAlias = Any
"""A dense array, or a CSR matrix or array, of two dimensions: rows are samples."""

# Below this share of ‖x‖² + ‖z‖² the expansion ‖x‖² + ‖z‖² − 2⟨x,z⟩ has lost four of float64's sixteen digits, and the distance is taken from x − z.
CLOSE = 1e-4
# With so few rows on one side, centring costs more than the matrix product saves.
_FEW_ROWS = 4
# The sizes of what is held at a time, by hand: a strip of 1 MB stays in the cache through the passes over it; the others bound memory to 8 MB.
_STRIP = 2**17  # entries of the matrix of distances
_DENSE_LEFT = 2**20  # entries of a sparse block that may be made dense
_GATHER = 2**20  # entries of row differences


def as_float64(X: Matrix) -> Matrix:
    """X in float64; X itself where it is in float64 already."""
    return X.astype(np.float64, copy=False) if sp.issparse(X) else np.asarray(X, dtype=np.float64)


def as_dense(X: Matrix) -> np.ndarray:
    """X as a C-contiguous float64 array."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def inner_products(X: Matrix, Z: Matrix) -> np.ndarray:
    """⟨xᵢ, zⱼ⟩ for all pairs; exactly symmetric when Z is X."""
    left = as_float64(X)
    right = left if Z is X else as_float64(Z)
    if sp.issparse(left) and sp.issparse(right) and right is not left and left.shape[0] * left.shape[1] <= _DENSE_LEFT:
        # X, of a few rows, becomes a dense block: no transpose of Z is formed, and the rows of Z are read in order.
        return np.ascontiguousarray((right @ left.toarray().T).T)
    return np.ascontiguousarray(safe_sparse_dot(left, right.T, dense_output=True))


def squared_norms(X: Matrix) -> np.ndarray:
    """‖xᵢ‖² for every row of X."""
    return row_norms(as_float64(X), squared=True)


def squared_distances(X: Matrix, Z: Matrix) -> np.ndarray:
    """‖xᵢ − zⱼ‖² for all pairs, never negative, and exactly 0 for equal rows.

    The expansion ‖x‖² + ‖z‖² − 2⟨x,z⟩ is one matrix product but cancels where rows are close to each other and far from
    the origin. Dense data is therefore centred first, and the pairs that are still too close are computed from x − z.
    """
    left = as_float64(X)
    right = left if Z is X else as_float64(Z)
    dense = not (sp.issparse(left) or sp.issparse(right))
    if dense and min(left.shape[0], right.shape[0]) <= _FEW_ROWS:
        return cdist(left, right, "sqeuclidean")
    if dense:
        centre = right.mean(axis=0)
        left_centred = left - centre
        right_centred = left_centred if right is left else right - centre
    else:
        left_centred, right_centred = left, right

    D = inner_products(left_centred, right_centred)
    left_norms = squared_norms(left_centred)
    right_norms = left_norms if right is left else squared_norms(right_centred)
    step = max(1, _STRIP // D.shape[1])
    for start in range(0, D.shape[0], step):
        strip = D[start : start + step]
        norms = left_norms[start : start + step, None] + right_norms
        strip *= -2
        strip += norms
        norms *= CLOSE
        # Every distance that rounding has made negative is below the bound too, so that none is left to clip.
        i, j = np.nonzero(strip < norms)
        if i.size:
            strip[i, j] = _squared_differences(left, right, start + i, j)
    return D


def euclidean_distances(X: Matrix, Z: Matrix) -> np.ndarray:
    """‖xᵢ − zⱼ‖ for all pairs."""
    D = squared_distances(X, Z)
    return np.sqrt(D, out=D)


def manhattan_distances(X: Matrix, Z: Matrix) -> np.ndarray:
    """‖xᵢ − zⱼ‖₁ for all pairs."""
    left, right = as_float64(X), as_float64(Z)
    if sp.issparse(left) or sp.issparse(right):
        return _manhattan(_short_indices(left), _short_indices(right))
    return cdist(left, right, "cityblock")


def _short_indices(X: Matrix) -> sp.csr_array:
    """X as CSR with the 32-bit indices that scikit-learn's loop takes."""
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _squared_differences(X: Matrix, Z: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """‖x_{i[t]} − z_{j[t]}‖² for every t."""
    result = np.empty(len(i))
    step = max(1, _GATHER // X.shape[1])
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        rows, others = X[i[part]], Z[j[part]]
        if sp.issparse(rows) != sp.issparse(others):
            rows, others = as_dense(rows), as_dense(others)
        result[part] = squared_norms(rows - others)
    return result
