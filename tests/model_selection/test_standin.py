"""Scores from what an engine has told are those of the fitted estimator, which then need not be made."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import check_scoring, make_scorer, matthews_corrcoef
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.model_selection.deciding import answers_of
from gapless.model_selection.fold import Answers, FittedCandidate
from gapless.model_selection.scoring import FoldScoring, ScoredFold

IRIS, CANCER = load_iris(return_X_y=True), tuple(part[:150] for part in load_breast_cancer(return_X_y=True))
DIABETES = tuple(part[:150] for part in load_diabetes(return_X_y=True))
ROWS = train_test_split(np.arange(150), random_state=0)


def fits(estimator, X, y, make):
    """A fit that tells what it answers, and the same one that does not."""
    model = estimator.fit(X[ROWS[0]], y[ROWS[0]])
    answers = answers_of(model, X[ROWS[1]])
    if hasattr(model, "decision_function"):
        answers = Answers(**{**vars(answers), "decision": model.decision_function(X[ROWS[1]])})
    return FittedCandidate(0, 0, make, 0.0, answers=answers), FittedCandidate(0, 0, lambda: model, 0.0)


def scores(scorer, fitted, estimator, X, y, **params):
    scoring = FoldScoring(X, y, scorer, params, False, "raise")
    if fitted.answers is None:
        return scoring._scores(fitted.estimator, X[ROWS[1]], y[ROWS[1]], scoring.params(ROWS[1]))
    return scoring.outcome(fitted, estimator, ScoredFold(scoring, *ROWS), scoring.metrics(estimator)).test_scores


def never():
    raise AssertionError("The estimator was made.")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("estimator", "data", "names"),
    [
        (gl.SVC(), IRIS, [None, "accuracy", "balanced_accuracy", "f1_macro", "neg_mean_squared_error"]),
        (gl.LinearSVC(), IRIS, [None, "accuracy"]),
        (make_pipeline(StandardScaler(), gl.SVC()), CANCER, [None, "accuracy", "f1", "roc_auc", "average_precision"]),
        (gl.SVR(C=100.0), DIABETES, [None, "r2", "neg_mean_absolute_error", "explained_variance"]),
        (make_pipeline(StandardScaler(), gl.LinearSVR()), DIABETES, [None, "neg_median_absolute_error"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scores_are_those_of_the_estimator(estimator, data, names, weighted):
    X, y = data
    told, real = fits(estimator, X, y, never)
    for name in names:
        scorer = check_scoring(estimator, name)
        params = {"sample_weight": np.linspace(0.1, 2.0, 150)} if weighted else {}
        found, expected = (scores(scorer, each, estimator, X, y, **params) for each in (told, real))
        assert found == expected and type(found) is type(expected)
    several = _MultimetricScorer(scorers={str(name): check_scoring(estimator, name) for name in names})
    assert scores(several, told, estimator, X, y) == scores(several, real, estimator, X, y)
    if is_classifier(estimator):
        own = make_scorer(matthews_corrcoef)
        assert scores(own, told, estimator, X, y) == scores(own, real, estimator, X, y)


def test_what_was_not_told_is_asked_of_the_estimator():
    X, y = IRIS
    estimator = gl.SVC()
    model = gl.SVC().fit(X[ROWS[0]], y[ROWS[0]])
    made = []

    def make():
        made.append(model)
        return model

    told, real = fits(estimator, X, y, make)

    class Own(gl.SVC):
        def score(self, X, y):
            return float(self.n_support_.sum())

    def by_hand(asked, X, y):
        assert asked is model
        return asked.score(X, y)

    top = check_scoring(
        estimator, "top_k_accuracy"
    )  # which asks for decision values, of a shape that the parameters decide
    assert scores(top, told, estimator, X, y) == scores(top, real, estimator, X, y) and len(made) == 1
    assert scores(by_hand, told, estimator, X, y) == scores(check_scoring(estimator), real, estimator, X, y)
    _, real = fits(Own(), X, y, never)
    own = check_scoring(Own())
    told = FittedCandidate(
        0, 0, partial(getattr, real, "estimator"), 0.0, answers=answers_of(real.estimator, X[ROWS[1]])
    )
    assert scores(own, told, Own(), X, y) == float(real.estimator.n_support_.sum())
