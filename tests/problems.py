"""The catalogue: named problems, ordinary and nasty, that every solver has to certify.

A new entry is one function with ``@entry``: the solver matrix finds it. The function returns the arguments of :class:`gapless.Problem`, with X dense.
``easy`` marks what is conditioned well enough for every method on the dual to converge within the matrix's bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

import gapless as gl
from gapless import kernels
from tests.kernels.reference import gram
from tests.reference import Reference, signs, unit_cost

STORAGES = ("dense", "csr_int32", "csr_int64", "float32")


@dataclass(frozen=True)
class Entry:
    name: str
    arguments: Callable[[], dict[str, Any]]
    easy: bool

    def problem(self, storage: str = "dense") -> gl.Problem:
        """The problem with its samples stored in one of ``STORAGES``; the same object on every call."""
        return _build(self, storage)

    def reference(self, storage: str = "dense") -> Reference:
        """The same problem as naive NumPy has it."""
        return _build_reference(self, storage)


@cache
def _build(entry: Entry, storage: str) -> gl.Problem:
    arguments = entry.arguments()
    return gl.Problem(store(arguments.pop("X"), storage), arguments.pop("y"), **arguments)


@cache
def _build_reference(entry: Entry, storage: str) -> Reference:
    arguments = entry.arguments()
    X = arguments["X"].astype(np.float32 if storage == "float32" else np.float64).astype(np.float64)
    weight = np.asarray(arguments.get("sample_weight", np.ones(len(X))), dtype=float)
    loss = arguments.get("loss", "hinge")
    loss = gl.losses.LOSSES[loss]() if isinstance(loss, str) else loss
    is_regression = loss.name.endswith("epsilon_insensitive")
    kernel = arguments.get("kernel")
    unit = unit_cost(weight.sum(), arguments)
    return Reference(
        X=X if kernel is None else None,
        K=X @ X.T if kernel is None else gram(kernel, X),
        y=np.asarray(arguments["y"], dtype=float) if is_regression else signs(arguments["y"]),
        cost=np.array([unit * v if v > 0 else 0.0 for v in weight]),
        loss=loss.name,
        parameter=getattr(loss, "epsilon", getattr(loss, "smoothing", 0.0)),
        intercept=arguments.get("intercept", "free"),
        scale=arguments.get("intercept_scale", 1.0),
    )


def store(X: np.ndarray, storage: str) -> np.ndarray | sp.csr_array:
    if storage == "dense":
        return X
    if storage == "float32":
        return X.astype(np.float32)
    index = {"csr_int32": np.int32, "csr_int64": np.int64}[storage]
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)


CATALOGUE: dict[str, Entry] = {}


def entry(easy: bool) -> Callable[[Callable[[], dict[str, Any]]], Entry]:
    def add(arguments: Callable[[], dict[str, Any]]) -> Entry:
        CATALOGUE[arguments.__name__] = Entry(arguments.__name__, arguments, easy)
        return CATALOGUE[arguments.__name__]

    return add


# --- data


def two_classes(n: int = 60, d: int = 4, seed: int = 0, apart: float = 1.0, dense: bool = True) -> dict[str, Any]:
    """Two overlapping Gaussian clouds; a third of the entries is zero unless ``dense``."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, d)) + 0.5 * apart * y[:, None]
    return {"X": X if dense else np.where(rng.random((n, d)) < 1 / 3, 0.0, X), "y": y}


def line(n: int = 60, d: int = 4, seed: int = 0, noise: float = 0.3) -> dict[str, Any]:
    """A noisy linear function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return {"X": X, "y": X @ rng.normal(size=d) + 0.5 + noise * rng.normal(size=n)}


def standardized(load: Callable[..., Any], n: int, classes: tuple[int, int] | None = None) -> dict[str, Any]:
    """The first n samples (of two classes) of one of scikit-learn's sets, each feature with mean zero and variance one."""
    X, y = load(return_X_y=True)
    used = np.flatnonzero(np.isin(y, classes))[:n] if classes else np.arange(n)
    X, y = X[used].astype(float), y[used]
    return {"X": (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), "y": y}


# --- every loss, intercept, convention


@entry(easy=True)
def hinge_free_C():
    return {**two_classes(), "C": 1.0}


@entry(easy=True)
def hinge_regularized_lam_mean():
    return {**two_classes(dense=False), "lam_mean": 0.1, "intercept": "regularized"}


@entry(easy=True)
def hinge_none_C_mean():
    return {**two_classes(), "C_mean": 5.0, "intercept": "none"}


@entry(easy=True)
def squared_hinge_free_lam_sum():
    return {**two_classes(dense=False), "loss": "squared_hinge", "lam_sum": 2.0}


@entry(easy=True)
def squared_hinge_regularized_scaled():
    return {**two_classes(), "loss": "squared_hinge", "C": 0.3, "intercept": "regularized", "intercept_scale": 3.0}


@entry(easy=True)
def squared_hinge_none():
    return {**two_classes(), "loss": "squared_hinge", "C": 1.0, "intercept": "none"}


@entry(easy=True)
def smoothed_hinge_free():
    return {**two_classes(), "loss": gl.losses.SmoothedHinge(smoothing=1.0), "C": 1.0}


@entry(easy=True)
def smoothed_hinge_none_lam_mean_full():
    return {**two_classes(), "loss": "smoothed_hinge", "lam_mean_full": 0.05, "intercept": "none"}


@entry(easy=True)
def smoothed_hinge_regularized():
    return {**two_classes(dense=False), "loss": "smoothed_hinge", "C": 1.0, "intercept": "regularized"}


@entry(easy=True)
def logistic_free():
    return {**two_classes(), "loss": "logistic", "C": 1.0}


@entry(easy=True)
def logistic_regularized_lam_mean():
    return {**two_classes(dense=False), "loss": "logistic", "lam_mean": 0.05, "intercept": "regularized"}


@entry(easy=True)
def logistic_none_C_mean():
    return {**two_classes(), "loss": "logistic", "C_mean": 10.0, "intercept": "none"}


@entry(easy=True)
def tube_free():
    return {**line(), "loss": "epsilon_insensitive", "C": 1.0}


@entry(easy=True)
def tube_regularized_lam_sum():
    return {**line(), "loss": gl.losses.EpsilonInsensitive(0.2), "lam_sum": 20.0, "intercept": "regularized"}


@entry(easy=True)
def tube_none_without_width():
    return {**line(), "loss": gl.losses.EpsilonInsensitive(0.0), "C": 0.5, "intercept": "none"}


@entry(easy=True)
def squared_tube_free_lam_mean_full():
    return {**line(), "loss": "squared_epsilon_insensitive", "lam_mean_full": 0.02}


@entry(easy=True)
def squared_tube_regularized():
    return {**line(), "loss": "squared_epsilon_insensitive", "C": 1.0, "intercept": "regularized"}


@entry(easy=True)
def squared_tube_none():
    return {**line(), "loss": gl.losses.SquaredEpsilonInsensitive(0.0), "C": 1.0, "intercept": "none"}


# --- kernels


@entry(easy=True)
def rbf_free():
    return {**two_classes(), "kernel": kernels.RBF(gamma=0.5), "C": 2.0}


@entry(easy=True)
def rbf_regularized_squared_hinge():
    kernel = kernels.RBF(gamma=0.5)
    return {**two_classes(), "kernel": kernel, "loss": "squared_hinge", "C": 2.0, "intercept": "regularized"}


@entry(easy=True)
def polynomial_none():
    kernel = kernels.Polynomial(degree=2, gamma=0.2)
    return {**two_classes(dense=False), "kernel": kernel, "C": 0.5, "intercept": "none"}


@entry(easy=True)
def composite_free():
    kernel = 0.5 * kernels.RBF(gamma=0.2) + kernels.Polynomial(degree=2, gamma=0.1) * kernels.Linear()
    return {**two_classes(), "kernel": kernel, "C": 0.1}


@entry(easy=True)
def composite_none_smoothed_hinge():
    kernel = kernels.exp(0.1 * kernels.Linear()) * kernels.Laplacian(gamma=0.1) + kernels.Cosine() ** 2
    return {**two_classes(dense=False), "kernel": kernel, "loss": "smoothed_hinge", "C": 1.0, "intercept": "none"}


@entry(easy=True)
def precomputed_free():
    data = two_classes()
    gram = np.minimum.outer(*(2 * [np.exp(0.3 * data["X"]).sum(axis=1)]))  # min(a, b) is a kernel
    return {"X": np.arange(60.0)[:, None], "y": data["y"], "kernel": kernels.Precomputed(gram), "C": 1.0}


@entry(easy=True)
def laplacian_tube_free():
    return {**line(), "kernel": kernels.Laplacian(gamma=0.3), "loss": "epsilon_insensitive", "C": 1.0}


@entry(easy=True)
def matern_squared_tube_regularized():
    loss, kernel = "squared_epsilon_insensitive", kernels.Matern(nu=1.5, length_scale=2.0)
    return {**line(), "kernel": kernel, "loss": loss, "C": 1.0, "intercept": "regularized"}


@entry(easy=True)
def rbf_logistic_free():
    return {**two_classes(), "kernel": kernels.RBF(gamma=0.5), "loss": "logistic", "C": 1.0}


@entry(easy=True)
def chi2_counts_none():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(50) % 2 == 0, 1, -1)
    X = rng.poisson(2.0 + y[:, None], size=(50, 5)).astype(float)
    return {"X": X, "y": y, "kernel": kernels.Chi2(gamma=0.1), "C": 1.0, "intercept": "none"}


@entry(easy=False)
def sigmoid_is_no_bound():
    return {**two_classes(), "kernel": kernels.Sigmoid(gamma=0.5, coef0=-1.0), "C": 1.0}


# --- data from the world


@entry(easy=True)
def breast_cancer_rbf():
    return {**standardized(load_breast_cancer, 150), "kernel": kernels.RBF(gamma=1 / 30), "C": 1.0}


@entry(easy=False)
def breast_cancer_hinge():
    return {**standardized(load_breast_cancer, 200), "C": 1.0, "intercept": "regularized"}


@entry(easy=False)
def breast_cancer_raw():
    X, y = load_breast_cancer(return_X_y=True)
    return {"X": X[:100], "y": y[:100], "loss": "logistic", "C": 1.0}


@entry(easy=True)
def diabetes_tube():
    data = standardized(load_diabetes, 120)
    return {**data, "y": data["y"] / 100, "loss": "epsilon_insensitive", "C": 0.1}


@entry(easy=True)
def digits_hinge():
    return {**standardized(load_digits, 100, classes=(3, 8)), "C": 0.01, "intercept": "none"}


@entry(easy=True)
def wine_polynomial():
    data = standardized(load_wine, 100, classes=(0, 1))
    kernel = kernels.Polynomial(degree=3, gamma=1 / 13)
    return {**data, "kernel": kernel, "loss": "squared_hinge", "C": 0.1, "intercept": "regularized"}


# --- nasty samples


@entry(easy=True)
def duplicates():
    data = two_classes(n=20)
    return {"X": np.repeat(data["X"], 3, axis=0), "y": np.repeat(data["y"], 3), "C": 1.0}


@entry(easy=True)
def duplicates_that_contradict():
    data = two_classes(n=20)
    return {"X": np.vstack([data["X"]] * 2), "y": np.concatenate([data["y"], -data["y"]]), "C": 1.0}


@entry(easy=True)
def duplicates_that_contradict_rbf():
    data = two_classes(n=20)
    y = np.concatenate([data["y"], data["y"], -data["y"]])
    return {"X": np.vstack([data["X"]] * 3), "y": y, "kernel": kernels.RBF(), "C": 1.0, "intercept": "none"}


@entry(easy=True)
def zero_rows():
    data = two_classes(n=30)
    data["X"][::4] = 0.0
    return {**data, "C": 1.0, "intercept": "none"}


@entry(easy=True)
def zero_rows_tube_free():
    data = line(n=30)
    data["X"][::4] = 0.0
    return {**data, "loss": "epsilon_insensitive", "C": 1.0}


@entry(easy=True)
def all_rows_zero():
    return {"X": np.zeros((7, 2)), "y": [1, 1, 1, 1, -1, -1, -1], "C": 1.0, "intercept": "free"}


@entry(easy=True)
def one_sample_a_class():
    return {"X": np.array([[1.0, 2.0], [2.0, 0.0]]), "y": [0, 1], "C": 10.0}


@entry(easy=True)
def one_sample_of_a_class_logistic():
    data = two_classes(n=20, d=2)
    return {"X": data["X"], "y": np.arange(20) == 7, "loss": "logistic", "C": 1.0}


@entry(easy=True)
def imbalanced():
    data = two_classes(n=60, d=3)
    return {"X": data["X"], "y": (np.arange(60) < 3).astype(int), "C": 1.0, "intercept": "regularized"}


@entry(easy=True)
def string_labels():
    data = two_classes(n=30)
    return {"X": data["X"], "y": np.where(data["y"] > 0, "spam", "ham"), "C": 0.5}


@entry(easy=True)
def inside_the_tube():
    return {**line(n=30, noise=0.0), "loss": gl.losses.EpsilonInsensitive(100.0), "C": 1.0}


@entry(easy=True)
def constant_target():
    return {"X": line(n=20)["X"], "y": np.full(20, 3.5), "loss": "squared_epsilon_insensitive", "C": 1.0}


# --- nasty features


@entry(easy=True)
def more_features_than_samples():
    return {**two_classes(n=20, d=80, apart=0.2), "C": 1.0}


@entry(easy=True)
def more_features_than_samples_squared_tube():
    loss = "squared_epsilon_insensitive"
    return {**line(n=15, d=60), "loss": loss, "C": 1.0, "intercept": "regularized"}


@entry(easy=True)
def collinear_features():
    data = two_classes(n=40, d=2)
    X = data["X"] @ np.array([[1.0, 2.0, -1.0, 0.5], [1.0, 2.0, 1.0, -0.5]])
    return {"X": X, "y": data["y"], "C": 0.5, "intercept": "none"}


@entry(easy=True)
def constant_features():
    data = two_classes(n=40, d=3)
    X = np.hstack([data["X"], np.full((40, 1), 5.0), np.zeros((40, 1))])
    return {"X": X, "y": data["y"], "C": 0.2}


@entry(easy=True)
def tiny_features():
    data = two_classes(n=40)
    return {"X": 1e-8 * data["X"], "y": data["y"], "C": 1.0}


@entry(easy=False)
def tiny_features_at_their_C():
    data = two_classes(n=40)
    return {"X": 1e-8 * data["X"], "y": data["y"], "C": 1e16, "intercept": "none"}


@entry(easy=False)
def huge_features():
    data = two_classes(n=40)
    return {"X": 1e8 * data["X"], "y": data["y"], "C": 1.0}


@entry(easy=False)
def huge_features_regularized():
    data = two_classes(n=40)
    return {"X": 1e8 * data["X"], "y": data["y"], "C": 1.0, "intercept": "regularized"}


@entry(easy=True)
def huge_features_at_their_C():
    data = two_classes(n=40)
    return {"X": 1e8 * data["X"], "y": data["y"], "C": 1e-16, "intercept": "none"}


@entry(easy=False)
def features_of_all_scales():
    data = two_classes(n=40)
    return {"X": data["X"] * [1e-8, 1.0, 1e4, 1e8], "y": data["y"], "C": 1.0, "intercept": "regularized"}


# --- nasty costs


@entry(easy=True)
def tiny_C():
    return {**two_classes(n=40), "C": 1e-8}


@entry(easy=True)
def tiny_C_tube():
    return {**line(n=40), "loss": "epsilon_insensitive", "C": 1e-8, "intercept": "regularized"}


@entry(easy=False)
def huge_C():
    return {**two_classes(n=40), "C": 1e8, "intercept": "regularized"}


@entry(easy=False)
def huge_C_rbf():
    return {**two_classes(n=40), "kernel": kernels.RBF(gamma=0.1), "C": 1e8}


@entry(easy=False)
def huge_C_logistic():
    return {**two_classes(n=40), "loss": "logistic", "C": 1e8, "intercept": "none"}


@entry(easy=True)
def weights_of_zero():
    weight = np.arange(40) % 3
    return {**two_classes(n=40), "C": 1.0, "sample_weight": weight}


@entry(easy=True)
def weights_of_zero_squared_tube():
    weight = np.arange(40) % 3
    return {**line(n=40), "loss": "squared_epsilon_insensitive", "C": 1.0, "intercept": "none", "sample_weight": weight}


@entry(easy=True)
def weights_of_zero_logistic():
    weight = np.arange(40) % 3
    return {**two_classes(n=40), "loss": "logistic", "lam_mean": 0.1, "intercept": "free", "sample_weight": weight}


@entry(easy=False)
def weights_of_all_sizes():
    weight = 10.0 ** np.linspace(-6, 6, 40)
    return {**two_classes(n=40), "C_mean": 1.0, "intercept": "regularized", "sample_weight": weight}


@entry(easy=False)
def weights_of_all_sizes_rbf():
    weight = 10.0 ** np.linspace(-6, 6, 40)
    return {**two_classes(n=40), "kernel": kernels.RBF(), "C": 1.0, "sample_weight": weight}


# --- hard margins


@entry(easy=True)
def hard_margin_free():
    return {**two_classes(n=30, apart=8.0), "C": np.inf}


@entry(easy=True)
def hard_margin_regularized():
    return {**two_classes(n=30, apart=8.0), "C": np.inf, "intercept": "regularized"}


@entry(easy=True)
def hard_margin_none():
    return {**two_classes(n=30, apart=8.0), "C": np.inf, "intercept": "none", "loss": "squared_hinge"}


@entry(easy=True)
def hard_margin_rbf():
    weight = np.arange(30) % 3
    return {**two_classes(n=30), "kernel": kernels.RBF(gamma=1.0), "C": np.inf, "sample_weight": weight}


@entry(easy=True)
def hard_tube():
    return {**line(n=30, noise=0.02), "loss": gl.losses.EpsilonInsensitive(0.1), "C": np.inf}
