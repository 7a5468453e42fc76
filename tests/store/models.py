"""Fitted models for the tests of files and of exports: every estimator, kernel, storage and number of classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import gapless as gl
from gapless.kernels import RBF, Constant, Linear, Polynomial, exp, polynomial

COMPOSITE = 0.5 * RBF(gamma=0.3) + Polynomial(degree=2, gamma=0.2) * (Linear() + 1.0)
NESTED = exp(0.1 * Linear()) * polynomial(RBF(gamma=0.2), (0.5, 1.0, 2.0)) ** 2 + Constant(0.25)
KERNELS: dict[str, Any] = {
    "linear": "linear",
    "poly": "poly",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
    "precomputed": "precomputed",
    "composite": COMPOSITE,
    "nested": NESTED,
}


class Case(NamedTuple):
    """What to fit, and on what."""

    estimator: str
    kernel: str | None
    classes: int
    sparse: bool

    def __str__(self) -> str:
        parts = (
            self.estimator,
            self.kernel,
            f"{self.classes}classes" if self.classes else None,
            "sparse" if self.sparse else "dense",
        )
        return "-".join(part for part in parts if part)


class Fitted(NamedTuple):
    """A model and rows that it has not seen, as it takes them."""

    model: Any
    X: Any


def _cases() -> Iterator[Case]:
    """Every combination that exists."""
    for sparse in (False, True):
        for kernel in KERNELS:
            if kernel == "precomputed" and sparse:
                continue
            for estimator in ("SVC", "NuSVC"):
                yield Case(estimator, kernel, 2, sparse)
                yield Case(estimator, kernel, 3, sparse)
            for estimator in ("SVR", "NuSVR", "OneClassSVM"):
                yield Case(estimator, kernel, 0, sparse)
        yield Case("LinearSVC", None, 2, sparse)
        yield Case("LinearSVC", None, 3, sparse)
        yield Case("LinearSVR", None, 0, sparse)


CASES = list(_cases())


def data(classes: int, n: int = 36) -> tuple[np.ndarray, np.ndarray]:
    """Rows around as many centres as there are classes, with labels that are texts; or around one, with a smooth target."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.8)
    if not classes:
        return X + 1.5, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)
    codes = np.arange(n) % classes
    return X + 1.2 * np.eye(4)[codes], np.array(["no", "perhaps", "yes"])[codes]


@cache
def fitted(case: Case) -> Fitted:
    """The model of a case, fitted once; tests leave it as it is."""
    X, y = data(case.classes)
    new = np.random.default_rng(8).normal(size=(25, 4))
    options: dict[str, Any] = {}
    if case.kernel is not None:
        options = {"kernel": KERNELS[case.kernel], "gamma": 0.1}
    if case.kernel == "precomputed":
        X, new = X @ X.T, new @ X.T
    if case.sparse:
        X, new = sp.csr_matrix(X), sp.csr_matrix(new)
    if case.estimator == "LinearSVR":
        options = {"epsilon": 0.1, "C": 0.1}
    if case.estimator.startswith("Nu"):
        options["nu"] = 0.4
    return Fitted(getattr(gl, case.estimator)(**options).fit(X, y), new)


def outputs(model: Any, X: Any) -> list[np.ndarray]:
    """All that a model says of new rows."""
    methods = ("predict", "decision_function", "score_samples")
    return [getattr(model, method)(X) for method in methods if hasattr(model, method)]
