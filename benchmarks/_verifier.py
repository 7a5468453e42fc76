"""An independent judge: both objectives of a C-SVC with the RBF kernel from its dual coefficients alone, in float64 NumPy.

The judge shares no code with any contender. A contender's coefficients are first made feasible (clipped to the box, brought to Σβ = 0); the primal
value is taken at the best intercept, a weighted quantile, so that no contender is judged by the intercept that it chose:

    P(β) = ½ βᵀKβ + C Σ max(0, 1 − yᵢ(fᵢ + b)),  D(β) = Σ |βᵢ| − ½ βᵀKβ,  f = Kβ.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

BLOCK = 512  # rows of a block of kernel entries: 40 MB with 10,000 support vectors


@dataclass(frozen=True)
class Verdict:
    """The primal and the dual value of a feasible point, and how far the contender's point was from the box and from Σβ = 0."""

    primal: float
    dual: float
    n_support: int
    box_violation: float
    sum_violation: float

    @property
    def relative_gap(self) -> float:
        """(P − D) / P."""
        return (self.primal - self.dual) / self.primal


def judge(X: np.ndarray | sp.csr_matrix, y: np.ndarray, C: float, gamma: float, beta: np.ndarray) -> Verdict:
    """Certify β (one coefficient a sample, yᵢβᵢ in [0, C]) for the data as given."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    beta, box_violation, sum_violation = feasible(np.asarray(beta, dtype=np.float64), y, C)
    support = np.flatnonzero(beta)
    f = kernel_product(X, X[support], gamma, beta[support])
    square = float(beta @ f)
    # The slope in b is −C·n₊ at −∞ and rises by C at each yᵢ − fᵢ: the n₊-th smallest of them is a best b.
    positives = int(np.count_nonzero(y > 0))
    b = np.partition(y - f, positives - 1)[positives - 1]
    hinge = float(np.maximum(0.0, 1.0 - y * (f + b)).sum())
    return Verdict(
        primal=0.5 * square + C * hinge,
        dual=float(np.abs(beta).sum()) - 0.5 * square,
        n_support=len(support),
        box_violation=box_violation,
        sum_violation=sum_violation,
    )


def feasible(beta: np.ndarray, y: np.ndarray, C: float) -> tuple[np.ndarray, float, float]:
    """(β in its box with Σβ = 0, box violation, sum violation of the given β): support vectors move in proportion to their room until Σβ = 0."""
    low, high = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    inside = np.clip(beta, low, high)
    box_violation, sum_violation = float(np.abs(inside - beta).max()), float(inside.sum())
    for among in (inside != 0, np.ones(len(beta), dtype=bool)):
        for _ in range(3):  # rounding leaves a small remainder, which the next turn removes
            excess = float(inside.sum())
            room = np.where(among, inside - low if excess > 0 else high - inside, 0.0)
            if not room.any():
                break
            share = min(1.0, abs(excess) / float(room.sum()))
            inside = np.clip(inside - np.sign(excess) * share * room, low, high)
        if abs(float(inside.sum())) <= 1e-9 * C:
            break
    return inside, box_violation, abs(sum_violation)


def kernel_product(X: np.ndarray, Z: np.ndarray, gamma: float, beta: np.ndarray) -> np.ndarray:
    """Σⱼ exp(−γ‖xᵢ − zⱼ‖²) βⱼ for each row of X, block by block on all cores."""
    squares, others = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
    doubled = np.ascontiguousarray(2.0 * gamma * Z.T)

    def block(start: int) -> np.ndarray:
        part = slice(start, start + BLOCK)
        exponent = X[part] @ doubled
        exponent -= gamma * others
        exponent -= gamma * squares[part, None]
        np.minimum(exponent, 0.0, out=exponent)
        return np.exp(exponent, out=exponent) @ beta

    with threadpool_limits(1, "blas"), ThreadPoolExecutor() as pool:
        return np.concatenate(list(pool.map(block, range(0, len(X), BLOCK))))
