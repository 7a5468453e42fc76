"""The data sets of the kernel benchmark, each with a fixed scaling, γ and two C, and small data sets whose fits take milliseconds.

Every set is shuffled with seed 0 before it is cut, since some are stored in the order of their classes or of time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy.sparse as sp
from _harness import load
from sklearn import datasets


@dataclass(frozen=True)
class Row:
    """A data set as the benchmark uses it. ``positive`` are the labels of the class +1; ``C`` is (small, large)."""

    name: str
    data: str
    scaling: str
    gamma: float
    C: tuple[float, ...]
    positive: tuple[int, ...] = (1,)
    n: int | None = None
    task: str = ""

    def __str__(self) -> str:
        return self.name


ROWS = {
    row.name: row
    for row in (
        Row("a9a", "a9a", "0/1 as stored", 0.05, (1, 32)),
        Row("w8a", "w8a", "0/1 as stored", 0.05, (1, 32)),
        Row("ijcnn1", "ijcnn1", "as stored", 2.0, (1, 32)),
        Row("cod_rna", "cod_rna", "standardised", 0.1, (1, 100)),
        Row("covtype-20k", "covtype", "standardised", 0.02, (10, 100), (2,), 20_000, "class 2 or not"),
        Row("fashion-10k", "fashion_mnist", "/255", 0.02, (1, 100), (0, 2, 4, 6, 8), 10_000, "even or odd class"),
        Row("skin-40k", "skin_nonskin", "min–max", 4.0, (10, 100), (1,), 40_000),
        Row("letter", "letter", "/15", 8.0, (1, 100), (8,), None, "H or not"),
        Row("connect4-20k", "connect4", "0/1 as stored", 0.1, (1, 32), (2,), 20_000, "win or not"),
        Row("susy_30k", "susy_30k", "standardised", 0.05, (1, 32)),
        Row("magic_gamma", "magic_gamma", "standardised", 0.1, (1, 100)),
    )
}
"""The rows of the table."""

GROWTH = (5_000, 10_000, 20_000, 40_000, 80_000)
"""Sizes of covtype in the plot of time against n."""

for _size in GROWTH:
    ROWS[f"covtype-{_size // 1000}k"] = replace(ROWS["covtype-20k"], name=f"covtype-{_size // 1000}k", n=_size)

TABLE = tuple(name for name in ROWS if not name.startswith("covtype") or name == "covtype-20k")
SPARSE = ("a9a", "w8a", "connect4-20k")
"""Rows that are stored sparse: every contender gets the storage in which it is fastest."""


@cache
def _raw(data: str) -> tuple[np.ndarray | sp.csr_array, np.ndarray]:
    return load(data)


def samples(
    row: Row, storage: str = "dense", limit: int | None = None
) -> tuple[np.ndarray | sp.csr_matrix, np.ndarray]:
    """(X, y) of a row with y = ±1; ``storage`` is "dense", "csr" or "dense32" (float32, else float64), ``limit`` the number of samples to keep."""
    X, y = _raw(row.data)
    chosen = np.random.default_rng(0).permutation(len(y))[: row.n]
    X, y = X[chosen], np.where(np.isin(y[chosen], row.positive), 1, -1)
    X = scaled(X, row.scaling)[:limit]
    if storage == "csr":
        return _without_empty_rows(X), y[:limit]
    X = X.toarray() if sp.issparse(X) else X
    return np.ascontiguousarray(X, dtype=np.float32 if storage == "dense32" else np.float64), y[:limit]


def _without_empty_rows(X: sp.csr_array) -> sp.csr_matrix:
    """X with a stored zero in each row without entries: on w8a sklearnex 2026.2 solves another problem where rows are empty (gap 0.19 at any tol).

    The result is a csr_matrix, since some contenders check for that class by name.
    """
    empty = np.flatnonzero(np.diff(X.indptr) == 0)
    mark = sp.csr_matrix((np.full(len(empty), np.nan), (empty, np.zeros_like(empty))), shape=X.shape)
    X = (sp.csr_matrix(X) + mark).tocsr()
    X.data[np.isnan(X.data)] = 0.0
    return X


def scaled(X: np.ndarray | sp.csr_array, scaling: str) -> np.ndarray | sp.csr_array:
    """X in the scaling that the table names; statistics are those of the rows that are used."""
    if scaling == "standardised":
        deviation = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    if scaling == "min–max":
        low, high = X.min(axis=0), X.max(axis=0)
        return (X - low) / np.where(high > low, high - low, 1.0)
    return X / float(scaling[1:]) if scaling.startswith("/") else X


def small() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Data sets with fewer than 1,000 samples (german_numer and digits cut to 900), standardised."""
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        found[name] = X, y
    for name in ("heart_scale", "australian_scale", "german_numer", "colon_cancer"):
        found[name] = load(name)
    rng = np.random.default_rng(0)
    for name, (X, y) in found.items():
        chosen = rng.permutation(len(y))[:900]
        found[name] = scaled(X[chosen], "standardised"), y[chosen]
    return found
