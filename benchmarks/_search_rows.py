"""The rows of the benchmark of searches at every size: the data, the grid and the folds of each, and the searches that its contenders make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.model_selection
import sklearn.svm
from _harness import load
from _kernel_data import scaled
from sklearn.datasets import make_classification, make_friedman1

import gapless
import gapless.model_selection

HELD_OUT = 1000
"""Samples that no search sees: the model that a search ends with is scored on them."""
FEW = 150
"""Samples of the search that precedes a timed one: libraries load and processes start in it."""
Samples = tuple[Any, np.ndarray]


def clusters(n: int, classes: int = 2) -> Samples:
    """Gaussian clusters in 20 features, with 10 % of the labels flipped."""
    return make_classification(n, 20, n_informative=10, n_classes=classes, flip_y=0.1, random_state=0)


def friedman(n: int) -> Samples:
    """Friedman's first regression, with noise."""
    return make_friedman1(n, noise=1.0, random_state=0)


def few_distinct(n: int) -> Samples:
    """A regression with about one distinct row in four."""
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(n, 3)).astype(float)
    return X, X.sum(axis=1) + rng.normal(size=n)


def outliers(n: int) -> Samples:
    """Two clusters (1) in a uniform background (−1), which is a tenth of the samples."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.1, -1, 1)
    inside = rng.normal(size=(n, 5)) + 2.0 * rng.choice([-1, 1], size=(n, 1))
    return np.where((y > 0)[:, None], inside, rng.uniform(-6, 6, size=(n, 5))), y


def stored(name: str) -> Callable[[int], Samples]:
    """A data set of the folder, shuffled with seed 0 and cut; dense ones are standardised."""

    def samples(n: int) -> Samples:
        X, y = load(name)
        chosen = np.random.default_rng(0).permutation(len(y))[:n]
        if sp.issparse(X):
            return sp.csr_matrix(X[chosen]), y[chosen]
        return np.ascontiguousarray(scaled(X[chosen], "standardised")), y[chosen]

    return samples


def _around(middle: float, steps: int, ratio: float = 10.0) -> list[float]:
    return (middle * ratio ** (np.arange(steps) - steps // 2)).tolist()


def costs(steps: int, **more: list[Any]) -> dict[str, list[Any]]:
    """A grid of C around 1, and of other parameters."""
    return {"C": _around(1.0, steps), **more}


def shares(steps: int, **more: list[Any]) -> dict[str, list[Any]]:
    """A grid of ν from 0.05 to 0.4, and of other parameters."""
    return {"nu": np.geomspace(0.05, 0.4, steps).tolist(), **more}


@dataclass(frozen=True)
class Row:
    """One search: the class, the data, how many samples, and the grid. A tuned class has none: its rivals search the grid that it begins with."""

    estimator: str
    data: str
    samples: Callable[[int], Samples]
    n: int
    grid: dict[str, list[Any]] | None
    scoring: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    vendor: bool = True

    @property
    def name(self) -> str:
        """The name of the row, by which measurements are kept."""
        return f"{self.estimator}, {self.data}, {self.n}, {self.shape}"

    @property
    def shape(self) -> str:
        """The sizes of the grid."""
        return "its own" if self.grid is None else " × ".join(str(len(values)) for values in self.grid.values())

    @property
    def folds(self) -> int:
        """The folds: the tuned classes have five by default."""
        return 5 if self.grid is None else 3

    @property
    def base(self) -> str:
        """The name of the class that is tuned."""
        return self.estimator.removesuffix("CV")

    def split(self) -> tuple[Samples, Samples]:
        """What is searched, and what is held out."""
        X, y = self.samples(self.n + HELD_OUT)
        if X.shape[0] < self.n + HELD_OUT:
            raise ValueError(f"{self.data} has fewer than {self.n + HELD_OUT} samples")
        return (X[: self.n], y[: self.n]), (X[self.n :], y[self.n :])


def _rows() -> list[Row]:
    g, text = _around(0.05, 3), _around(1.0, 3)
    rows = [
        Row("SVC", "clusters", clusters, 500, costs(7, gamma=_around(0.05, 7))),
        Row("SVC", "clusters", clusters, 3_000, costs(5, gamma=_around(0.05, 5))),
        Row("SVC", "clusters", clusters, 10_000, costs(3, gamma=g)),
        Row("SVC", "clusters", clusters, 20_000, costs(3, gamma=g)),
        Row("SVC", "magic_gamma", stored("magic_gamma"), 6_000, costs(5, gamma=_around(0.1, 5))),
        Row("SVC", "a9a, sparse", stored("a9a"), 10_000, costs(3, gamma=g)),
        Row("SVC", "imdb, sparse", stored("imdb_bigram_hashed"), 3_000, costs(3, gamma=text)),
        Row("SVC", "8 classes", lambda n: clusters(n, 8), 500, costs(5, gamma=_around(0.05, 5))),
        Row("SVC", "8 classes", lambda n: clusters(n, 8), 6_000, costs(3, gamma=g)),
        Row("SVC", "letter", stored("letter"), 18_000, costs(3, gamma=_around(0.1, 3))),
        Row("NuSVC", "clusters", clusters, 500, shares(5, gamma=_around(0.05, 5))),
        Row("NuSVC", "clusters", clusters, 3_000, shares(3, gamma=g)),
        Row("NuSVC", "a9a, sparse", stored("a9a"), 10_000, shares(3, gamma=g)),
        Row("SVR", "few distinct rows", few_distinct, 116, {"C": [1.0, 100.0], "gamma": [0.01, 0.1, 1.0, 10.0]}),
        Row("SVR", "Friedman 1", friedman, 500, costs(7, gamma=_around(0.1, 7))),
        Row("SVR", "Friedman 1", friedman, 3_000, costs(5, gamma=_around(0.1, 5))),
        Row("SVR", "cpusmall", stored("cpusmall"), 6_000, costs(3, gamma=_around(0.1, 3))),
        Row("SVR", "Friedman 1", friedman, 20_000, costs(3, gamma=_around(0.1, 3))),
        Row("SVR", "imdb, sparse", stored("imdb_bigram_hashed"), 3_000, costs(3, gamma=text)),
        Row("NuSVR", "Friedman 1", friedman, 500, shares(5, C=_around(1.0, 5))),
        Row("NuSVR", "Friedman 1", friedman, 3_000, shares(3, C=_around(1.0, 3))),
        Row("NuSVR", "cadata", stored("cadata_california"), 10_000, shares(3, C=[1e4, 1e5, 1e6])),
        Row("OneClassSVM", "clusters in noise", outliers, 500, shares(7, gamma=_around(0.2, 7)), "accuracy"),
        Row("OneClassSVM", "clusters in noise", outliers, 6_000, shares(5, gamma=_around(0.2, 5)), "accuracy"),
        Row("OneClassSVM", "clusters in noise", outliers, 20_000, shares(3, gamma=_around(0.2, 3)), "accuracy"),
        Row("LinearSVC", "clusters", clusters, 20_000, costs(5, loss=["hinge", "squared_hinge"])),
        Row("LinearSVC", "news20, sparse", stored("news20_text_tfidf"), 10_000, costs(3)),
        Row("LinearSVC", "8 classes", lambda n: clusters(n, 8), 6_000, costs(5, intercept_scaling=[0.1, 1.0, 10.0])),
        Row("LinearSVR", "Friedman 1", friedman, 500, costs(7, epsilon=np.geomspace(0.1, 3, 7).tolist())),
        Row("LinearSVR", "Friedman 1", friedman, 20_000, costs(5, epsilon=np.geomspace(0.1, 3, 5).tolist())),
        Row("LinearSVR", "imdb, sparse", stored("imdb_bigram_hashed"), 10_000, costs(3, epsilon=[0.05, 0.2, 0.8])),
    ]
    for n in (300, 3_000, 18_000):
        rows += [
            Row("SVCCV", "magic_gamma", stored("magic_gamma"), n, None),
            Row("SVRCV", "Friedman 1", friedman, n, None),
            Row("LinearSVCCV", "clusters", clusters, n, None),
            Row("LinearSVRCV", "cadata", stored("cadata_california"), n, None),
        ]
    return rows


ROWS = {row.name: row for row in _rows()}
"""The rows of the table."""

OURS, OVER_OURS, OWN, VENDOR = "ours", "scikit-learn over ours", "scikit-learn", "sklearnex"
CONTENDERS = (OURS, OVER_OURS, OWN, VENDOR)
VENDOR_CLASSES = ("SVC", "NuSVC", "SVR", "NuSVR")
"""The classes that sklearnex has of its own."""


def takes_part(contender: str, row: Row) -> bool:
    """Whether a contender has the class of a row."""
    return contender != VENDOR or row.base in VENDOR_CLASSES


def search_of(contender: str, row: Row, X: Any, y: np.ndarray) -> Any:
    """The search of a contender on these samples, unfitted."""
    if contender == OURS and row.grid is None:
        return getattr(gapless, row.estimator)()
    grid = own_grid(row, X, y) if row.grid is None else row.grid
    ours = contender in (OURS, OVER_OURS)
    make = sklearn.model_selection.GridSearchCV if contender != OURS else gapless.model_selection.GridSearchCV
    # scikit-learn's own machines use one processor, so that its search is given both; all others are as their defaults are.
    n_jobs = 2 if contender == OWN else None
    module: Any = gapless if ours else sklearn.svm if contender == OWN else _sklearnex()
    estimator = getattr(module, row.base)(**row.options)
    return make(estimator, grid, scoring=row.scoring, cv=row.folds, n_jobs=n_jobs)


def own_grid(row: Row, X: Any, y: np.ndarray) -> dict[str, list[float]]:
    """The grid that a tuned class begins with."""
    axes = getattr(gapless, row.estimator)()._axes(X, y, np.ones(len(y)))
    return {axis.name: axis.values.tolist() for axis in axes}


def _sklearnex() -> Any:
    import sklearnex.svm

    return sklearnex.svm
