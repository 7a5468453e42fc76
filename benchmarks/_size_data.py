"""The kinds of data of ``sizes.py``: each is made at any number of samples, with 1,000 further ones for the score.

Generated kinds are drawn with seed 0; stored ones are shuffled with it. A sample weight is uniform on [0.1, 3], and zero for one sample in ten.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_friedman1

TESTED = 1000
"""Samples for the score."""


class Samples(NamedTuple):
    """The samples of a fit with their weights, and those for the score."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    X_test: Any
    y_test: np.ndarray


def _easy(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Two Gaussian clusters that hardly overlap, 10 features."""
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 10)) + 1.2 * (2 * y - 1)[:, None] * (np.arange(10) < 4), y


def _noisy(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """A curved border in 20 features, one label in ten flipped."""
    X = rng.normal(size=(n, 20))
    border = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    return X, ((border > 0) ^ (rng.random(n) < 0.1)).astype(int)


def _discrete(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Six features with three values each: at most 729 distinct rows, whose copies have different labels."""
    X = rng.integers(0, 3, size=(n, 6)).astype(float)
    return X, (X.sum(axis=1) + 1.5 * rng.normal(size=n) > 6).astype(int)


def _heavy(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Eight features with heavy tails (t with 2 degrees of freedom), whose scales reach from 0.01 to 1,000."""
    Z = rng.standard_t(2, size=(n, 8))
    label = Z[:, 0] + Z[:, 3] - Z[:, 6] + rng.standard_t(2, size=n) > 0
    return Z * np.logspace(-2, 3, 8), label.astype(int)


def _wide(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """1,000 features, of which 50 matter."""
    X = rng.normal(size=(n, 1000))
    return X, (X[:, :50].sum(axis=1) + 5.0 * rng.normal(size=n) > 0).astype(int)


def _classes(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """20 Gaussian clusters in 16 features, which overlap."""
    centres, y = 1.5 * rng.normal(size=(20, 16)), rng.integers(0, 20, n)
    return centres[y] + rng.normal(size=(n, 16)), y


def _friedman(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Friedman's first function of 10 features, noise of deviation 1."""
    return make_friedman1(n, noise=1.0, random_state=0)


def _heavy_targets(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Features and noise with heavy tails, the features' scales from 0.01 to 1,000."""
    Z = rng.standard_t(2, size=(n, 8))
    return Z * np.logspace(-2, 3, 8), Z[:, 0] + 2 * np.tanh(Z[:, 3]) - Z[:, 6] + rng.standard_t(2, size=n)


def _discrete_targets(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """Six features with three values each, and whole numbers as targets."""
    X = rng.integers(0, 3, size=(n, 6)).astype(float)
    return X, np.rint(X[:, 0] * X[:, 1] + X[:, 2] - X[:, 3] + rng.normal(size=n))


def _wide_targets(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    """1,000 features, of which 50 matter."""
    X = rng.normal(size=(n, 1000))
    return X, X[:, :50].sum(axis=1) / 5.0 + 0.5 * rng.normal(size=n)


GENERATED: dict[str, Callable[[np.random.Generator, int], tuple[Any, np.ndarray]]] = {
    "easy": _easy, "noisy": _noisy, "discrete": _discrete, "heavy": _heavy, "wide": _wide, "classes": _classes,
    "friedman": _friedman, "heavy targets": _heavy_targets, "discrete targets": _discrete_targets, "wide targets": _wide_targets,
}  # fmt: skip
"""The generated kinds, by name."""
STORED = {"a9a": 31_561, "covtype": 30_000, "letter": 19_000, "cadata": 19_640, "cpusmall": 7_192}
"""The kinds that are stored data sets, and the most samples that each has besides those for the score."""


def described() -> str:
    """What each kind is, as a list in Markdown."""
    told = {name: (make.__doc__ or "").strip() for name, make in GENERATED.items()} | {
        "a9a": "As stored: sparse, two classes.",
        "covtype": "Standardised: seven classes, of very different sizes.",
        "letter": "As stored: 26 classes.",
        "cadata": "California's house prices in units of 100,000, features as they are, unscaled.",
        "cpusmall": "Standardised features, targets as they are.",
    }
    return "\n".join(f"- {name}: {text}" for name, text in told.items())


@lru_cache(maxsize=1)
def samples(kind: str, n: int) -> Samples:
    """n samples of a kind, and those for its score."""
    rng = np.random.default_rng(0)
    X, y = _stored(kind, n + TESTED) if kind in STORED else GENERATED[kind](rng, n + TESTED)
    weight = rng.uniform(0.1, 3.0, n) * (rng.random(n) >= 0.1)
    return Samples(X[:n], y[:n], weight, X[n:], y[n:])


def _stored(kind: str, n: int) -> tuple[Any, np.ndarray]:
    from _harness import load  # needs the data beside the checkout, unlike all else here

    X, y = load({"cadata": "cadata_california"}.get(kind, kind))
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    X, y = X[chosen], y[chosen]
    if kind in ("covtype", "cpusmall"):
        X = X.toarray() if sp.issparse(X) else X
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    if kind == "a9a":
        X = sp.csr_matrix(X)  # sklearnex checks for that class by name
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y / 1e5 if kind == "cadata" else y
