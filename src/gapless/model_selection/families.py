"""The samples of a search in the order of their table, and the problems on them: what classifiers and regressors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gapless.estimators.every_pair import EveryPair, Found
from gapless.model_selection.deciding import AT, is_balanced
from gapless.model_selection.fold import Answers
from gapless.model_selection.same_rows import first_of_same, numbers_of_rows


class Fit(NamedTuple):
    """A candidate on a fold, and what its problem depends on besides the kernel."""

    candidate: int
    fold: int
    C: float
    terms: tuple[float, ...]  # the weight of each class, or ε


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
    what its problems depend on besides the kernel, C and the fold. Samples that are the same, label and all, are one row with the weight of all of
    them: their losses are the same, so that the problems are, too.

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
    same : array of int
        Of each row of the table the first one with the same features, whose label may be another.
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
        numbers = numbers_of_rows(X)
        first, which = first_of_same(numbers, self._take(y))
        order = self._arrange(first, scored_by[first])
        place = np.empty(len(first), dtype=np.int64)
        place[order] = np.arange(len(first))
        self.place, self.rows = place[which], X[first[order]]
        of_same, same = first_of_same(numbers[first[order]], np.zeros(len(first)))
        self.same = of_same[same]

    @abstractmethod
    def _take(self, y: np.ndarray) -> np.ndarray:
        """Keep the labels or targets, and return a number for each sample that tells them apart."""

    @abstractmethod
    def _arrange(self, samples: np.ndarray, scored_by: np.ndarray) -> np.ndarray:
        """Set the families of these samples, and return the order in which the table has them; ``scored_by`` is the fold that scores each of them."""

    def is_complete(self, fold: int) -> bool:
        """Whether the fits of a fold are members of these families: it trains on some samples, and on none of them twice."""
        train = self.folds[fold][0]
        return 0 < len(train) == len(np.unique(train))

    @abstractmethod
    def terms(self, estimator: Any, fold: int) -> tuple[float, ...]:
        """The terms of a fit."""

    def weights(self, fold: int, terms: tuple[float, ...]) -> np.ndarray:
        """The weight of each row in a fit: zero where its fold leaves the row out."""
        train = self.folds[fold][0]
        weight = self.weight[train] * self._factors(train, terms)
        return np.bincount(self.place[train], weight, minlength=self.rows.shape[0])

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

    def settle(self, values: Values, trained: Trained, fit: Fit) -> Values:
        """The values of a fit, wider where several offsets seem to be optimal and the costs of both sides differ by rounding, so that not all are.

        The middle is what an estimator takes (:func:`gapless.model_selection.deciding.around_middle`).
        """
        half = 0.5 * (trained.columns["high"] - trained.columns["low"])
        unsure = [a for a in np.flatnonzero(half > 0).tolist() if not self._is_balanced(a, trained, fit)]
        if not unsure:
            return values
        wider = np.zeros(len(half))
        wider[unsure] = half[unsure]
        return values._replace(low=values.low - wider, high=values.high + wider)

    def _is_balanced(self, a: int, trained: Trained, fit: Fit) -> bool:
        own = slice(*self.starts[a : a + 2])
        beta, cost = trained.beta[own], fit.C * self.weights(fit.fold, fit.terms)[self.places[own]]
        at = (beta != 0) & (np.abs(beta) >= (1.0 - AT) * cost)
        return is_balanced(beta[at], cost[at])

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
        """The solved problems of one fit, in the estimator's own order, for its ``fit``; ``length`` is √k(x, x) of each row.

        Samples that are the same share the β of their row. As shares are rounded, what was proven is no proof of these: the fit makes its own.
        """
        starts, samples, local = self._part(fold)
        rows, columns = self.place[samples], trained.columns
        longest = np.maximum.reduceat(length[rows], starts[:-1])
        train = self.folds[fold][0]
        share = self.weight[samples] / np.bincount(self.place[train], self.weight[train])[rows]
        columns = columns | {"done": columns["done"] * np.minimum.reduceat(share == 1, starts[:-1])}
        return EveryPair.of(starts, Found(beta=share * trained.beta[local], **columns), longest)

    @abstractmethod
    def _part(self, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(starts, samples, local) of the problems of a fold: where each begins, its samples, and where their rows are in ``places``."""
