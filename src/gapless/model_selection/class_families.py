"""The samples of a search over a classifier, in the order of their table: a family is a pair of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapless.estimators.multiclass import ClassPairs, class_weights, encode_labels, vote
from gapless.model_selection.families import Families, Values
from gapless.model_selection.fold import Answers

_SURELY = 0.25  # the share of ‖w − w*‖² at which a sample would just be decided that is asked for


class ClassFamilies(Families):
    """The samples of a classifier, those of a class side by side and among them those that a fold scores.

    The terms of a fit are its class weights.
    """

    margins = True
    closer_steps = 4

    def _take(self, y: np.ndarray) -> np.ndarray:
        self.classes, self.codes = encode_labels(y, np.ones(len(y)), "")
        return self.codes

    def _arrange(self, samples: np.ndarray, scored_by: np.ndarray) -> np.ndarray:
        order = np.lexsort((scored_by, self.codes[samples]))
        codes = self.codes[samples[order]]
        pairs = ClassPairs(codes, len(self.classes))
        self.places, self.starts = pairs.samples, pairs.starts
        self.p = np.where(codes[self.places] == pairs.spread(pairs.second), 1.0, -1.0)
        self._parts: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        return order

    def is_complete(self, fold: int) -> bool:
        """Whether also each class has a sample that the fold trains on: where one has none, the problems are others."""
        return super().is_complete(fold) and len(np.unique(self.codes[self.folds[fold][0]])) == len(self.classes)

    def terms(self, estimator: Any, fold: int) -> tuple[float, ...]:
        """The weight of each class."""
        train = self.folds[fold][0]
        weights = class_weights(estimator.class_weight, self.classes, self.codes[train], self.weight[train])
        return tuple(weights.tolist())

    def _factors(self, samples: np.ndarray, terms: tuple[float, ...]) -> Any:
        return np.array(terms)[self.codes[samples]]

    @property
    def _flips(self) -> bool:
        return len(self.classes) > 2

    def answers(self, values: Values, estimator: Any) -> Answers:
        """What a clone answers; ``estimator`` tells how it resolves ties."""
        classes = self.classes
        if len(classes) == 2:
            f, low, high = (each[:, 0] for each in values[:3])
            return Answers(f, low, high, classes[(f >= 0).astype(np.int64)], classes)
        if estimator.break_ties:
            estimator.classes_ = classes
            winners = estimator._winners(values.f)
        else:
            winners = vote(values.f, len(classes))
        return Answers(values.f, values.low, values.high, classes[winners], classes)

    def enough(self, values: Values, rows: np.ndarray, length: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """A pair is to be solved more closely where its sign at an open row is not known, and as closely as that needs."""
        f, low, high = (each[rows] for each in values[:3])
        reach = length[:, None] + values.longest  # by how much the optimum's value may differ for each unit of ‖w − w*‖
        return _SURELY * np.where((low <= 0) & (high >= 0), np.abs(f) / reach, np.inf).min(axis=0) ** 2

    def _part(self, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if fold not in self._parts:
            train = self.folds[fold][0]
            members = ClassPairs(self.codes[train], len(self.classes))
            samples = train[members.samples]
            rows, local, at = self.place[samples], [], np.empty(len(self.codes), dtype=np.int64)
            for q, (begin, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
                at[self.places[begin:end]] = np.arange(begin, end)
                local.append(at[rows[slice(*members.starts[q : q + 2])]])
            self._parts[fold] = members.starts, samples, np.concatenate(local)
        return self._parts[fold]
