"""What a search knows of each candidate on each fold, as a table that fills while an engine works."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """The scores of one fit.

    Attributes
    ----------
    test_scores, train_scores : float or dict of str to float
        What the scorer gave, by metric where there are several; ``train_scores`` is None where training rows are not scored.
    fit_time, score_time : float
        Seconds.
    n_test_samples : int
        The number of test rows.
    fit_error : str or None
        The traceback of a fit that failed.
    intervals : dict of str to (float, float)
        Bounds on the test scores of the exact optimum, by metric, of those metrics that have intervals; NaN where nothing is known. A single metric
        has the name ``"score"``.
    work : float
        What the fit has taken, in the unit of :mod:`gapless.model_selection.work`; infinite where it was stopped before it took more than it might.
    """

    test_scores: Any
    train_scores: Any
    fit_time: float
    score_time: float
    n_test_samples: int
    fit_error: str | None = None
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    work: float = 0.0

    def for_scikit_learn(self) -> dict[str, Any]:
        """What scikit-learn's searches make ``cv_results_`` of."""
        result = {name: value for name, value in vars(self).items() if name not in ("intervals", "work")}
        if self.train_scores is None:
            del result["train_scores"]
        return result

    def score_of(self, metric: str) -> float:
        """The test score of a metric; that of a single metric has the name ``"score"``."""
        return float(self.test_scores[metric] if isinstance(self.test_scores, dict) else self.test_scores)


class Outcomes:
    """The outcomes of all candidates on all folds, by their places."""

    def __init__(self, n_candidates: int, n_folds: int) -> None:
        self.n_candidates, self.n_folds = n_candidates, n_folds
        self._known: dict[tuple[int, int], Outcome] = {}

    def put(self, candidate: int, fold: int, outcome: Outcome) -> None:
        """Keep the outcome of a fit."""
        self._known[candidate, fold] = outcome

    def get(self, candidate: int, fold: int) -> Outcome | None:
        """The outcome of a fit; None where it is not known."""
        return self._known.get((candidate, fold))

    def is_known(self) -> np.ndarray:
        """Which outcomes are known, a row of booleans for each candidate."""
        known = np.zeros((self.n_candidates, self.n_folds), dtype=bool)
        for place in self._known:
            known[place] = True
        return known

    def __len__(self) -> int:
        return len(self._known)

    def items(self) -> Iterable[tuple[tuple[int, int], Outcome]]:
        """((candidate, fold), outcome) of each fit that is known."""
        return self._known.items()

    def in_order(self) -> list[Outcome]:
        """All outcomes, those of the first candidate on all folds first; where a fit was not made, its scores are NaN, and it took no time."""
        some = next(iter(self._known.values()), None)
        if some is None:
            return []
        not_made = replace(
            some,
            test_scores=_no_scores(some.test_scores),
            train_scores=_no_scores(some.train_scores),
            fit_time=0.0,
            score_time=0.0,
            fit_error=None,
            intervals={},
            work=0.0,
        )
        places = ((k, j) for k in range(self.n_candidates) for j in range(self.n_folds))
        return [self._known.get(place, not_made) for place in places]


def _no_scores(scores: Any) -> Any:
    if scores is None:
        return None
    return dict.fromkeys(scores, np.nan) if isinstance(scores, dict) else np.nan


def interval_columns(outcomes: list[Outcome], n_folds: int) -> dict[str, np.ndarray]:
    """The columns of ``cv_results_`` with the intervals of scores, from outcomes ``in_order``: nothing of metrics of which no interval is known."""
    columns: dict[str, np.ndarray] = {}
    for metric in dict.fromkeys(name for outcome in outcomes for name in outcome.intervals):
        both = np.array([outcome.intervals.get(metric, (np.nan, np.nan)) for outcome in outcomes])
        if np.isnan(both).all():
            continue
        for end, values in zip(("low", "high"), both.reshape(-1, n_folds, 2).transpose(2, 0, 1), strict=True):
            for fold in range(n_folds):
                columns[f"split{fold}_test_{metric}_{end}"] = values[:, fold].copy()
            columns[f"mean_test_{metric}_{end}"] = values.mean(axis=1)
    return columns
