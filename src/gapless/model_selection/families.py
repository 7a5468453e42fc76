"""The samples of a search in the order of their table, and the problems on them: what classifiers and regressors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gapless.estimators.every_pair import EveryPair, Found
from gapless.model_selection.fold import Answers


class Trained(NamedTuple):
    """What a member of the native fits has found at one C: a number for each family, and β of the samples of each family."""

    beta: np.ndarray
    columns: dict[str, np.ndarray]  # the fields of Found but β, by name
    apart: np.ndarray  # a bound on ‖w − w*‖² of each family,
    rounding: np.ndarray  # and its part for rounding

    @property
    def done(self) -> bool:
        """Whether every problem is solved and proven."""
        return bool(self.columns["done"].all())


class Values(NamedTuple):
    """Decision values at the test rows of a fold, shaped (n_rows, n_families), with the signs of ``decision_function``."""

    f: np.ndarray
    low: np.ndarray
    high: np.ndarray
    longest: np.ndarray  # the largest √k(x, x) of a training sample of each family


class Families(ABC):
    """The samples, those that a fold scores side by side, and the families of problems on them (``native/smo/shared_fits.hpp``).

    A family is a set of rows whose problems are solved together: a pair of classes, or all rows. A fit is a candidate on a fold; its ``terms`` are
    what its problems depend on besides the kernel, C and the fold.

    Parameters
    ----------
    X, y : array or CSR, array
        All samples of the search.
    weight : array
        The positive weight of each sample.
    folds : list of (array of int, array of int)
        The training and the test rows of each fold.

    Attributes
    ----------
    rows : array or CSR
        The samples in the order of the table.
    place : array of int
        Of each sample its row of the table.
    places, starts, p : arrays
        The rows of each family, where each family begins among them, and the label (−1 or 1) or target of each of these rows.
    margins : bool
        Whether the loss is the hinge, else it is ε-insensitive.
    closer_steps : int
        The most times that the problems of a fit are solved more closely to decide its score.
    """

    margins: ClassVar[bool]
    closer_steps: ClassVar[int]
    places: np.ndarray
    starts: np.ndarray
    p: np.ndarray

    def __init__(self, X: Any, y: np.ndarray, weight: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.weight, self.folds = weight, folds
        scored_by = np.zeros(len(weight), dtype=np.int64)
        for number, (_, test) in enumerate(folds):
            scored_by[test] = number
        order = self._arrange(y, scored_by)
        self.place = np.empty(len(weight), dtype=np.int64)
        self.place[order] = np.arange(len(weight))
        self.rows = X[order]

    @abstractmethod
    def _arrange(self, y: np.ndarray, scored_by: np.ndarray) -> np.ndarray:
        """Set the families, and return the samples in the order of the table; ``scored_by`` is the fold that scores each sample."""

    def is_complete(self, fold: int) -> bool:
        """Whether the fits of a fold are members of these families: it trains on some samples, and on none of them twice."""
        train = self.folds[fold][0]
        return 0 < len(train) == len(np.unique(self.place[train]))

    @abstractmethod
    def terms(self, estimator: Any, fold: int) -> tuple[float, ...]:
        """The terms of a fit."""

    def weights(self, fold: int, terms: tuple[float, ...]) -> np.ndarray:
        """The weight of each row in a fit: zero where its fold leaves the row out."""
        train = self.folds[fold][0]
        inside = np.zeros(len(self.weight))
        inside[self.place[train]] = self.weight[train] * self._factors(train, terms)
        return inside

    def _factors(self, samples: np.ndarray, terms: tuple[float, ...]) -> Any:
        """What the weights of these samples are multiplied by."""
        return 1.0

    def epsilon(self, terms: tuple[float, ...]) -> float:
        """ε of a fit; 0 of a classifier, which has none."""
        return 0.0

    def scored(self, fold: int) -> np.ndarray:
        """The rows of the table that a fold scores."""
        return self.place[self.folds[fold][1]]

    def values(self, native: Any, member: int, fold: int, known: Values | None = None, changed: Any = None) -> Values:
        """The values of a member at the test rows of its fold; where they are ``known``, those of families that have ``changed`` are renewed."""
        rows, families = self.scored(fold), len(self.starts) - 1
        if known is None:
            f, low, high = np.empty((3, len(rows), families))
            known, changed = Values(f, low, high, np.empty(families)), np.arange(families)
        native.values(member, rows, changed, self._flips, *known)
        return known

    @property
    def _flips(self) -> bool:
        """Whether the signs of the problems are not those of ``decision_function``."""
        return False

    @abstractmethod
    def answers(self, values: Values, estimator: Any) -> Answers:
        """What a clone answers whose values these are; ``estimator`` has its parameters."""

    @abstractmethod
    def enough(self, values: Values, rows: np.ndarray, length: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """The ‖w − w*‖² of each problem that is small enough for the open rows, infinite where they do not depend on it.

        ``length`` is √k(x, x) of each open row, and ``apart`` are the bounds on it of now.
        """

    def given(self, fold: int, trained: Trained, length: np.ndarray) -> EveryPair:
        """The solved problems of one fit, in the estimator's own order, for its ``fit``; ``length`` is √k(x, x) of each row."""
        starts, rows, local = self._part(fold)
        longest = np.maximum.reduceat(length[rows], starts[:-1])
        return EveryPair.of(starts, Found(beta=trained.beta[local], **trained.columns), longest)

    @abstractmethod
    def _part(self, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(starts, rows, local) of the problems of a fold: where each begins, the rows of its samples, and where these are in ``places``."""
