"""The curvature of a problem: products with K, the largest eigenvalue of the dual's quadratic part, and how much each loss bends."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as sla

from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.solvers.base import QUANTUM

# LAPACK computes eigenvalues of matrices up to this order, and XᵀX is formed where that takes up to so many products: some tenths of a second each.
_SMALL, _PRODUCTS = 1000, 1e10
# Entries of X that are converted to float64 at a time: 8 MB.
_PART = 1e6


def product(problem: Problem, K: np.ndarray | None, beta: np.ndarray) -> np.ndarray:
    """(K + s²) β, by X(Xᵀβ) where K is None (a linear problem)."""
    if K is None:
        return problem.expand(beta) + problem.shift * float(beta.sum())
    out = np.empty(len(beta))
    rows = max(1, int(QUANTUM / len(beta)))  # rows of a part: Ctrl-C is heard between two parts
    for begin in range(0, len(beta), rows):
        out[begin : begin + rows] = K[begin : begin + rows] @ beta
    return out


def largest_eigenvalue(
    problem: Problem, K: np.ndarray | None, bend: np.ndarray | None = None, shift: float | None = None
) -> float:
    """The largest eigenvalue of K + s² + diag(bend), to rounding; always positive.

    It is computed by LAPACK where the matrix (or XᵀX of a linear problem) is small, otherwise by Lanczos' method from a fixed start. ``shift``
    replaces s².
    """
    shift = problem.shift if shift is None else shift
    n, d = problem.X.shape
    bend = np.zeros(n) if bend is None else bend
    is_even = bool((bend == bend[0]).all())
    if K is None and d < _SMALL and n * d * d <= _PRODUCTS and is_even:
        value = float(bend[0]) + _last_eigenvalue(_moments(problem, shift))
    elif n <= _SMALL:
        matrix = _products(problem) + shift if K is None else K.copy()
        matrix[np.diag_indices(n)] += bend
        value = _last_eigenvalue(matrix)
    else:
        value = _by_lanczos(problem, K, bend, shift)
    return max(value, 1e-12 * float(problem.diagonal.max()), 1e-300)


def unbounded_curvature(problem: Problem) -> np.ndarray:
    """The second derivative of cᵢ ℓ(yᵢ, ·) for losses that grow faster than linearly, where sub-gradient steps must be small; else zero."""
    dual = problem.dual
    if not isinstance(dual, DualBox) or np.isfinite(dual.upper - dual.lower).all():
        return np.zeros(problem.n_samples)
    return np.divide(1.0, dual.d, out=np.zeros(problem.n_samples), where=dual.d > 0)


def _last_eigenvalue(matrix: np.ndarray) -> float:
    last = len(matrix) - 1
    return float(scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=(last, last))[0])


def _moments(problem: Problem, shift: float) -> np.ndarray:
    """XᵀX where X has one more column √shift: apart from zeros, its eigenvalues are those of K + shift."""
    n, d = problem.X.shape
    total = np.zeros((d + 1, d + 1))
    rows = max(1, int(_PART / (d + 1)))
    for begin in range(0, n, rows):
        part = problem.X[begin : begin + rows].astype(np.float64)
        part = part.toarray() if hasattr(part, "toarray") else part
        part = np.hstack([part, np.full((len(part), 1), np.sqrt(shift))])
        total += part.T @ part
    return total


def _products(problem: Problem) -> np.ndarray:
    X = problem.X.astype(np.float64)
    K = X @ X.T
    return K.toarray() if hasattr(K, "toarray") else K


def _by_lanczos(problem: Problem, K: np.ndarray | None, bend: np.ndarray, shift: float) -> float:
    n = problem.n_samples

    def apply(vector: np.ndarray) -> np.ndarray:
        beta = np.ravel(vector)
        image = product(problem, K, beta) + bend * beta
        return image if K is not None else image + (shift - problem.shift) * float(beta.sum())

    operator = sla.LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    try:
        return float(sla.eigsh(operator, k=1, which="LA", v0=start, tol=0, return_eigenvectors=False)[0])
    except sla.ArpackNoConvergence:  # the largest eigenvalues are close together: a power iteration ends among them
        value = 0.0
        for _ in range(100):
            start /= np.linalg.norm(start)
            image = apply(start)
            value, start = float(start @ image), image
        return value
