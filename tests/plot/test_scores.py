"""Scores as they are read from the results of a search."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.pipeline import make_pipeline

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.plot.scores import arrange, read_scores, scores_of
from tests.estimators.data import iris
from tests.plot.results import cv_results, grid

NAN = float("nan")
PARAMS = grid(C=[1, 10], gamma=[0.1, 1.0])
SCORES = st.floats(0, 1)


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(sklearn.svm.SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}, scoring="accuracy").fit(*iris())


def test_the_search_of_scikit_learn(search):
    scores = scores_of(search)
    np.testing.assert_array_equal(scores.mean, search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(scores.std, search.cv_results_["std_test_score"])
    assert np.isnan(scores.low).all() and np.isnan(scores.train_mean).all()
    assert (scores.chosen, scores.tied, scores.proven, scores.folds) == (search.best_index_, (), False, 5)
    assert scores.label(()) == "mean accuracy of 5 folds" and scores.label(["C"]).endswith("\nbest over C")
    assert scores.finding() == "Best: C = 1, gamma = 0.1"
    table = arrange(scores, "gamma", "C")
    np.testing.assert_array_equal(table.mean, scores.mean.reshape(3, 2))
    assert table.chosen == (1, 0) and not (table.undecided | table.dropped | table.failed).any()
    assert scores_of(make_pipeline(search)).chosen == scores.chosen


def test_a_table_of_the_results(search):
    scores = read_scores(pd.DataFrame(search.cv_results_), None)
    np.testing.assert_array_equal(scores.mean, search.cv_results_["mean_test_score"])
    assert scores.folds == 5 and scores.chosen == search.best_index_


def test_several_metrics_and_the_one_that_has_chosen():
    metrics = ["accuracy", "neg_log_loss_like"]
    search = SimpleNamespace(
        refit="accuracy",
        multimetric_=True,
        best_index_=1,
        selection_=SimpleNamespace(index=1, tied=(1, 2), proven=False),
        cv_results_=cv_results(PARAMS, [0.1, 0.9, 0.8, 0.2], metric=metrics[0])
        | cv_results(PARAMS, [-1, -2, -3, -4], metric=metrics[1]),
    )
    scores = scores_of(search)
    assert (scores.name, scores.tied, scores.finding()) == ("accuracy", (1, 2), "C = 1, gamma = 1, tied with 1 other")
    other = scores_of(search, metrics[1])
    assert (other.name, other.tied, other.chosen) == ("negative log loss like", (), 1)
    assert other.finding() == "Chosen: C = 1, gamma = 1"
    search.refit = False
    listed = "metric must be one of the metrics of the search, which are 'accuracy', 'neg_log_loss_like'"
    with pytest.raises(InvalidInputError) as caught:
        scores_of(search)
    assert str(caught.value) == f"{listed}."
    with pytest.raises(InvalidInputError) as caught:
        scores_of(search, "f1")
    assert str(caught.value) == f"{listed}; got 'f1'."


def test_halving_counts_the_last_try_of_a_candidate():
    X, y = iris()
    search = HalvingGridSearchCV(sklearn.svm.SVC(), {"C": [0.01, 0.1, 1, 10]}, cv=3, min_resources=30).fit(X, y)
    scores = scores_of(search)
    assert len(scores.params) == 4 < len(search.cv_results_["params"])
    assert scores.params[scores.chosen] == search.best_params_
    assert scores.mean[scores.chosen] == search.best_score_


@pytest.mark.parametrize(
    ("low", "high", "tied", "proven", "finding"),
    [
        ([0.1, 0.2, 0.9, 0.3], [0.1, 0.8, 0.9, 0.3], (2,), True, "Proven best: C = 10, gamma = 0.1"),
        ([0.1, 0.2, 0.7, 0.3], [0.1, 0.8, 1.0, 0.3], (1, 2), False, "C = 10, gamma = 0.1, tied with 1 other"),
        ([0.1, 0.2, 0.3, 0.3], [0.9] * 4, (0, 1, 2, 3), False, "C = 10, gamma = 0.1, tied with 3 others"),
        (
            [0.1, 0.2, 0.9, 0.3],
            [0.1, 0.9, 0.9, 0.3],
            (1, 2),
            True,
            "Proven best, as good as 1 other: C = 10, gamma = 0.1",
        ),
        ([0.1, NAN, 0.9, 0.3], [0.1, NAN, 0.9, 0.3], (2,), False, "Best: C = 10, gamma = 0.1"),
        ([0.1, 0.2, NAN, 0.3], [0.1, 0.2, NAN, 0.3], (), False, "Best: C = 10, gamma = 0.1"),
    ],
)
def test_the_intervals_tell_who_is_tied(low, high, tied, proven, finding):
    scores = read_scores(cv_results(PARAMS, [0.1, 0.2, 0.9, 0.3], low, high), None)
    assert (scores.tied, scores.proven, scores.finding()) == (tied, proven, finding)


def test_the_selection_of_a_search_is_believed():
    selection = SimpleNamespace(index=3, tied=(1, 3), proven=True)
    scores = read_scores(cv_results(PARAMS, [0.1, 0.9, 0.2, 0.9]), None, selection=selection)
    assert (scores.chosen, scores.tied, scores.proven) == (3, (1, 3), True)


def test_parameters_that_end_alike_keep_their_whole_names():
    params = grid(kernel__left__gamma=[1, 2], kernel__right__gamma=[1, 2], svc__C=[1, 3])
    scores = read_scores(cv_results(params, np.arange(8)), None)
    assert scores.finding() == "Best: kernel__left__gamma = 2, kernel__right__gamma = 2, C = 3"


def test_numbers_with_the_most_values_are_drawn():
    params = grid(C=[1, 2, 3], gamma=[1, 2, 3, 4], kernel=list("abcdef"), tol=[0.1])
    table = arrange(read_scores(cv_results(params, np.arange(72)), None), None, None)
    assert (table.x.name, table.y.name, table.others) == ("gamma", "C", ("kernel",))
    table = arrange(read_scores(cv_results(params, np.arange(72)), None), None, "gamma")
    assert (table.x.name, table.y.name) == ("C", "gamma")
    table = arrange(read_scores(cv_results(params, np.arange(72)), None), "tol", "kernel")
    assert table.mean.shape == (6, 1) and table.others == ("gamma", "C")


def test_candidates_of_several_grids_may_lack_a_parameter():
    params = [*grid(kernel=["linear"], C=[1, 2]), *grid(kernel=["rbf"], C=[1, 2], gamma=[0.1, 1.0])]
    table = arrange(read_scores(cv_results(params, np.arange(6)), None), "C", "gamma")
    assert table.y.texts == ["–", "0.1", "1"] and (table.counts == 1).all()


@given(st.lists(st.tuples(SCORES, SCORES, SCORES).map(sorted), min_size=12, max_size=12))
def test_the_interval_of_a_cell_contains_the_best_score_of_its_candidates(bounds):
    low, mean, high = np.array(bounds).T
    params = grid(C=[1, 2], gamma=[1, 2], degree=[1, 2, 3])
    scores = read_scores(cv_results(params, mean, low, high), None)
    table = arrange(scores, "C", "gamma")
    assert table.counts.tolist() == [[3, 3], [3, 3]]
    np.testing.assert_array_equal(table.mean.T.ravel(), mean.reshape(4, 3).max(axis=1))
    for exact in (low, high, mean, 0.5 * (low + high)):
        best = exact.reshape(2, 2, 3).max(axis=2).T
        assert (table.low <= best).all() and (best <= table.high).all()
    assert table.mean[table.chosen] == mean.max()


def test_a_cell_with_dropped_and_failed_candidates():
    params = grid(C=[1, 2, 3, 4], degree=[1, 2])
    #        scored + dropped | both dropped | dropped + failed | scored + failed
    mean = [0.8, NAN, NAN, NAN, NAN, NAN, 0.7, NAN]
    low, high = [0.8, 0.3, 0.1, 0.2, 0.1, NAN, 0.7, NAN], [0.8, 0.82, 0.4, 0.5, 0.6, NAN, 0.7, NAN]
    table = arrange(read_scores(cv_results(params, mean, low, high), None), "C", None, one=True)
    np.testing.assert_array_equal(table.mean[0], [0.8, NAN, NAN, 0.7])
    np.testing.assert_array_equal(table.high[0], [0.82, 0.5, 0.6, 0.7])
    assert table.undecided.tolist() == [[True, False, False, False]]
    assert table.dropped.tolist() == [[False, True, True, False]]
    assert not table.failed.any()
    unknown = arrange(read_scores(cv_results(params, [0.5] * 8, [NAN] * 8, [0.5] + 7 * [NAN]), None), "C", None)
    assert np.isnan(unknown.high).all() and not unknown.undecided.any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scores_of(None), "from_estimator takes a fitted search; got None."),
        (lambda: scores_of(GridSearchCV), "from_estimator takes a fitted search; got the class GridSearchCV instead of an object of it."),
        (
            lambda: scores_of(gl.SVC().fit(*iris())),
            "from_estimator draws the scores (cv_results_) of a fitted search; got SVC, which has none.",
        ),
        (
            lambda: read_scores(GridSearchCV(gl.SVC(), {}), None),
            "cv_results must be a dict with the keys of cv_results_, such as 'params'; got an estimator, GridSearchCV: use from_estimator.",
        ),
        (
            lambda: read_scores({"params": []}, None),
            "metric must be one of the metrics of the search, which are none.",
        ),
        (
            lambda: arrange(read_scores(cv_results(PARAMS, [1, 2, 3, 4]), None), "D", None),
            "x must be a parameter of the search, which are C, gamma; got 'D'.",
        ),
        (
            lambda: arrange(read_scores(cv_results(PARAMS, [1, 2, 3, 4]), None), "D", None, one=True),
            "param_name must be a parameter of the search, which are C, gamma; got 'D'.",
        ),
        (
            lambda: arrange(read_scores(cv_results(PARAMS, [1, 2, 3, 4]), None), "C", "C"),
            "x and y must be two parameters; got 'C' for both.",
        ),
        (
            lambda: arrange(read_scores(cv_results([{}], [1]), None), None, None),
            "The search must have a parameter to draw its scores over; its candidates have none.",
        ),
    ],
)  # fmt: skip
def test_a_sentence_says_what_was_given_and_what_is_taken(call, message):
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_search_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        scores_of(GridSearchCV(gl.SVC(), {"C": [1]}))
