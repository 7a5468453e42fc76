"""The scores of a fit on the rows of its fold, as scikit-learn's searches compute them."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.metrics._scorer import _MultimetricScorer, _PassthroughScorer, _Scorer
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils._array_api import get_namespace
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

from gapless.estimators import OneClassSVM
from gapless.model_selection.counting import fewest_rows
from gapless.model_selection.deciding import answers_of
from gapless.model_selection.fold import Answers, FittedCandidate
from gapless.model_selection.intervals import Metric, last_step, metrics_of, weights_of
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.standin import StandIn, asks_for_answers_only
from gapless.model_selection.work import Work, features_of, work_of


@dataclass(frozen=True)
class FoldScoring:
    """How fits are scored: the data, the scorer with its parameters, and the settings of the search."""

    X: Any
    y: Any
    scorer: Any
    score_params: dict[str, Any]
    return_train_score: bool
    error_score: Any

    def outcome(self, fitted: FittedCandidate, unfitted: Any, fold: ScoredFold, metrics: dict[str, Metric]) -> Outcome:
        """Score a fit on the rows of its fold; ``unfitted`` has its parameters, and ``metrics`` are those of ``unfitted``."""
        train_scores = None
        if fitted.error is not None:
            if self.error_score == "raise":
                raise fitted.error
            failed = self._failed_scores()
            words = "".join(traceback.format_exception(fitted.error))
            known = dict.fromkeys(metrics, (self.error_score, self.error_score))
            trained = failed if self.return_train_score else None
            return Outcome(failed, trained, fitted.fit_time, 0.0, fold.n_test, words, known)
        start = time.perf_counter()
        fitted = self.answered(fitted, unfitted, fold, metrics)
        answers, counted = fitted.answers, self._counted(metrics, fold)
        test_scores: Any = self._of_outliers(fitted, unfitted, fold)
        intervals = {} if answers is None else _intervals(metrics, answers, unfitted, fold)
        if (
            counted is not None
            and answers is not None
            and (counted.of_labels or np.isfinite(answers.predictions).all())
        ):
            test_scores = counted.score(fold.targets, answers.predictions, fold.weights["score"])
        elif test_scores is None:
            X_test, y_test = _safe_split(unfitted, self.X, self.y, fold.test, fold.train)
            test_scores = self._scores(self._to_ask(fitted, unfitted), X_test, y_test, fold.params)
        score_time = time.perf_counter() - start
        if self.return_train_score:
            X_train, y_train = _safe_split(unfitted, self.X, self.y, fold.train)
            train_scores = self._scores(fitted.estimator, X_train, y_train, self.params(fold.train))
        return Outcome(test_scores, train_scores, fitted.fit_time, score_time, fold.n_test, None, intervals)

    def answered(
        self, fitted: FittedCandidate, unfitted: Any, fold: ScoredFold, metrics: dict[str, Metric]
    ) -> FittedCandidate:
        """The fit with its answers for the test rows, where one of its metrics has intervals."""
        if fitted.answers is not None or fitted.error is not None or not metrics:
            return fitted
        X_test, _ = _safe_split(unfitted, self.X, None, fold.test, fold.train)
        answers = answers_of(fitted.estimator, X_test)
        return replace(fitted, make=partial(getattr, fitted, "estimator"), answers=answers)

    def work(self, fitted: FittedCandidate, fold: ScoredFold) -> Work:
        """What a fit has taken."""
        if fitted.work is not None:
            return fitted.work
        last = last_step(fitted.estimator)
        features = self._features if last is fitted.estimator else float(getattr(last, "n_features_in_", 1))
        return work_of(last, fold.n_train, features)

    @cached_property
    def _features(self) -> float:
        return features_of(self.X)

    def metrics(self, unfitted: Any) -> dict[str, Metric]:
        """The metrics of this estimator that have intervals, by name."""
        return metrics_of(self.scorer, last_step(unfitted), self._fewest_rows) if self._is_plain else {}

    @cached_property
    def _is_plain(self) -> bool:
        # Intervals are NumPy's, and so have to be the targets.
        return self.y is not None and not get_namespace(self.X, self.y)[1]

    @cached_property
    def _fewest_rows(self) -> float:
        return fewest_rows(self.y)

    def _counted(self, metrics: dict[str, Metric], fold: ScoredFold) -> Metric | None:
        """The metric that is the scorer's only one, where its score is a count or plain R²."""
        if type(self.scorer) not in (_PassthroughScorer, _Scorer) or self.score_params.keys() - {"sample_weight"}:
            return None
        metric = metrics.get("score")
        return metric if metric is not None and metric.counts(fold.targets, fold.weights["score"]) else None

    def _of_outliers(self, fitted: FittedCandidate, unfitted: Any, fold: ScoredFold) -> float | None:
        """The accuracy of a one-class machine of ours, where that is the only score and a count; None elsewhere. It has no intervals."""
        if type(unfitted) is not OneClassSVM or type(self.scorer) is not _Scorer or not self._has_signs:
            return None
        if self.scorer._response_method != "predict" or self.score_params.keys() - {"sample_weight"}:
            return None
        metric = Metric(
            self.scorer._score_func, self.scorer._sign, self.scorer._kwargs, True, max(4, self._fewest_rows)
        )
        weight = fold.weights["score"]
        if metric.function is not accuracy_score or not metric.counts(fold.targets, weight):
            return None
        X_test, _ = _safe_split(unfitted, self.X, None, fold.test, fold.train)
        try:
            return metric.score(fold.targets, fitted.estimator.predict(X_test), weight)
        except ValueError:  # of test rows that are no numbers, as the scorer then tells
            return None

    @cached_property
    def _has_signs(self) -> bool:
        """Whether all targets are labels that a one-class machine predicts: −1 and 1."""
        if not self._is_plain:
            return False
        y = np.asarray(self.y)
        return y.ndim == 1 and y.dtype.kind in "if" and bool(np.isin(y, (-1, 1)).all())

    def targets(self, rows: Any) -> np.ndarray:
        """The targets of these rows."""
        return np.asarray(_safe_indexing(self.y, rows)).ravel()

    def params(self, rows: Any) -> dict[str, Any]:
        """The parameters of the scorer for these rows."""
        return _check_method_params(self.X, params=self.score_params, indices=rows)

    def _to_ask(self, fitted: FittedCandidate, unfitted: Any) -> Any:
        """What the scorer gets for test rows: the fitted clone, or a stand-in that knows its answers."""
        if fitted.answers is None or not asks_for_answers_only(self.scorer, last_step(unfitted)):
            return fitted.estimator
        return StandIn(fitted, unfitted)

    def _scores(self, estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
        return _score(estimator, X, y, self.scorer, params, self.error_score)

    def _failed_scores(self) -> Any:
        if isinstance(self.scorer, _MultimetricScorer):
            return dict.fromkeys(self.scorer._scorers, self.error_score)
        return self.error_score


@dataclass(frozen=True)
class ScoredFold:
    """The rows of a fold, and what the scores of all fits on it have in common, which is cut from the data once."""

    scoring: FoldScoring
    train: Any
    test: Any

    @cached_property
    def n_test(self) -> int:
        """The number of test rows."""
        return _count(self.scoring.X, self.test)

    @cached_property
    def n_train(self) -> int:
        """The number of training rows."""
        return _count(self.scoring.X, self.train)

    @cached_property
    def targets(self) -> np.ndarray:
        """The targets of the test rows."""
        return self.scoring.targets(self.test)

    @cached_property
    def params(self) -> dict[str, Any]:
        """The parameters of the scorer for the test rows."""
        return self.scoring.params(self.test)

    @cached_property
    def weights(self) -> dict[str, Any]:
        """The weights of the test rows in each metric."""
        return weights_of(self.scoring.scorer, self.params)


def _count(X: Any, rows: Any) -> int:
    """How many rows of X these are."""
    if type(rows) is np.ndarray and rows.ndim == 1 and rows.dtype.kind in "iu":
        return len(rows)
    return _num_samples(_safe_indexing(X, rows))


def _intervals(
    metrics: dict[str, Metric], answers: Answers, unfitted: Any, fold: ScoredFold
) -> dict[str, tuple[float, float]]:
    last = last_step(unfitted)
    try:
        weights = fold.weights
        return {
            name: metric.interval(fold.targets, answers, last, weights.get(name)) for name, metric in metrics.items()
        }
    except (ValueError, TypeError):  # of targets that the metric refuses, as the scorer then tells
        return {}
