"""The scores of a fit on the rows of its fold, as scikit-learn's searches compute them."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils._array_api import get_namespace
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

from gapless.model_selection.deciding import answers_of
from gapless.model_selection.fold import Answers, FittedCandidate, Fold
from gapless.model_selection.intervals import Metric, last_step, metrics_of, weights_of
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.standin import StandIn, asks_for_answers_only


@dataclass(frozen=True)
class FoldScoring:
    """How fits are scored: the data, the scorer with its parameters, and the settings of the search."""

    X: Any
    y: Any
    scorer: Any
    score_params: dict[str, Any]
    return_train_score: bool
    error_score: Any

    def outcome(self, fitted: FittedCandidate, unfitted: Any, rows: Fold) -> Outcome:
        """Score a fit on the rows (train, test) of its fold; ``unfitted`` has its parameters."""
        train, test = rows
        X_test, y_test = _safe_split(unfitted, self.X, self.y, test, train)
        n_test, train_scores = _num_samples(X_test), None
        metrics = self.metrics(unfitted)
        if fitted.error is not None:
            if self.error_score == "raise":
                raise fitted.error
            failed = self._failed_scores()
            words = "".join(traceback.format_exception(fitted.error))
            known = dict.fromkeys(metrics, (self.error_score, self.error_score))
            return Outcome(
                failed, failed if self.return_train_score else None, fitted.fit_time, 0.0, n_test, words, known
            )
        start = time.perf_counter()
        answers = fitted.answers
        if answers is None and metrics:
            answers = answers_of(fitted.estimator, X_test)
            fitted = replace(fitted, make=partial(getattr, fitted, "estimator"), answers=answers)
        intervals = {} if answers is None else self._intervals(metrics, answers, unfitted, test)
        test_scores = self._scores(self._to_ask(fitted, unfitted), X_test, y_test, test)
        score_time = time.perf_counter() - start
        if self.return_train_score:
            X_train, y_train = _safe_split(unfitted, self.X, self.y, train)
            train_scores = self._scores(fitted.estimator, X_train, y_train, train)
        return Outcome(test_scores, train_scores, fitted.fit_time, score_time, n_test, None, intervals)

    def metrics(self, unfitted: Any) -> dict[str, Metric]:
        """The metrics of this estimator that have intervals, by name."""
        # Intervals are NumPy's, and so have to be the targets.
        plain = self.y is not None and not get_namespace(self.X, self.y)[1]
        return metrics_of(self.scorer, last_step(unfitted)) if plain else {}

    def targets(self, rows: Any) -> np.ndarray:
        """The targets of these rows."""
        return np.asarray(_safe_indexing(self.y, rows)).ravel()

    def weights(self, rows: Any) -> dict[str, Any]:
        """The weights of these rows in each metric."""
        return weights_of(self.scorer, self._params(rows))

    def _intervals(
        self, metrics: dict[str, Metric], answers: Answers, unfitted: Any, test: Any
    ) -> dict[str, tuple[float, float]]:
        last = last_step(unfitted)
        try:
            y, weights = self.targets(test), self.weights(test)
            return {name: metric.interval(y, answers, last, weights.get(name)) for name, metric in metrics.items()}
        except (ValueError, TypeError):  # of targets that the metric refuses, as the scorer then tells
            return {}

    def _to_ask(self, fitted: FittedCandidate, unfitted: Any) -> Any:
        """What the scorer gets for test rows: the fitted clone, or a stand-in that knows its answers."""
        if fitted.answers is None or not asks_for_answers_only(self.scorer, last_step(unfitted)):
            return fitted.estimator
        return StandIn(fitted, unfitted)

    def _params(self, rows: Any) -> dict[str, Any]:
        return _check_method_params(self.X, params=self.score_params, indices=rows)

    def _scores(self, estimator: Any, X: Any, y: Any, rows: Any) -> Any:
        return _score(estimator, X, y, self.scorer, self._params(rows), self.error_score)

    def _failed_scores(self) -> Any:
        if isinstance(self.scorer, _MultimetricScorer):
            return dict.fromkeys(self.scorer._scorers, self.error_score)
        return self.error_score
