"""Fewer samples than features: the model in coordinates of the samples' span, which are as many as the samples.

The optimal w is Σ βᵢxᵢ, so that nothing is lost in the span of the rows. With an orthonormal basis Q of it, X = L Qᵀ, and w = Qu has ‖w‖ = ‖u‖ and
Xw = Lu: the same problem with L, of n columns, in place of X. The factorisation is Householder's: its error is of the size of rounding, where a Gram
matrix XXᵀ would square the condition of X. The certificate is computed from X as it was given, and never sees L.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg.lapack as lapack
import scipy.sparse as sp

from gapless.problems.problem import Problem


def is_wide(problem: Problem) -> bool:
    """Whether the span of the samples has fewer coordinates than there are features."""
    return problem.n_samples < problem.n_features


class RowSpan:
    """X = L Qᵀ; Q is kept as the reflections that it is a product of."""

    def __init__(self, problem: Problem) -> None:
        X: Any = problem.X
        n, d = X.shape
        self.d, self.used = d, None
        if sp.issparse(X):
            self.used = np.unique(X.indices)
            X = X[:, self.used].toarray()
        # By columns, as LAPACK has it, a C-contiguous X is its own transpose.
        columns = np.array(X, dtype=np.float64, order="C").T
        self.rank = min(columns.shape)
        work = 64 * max(1, n)
        self.reflections, self.tau, _, failed = lapack.dgeqrf(columns, lwork=work, overwrite_a=True)
        assert failed == 0
        self.L = np.ascontiguousarray(np.triu(self.reflections[: self.rank]).T)
        # There are as many reflections as coordinates: fewer than samples where sparse rows use fewer features than that.
        self.reflections = self.reflections[:, : self.rank]

    def inside(self, w: np.ndarray) -> np.ndarray:
        """The coordinates u = Qᵀw of a model."""
        return self._multiply(w if self.used is None else w[self.used], b"T")[: self.rank]

    def outside(self, u: np.ndarray) -> np.ndarray:
        """The model w = Qu."""
        padded = np.zeros(len(self.reflections))
        padded[: self.rank] = u
        w = self._multiply(padded, b"N")
        if self.used is None:
            return w
        out = np.zeros(self.d)
        out[self.used] = w
        return out

    def _multiply(self, vector: np.ndarray, trans: bytes) -> np.ndarray:
        product, _, failed = lapack.dormqr(b"L", trans, self.reflections, self.tau, vector[:, None], 64)
        assert failed == 0
        return np.asarray(product)[:, 0]
