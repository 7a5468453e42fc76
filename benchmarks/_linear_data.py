"""The data sets and losses of the linear benchmark, and an independent judge of their objectives in float64 NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from _harness import load

DENSE = ("covtype", "ijcnn1", "cod_rna", "susy_30k", "skin_nonskin", "cadata_california", "house_16H")
SPARSE = ("a9a", "w8a", "news20_text_tfidf", "imdb_bigram_hashed", "connect4")
REGRESSION = ("cadata_california", "house_16H")
COSTS = (0.01, 1.0, 100.0)
GAPS = (1e-3, 1e-6)
EPSILON = 0.1


@dataclass(frozen=True)
class Case:
    """A problem of the tables; with a gap it is a row of one."""

    data: str
    squared: bool
    C: float

    @property
    def regression(self) -> bool:
        """Whether the targets are numbers."""
        return self.data in REGRESSION

    @property
    def dense(self) -> bool:
        """Whether the data are stored dense."""
        return self.data in DENSE

    @property
    def loss(self) -> str:
        """The name of the loss, which is the same in scikit-learn and in Gapless."""
        return ("squared_" if self.squared else "") + ("epsilon_insensitive" if self.regression else "hinge")

    def __str__(self) -> str:
        return f"{self.data} {self.loss} C={self.C:g}"


CASES = tuple(Case(data, squared, C) for data in DENSE + SPARSE for squared in (False, True) for C in COSTS)


@lru_cache(maxsize=1)
def samples(name: str) -> tuple[Any, np.ndarray]:
    """(X, y): standardised where dense; two classes, the last (covtype: the second) against the rest, or standardised targets."""
    X, y = load(name)
    if name in DENSE:
        X = X.toarray() if sp.issparse(X) else X
        X = np.ascontiguousarray((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0))
    else:
        X = sp.csr_matrix(X)  # some contenders check for that class by name, and for indices of 32 bits
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    if name in REGRESSION:
        return X, (y - y.mean()) / y.std()
    if name == "news20_text_tfidf":
        return X, np.where(y >= 10, 1.0, -1.0)
    return X, np.where(y == (2 if name == "covtype" else y.max()), 1.0, -1.0)


def primal(case: Case, w: np.ndarray, b: float) -> float:
    """P = ½(‖w‖² + b²) + C Σ ℓ."""
    X, y = samples(case.data)
    f = X @ np.asarray(w, dtype=np.float64) + b
    short = np.maximum(0.0, np.abs(y - f) - EPSILON) if case.regression else np.maximum(0.0, 1.0 - y * f)
    return 0.5 * float(w @ w + b * b) + case.C * float((short**2 if case.squared else short).sum())


def dual(case: Case, beta: np.ndarray) -> float:
    """D = yᵀβ − ε‖β‖₁ − ½(‖Xᵀβ‖² + (Σβ)²), less ‖β‖²/4C for squared losses, at β clipped to its box: no primal value is below it."""
    X, y = samples(case.data)
    bound = np.inf if case.squared else case.C
    low, high = (-bound, bound) if case.regression else (np.where(y > 0, 0.0, -bound), np.where(y > 0, bound, 0.0))
    beta = np.clip(beta, low, high)
    w, size = X.T @ beta, float(np.abs(beta).sum())
    value = float((y * beta).sum()) - (EPSILON * size if case.regression else 0.0)
    value -= 0.5 * (float(w @ w) + float(beta.sum()) ** 2)
    return value - (float((beta * beta).sum()) / (4.0 * case.C) if case.squared else 0.0)
