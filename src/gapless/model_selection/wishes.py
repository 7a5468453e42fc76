"""What a search wants of its engine: the fits that are not known and can still win, and which rows of their scores are open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gapless.model_selection.fold import Answers, Fold
from gapless.model_selection.intervals import last_step, open_labels, possible_labels
from gapless.model_selection.outcomes import Outcome, Outcomes
from gapless.model_selection.race import Race
from gapless.model_selection.report import Report
from gapless.model_selection.scoring import FoldScoring, ScoredFold


class SearchWishes:
    """The wishes of a search; ``take`` tells them of each outcome.

    Parameters
    ----------
    scoring : FoldScoring
        How fits are scored.
    models : list of estimators
        The estimator with the parameters of each candidate, unfitted.
    folds : list of (train, test)
        The rows of each fold.
    report : Report
        Is told of each fit that begins.
    metric : str or None
        The metric that the choice is made by; None where it is made otherwise.
    racing : bool
        Whether a candidate is dropped that cannot win any more.
    decides : bool
        Whether the scores of a classifier are decided, whatever work that takes, when its fit is made.
    least : float
        A mean score that some candidate of another race has for sure.
    most : array or None
        What a fit of each candidate may take, in the unit of ``work.py``; None sets no bound.

    Attributes
    ----------
    scored : list of ScoredFold
        The folds, as they are scored.
    metrics : list of dict of str to Metric
        The metrics of each candidate that have intervals.
    """

    def __init__(
        self,
        scoring: FoldScoring,
        models: list[Any],
        folds: list[Fold],
        report: Report,
        metric: str | None,
        racing: bool,
        decides: bool = True,
        least: float = -np.inf,
        most: np.ndarray | None = None,
    ) -> None:
        self.scoring, self.models, self.folds, self.report, self.metric = scoring, models, folds, report, metric
        self._most = most
        self.known = Outcomes(len(models), len(folds))
        self._left_open: set[tuple[int, int]] = set()  # by an earlier search
        self.scored = [ScoredFold(scoring, *rows) for rows in folds]
        self.metrics = self._metrics = [scoring.metrics(model) for model in models]
        self.race: Race | None = None
        try:
            if any(self._metrics):
                self._targets = [fold.targets for fold in self.scored]
                self._classes = [np.unique(scoring.targets(train)) for train, _ in folds]
            if any(metric in each for each in self._metrics):
                self.race = self._start(least)
        except (ValueError, TypeError):  # of targets that no metric takes: the fits and the scorer tell what is wrong
            self._metrics = [{} for _ in models]
        self.needs_intervals = any(map(bool, self._metrics))
        self.races = racing and self.race is not None
        self.decides = decides and self.needs_intervals

    def _start(self, least: float) -> Race:
        """The race before any fit: bounds on the score of any model."""
        worst, best = (np.full((len(self.models), len(self.folds)), bound) for bound in (-np.inf, np.inf))
        labels = np.unique(self.scoring.targets(np.arange(len(self.scoring.y))))
        for fold, rows in enumerate(self.scored):
            y, weights = rows.targets, rows.weights
            extremes: dict[Any, tuple[float, float]] = {}
            for candidate, metrics in enumerate(self._metrics):
                metric = metrics.get(str(self.metric))
                if metric is not None:
                    if metric.function not in extremes:
                        extremes[metric.function] = metric.extremes(y, labels, weights.get(str(self.metric)))
                    worst[candidate, fold], best[candidate, fold] = extremes[metric.function]
        return Race(worst, best, least)

    def take(self, candidate: int, fold: int, outcome: Outcome) -> Outcome:
        """Keep the outcome of a fit that has just been made, and return what is known of it now.

        A fit that goes on is made a second time, and so is one that an earlier search has left open. It has taken the time of both, and of two proofs
        the closer one counts.
        """
        self._left_open.discard((candidate, fold))
        before = self.known.get(candidate, fold)
        if before is not None:
            old, new = (high - low for low, high in map(self._bounds_of, (before, outcome)))
            outcome = replace(
                before if outcome.fit_error is None and old < new else outcome,
                fit_time=before.fit_time + outcome.fit_time,
                score_time=before.score_time + outcome.score_time,
                work=before.work,
            )
        self.know(candidate, fold, outcome)
        self.report.end(candidate, fold, outcome)
        return outcome

    def _bounds_of(self, outcome: Outcome) -> tuple[float, float]:
        """(low, high) of the score that the choice is made by; NaN where nothing is known."""
        return outcome.intervals.get(str(self.metric), (np.nan, np.nan))

    def know(self, candidate: int, fold: int, outcome: Outcome) -> None:
        """Keep the outcome of a fit."""
        self.known.put(candidate, fold, outcome)
        if self.race is not None:
            self.race.put(candidate, fold, outcome.score_of(str(self.metric)), *self._bounds_of(outcome))

    def recall(self, candidate: int, fold: int, outcome: Outcome) -> None:
        """Keep the outcome of a fit that an earlier search has made.

        Its score may be open: a race leaves that of a classifier open where the candidate is out, which may be in again here, where the winner of
        then is not a candidate; and a search that was interrupted has proven nothing of its choice yet.
        """
        self.know(candidate, fold, outcome)
        metric = self._metrics[candidate].get(str(self.metric))
        low, high = self._bounds_of(outcome)
        if metric is not None and low < high and (metric.of_labels if self.decides else True):
            self._left_open.add((candidate, fold))

    def recalled(self) -> None:
        """Nothing more is recalled. Where all fits are known, and none of them was to be decided by itself, what is open was left open for good."""
        if not self.races and len(self.known) == len(self.models) * len(self.folds):
            self._left_open.clear()

    def most_work(self, candidate: int) -> float:
        """What a fit of this candidate may take."""
        return np.inf if self._most is None else float(self._most[candidate])

    def wanted(self, candidate: int, fold: int) -> bool:
        """Whether the outcome of a fit is not known, or left open, and the candidate can win."""
        place = candidate, fold
        return (self.known.get(*place) is None or place in self._left_open) and not self._is_out(candidate)

    def begin(self, candidate: int, fold: int) -> bool:
        """Whether a fit is still wanted, which the report is told of."""
        wanted = self.wanted(candidate, fold)
        if wanted:
            self.report.begin(candidate, fold)
        return wanted

    def _is_out(self, candidate: int) -> bool:
        return self.races and self.race is not None and self.race.is_out(candidate)

    def by_promise(self) -> list[int]:
        """The candidates that may still win, those first that have scored best so far."""
        return list(range(len(self.models))) if self.race is None else self.race.by_promise()

    def has_finisher(self) -> bool:
        """Whether some candidate is through all folds."""
        return self.race is not None and self.race.has_finisher()

    def next_folds(self, candidates: list[int], begin: int, at_once: int) -> range:
        """The folds from ``begin`` on after which candidates that are out are dropped."""
        if self.races and self.race is not None:
            return self.race.next_folds(candidates, begin, at_once)
        return range(begin, len(self.folds))

    def open_rows(self, candidate: int, fold: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """The test rows that may be right as well as wrong; None of regressions, whose scores are decided only where candidates are close."""
        possible = self._possible(candidate, fold, low, high)
        if possible is None:
            return None
        y, classes = self._targets[fold], self._classes[fold]
        rows = open_labels(y, classes, possible)
        metric = self._metrics[candidate].get(str(self.metric))
        if self.races and self.race is not None and metric is not None:
            labels = classes[possible.argmax(axis=1)]
            self.race.bound(candidate, fold, metric.between(y, labels, rows, classes, self._weight(fold))[1])
            if self._is_out(candidate):
                return None
        return rows

    def rows_left_open(self, candidate: int, fold: int, answers: Answers) -> np.ndarray:
        """The test rows of a fit that leave its score open: all of a regression."""
        possible = self._possible(candidate, fold, answers.low, answers.high)
        if possible is None:
            return np.ones(len(answers.low), dtype=bool)
        return open_labels(self._targets[fold], self._classes[fold], possible)

    def _possible(self, candidate: int, fold: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """Which labels the optimum may predict for the test rows; None where no score is one of labels."""
        if not any(metric.of_labels for metric in self._metrics[candidate].values()):
            return None
        return possible_labels(last_step(self.models[candidate]), len(self._classes[fold]), low, high)

    def _weight(self, fold: int) -> Any:
        """The weights of the test rows of a fold in the score that the choice is made by."""
        return self.scored[fold].weights.get(str(self.metric))

    def bounds(self) -> np.ndarray:
        """(low, high) of the mean score of each candidate, as rows; NaN where the choice is not made by a metric with intervals."""
        return np.full((len(self.models), 2), np.nan) if self.race is None else np.column_stack(self.race.means())
