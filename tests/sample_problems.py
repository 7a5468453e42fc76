"""The catalogue: named problems, ordinary and nasty, that every solver has to certify.

A new entry is one call of ``add``, with the data and the arguments of :class:`gapless.Problem`: the solver matrix finds it. ``hard_to_solve`` marks
what is conditioned too badly for every method on the dual to converge within the matrix's bounds; it must be certified all the same. A loss that no
entry names gets entries from ``add_losses``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

import gapless as gl
from gapless import kernels
from gapless.losses import EpsilonInsensitive, SmoothedHinge, SquaredEpsilonInsensitive
from tests.kernels.reference import gram
from tests.reference import WRITTEN, OwnWordReference, Reference, signs, unit_cost

STORAGES = ("dense", "csr_int32", "csr_int64", "float32")
Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Entry:
    name: str
    X: np.ndarray
    y: np.ndarray
    options: dict[str, Any]
    easy: bool

    @property
    def loss(self) -> str:
        """The name of the loss."""
        loss = self.options.get("loss", "hinge")
        return loss if isinstance(loss, str) else loss.name

    @cache  # noqa: B019 - entries live as long as the tests
    def problem(self, storage: str = "dense") -> gl.Problem:
        """The problem with its samples stored in one of ``STORAGES``; the same object on every call."""
        return gl.Problem(store(self.X, storage), self.y, **self.options)

    @cache  # noqa: B019
    def reference(self, storage: str = "dense") -> Reference:
        """The same problem as naive NumPy has it."""
        X = self.X.astype(np.float32 if storage == "float32" else np.float64).astype(np.float64)
        weight = np.asarray(self.options.get("sample_weight", np.ones(len(X))), dtype=float)
        loss = self.options.get("loss", "hinge")
        loss = gl.losses.LOSSES[loss]() if isinstance(loss, str) else loss
        kernel = self.options.get("kernel")
        unit = unit_cost(weight.sum(), self.options)
        kind = Reference if loss.name in WRITTEN else partial(OwnWordReference, own=loss)
        return kind(
            X=X if kernel is None else None,
            K=X @ X.T if kernel is None else gram(kernel, X),
            y=np.asarray(self.y, dtype=float) if loss.task == "regression" else signs(self.y),
            cost=np.array([unit * v if v > 0 else 0.0 for v in weight]),
            loss=loss.name,
            parameter=getattr(loss, "epsilon", getattr(loss, "smoothing", 0.0)),
            intercept=self.options.get("intercept", "free"),
            scale=self.options.get("intercept_scale", 1.0),
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


def add(name: str, data: Data, hard_to_solve: bool = False, **options: Any) -> None:
    assert name not in CATALOGUE
    CATALOGUE[name] = Entry(name, np.asarray(data[0], dtype=float), np.asarray(data[1]), options, not hard_to_solve)


# --- data


def classes(n: int = 60, d: int = 4, apart: float = 1.0, zeros: float = 0.0, scale: Any = 1.0) -> Data:
    """Two Gaussian clouds, overlapping unless far apart, with a share of zero entries; each feature times its scale."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, d)) + 0.5 * apart * y[:, None]
    return np.where(rng.random((n, d)) < zeros, 0.0, X) * scale, y


def line(n: int = 60, d: int = 4, noise: float = 0.3) -> Data:
    """A noisy linear function."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.5 + noise * rng.normal(size=n)


def labelled(data: Data, y: Any) -> Data:
    """The same samples with other labels."""
    return data[0], y


def with_zero_rows(data: Data) -> Data:
    """Every fourth sample is zero."""
    return np.where(np.arange(len(data[0]))[:, None] % 4 == 0, 0.0, data[0]), data[1]


def repeated(data: Data, signs: list[int]) -> Data:
    """The samples once for each sign, with their labels times the sign."""
    return np.vstack([data[0]] * len(signs)), np.concatenate([sign * data[1] for sign in signs])


def standardized(load: Callable[..., Any], n: int, only: tuple[int, ...] | None = None) -> Data:
    """The first n samples (of some classes) of one of scikit-learn's sets, each feature with mean zero and variance one."""
    X, y = load(return_X_y=True)
    used = np.flatnonzero(np.isin(y, only))[:n] if only else np.arange(n)
    X, y = X[used].astype(float), y[used]
    return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), y


# --- every loss, intercept and convention

NONE, REGULARIZED = {"intercept": "none"}, {"intercept": "regularized"}
SPARSE = classes(zeros=1 / 3)

add("hinge_free_C", classes(), C=1.0)
add("hinge_regularized_lam_mean", SPARSE, lam_mean=0.1, **REGULARIZED)
add("hinge_none_C_mean", classes(), C_mean=5.0, **NONE)
add("squared_hinge_free_lam_sum", SPARSE, loss="squared_hinge", lam_sum=2.0)
add("squared_hinge_regularized_scaled", classes(), loss="squared_hinge", C=0.3, intercept_scale=3.0, **REGULARIZED)
add("squared_hinge_none", classes(), loss="squared_hinge", C=1.0, **NONE)
add("smoothed_hinge_free", classes(), loss=SmoothedHinge(smoothing=1.0), C=1.0)
add("smoothed_hinge_none_lam_mean_full", classes(), loss="smoothed_hinge", lam_mean_full=0.05, **NONE)
add("smoothed_hinge_regularized", SPARSE, loss="smoothed_hinge", C=1.0, **REGULARIZED)
add("logistic_free", classes(), loss="logistic", C=1.0)
add("logistic_regularized_lam_mean", SPARSE, loss="logistic", lam_mean=0.05, **REGULARIZED)
add("logistic_none_C_mean", classes(), loss="logistic", C_mean=10.0, **NONE)
add("tube_free", line(), loss="epsilon_insensitive", C=1.0)
add("tube_regularized_lam_sum", line(), loss=EpsilonInsensitive(0.2), lam_sum=20.0, **REGULARIZED)
add("tube_none_without_width", line(), loss=EpsilonInsensitive(0.0), C=0.5, **NONE)
add("squared_tube_free_lam_mean_full", line(), loss="squared_epsilon_insensitive", lam_mean_full=0.02)
add("squared_tube_regularized", line(), loss="squared_epsilon_insensitive", C=1.0, **REGULARIZED)
add("squared_tube_none", line(), loss=SquaredEpsilonInsensitive(0.0), C=1.0, **NONE)

# --- kernels

COMPOSITE = 0.5 * kernels.RBF(gamma=0.2) + kernels.Polynomial(degree=2, gamma=0.1) * kernels.Linear()
ANOTHER = kernels.exp(0.1 * kernels.Linear()) * kernels.Laplacian(gamma=0.1) + kernels.Cosine() ** 2
SUMS = np.exp(0.3 * classes()[0]).sum(axis=1)
COUNTS = np.random.default_rng(0).poisson(2.0 + classes(n=50)[1][:, None], size=(50, 5))

add("rbf_free", classes(), kernel=kernels.RBF(gamma=0.5), C=2.0)
add("rbf_regularized_squared_hinge", classes(), kernel=kernels.RBF(0.5), loss="squared_hinge", C=2.0, **REGULARIZED)
add("rbf_logistic_free", classes(), kernel=kernels.RBF(gamma=0.5), loss="logistic", C=1.0)
add("polynomial_none", SPARSE, kernel=kernels.Polynomial(degree=2, gamma=0.2), C=0.5, **NONE)
add("composite_free", classes(), kernel=COMPOSITE, C=0.1)
add("composite_none_smoothed_hinge", SPARSE, kernel=ANOTHER, loss="smoothed_hinge", C=1.0, **NONE)
add(
    "precomputed_free",
    (np.arange(60)[:, None], classes()[1]),
    kernel=kernels.Precomputed(np.minimum.outer(SUMS, SUMS)),  # min(a, b) is a kernel
    C=1.0,
)
add("laplacian_tube_free", line(), kernel=kernels.Laplacian(gamma=0.3), loss="epsilon_insensitive", C=1.0)
add("matern_squared_tube_regularized", line(), kernel=kernels.Matern(), loss=SquaredEpsilonInsensitive(), **REGULARIZED)
add("chi2_counts_none", (COUNTS, classes(n=50)[1]), kernel=kernels.Chi2(gamma=0.1), C=1.0, **NONE)
add("sigmoid_is_no_bound", classes(), hard_to_solve=True, kernel=kernels.Sigmoid(gamma=0.5, coef0=-1.0), C=1.0)

# --- data from the world

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = standardized(load_diabetes, 120)
WINE = standardized(load_wine, 100, only=(0, 1))

add("breast_cancer_rbf", standardized(load_breast_cancer, 150), kernel=kernels.RBF(gamma=1 / 30), C=1.0)
add("breast_cancer_hinge", standardized(load_breast_cancer, 200), hard_to_solve=True, C=1.0, **REGULARIZED)
add("breast_cancer_raw", (CANCER[0][:100], CANCER[1][:100]), hard_to_solve=True, loss="logistic", C=1.0)
add("diabetes_tube", labelled(DIABETES, DIABETES[1] / 100), loss="epsilon_insensitive", C=0.1)
add("digits_hinge", standardized(load_digits, 100, only=(3, 8)), C=0.01, **NONE)
add("wine_polynomial", WINE, kernel=kernels.Polynomial(3, gamma=1 / 13), loss="squared_hinge", C=0.1, **REGULARIZED)

# --- nasty samples

add("duplicates", repeated(classes(n=20), [1, 1, 1]), C=1.0)
add("duplicates_that_contradict", repeated(classes(n=20), [1, -1]), C=1.0)
add("duplicates_that_contradict_rbf", repeated(classes(n=20), [1, 1, -1]), kernel=kernels.RBF(), C=1.0, **NONE)
add("zero_rows", with_zero_rows(classes(n=30)), C=1.0, **NONE)
add("zero_rows_tube_free", with_zero_rows(line(n=30)), loss="epsilon_insensitive", C=1.0)
add("all_rows_zero", (np.zeros((7, 2)), [1, 1, 1, 1, -1, -1, -1]), C=1.0)
add("one_sample_a_class", ([[1.0, 2.0], [2.0, 0.0]], [0, 1]), C=10.0)
add("one_sample_of_a_class_logistic", labelled(classes(n=20, d=2), np.arange(20) == 7), loss="logistic", C=1.0)
add("imbalanced", labelled(classes(d=3), np.arange(60) < 3), C=1.0, **REGULARIZED)
add("string_labels", labelled(classes(n=30), np.where(np.arange(30) % 2 == 0, "spam", "ham")), C=0.5)
add("inside_the_tube", line(n=30, noise=0.0), loss=EpsilonInsensitive(100.0), C=1.0)
add("constant_target", labelled(line(n=20), np.full(20, 3.5)), loss="squared_epsilon_insensitive", C=1.0)

# --- nasty features

SMALL = classes(n=40)
FLAT = (np.hstack([classes(n=40, d=3)[0], np.full((40, 1), 5.0), np.zeros((40, 1))]), SMALL[1])
COLLINEAR = (classes(n=40, d=2)[0] @ [[1.0, 2.0, -1.0, 0.5], [1.0, 2.0, 1.0, -0.5]], SMALL[1])

add("more_features_than_samples", classes(n=20, d=80, apart=0.2), C=1.0)
add("more_features_than_samples_squared_tube", line(n=15, d=60), loss=SquaredEpsilonInsensitive(), **REGULARIZED)
add("collinear_features", COLLINEAR, C=0.5, **NONE)
add("constant_features", FLAT, C=0.2)
add("tiny_features", classes(n=40, scale=1e-8), C=1.0)
add("tiny_features_at_their_C", classes(n=40, scale=1e-8), C=1e16, **NONE)
add("huge_features", classes(n=40, scale=1e8), hard_to_solve=True, C=1.0)
add("huge_features_regularized", classes(n=40, scale=1e8), hard_to_solve=True, C=1.0, **REGULARIZED)
add("huge_features_at_their_C", classes(n=40, scale=1e8), C=1e-16, **NONE)
add("features_of_all_scales", classes(n=40, scale=[1e-8, 1.0, 1e4, 1e8]), hard_to_solve=True, C=1.0, **REGULARIZED)

# --- nasty costs

GAPS, ALL_SIZES = np.arange(40) % 3, 10.0 ** np.linspace(-6, 6, 40)

add("tiny_C", SMALL, C=1e-8)
add("tiny_C_tube", line(n=40), loss="epsilon_insensitive", C=1e-8, **REGULARIZED)
add("huge_C", SMALL, hard_to_solve=True, C=1e8, **REGULARIZED)
add("huge_C_rbf", SMALL, hard_to_solve=True, kernel=kernels.RBF(gamma=0.1), C=1e8)
add("huge_C_logistic", SMALL, hard_to_solve=True, loss="logistic", C=1e8, **NONE)
add("weights_of_zero", SMALL, C=1.0, sample_weight=GAPS)
add("weights_of_zero_squared_tube", line(n=40), loss=SquaredEpsilonInsensitive(), C=1.0, sample_weight=GAPS, **NONE)
add("weights_of_zero_logistic", SMALL, loss="logistic", lam_mean=0.1, sample_weight=GAPS)
add("weights_of_all_sizes", SMALL, hard_to_solve=True, C_mean=1.0, sample_weight=ALL_SIZES, **REGULARIZED)
add("weights_of_all_sizes_rbf", SMALL, hard_to_solve=True, kernel=kernels.RBF(), C=1.0, sample_weight=ALL_SIZES)

# --- hard margins

FAR = classes(n=30, apart=8.0)

add("hard_margin_free", FAR, C=np.inf)
add("hard_margin_regularized", FAR, C=np.inf, **REGULARIZED)
add("hard_margin_none", FAR, loss="squared_hinge", C=np.inf, **NONE)
add("hard_margin_rbf", classes(n=30), kernel=kernels.RBF(gamma=1.0), C=np.inf, sample_weight=GAPS[:30])
add("hard_tube", line(n=30, noise=0.02), loss=EpsilonInsensitive(0.1), C=np.inf)

# --- losses that nothing above names


def add_losses(losses: Iterable[str]) -> None:
    """Entries for each loss with each intercept, and for each loss with a kernel, where there is none yet."""
    for name in losses:
        own = [entry.options for entry in CATALOGUE.values() if entry.loss == name]
        data = line() if gl.losses.LOSSES[name].task == "regression" else classes()
        for intercept in ("free", "regularized", "none"):
            if intercept not in {options.get("intercept", "free") for options in own}:
                add(f"{name}_{intercept}", data, loss=name, C=1.0, intercept=intercept)
        if all("kernel" not in options for options in own):
            add(f"{name}_free_rbf", data, loss=name, C=1.0, kernel=kernels.RBF(gamma=0.5))


add_losses(gl.losses.LOSSES)
