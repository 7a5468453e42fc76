"""The scores of a fit on the rows of its fold, as scikit-learn's searches compute them."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import Any

from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._validation import _score
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

from gapless.model_selection.fold import Candidate, FittedCandidate, Fold, with_parameters
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.standin import StandIn, asks_for_answers_only


@dataclass(frozen=True)
class FoldScoring:
    """How fits are scored: the estimator, unfitted, the data, the scorer with its parameters, and the settings of the search."""

    estimator: Any
    X: Any
    y: Any
    scorer: Any
    score_params: dict[str, Any]
    return_train_score: bool
    error_score: Any

    def outcome(self, fitted: FittedCandidate, candidate: Candidate, rows: Fold) -> Outcome:
        """Score a fit on the rows (train, test) of its fold."""
        train, test = rows
        model = self._to_ask(fitted, candidate)
        X_test, y_test = _safe_split(model, self.X, self.y, test, train)
        n_test, train_scores = _num_samples(X_test), None
        if fitted.error is not None:
            if self.error_score == "raise":
                raise fitted.error
            failed = self._failed_scores()
            words = "".join(traceback.format_exception(fitted.error))
            return Outcome(failed, failed if self.return_train_score else None, fitted.fit_time, 0.0, n_test, words)
        start = time.perf_counter()
        test_scores = self._scores(model, X_test, y_test, test)
        score_time = time.perf_counter() - start
        if self.return_train_score:
            X_train, y_train = _safe_split(model, self.X, self.y, train)
            train_scores = self._scores(fitted.estimator, X_train, y_train, train)
        return Outcome(test_scores, train_scores, fitted.fit_time, score_time, n_test)

    def _to_ask(self, fitted: FittedCandidate, candidate: Candidate) -> Any:
        """What the scorer gets for test rows: the fitted clone, or a stand-in that knows its answers."""
        if fitted.answers is None or fitted.error is not None or not asks_for_answers_only(self.scorer):
            return fitted.estimator
        return StandIn(fitted, with_parameters(self.estimator, candidate))

    def _scores(self, estimator: Any, X: Any, y: Any, rows: Any) -> Any:
        params = _check_method_params(self.X, params=self.score_params, indices=rows)
        return _score(estimator, X, y, self.scorer, params, self.error_score)

    def _failed_scores(self) -> Any:
        if isinstance(self.scorer, _MultimetricScorer):
            return dict.fromkeys(self.scorer._scorers, self.error_score)
        return self.error_score
