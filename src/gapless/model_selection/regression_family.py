"""The samples of a search over a regressor, in the order of their table: one family has all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from gapless.data.validate import check_targets
from gapless.model_selection.families import Families, Values
from gapless.model_selection.fold import Answers

_STEP = 1e-2  # what a gap is multiplied by where a score is open: intervals, which shrink as its root, become ten times narrower


class RegressionFamily(Families):
    """The samples of a regressor, those that a fold scores side by side. The terms of a fit are its ε."""

    margins = False
    closer_steps = 6  # from the default tol to what float64 can prove

    def _take(self, y: np.ndarray) -> np.ndarray:
        self._targets = check_targets(column_or_1d(y, warn=True), len(y))
        return self._targets

    def _arrange(self, samples: np.ndarray, scored_by: np.ndarray) -> np.ndarray:
        order = np.argsort(scored_by, kind="stable")
        self.places, self.starts = np.arange(len(order)), np.array([0, len(order)])
        self.p = self._targets[samples[order]]
        return order

    def terms(self, estimator: Any, fold: int) -> tuple[float, ...]:
        """ε."""
        return (float(estimator.epsilon),)

    def epsilon(self, terms: tuple[float, ...]) -> float:
        """ε of a fit."""
        return terms[0]

    def answers(self, values: Values, estimator: Any) -> Answers:
        """The predictions of a clone, and their intervals."""
        f, low, high = (each[:, 0] for each in values[:3])
        return Answers(f, low, high, f)

    def enough(self, values: Values, rows: np.ndarray, length: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Every row has a part in the score, and how close is close enough depends on the other candidates: a part of the bound of now."""
        return _STEP * apart

    def _part(self, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        samples = self.folds[fold][0]
        return np.array([0, len(samples)]), samples, self.place[samples]
