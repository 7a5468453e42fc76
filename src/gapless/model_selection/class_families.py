"""The samples of a search over a classifier, in the order of their table: the pairs of classes, and what a fit of a fold is made from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gapless.estimators.every_pair import EveryPair, Found
from gapless.estimators.multiclass import ClassPairs, vote
from gapless.model_selection.fold import Answers


class Trained(NamedTuple):
    """What a member of the native fits has found at one C: a number for each pair of classes, and β of the samples of each pair."""

    beta: np.ndarray
    columns: dict[str, np.ndarray]  # the fields of Found but β, by name

    @property
    def done(self) -> bool:
        """Whether every pair is solved and proven."""
        return bool(self.columns["done"].all())


class Values(NamedTuple):
    """Decision values at the test rows of a fold, shaped (n_rows, n_pairs), with the signs of ``decision_function``."""

    f: np.ndarray
    low: np.ndarray
    high: np.ndarray
    longest: np.ndarray  # the largest √k(x, x) of a training sample of each pair

    def answers(self, estimator: Any, classes: np.ndarray) -> Answers:
        """What a clone answers; ``estimator`` tells how it resolves ties."""
        if len(classes) == 2:
            f, low, high = (each[:, 0] for each in self[:3])
            return Answers(f, low, high, classes[(f >= 0).astype(np.int64)], classes)
        if estimator.break_ties:
            estimator.classes_ = classes
            winners = estimator._winners(self.f)
        else:
            winners = vote(self.f, len(classes))
        return Answers(self.f, self.low, self.high, classes[winners], classes)


class ClassFamilies:
    """The samples, those that a fold scores side by side and among them those of a class; a family is a pair of classes."""

    def __init__(
        self, X: Any, codes: np.ndarray, classes: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]
    ) -> None:
        self.codes, self.classes, self.folds = codes, classes, folds
        scored_by = np.zeros(len(codes), dtype=np.int64)
        for number, (_, test) in enumerate(folds):
            scored_by[test] = number
        order = np.lexsort((codes, scored_by))
        self.place = np.empty(len(codes), dtype=np.int64)
        """Of each sample its row of the table."""
        self.place[order] = np.arange(len(codes))
        self.rows, self.row_codes = X[order], codes[order]
        pairs = ClassPairs(self.row_codes, len(classes))
        self.places, self.starts = pairs.samples, pairs.starts
        self.labels = np.where(self.row_codes[self.places] == pairs.spread(pairs.second), 1.0, -1.0)
        self._parts: dict[int, tuple[ClassPairs, np.ndarray, np.ndarray]] = {}

    def weights(self, fold: int, weight: np.ndarray, box: np.ndarray) -> np.ndarray:
        """The weight of each row in a fit: zero where its fold leaves the row out. ``weight`` is that of each sample, ``box`` that of each class."""
        train = self.folds[fold][0]
        inside = np.zeros(len(self.codes))
        inside[self.place[train]] = weight[train] * box[self.codes[train]]
        return inside

    def values(self, native: Any, member: int, fold: int, known: Values | None = None, changed: Any = None) -> Values:
        """The values of a member at the test rows of its fold; where they are ``known``, those of the pairs that have ``changed`` are renewed."""
        rows, pairs = self.place[self.folds[fold][1]], len(self.starts) - 1
        if known is None:
            f, low, high = np.empty((3, len(rows), pairs))
            known, changed = Values(f, low, high, np.empty(pairs)), np.arange(pairs)
        native.values(member, rows, changed, len(self.classes) > 2, *known)
        return known

    def every_pair(self, fold: int, trained: Trained, length: np.ndarray) -> EveryPair:
        """The pairs of one fit, in the estimator's own order."""
        members, rows, local = self._part(fold)
        longest = np.maximum.reduceat(length[rows], members.starts[:-1])
        return EveryPair.of(members, Found(beta=trained.beta[local], **trained.columns), longest)

    def _part(self, fold: int) -> tuple[ClassPairs, np.ndarray, np.ndarray]:
        """Of the training samples of a fold: their pairs of classes, the rows of the samples of each pair, and where these are in ``places``."""
        if fold not in self._parts:
            train = self.folds[fold][0]
            members = ClassPairs(self.codes[train], len(self.classes))
            rows = self.place[train[members.samples]]
            local, at = [], np.empty(len(self.codes), dtype=np.int64)
            for q, (begin, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
                at[self.places[begin:end]] = np.arange(begin, end)
                local.append(at[rows[slice(*members.starts[q : q + 2])]])
            self._parts[fold] = members, rows, np.concatenate(local)
        return self._parts[fold]
