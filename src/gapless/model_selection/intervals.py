"""Intervals of scores: what an exact optimum may score, from intervals that contain its decision values.

A gap bounds how far the decision values of a model are from those of the exact optimum (:mod:`gapless.proof.interval`). For each test row this leaves
some labels possible, or an interval of a regression's predictions. A metric that never falls where a prediction moves towards the truth is then
bounded by two sets of predictions, the best that are possible and the worst.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config, metrics
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import process_routing

from gapless import _native
from gapless.model_selection.counting import determination, is_plain_weight, share
from gapless.model_selection.fold import Answers

# Functions with the sign of their score, −1 for losses. With the other sign, which ``make_scorer`` takes as well, better predictions score less.
# A correct label in place of a wrong one never lowers these scores, and which wrong label it was does not matter.
_OF_LABELS: tuple[tuple[Any, int], ...] = (
    (metrics.accuracy_score, 1),
    (metrics.balanced_accuracy_score, 1),
    (metrics.zero_one_loss, -1),
    (metrics.hamming_loss, -1),
)
# A smaller |y − f(x)| of one row never lowers these scores.
_OF_ERRORS: tuple[tuple[Any, int], ...] = (
    (metrics.mean_squared_error, -1),
    (metrics.root_mean_squared_error, -1),
    (metrics.mean_absolute_error, -1),
    (metrics.median_absolute_error, -1),
    (metrics.max_error, -1),
    (metrics.mean_absolute_percentage_error, -1),
    (metrics.r2_score, 1),
)


@dataclass(frozen=True)
class Metric:
    """A metric whose scores have intervals.

    ``sign`` is −1 where smaller is better, so that the score, which is sign times ``function``, is the greater the better. From ``fewest`` rows on
    accuracy is a count (:func:`gapless.model_selection.counting.fewest_rows`).
    """

    function: Callable[..., float]
    sign: int
    options: dict[str, Any]
    of_labels: bool  # of labels, else of the errors of a regression
    fewest: float = np.inf

    def counts(self, y: np.ndarray, weight: Any = None) -> bool:
        """Whether the score of targets with these weights is the share of right labels, or plain R², and nothing is left to check."""
        if self.options:
            return False
        if self.function is metrics.r2_score:
            return weight is None and y.dtype == np.float64 and len(y) > 1 and bool(np.ptp(y) > 0)
        return self.function is metrics.accuracy_score and len(y) >= self.fewest and is_plain_weight(weight, len(y))

    def score(self, y: np.ndarray, predictions: np.ndarray, weight: Any = None) -> float:
        """The score of predictions."""
        if self.counts(y, weight):
            value = share(predictions == y, weight) if self.of_labels else determination(y, predictions)
            return self.sign * value
        options = self.options if weight is None else {**self.options, "sample_weight": weight}
        return float(self.sign * self.function(y, predictions, **options))

    def interval(self, y: np.ndarray, answers: Answers, last: Any, weight: Any = None) -> tuple[float, float]:
        """(low, high): bounds on the score of the exact optimum; nan where nothing is known.

        ``last`` has the parameters of the estimator that gave the answers.
        """
        if self.of_labels:
            assert answers.classes is not None
            return self.between(y, answers.predictions, _open_rows(y, answers, last), answers.classes, weight)
        if np.isfinite(answers.low).all() and np.isfinite(answers.high).all():
            best, worst = _nearest(y, answers.low, answers.high), _farthest(y, answers.low, answers.high)
            return self.score(y, worst, weight), self.score(y, best, weight)
        return np.nan, np.nan

    def between(
        self, y: np.ndarray, predictions: np.ndarray, is_open: np.ndarray, classes: np.ndarray, weight: Any = None
    ) -> tuple[float, float]:
        """(low, high): the scores of labels where those rows that are open are wrong, and where they are right."""
        if self.counts(y, weight):
            right = predictions == y
            return self.sign * share(right & ~is_open, weight), self.sign * share(right | is_open, weight)
        if not is_open.any():
            score = self.score(y, predictions, weight)
            return score, score
        best, worst = predictions.copy(), predictions.copy()
        best[is_open], worst[is_open] = y[is_open], _wrong(y, classes)[is_open]
        return self.score(y, worst, weight), self.score(y, best, weight)

    def extremes(self, y: np.ndarray, labels: np.ndarray, weight: Any = None) -> tuple[float, float]:
        """(low, high): bounds on the score of any model; ``labels`` are those of all rows, not of the test rows ``y`` alone."""
        worst = self.score(y, _wrong(y, labels), weight) if self.of_labels else -np.inf
        return worst, self.score(y, y, weight)


def metrics_of(scorer: Any, last: Any, fewest: float = np.inf) -> dict[str, Metric]:
    """The metrics of a scorer that have intervals, by name; that of a single metric is ``"score"``.

    ``last`` is the estimator that is scored; from ``fewest`` rows on accuracy is a count.
    """
    named = scorer._scorers if isinstance(scorer, _MultimetricScorer) else {"score": scorer}
    found = {name: _metric_of(each, last, fewest) for name, each in named.items()}
    return {name: metric for name, metric in found.items() if metric is not None}


def _metric_of(scorer: Any, last: Any, fewest: float) -> Metric | None:
    if not hasattr(last, "decision_interval"):
        return None
    if isinstance(scorer, _PassthroughScorer):
        if not has_plain_score(last):
            return None
        of_labels = is_classifier(last)
        return Metric(metrics.accuracy_score if of_labels else metrics.r2_score, 1, {}, of_labels, fewest)
    if not isinstance(scorer, _BaseScorer) or scorer._response_method != "predict":
        return None
    signed = scorer._score_func, scorer._sign
    if (signed in _OF_LABELS and is_classifier(last)) or (signed in _OF_ERRORS and is_regressor(last)):
        return Metric(scorer._score_func, scorer._sign, scorer._kwargs, is_classifier(last), fewest)
    return None


def has_plain_score(estimator: Any) -> bool:
    """Whether the ``score`` of an estimator is that of scikit-learn's mixins: accuracy or R² of what ``predict`` gives."""
    own = inspect.unwrap(getattr(type(estimator), "score", _metric_of))
    return own in (ClassifierMixin.score, RegressorMixin.score)


def weights_of(scorer: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The sample weights that each metric of a scorer is given, by name, where the scorer itself is called with these parameters."""
    if not isinstance(scorer, _MultimetricScorer):
        return {"score": params.get("sample_weight")}
    if not params:
        return {}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(scorer, "score", **params)
        return {name: routed.get(name).score.get("sample_weight") for name in scorer._scorers}
    # scikit-learn before 1.7 gives the weights to all metrics.
    taking = [name for name, each in scorer._scorers.items() if getattr(each, "_accept_sample_weight", lambda: True)()]
    return dict.fromkeys(taking, params.get("sample_weight"))


def last_step(estimator: Any) -> Any:
    """The estimator that predicts: the last step of a Pipeline, any other estimator itself."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def possible_labels(last: Any, n_classes: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
    """Which labels the exact optimum may predict, a row of booleans for each sample, from intervals of its decision values.

    ``last`` is the classifier, fitted or not; None where the intervals are not those of so many classes.
    """
    if n_classes == 2:
        return np.column_stack([low <= 0, high >= 0]) if low.ndim == 1 else None
    if not hasattr(last, "decision_function_shape"):  # one against the rest: the largest value wins
        return high >= low.max(axis=1, keepdims=True) if low.ndim == 2 and low.shape[1] == n_classes else None
    if low.ndim != 2 or low.shape[1] != n_classes * (n_classes - 1) // 2:
        return None
    return _possible_winners(low, high, n_classes, last.break_ties)


def _possible_winners(low: np.ndarray, high: np.ndarray, n_classes: int, break_ties: bool) -> np.ndarray:
    """Which classes may win the votes of pairs: each that, with all its open pairs won, is not behind what another class is sure of."""
    if not break_ties:  # of several classes with as many votes the first wins
        possible = np.empty((len(low), n_classes), dtype=bool)
        low, high = (np.ascontiguousarray(each, dtype=np.float64) for each in (low, high))
        _native.possible_winners(low, high, n_classes, possible)
        return possible
    first, second = np.triu_indices(n_classes, 1)
    to_first, to_second = (np.eye(n_classes)[each] for each in (first, second))
    can_first, can_second = high >= 0, low <= 0
    most = can_first @ to_first + can_second @ to_second
    sure = ~can_second @ to_first + ~can_first @ to_second
    ahead = most[:, :, None] - sure[:, None, :]  # of class c before class d
    # Among classes with as many votes the sum of decision values decides.
    largest, least = high @ to_first - low @ to_second, low @ to_first - high @ to_second
    behind = (ahead < 0) | ((ahead == 0) & (largest[:, :, None] < least[:, None, :]))
    behind[:, np.arange(n_classes), np.arange(n_classes)] = False
    return ~behind.any(axis=2)


def open_labels(y: np.ndarray, classes: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """The rows that may be right as well as wrong; a row whose label is not among the classes is wrong."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    right = (classes[place] == y) & possible[np.arange(len(y)), place]
    return right & (possible.sum(axis=1) > 1)


def _open_rows(y: np.ndarray, answers: Answers, last: Any) -> np.ndarray:
    """The rows that may be right as well as wrong; where a row is decided its label is what the model itself predicts."""
    classes = answers.classes
    assert classes is not None
    possible = possible_labels(last, len(classes), answers.low, answers.high)
    if possible is None:
        possible = np.ones((len(y), len(classes)), dtype=bool)
    # Whatever the rounding of an interval.
    possible[np.arange(len(y)), np.searchsorted(classes, answers.predictions)] = True
    return open_labels(y, classes, possible)


def _wrong(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """A wrong label for each row, and where there is one a label that other rows have, since some metrics warn of labels that no row has."""
    labels = np.unique(y)
    if len(labels) == 1:
        labels = np.union1d(labels, classes)
    return labels[(np.searchsorted(labels, y) + 1) % len(labels)]


def _nearest(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.clip(y, low, high)


def _farthest(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.where(np.abs(y - low) > np.abs(y - high), low, high)
