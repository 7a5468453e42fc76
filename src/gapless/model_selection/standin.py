"""A light estimator that scorers ask in place of a fitted clone, where the engine has told what the clone answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.utils import get_tags

from gapless.model_selection.fold import FittedCandidate
from gapless.model_selection.intervals import has_plain_score


class StandIn:
    """Answers for the test rows of a fit, and fetches everything else from the clone, which is made then.

    ``unfitted`` has the parameters of the clone.
    """

    def __init__(self, fitted: FittedCandidate, unfitted: Any) -> None:
        assert fitted.answers is not None
        self._fitted, self._answers, self._unfitted = fitted, fitted.answers, unfitted

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._unfitted)

    def __getattr__(self, name: str) -> Any:
        # Python calls this method only for attributes that the object does not have.
        if name == "classes_" and self._answers.classes is not None:
            return self._answers.classes
        if not name.endswith("_"):
            getattr(self._unfitted, name)  # a method that is not there (predict_proba) is no reason to make the clone
        return getattr(self._fitted.estimator, name)

    def predict(self, X: Any) -> np.ndarray:
        """The predictions of the clone."""
        return self._answers.predictions

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values of the clone, whose shape depends on its parameters where there are more than two classes."""
        decision = self._answers.decision
        return self._fitted.estimator.decision_function(X) if decision is None or decision.ndim > 1 else decision

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of correct labels of a classifier, R² of a regressor, as scikit-learn's mixins for both have it."""
        metric = accuracy_score if is_classifier(self) else r2_score
        return metric(y, self.predict(X), sample_weight=sample_weight)


def asks_for_answers_only(scorer: Any, last: Any) -> bool:
    """Whether a scorer looks at nothing but the predictions and decision values of an estimator: that of a name, of ``make_scorer``, of ``score``.

    ``last`` is the estimator that is scored, or the last step of the Pipeline that is; it may have a ``score`` of its own.
    """
    if isinstance(scorer, _MultimetricScorer):
        return all(asks_for_answers_only(each, last) for each in scorer._scorers.values())
    return isinstance(scorer, _BaseScorer) or (isinstance(scorer, _PassthroughScorer) and has_plain_score(last))
