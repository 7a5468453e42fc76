"""From a specification to numbers: the data of a problem, and the kernel object for Gapless."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless import kernels
from tests.campaign.specs import Spec

NEAR = 1e-9  # the distance of nearly equal points
SKEW = 1e-10  # the relative distance of a Gram matrix from its transpose, small enough to be accepted


@dataclass(frozen=True)
class Case:
    """The data of a specification. ``rows`` is X as dense float64, ``kernel`` the kernel's specification with absolute parameters."""

    X: Any
    rows: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    kernel: list[Any]
    gram: np.ndarray | None


def make_case(spec: Spec) -> Case:
    """The data of a specification: the same numbers each time."""
    rng = np.random.default_rng(spec["seed"])
    X = _samples(spec, rng)
    n = len(X)
    y = _labels(spec, rng, X) if _classifies(spec) else _targets(spec, rng, X)
    weight = _weights(spec["weights"], rng, n, y if _classifies(spec) else None)
    gram = None
    if spec["kernel"][0] == "precomputed":
        gram = _gram(spec["kernel"][1], rng, n)
        X = np.arange(n, dtype=np.float64)[:, None]
    elif spec.get("float32"):
        X = X.astype(np.float32)
    rows = X.astype(np.float64)
    given: Any = sp.csr_array(X) if spec.get("csr") else X
    return Case(given, rows, y, weight, _absolute(spec["kernel"], rows), gram)


def _classifies(spec: Spec) -> bool:
    if spec["form"] == "estimator":
        return bool(spec["classes"])
    return spec["form"] in ("nu_classification", "one_class") or "insensitive" not in spec.get("loss", "insensitive")


def _samples(spec: Spec, rng: np.random.Generator) -> np.ndarray:
    n, d = spec["n"], spec["d"]
    X = rng.normal(size=(n, d))
    if spec["entries"] == "integers":
        X = rng.integers(-3, 4, size=(n, d)).astype(np.float64)
    elif spec["entries"] == "sparse":
        X *= rng.random((n, d)) < 0.3
    if spec["scaling"] == "features":
        X *= 10.0 ** rng.uniform(-8, 8, size=d)
    X *= spec.get("scale", 1.0)
    X += spec.get("offset", 0.0)
    if spec.get("constant"):
        X[:, rng.integers(d)] = rng.normal()
    if spec.get("duplicates"):
        X = X[rng.integers(0, max(1, n // 2), size=n)]
    if spec.get("near"):
        X[n // 2 :] = X[: n - n // 2] + NEAR * rng.normal(size=(n - n // 2, d))
    return np.abs(X) if spec["kernel"][0] in ("chi2", "function") else X


def _labels(spec: Spec, rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    n = len(X)
    scores = _standard(X) @ rng.normal(size=X.shape[1])
    if spec["labels"] == "random":
        scores = rng.normal(size=n)
    elif spec["labels"] == "noisy":
        scores += 0.5 * rng.normal(size=n)
    classes = max(2, spec.get("classes", 2))
    y = np.empty(n, dtype=np.int64)
    y[np.argsort(scores, kind="stable")] = np.arange(n) * classes // n
    return y


def _targets(spec: Spec, rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    noise = {"linear": 0.0, "noisy": 0.3, "random": 5.0}[spec["labels"]]
    y = _standard(X) @ rng.normal(size=X.shape[1]) + noise * rng.normal(size=len(X))
    return spec.get("target_scale", 1.0) * y + spec.get("target_offset", 0.0)


def _standard(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _weights(kind: str, rng: np.random.Generator, n: int, y: np.ndarray | None) -> np.ndarray | None:
    if kind == "ones":
        return None
    if kind == "wide":
        return 10.0 ** rng.uniform(-6, 6, size=n)
    weight = np.ones(n)
    chosen = rng.random(n) < 0.4
    weight[chosen] = 1e-16 if kind == "tiny" else 0.0
    for label in [None] if y is None else np.unique(y):  # one sample of each class keeps its weight
        weight[0 if y is None else int(np.argmax(y == label))] = 1.0
    return weight


def _gram(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    factor = rng.integers(-4, 5, size=(n, int(rng.integers(1, n + 1)))).astype(np.float64)
    if kind == "rounded":  # a matrix that is positive semi-definite only before its rounding
        products = factor @ factor.T  # exact, since its factors are whole numbers
        return np.exp(-0.01 * (np.diag(products)[:, None] + np.diag(products) - 2.0 * products))
    gram = factor @ factor.T * 2.0 ** float(rng.integers(-20, 21))  # exact: whole numbers times a power of two
    if kind == "indefinite":
        other = rng.normal(size=(n, n))
        gram += (other + other.T) * np.abs(gram).max()
    if kind in ("skewed", "asymmetric"):
        size = (SKEW if kind == "skewed" else 0.1) * max(1e-300, float(np.abs(gram).max()))
        gram = gram + size * np.triu(rng.random((n, n)), 1)
    return gram


def _absolute(kernel: list[Any], rows: np.ndarray) -> list[Any]:
    """The kernel with absolute γ: a relative γ is divided by the size of the data."""
    if len(kernel) > 2 and kernel[2] in ("relative", "absolute"):
        kind, gamma, unit, *rest = kernel
        if unit == "relative":
            size = (
                rows.var(axis=0).sum()
                if kind in ("rbf", "laplacian", "matern", "chi2")
                else (rows**2).sum(axis=1).mean()
            )
            size = float(size) if np.isfinite(size) and size > 0 else 1.0
            gamma = float(gamma / (np.sqrt(size) if kind in ("laplacian", "matern", "chi2") else size))
        return [kind, gamma, *rest]
    return [
        _absolute(part, rows) if isinstance(part, list) and part and isinstance(part[0], str) else part
        for part in kernel
    ]


def make_kernel(kernel: list[Any], gram: np.ndarray | None) -> kernels.Kernel | None:
    """The kernel object of a specification with absolute parameters; None is linear."""
    kind, *given = kernel
    match kind:
        case "linear":
            return kernels.Linear()
        case "polynomial":
            return kernels.Polynomial(degree=given[1], gamma=given[0], coef0=given[2])
        case "rbf":
            return kernels.RBF(given[0])
        case "laplacian":
            return kernels.Laplacian(given[0])
        case "sigmoid":
            return kernels.Sigmoid(gamma=given[0], coef0=given[1])
        case "cosine":
            return kernels.Cosine()
        case "chi2":
            return kernels.Chi2(given[0])
        case "matern":
            return kernels.Matern(length_scale=1.0 / given[0], nu=given[1])
        case "precomputed":
            assert gram is not None
            return kernels.Precomputed(gram)
        case "function":
            return kernels.FunctionKernel(least_of_first, vectorized=True)
        case "map":
            return kernels.FeatureMapKernel(with_magnitudes)
    parts = [make_kernel(part, gram) for part in given if isinstance(part, list) and isinstance(part[0], str)]
    match kind:
        case "sum":
            return parts[0] + parts[1]  # type: ignore[operator]
        case "product":
            return parts[0] * parts[1]  # type: ignore[operator]
        case "scaled":
            return given[0] * parts[0]  # type: ignore[operator]
        case "power":
            return parts[0] ** given[0]  # type: ignore[operator]
        case "exp":
            return kernels.exp(parts[0])  # type: ignore[arg-type]
        case "series":
            return kernels.polynomial(parts[0], given[0])  # type: ignore[arg-type]
    raise AssertionError(f"no kernel is called {kind!r}")


def least_of_first(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """min(x₁, z₁): positive semi-definite for non-negative data, and free of rounding."""
    return np.minimum(X[:, :1], Z[:, :1].T)


def with_magnitudes(X: Any) -> Any:
    """(x, |x|), a feature map free of rounding."""
    return sp.csr_array(sp.hstack([X, abs(X)])) if sp.issparse(X) else np.hstack([X, np.abs(X)])
