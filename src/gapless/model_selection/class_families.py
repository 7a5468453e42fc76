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

    @property
    def distance(self) -> np.ndarray:
        """The bound on ‖w − w*‖ of each pair, as ``Certificate.distance_bound`` has it."""
        gap = np.maximum(self.columns["primal"] - self.columns["dual"], 0.0)
        return np.sqrt(np.where(self.columns["own"] > 0, gap, 2.0 * gap))


class Values(NamedTuple):
    """f of each pair of classes at some rows, positive for its second class, and bounds on the values of the exact optimum."""

    f: np.ndarray  # (n_pairs, n_rows)
    low: np.ndarray
    high: np.ndarray
    reach: np.ndarray  # (n_pairs, n_rows): by how much f*(x) + b* may differ from f(x) + b for each unit of ‖w − w*‖

    def answers(self, estimator: Any, classes: np.ndarray) -> Answers:
        """What a clone answers; ``estimator`` tells how it resolves ties."""
        if len(classes) == 2:
            f, low, high = self.f[0], self.low[0], self.high[0]
            return Answers(f, low, high, classes[(f >= 0).astype(np.int64)], classes)
        decisions = -self.f.T
        if estimator.break_ties:
            estimator.classes_ = classes
            winners = estimator._winners(decisions)
        else:
            winners = vote(decisions, len(classes))
        return Answers(decisions, -self.high.T, -self.low.T, classes[winners], classes)


class ClassFamilies:
    """The samples, those of one class side by side and among them those that a fold scores; a family is a pair of classes."""

    def __init__(
        self, X: Any, codes: np.ndarray, classes: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]
    ) -> None:
        self.codes, self.classes, self.folds = codes, classes, folds
        scored_by = np.zeros(len(codes), dtype=np.int64)
        for number, (_, test) in enumerate(folds):
            scored_by[test] = number
        order = np.lexsort((scored_by, codes))
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

    def values(self, native: Any, member: int, fold: int, trained: Trained, length: np.ndarray) -> Values:
        """The values at the test rows of a fold; ``length`` is √k(x, x) of each row."""
        rows = np.sort(self.place[self.folds[fold][1]])
        f, errors = np.empty((2, len(self.starts) - 1, len(rows)))
        native.decisions(member, rows, f, errors)
        back = np.searchsorted(rows, self.place[self.folds[fold][1]])
        members, inside, _ = self._part(fold)
        longest = np.maximum.reduceat(length[inside], members.starts[:-1])
        reach = longest[:, None] + length[rows]
        low, high = trained.columns["low"], trained.columns["high"]
        slack = trained.distance[:, None] * reach + errors
        bounds = f + low[:, None] - slack, f + high[:, None] + slack
        middle = f + 0.5 * (low + high)[:, None]
        return Values(*(each[:, back] for each in (middle, *bounds, reach)))

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
            local = [
                begin + np.searchsorted(self.places[begin:end], rows[slice(*members.starts[q : q + 2])])
                for q, (begin, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True))
            ]
            self._parts[fold] = members, rows, np.concatenate(local)
        return self._parts[fold]
