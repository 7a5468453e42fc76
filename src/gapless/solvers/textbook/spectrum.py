"""The curvature of a problem: products with K, its largest eigenvalue, and how much each loss bends."""

from __future__ import annotations

import numpy as np

from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.solvers.base import QUANTUM


def product(problem: Problem, K: np.ndarray | None, beta: np.ndarray) -> np.ndarray:
    """(K + s²) β, by X(Xᵀβ) where K is None (a linear problem)."""
    if K is None:
        return problem.expand(beta) + problem.shift * float(beta.sum())
    out = np.empty(len(beta))
    rows = max(1, int(QUANTUM / len(beta)))  # in parts, so that Ctrl-C is heard between them
    for begin in range(0, len(beta), rows):
        out[begin : begin + rows] = K[begin : begin + rows] @ beta
    return out


def largest_eigenvalue(problem: Problem, K: np.ndarray | None) -> float:
    """The largest eigenvalue of K + s², by power iteration from a fixed start: from below, to about a per cent."""
    v = np.random.default_rng(0).normal(size=problem.n_samples)
    value = 0.0
    for _ in range(100):
        v /= np.linalg.norm(v)
        image = product(problem, K, v)
        previous, value = value, float(v @ image)
        if value <= 0.0 or value - previous <= 1e-4 * value:
            break
        v = image
    return max(1.02 * value, 1e-12 * float(problem.diagonal.max()), 1e-300)


def unbounded_curvature(problem: Problem) -> np.ndarray:
    """The second derivative of cᵢ ℓ(yᵢ, ·) for losses that grow faster than linearly, where sub-gradient steps must be small; else zero."""
    dual = problem.dual
    if not isinstance(dual, DualBox) or np.isfinite(dual.upper - dual.lower).all():
        return np.zeros(problem.n_samples)
    return np.divide(1.0, dual.d, out=np.zeros(problem.n_samples), where=dual.d > 0)
