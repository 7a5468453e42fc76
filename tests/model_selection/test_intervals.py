"""Intervals of scores contain what the exact optimum scores, and say which test rows are open."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    make_scorer,
    max_error,
    precision_score,
    r2_score,
    zero_one_loss,
)
from sklearn.metrics._scorer import _MultimetricScorer, _PassthroughScorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import _ovr_decision_function

import gapless as gl
from gapless.estimators.multiclass import vote
from gapless.model_selection.deciding import answers_of, decide
from gapless.model_selection.fold import Answers
from gapless.model_selection.intervals import last_step, metrics_of, open_labels, possible_labels, weights_of

CLASSIFIERS = [
    gl.SVC(),
    gl.SVC(kernel="poly", break_ties=True),
    gl.NuSVC(nu=0.2),
    gl.LinearSVC(random_state=0),
    gl.LinearSVC(multi_class="crammer_singer", random_state=0),
    make_pipeline(StandardScaler(), gl.SVC(C=10.0)),
    gl.SVC(C=1e-3),  # whose α are all at their bound
    gl.LinearSVC(C=1e-3, loss="hinge", intercept="free", random_state=0),
]
REGRESSORS = [
    gl.SVR(),
    gl.NuSVR(),
    gl.LinearSVR(random_state=0),
    make_pipeline(StandardScaler(), gl.SVR(C=10.0)),
    gl.SVR(C=1e-3),
]
OF_LABELS = ["accuracy", "balanced_accuracy"]
OF_ERRORS = ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error", "neg_max_error"]


def data(classes, seed, n=60):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(classes, 3))[y] + rng.normal(size=(n, 3))
    return X, np.array(["c", "a", "b", "d"])[y] if classes > 1 else X[:, 0] + 0.3 * rng.normal(size=n)


def with_tol(estimator, tol):
    estimator = clone(estimator)
    last_step(estimator).set_params(tol=tol)
    return estimator


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=25, deadline=None)
@given(
    place=st.integers(0, len(CLASSIFIERS) + len(REGRESSORS) - 1),
    classes=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    tol=st.sampled_from([0.3, 0.1, 1e-2, 1e-3]),
)
def test_a_thousandth_of_tol_never_moves_a_score_out_of_its_interval(place, classes, seed, tol):
    estimator = (CLASSIFIERS + REGRESSORS)[place]
    labelled = is_classifier(estimator)
    X, y = data(classes if labelled else 1, seed)
    train, test = np.arange(30), np.arange(30, 60)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, size=len(test))
    rough, fine = (with_tol(estimator, t).fit(X[train], y[train]) for t in (tol, 1e-3 * tol))
    for name in OF_LABELS if labelled else OF_ERRORS[:-1]:
        for weights in (None, weight):
            (metric,) = metrics_of(get_scorer(name), last_step(estimator)).values()
            for model in (rough, fine):
                low, high = metric.interval(y[test], answers_of(rough, X[test]), last_step(estimator), weights)
                score = get_scorer(name)(model, X[test], y[test], sample_weight=weights)
                assert low <= score <= high
            least, most = metric.extremes(y[test], np.unique(y), weights)
            assert least <= low and high <= most


@settings(max_examples=60, deadline=None)
@given(classes=st.integers(3, 4), break_ties=st.booleans(), seed=st.integers(0, 10**6))
def test_possible_labels_are_all_that_can_win(classes, break_ties, seed):
    rng = np.random.default_rng(seed)
    n_pairs = classes * (classes - 1) // 2
    middle, half = rng.normal(size=(1, n_pairs)), rng.uniform(0, 1, size=(1, n_pairs)) * rng.integers(0, 2, n_pairs)
    low, high = middle - half, middle + half
    (possible,) = possible_labels(gl.SVC(break_ties=break_ties), classes, low, high)
    # Decision values at the ends of the intervals, and some inside.
    ends = np.array(list(product(*zip(low[0], high[0], strict=True))))
    values = np.concatenate([ends, rng.uniform(low, high, size=(200, n_pairs))])
    winners = (
        _ovr_decision_function(values < 0, -values, classes).argmax(axis=1) if break_ties else vote(values, classes)
    )
    assert possible[winners].all()
    if not ((low <= 0) & (high >= 0)).any() and not break_ties:
        assert possible.sum() == 1


def test_open_rows_are_those_that_may_be_right_as_well_as_wrong():
    low, high = np.array([-1.0, -1.0, 1.0, -2.0, -1.0]), np.array([1.0, 1.0, 2.0, -1.0, 1.0])
    possible = possible_labels(gl.SVC(), 2, low, high)
    y = np.array(["a", "b", "a", "b", "new"])
    classes = np.array(["a", "b"])
    assert open_labels(y, classes, possible).tolist() == [True, True, False, False, False]
    answers = Answers(None, low, high, np.array(["b", "b", "b", "a", "a"]), classes)
    (metric,) = metrics_of(get_scorer("accuracy"), gl.SVC()).values()
    assert metric.interval(y, answers, gl.SVC()) == (0.0, 0.4)
    assert metric.extremes(y, np.unique(y)) == (0.0, 1.0)
    # One against the rest: what the others reach at least decides.
    low, high = np.array([[0.0, 1.0, -1.0], [0.0, 0.1, -1.0]]), np.array([[0.5, 2.0, 0.9], [0.5, 2.0, 0.2]])
    assert possible_labels(gl.LinearSVC(), 3, low, high).tolist() == [[False, True, False], [True, True, True]]
    assert possible_labels(gl.LinearSVC(), 4, low, high) is None
    assert possible_labels(gl.SVC(), 4, low, high) is None and possible_labels(gl.SVC(), 2, low, high) is None


def test_which_metrics_have_intervals():
    def names(scorer, last):
        return list(metrics_of(scorer, last))

    several = _MultimetricScorer(scorers={name: get_scorer(name) for name in ("f1_macro", "accuracy", "r2", "roc_auc")})
    assert names(several, gl.SVC()) == ["accuracy"] and names(several, gl.SVR()) == ["r2"]
    assert names(get_scorer("neg_mean_squared_error"), gl.SVC()) == []  # of labels that are numbers
    assert names(make_scorer(max_error, greater_is_better=False), gl.LinearSVR()) == ["score"]
    assert names(make_scorer(precision_score), gl.SVC()) == []
    # With the wrong sign the best predictions have the least score.
    assert names(make_scorer(accuracy_score, greater_is_better=False), gl.SVC()) == []
    assert names(make_scorer(zero_one_loss), gl.SVC()) == names(make_scorer(max_error), gl.SVR()) == []
    assert names(make_scorer(r2_score, greater_is_better=False), gl.SVR()) == []
    assert names(get_scorer("accuracy"), RidgeClassifier()) == names(get_scorer("accuracy"), gl.OneClassSVM()) == []
    assert names(lambda estimator, X, y: 0.0, gl.SVC()) == []

    class Own(gl.SVC):
        def score(self, X, y):
            return 0.5

    for last, expected in ((gl.SVC(), ["score"]), (gl.LinearSVR(), ["score"]), (Own(), [])):
        assert names(_PassthroughScorer(last), last) == expected


def test_weights_reach_the_metrics_that_take_them():
    several = _MultimetricScorer(
        scorers={"accuracy": get_scorer("accuracy"), "plain": make_scorer(lambda y, predictions: 0.0)}
    )
    # scikit-learn before 1.7 gives the weights to all metrics.
    taking = {"accuracy": [1.0]} if hasattr(several, "_accept_sample_weight") else {"accuracy": [1.0], "plain": [1.0]}
    assert weights_of(several, {"sample_weight": [1.0]}) == taking and weights_of(several, {}) == {}
    assert weights_of(get_scorer("accuracy"), {"sample_weight": [1.0]}) == {"score": [1.0]}


@pytest.mark.parametrize("estimator", CLASSIFIERS[:6], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_training_on_decides_and_keeps_the_parameters(estimator, classes):
    X, y = data(classes, 0)
    train, test = np.arange(30), np.arange(30, 60)
    model = with_tol(estimator, 0.1).fit(X[train], y[train])
    before, gap = str(model.get_params()), last_step(model).certificate_.relative_gap

    def open_rows(low, high):
        possible = possible_labels(last_step(model), classes, low, high)
        return open_labels(y[test], model.classes_, possible)

    first = open_rows(*_ends(answers_of(model, X[test])))
    answers = decide(model, lambda: model.fit(X[train], y[train]), X[test], open_rows)
    assert first.any() and not open_rows(*_ends(answers)).any()
    assert str(model.get_params()) == before and "_quiet" not in vars(last_step(model))
    assert last_step(model).certificate_.relative_gap < gap
    np.testing.assert_array_equal(
        answers.predictions, with_tol(estimator, 1e-9).fit(X[train], y[train]).predict(X[test])
    )


@pytest.mark.parametrize(
    "estimator", [*CLASSIFIERS[6:], gl.SVR(C=1e-4, epsilon=0.0), gl.NuSVR(C=1e-3, nu=0.4)], ids=str
)
def test_where_several_offsets_are_optimal_the_middle_one_counts(estimator):
    X, y = data(2, 0)
    y = y if is_classifier(estimator) else X[:, 0]
    rough, fine = (with_tol(estimator, tol).fit(X[:30], y[:30]) for tol in (0.1, 1e-9))
    low, high = np.mean(fine.certificate_.offset_intervals, axis=0)
    assert high - low > 0.03
    answers, wide = answers_of(rough, X[30:]), rough.decision_interval(X[30:])
    value = fine.decision_function(X[30:]) if is_classifier(estimator) else fine.predict(X[30:])
    assert (answers.low <= value).all() and (value <= answers.high).all()
    assert (answers.high - answers.low < 0.1 * (wide[1] - wide[0])).all()


def _ends(answers):
    return answers.low, answers.high


def test_training_on_ends_where_nothing_is_gained():
    """A kernel that is no inner product has no gap, so that its intervals are infinite and stay so."""
    X, y = data(2, 0)
    model, fits = gl.SVC(kernel="sigmoid").fit(X, y), []

    def fit():
        fits.append(model.tol)
        return model.fit(X, y)

    decide(model, fit, X, lambda low, high: (low <= 0) & (high >= 0))
    assert len(fits) == 1 and fits[0] < model.tol == 1e-3
    # Without intervals, or where nobody asks for more, nothing is fitted again.
    given = gl.SVC(kernel="precomputed").fit(X @ X.T, y)
    assert decide(given, fit, X @ X.T, lambda low, high: np.ones(60, dtype=bool)) is None
    assert decide(RidgeClassifier().fit(X, y), fit, X, lambda low, high: None) is None
    assert decide(model, fit, X, lambda low, high: None).predictions.shape == (60,) and len(fits) == 1
