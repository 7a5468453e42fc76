"""The rows of Intel's own table of support vector machines, and their data.

The rows are those of ``configs/regular/svm.json`` in IntelPython/scikit-learn_bench: its numbers of samples, scalings, kernels, C and ν. Three data
sets are generated as they are defined (Friedman 1, the two planes, ``make_regression``). Of the others those that are not beside the checkout are
replaced by the nearest ones that are; ``STANDINS`` says so in the table.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from _harness import load
from _racing import OURS, SKLEARN, Samples
from sklearn.datasets import make_friedman1, make_regression

CACHE_MB = 2000
"""The cache of kernel rows, the same for every contender. Intel's configuration has 24 GB, which is more than many machines have."""
TESTED = 1000


class Row(NamedTuple):
    """A row of the table."""

    estimator: str
    data: str
    options: tuple[tuple[str, Any], ...]

    @property
    def words(self) -> str:
        """The options in the table."""
        return ", ".join(f"{name}={value}" for name, value in self.options)

    def __str__(self) -> str:
        return f"{self.estimator}({self.words}) on {self.data}"


TABLE: tuple[tuple[str, str, tuple[str, ...], dict[str, float]], ...] = (
    ("SVC", "a9a-5k", ("linear",), {"C": 1.0}),
    ("SVC", "skin", ("rbf",), {"C": 10.0}),
    ("SVC", "ijcnn", ("rbf",), {"C": 100.0}),
    ("SVC", "epsilon", ("poly", "rbf"), {"C": 1.0}),
    ("SVC", "gisette", ("linear", "poly", "rbf"), {"C": 100.0}),
    ("SVC", "connect", ("poly", "rbf"), {"C": 10.0}),
    ("SVC", "mnist", ("poly", "rbf"), {"C": 1.0}),
    ("SVR", "year", ("rbf",), {"C": 1.0}),
    ("SVR", "fried-half", ("rbf",), {"C": 2.0}),
    ("SVR", "two planes", ("linear", "poly", "rbf"), {"C": 1.0}),
    ("SVR", "gisette", ("poly", "rbf"), {"C": 1.0}),
    ("SVR", "make_regression", ("linear",), {"C": 0.1}),
    ("NuSVC", "a9a-5k", ("poly", "rbf"), {"nu": 0.1}),
    ("NuSVC", "codrnanorm", ("poly",), {"nu": 0.5}),
    ("NuSVC", "ijcnn", ("rbf",), {"nu": 0.1}),
    ("NuSVC", "gisette", ("linear", "rbf"), {"nu": 0.9}),
    ("NuSVR", "year", ("rbf",), {"nu": 0.5, "C": 1.0}),
    ("NuSVR", "two planes", ("linear", "poly", "rbf"), {"nu": 0.5, "C": 1.0}),
    ("NuSVR", "fried", ("rbf",), {"nu": 0.8, "C": 2.0}),
    ("NuSVR", "gisette", ("rbf",), {"nu": 0.9, "C": 1.0}),
    ("NuSVR", "make_regression", ("linear",), {"nu": 0.5, "C": 0.1}),
)  # fmt: skip
ROWS = tuple(
    Row(estimator, data, (("kernel", kernel), *options.items()))
    for estimator, data, kernels, options in TABLE
    for kernel in kernels
)
STANDINS = {
    "epsilon": "10,000 of fashion_mnist, even or odd class, each sample of length one (784 features in place of 2,000)",
    "gisette": "the pullovers and coats of fashion_mnist with products of pixels and columns without information, as gisette was made of digits "
    "(about 4,000 × 5,000 in place of 6,000 × 5,000)",
    "mnist": "fashion_mnist, 19,000 of its samples",
    "year": "house_16H, 20,000 of its samples (16 features in place of 90), targets standardised",
}
"""What stands for the data that are not there."""


@lru_cache(maxsize=1)
def samples(row: Row) -> Samples:
    """The samples of a row."""
    X, y, n = _DATA[row.data]()
    chosen = np.random.default_rng(0).permutation(len(y))[: n + TESTED]
    X, y = np.ascontiguousarray(X[chosen]), y[chosen]
    return Samples(X[:n], y[:n], None, X[n:], y[n:])


def make(name: str, row: Row) -> Any:
    """A contender's estimator for a row."""
    options = {**dict(row.options), "cache_size": CACHE_MB}
    if name == OURS:
        import gapless as module
    elif name == SKLEARN:
        import sklearn.svm as module
    else:
        import sklearnex.svm as module
    return getattr(module, row.estimator)(**options)


def _dense(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(name)
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), y


def _normalised(X: np.ndarray) -> np.ndarray:
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _stored(name: str, n: int, positive: int | None = None) -> tuple[np.ndarray, np.ndarray, int]:
    X, y = _dense(name)
    return _normalised(X), y if positive is None else (y == positive).astype(int), n


def _epsilon() -> tuple[np.ndarray, np.ndarray, int]:
    X, y = _dense("fashion_mnist")
    return _normalised(X / np.linalg.norm(X, axis=1, keepdims=True)), (y % 2).astype(int), 10_000


def _gisette() -> tuple[np.ndarray, np.ndarray, int]:
    X, y = _dense("fashion_mnist")
    pair = np.isin(y, (2, 4))
    X, y, rng = X[pair], (y[pair] == 4).astype(int), np.random.default_rng(0)
    X = X[:, X.std(axis=0) > 0] / 255.0
    first, second = rng.integers(0, X.shape[1], size=(2, 2500 - X.shape[1]))
    told = np.hstack([X, X[:, first] * X[:, second]])
    untold = rng.permuted(told, axis=0)
    return np.rint(999.0 * np.hstack([told, untold])), y, len(y) - TESTED


def _mnist() -> tuple[np.ndarray, np.ndarray, int]:
    X, y = _dense("fashion_mnist")
    return X, y, 19_000


def _year() -> tuple[np.ndarray, np.ndarray, int]:
    X, y = _dense("house_16H")
    return _normalised(X), (y - y.mean()) / y.std(), 20_000


def _two_planes() -> tuple[np.ndarray, np.ndarray, int]:
    rng, n = np.random.default_rng(0), 25_000 + TESTED
    X = rng.integers(-1, 2, size=(n, 10)).astype(float)
    X[:, 0] = rng.choice([-1.0, 1.0], n)
    upper, lower = 3 + X[:, 1:4] @ [3, 2, 1], -3 + X[:, 4:7] @ [3, 2, 1]
    return _normalised(X), np.where(X[:, 0] > 0, upper, lower) + np.sqrt(2.0) * rng.normal(size=n), 25_000


def _friedman(n: int) -> tuple[np.ndarray, np.ndarray, int]:
    X, y = make_friedman1(n + TESTED, noise=1.0, random_state=0)
    return _normalised(X), y, n


def _make_regression() -> tuple[np.ndarray, np.ndarray, int]:
    X, y = make_regression(n_samples=20_000, n_features=1000, n_informative=500, random_state=42)
    return _normalised(X), y, 10_000


_DATA = {
    "a9a-5k": lambda: _stored("a9a", 5_000),
    "skin": lambda: _stored("skin_nonskin", 20_000),
    "ijcnn": lambda: _stored("ijcnn1", 20_000),
    "epsilon": _epsilon,
    "gisette": _gisette,
    "connect": lambda: _stored("connect4", 20_000),
    "mnist": _mnist,
    "year": _year,
    "fried-half": lambda: _friedman(20_384),
    "fried": lambda: _friedman(32_614),
    "two planes": _two_planes,
    "make_regression": _make_regression,
    "codrnanorm": lambda: _stored("cod_rna", 20_000),
}
