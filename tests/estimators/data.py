"""Small data sets that the estimators' tests share."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler


@cache
def cancer() -> tuple[np.ndarray, np.ndarray]:
    """Two classes, 200 x 30, scaled."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:200], y[:200]


@cache
def iris() -> tuple[np.ndarray, np.ndarray]:
    """Three classes, 150 x 4."""
    return load_iris(return_X_y=True)


@cache
def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """A regression, 200 x 10, scaled."""
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X)[:200], (y[:200] - y.mean()) / y.std()


@cache
def large() -> tuple[np.ndarray, np.ndarray]:
    """Two noisy classes, 1500 x 40: more than a Gram matrix at once is for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 40))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=1500) > 1, "yes", "no")


def many(
    classes: int = 8, each: int = 6, d: int = 5, apart: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """(X, y): classes whose labels are in no order; the smaller ``apart``, the more they overlap."""
    rng = np.random.default_rng(seed)
    X = np.repeat(apart * rng.normal(size=(classes, d)), each, axis=0) + rng.normal(size=(classes * each, d))
    order = rng.permutation(len(X))
    return X[order], np.repeat(np.arange(classes), each)[order]
