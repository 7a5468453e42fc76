"""What a search wants of its engine: the fits that are not known and can still win, trained on until their scores are decided."""

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
    ) -> None:
        self.scoring, self.models, self.folds, self.report, self.metric = scoring, models, folds, report, metric
        self.known = Outcomes(len(models), len(folds))
        self._left_open: set[tuple[int, int]] = set()  # by a race of other candidates
        self.scored = [ScoredFold(scoring, *rows) for rows in folds]
        self.metrics = self._metrics = [scoring.metrics(model) for model in models]
        self.race: Race | None = None
        try:
            if any(self._metrics):
                self._targets = [fold.targets for fold in self.scored]
                self._classes = [np.unique(scoring.targets(train)) for train, _ in folds]
            if any(metric in each for each in self._metrics):
                self.race = self._start()
        except (ValueError, TypeError):  # of targets that no metric takes: the fits and the scorer tell what is wrong
            self._metrics = [{} for _ in models]
        self.needs_intervals = any(map(bool, self._metrics))
        self.races = racing and self.race is not None

    def _start(self) -> Race:
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
        return Race(worst, best)

    def take(self, candidate: int, fold: int, outcome: Outcome) -> Outcome:
        """Keep the outcome of a fit that has just been made, and return what is known of it now.

        A regression that is trained on is made a second time, and so is a fit that another race has left open. It has taken the time of both, and of
        two proofs the closer one counts.
        """
        self._left_open.discard((candidate, fold))
        before = self.known.get(candidate, fold)
        if before is not None:
            old, new = (high - low for low, high in map(self._bounds_of, (before, outcome)))
            outcome = replace(
                before if outcome.fit_error is None and old < new else outcome,
                fit_time=before.fit_time + outcome.fit_time,
                score_time=before.score_time + outcome.score_time,
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

        A race leaves the score of a classifier open where the candidate is out. Here it may be in again, where the winner of then is not a candidate.
        """
        self.know(candidate, fold, outcome)
        metric = self._metrics[candidate].get(str(self.metric))
        low, high = self._bounds_of(outcome)
        if self.races and metric is not None and metric.of_labels and low < high:
            self._left_open.add((candidate, fold))

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
        if not any(metric.of_labels for metric in self._metrics[candidate].values()):
            return None
        classes = self._classes[fold]
        possible = possible_labels(last_step(self.models[candidate]), len(classes), low, high)
        if possible is None:
            return None
        y = self._targets[fold]
        rows = open_labels(y, classes, possible)
        metric = self._metrics[candidate].get(str(self.metric))
        if self.races and self.race is not None and metric is not None:
            labels = classes[possible.argmax(axis=1)]
            self.race.bound(candidate, fold, metric.between(y, labels, rows, classes, self._weight(fold))[1])
            if self._is_out(candidate):
                return None
        return rows

    def interval(self, candidate: int, fold: int, answers: Answers) -> tuple[float, float]:
        """Bounds on the score that the choice is made by; NaN where nothing is known."""
        metric = self._metrics[candidate].get(str(self.metric))
        if metric is None:
            return np.nan, np.nan
        return metric.interval(self._targets[fold], answers, last_step(self.models[candidate]), self._weight(fold))

    def _weight(self, fold: int) -> Any:
        """The weights of the test rows of a fold in the score that the choice is made by."""
        return self.scored[fold].weights.get(str(self.metric))

    def bounds(self) -> np.ndarray:
        """(low, high) of the mean score of each candidate, as rows; NaN where the choice is not made by a metric with intervals."""
        return np.full((len(self.models), 2), np.nan) if self.race is None else np.column_stack(self.race.means())

    def width(self) -> np.ndarray:
        """How wide the interval of each candidate's mean score is."""
        low, high = self.bounds().T
        return np.where(np.isfinite(low), high, np.inf) - np.where(np.isfinite(low), low, 0.0)

    def separating(self) -> Separating | None:
        """The wishes of a further run that separates regressions which are close to the best; None where there are none."""
        of_errors = any(not metric.of_labels for each in self._metrics for metric in each.values())
        targets = self.race.targets() if self.race is not None and of_errors else {}
        return Separating(self, targets) if targets else None


class Separating:
    """Wants candidates that the intervals of their scores do not separate from the best, until these are narrow enough.

    ``targets`` has the width that the intervals of each of them may have.
    """

    needs_intervals = True
    races = False

    def __init__(self, search: SearchWishes, targets: dict[int, float]) -> None:
        self.search, self.targets = search, targets

    def wanted(self, candidate: int, fold: int) -> bool:
        """Whether the candidate is not separated from the best."""
        return candidate in self.targets

    begin = wanted  # without a word: the report has told of these fits

    def by_promise(self) -> list[int]:
        """The candidates, as before."""
        return self.search.by_promise()

    def has_finisher(self) -> bool:
        """Every candidate is through all folds."""
        return True

    def next_folds(self, candidates: list[int], begin: int, at_once: int) -> range:
        """All folds: no candidate is dropped."""
        return range(begin, len(self.search.folds))

    def open_rows(self, candidate: int, fold: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """All rows until the interval of the score is narrow enough."""
        least, most = self.search.interval(candidate, fold, Answers(None, low, high, low))
        return np.full(len(low), not most - least <= self.targets[candidate])
