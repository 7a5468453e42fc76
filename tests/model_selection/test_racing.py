"""Racing drops candidates that cannot win, and never the winner; ``selection_`` says what is proven about the choice."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.model_selection as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, make_scorer, mean_squared_error, zero_one_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

import gapless as gl
from gapless.model_selection import GridSearchCV, RandomizedSearchCV, Selection
from gapless.model_selection.race import Race
from gapless.model_selection.selection import select

IRIS = load_iris(return_X_y=True)
CANCER = tuple(part[:200] for part in load_breast_cancer(return_X_y=True))
DIABETES = tuple(part[:120] for part in load_diabetes(return_X_y=True))
SPLITS = [f"split{k}_test_score" for k in range(5)]


FITS = []


class Recording(gl.SVR):
    """Keeps C of each fit that goes on from another one."""

    def fit(self, X, y, sample_weight=None):
        if self.warm_start:
            FITS.append(self.C)
        return super().fit(X, y, sample_weight)


def not_run(search):
    return sum(int(np.isnan(search.cv_results_[key]).sum()) for key in SPLITS)


@settings(max_examples=100, deadline=None)
@given(candidates=st.integers(1, 6), folds=st.integers(1, 5), seed=st.integers(0, 10**6), whole=st.booleans())
def test_the_winner_is_never_out(candidates, folds, seed, whole):
    """Whatever the order in which scores become known, and however wide their intervals are."""
    rng = np.random.default_rng(seed)
    shape = candidates, folds
    scores = rng.integers(0, 11, size=shape) / 10 if whole else rng.uniform(0, 1, size=shape)
    reach = rng.uniform(0, 0.2, size=(2, *shape)) * rng.integers(0, 2)
    race = Race(np.zeros(shape), np.ones(shape))
    best = scores.mean(axis=1).argmax()
    for place in rng.permutation(candidates * folds):
        k, j = divmod(int(place), folds)
        low, high = max(0.0, scores[k, j] - reach[0, k, j]), min(1.0, scores[k, j] + reach[1, k, j])
        # Not even by what is known of the fold that is under way.
        race.bound(k, j, high)
        assert not race.is_out(best)
        if not race.is_out(k):
            race.put(k, j, scores[k, j], low, high)
        low, high = race.means()
        assert (low <= scores.mean(axis=1) + 1e-12).all() and (scores.mean(axis=1) <= high + 1e-12).all()
    assert best in race.by_promise()


ESTIMATORS = [
    (gl.SVC(tol=0.1), {"C": [0.01, 1.0, 100.0], "gamma": [0.1, 10.0]}),
    (gl.NuSVC(tol=0.1), {"nu": [0.1, 0.3, 0.6], "gamma": [0.1, 10.0]}),
    (gl.LinearSVC(random_state=0), {"C": [1e-4, 1e-2, 1.0]}),
    (make_pipeline(StandardScaler(), gl.SVC()), {"svc__C": [0.01, 1.0], "standardscaler__with_mean": [True, False]}),
    (gl.SVR(), {"C": [0.01, 1.0, 10.0], "epsilon": [0.1, 1.0]}),
]


@pytest.mark.filterwarnings("ignore:The optimum of NuSVC")  # which is zero where classes overlap that far
@settings(max_examples=15, deadline=None)
@given(place=st.integers(0, len(ESTIMATORS) - 1), seed=st.integers(0, 10**6), classes=st.integers(2, 3))
def test_racing_never_changes_a_choice_that_is_proven_as_far_as_possible(place, seed, classes):
    estimator, grid = ESTIMATORS[place]
    rng = np.random.default_rng(seed)
    y = np.arange(40) % classes
    X = rng.normal(size=(classes, 2))[y] + rng.normal(size=(40, 2))
    if isinstance(estimator, gl.SVR):
        y = X[:, 0] + 0.3 * rng.normal(size=40)
    whole, raced = (
        GridSearchCV(estimator, grid, cv=3, racing=racing, prove="full").fit(X, y) for racing in (False, True)
    )
    assert raced.best_index_ == whole.best_index_ and raced.best_params_ == whole.best_params_
    bounds = [[search.cv_results_[f"mean_test_score_{end}"] for end in ("low", "high")] for search in (raced, whole)]
    if isinstance(estimator, gl.SVR):  # a fit begins where that of the last C ended, which a race may have left out
        widths = [np.ptp(search.selection_.score) for search in (raced, whole)]
        assert abs(raced.best_score_ - whole.best_score_) <= sum(widths)
    else:
        assert raced.best_score_ == whole.best_score_ and raced.selection_.score == whole.selection_.score
        bounds[1] = [whole.cv_results_["mean_test_score"]] * 2
    (low, high), (whole_low, whole_high) = bounds
    assert np.isfinite(low).any() and np.isfinite(high).any()
    assert (low <= whole_high + 1e-12).all() and (whole_low <= high + 1e-12).all()
    assert raced.selection_.proven == whole.selection_.proven


def test_a_race_saves_fits_and_says_which():
    grid = {"svc__C": [0.01, 0.1, 1, 10], "svc__gamma": [1e-3, 1e-2, 1.0]}
    pipeline = make_pipeline(StandardScaler(), gl.SVC())
    whole = GridSearchCV(pipeline, grid).fit(*CANCER)
    raced = GridSearchCV(pipeline, grid, racing=True, return_train_score=True, n_jobs=2).fit(*CANCER)
    assert raced.best_params_ == whole.best_params_ and not_run(whole) == 0 and not_run(raced) >= 12
    dropped = np.isnan(raced.cv_results_["mean_test_score"])
    ranks = raced.cv_results_["rank_test_score"]
    assert dropped.any() and (ranks[dropped] == ranks.max()).all() and (ranks[~dropped] < ranks.max()).all()
    assert (raced.cv_results_["mean_test_score_high"][dropped] < raced.selection_.score[0]).all()
    assert np.isnan(raced.cv_results_["mean_train_score"][dropped]).all()
    assert not set(np.flatnonzero(dropped)) & set(raced.selection_.tied)


def test_decided_scores_are_those_of_a_tight_tol():
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.1, 1.0]}
    for X, y in (IRIS, CANCER):
        X = StandardScaler().fit_transform(X)
        mine = GridSearchCV(gl.SVC(tol=0.1), grid, prove="full").fit(X, y)
        tight = theirs.GridSearchCV(gl.SVC(tol=1e-8), grid).fit(X, y)
        decided = mine.cv_results_["mean_test_score_low"] == mine.cv_results_["mean_test_score_high"]
        assert decided.all()
        for key in SPLITS:
            np.testing.assert_array_equal(mine.cv_results_[key], tight.cv_results_[key])
            np.testing.assert_array_equal(mine.cv_results_[f"{key}_low"], tight.cv_results_[key])
        assert mine.best_params_ == tight.best_params_ and mine.selection_.proven
        assert mine.best_estimator_.tol == 0.1 and not mine.best_estimator_.warm_start


def test_regressions_that_are_close_are_trained_on_until_they_are_separated():
    X, y = DIABETES
    X = StandardScaler().fit_transform(X)
    grid = {"C": [50.0, 51.0, 1.0], "gamma": [0.01]}
    for scoring in (None, "neg_mean_squared_error", "neg_mean_absolute_error", "neg_root_mean_squared_error"):
        FITS.clear()
        search = GridSearchCV(Recording(tol=0.1), grid, scoring=scoring, prove="full").fit(X, y)
        tight = theirs.GridSearchCV(gl.SVR(tol=1e-10), grid, scoring=scoring).fit(X, y)
        low, high = (search.cv_results_[f"mean_test_score_{end}"] for end in ("low", "high"))
        assert search.selection_.proven and search.best_index_ == tight.best_index_
        score = tight.cv_results_["mean_test_score"]
        assert (low <= score).all() and (score <= high).all()
        assert set(FITS) == {50.0, 51.0}  # those that were trained on


def test_what_a_selection_says():
    def results(low, high, score=None):
        low, high = np.array(low), np.array(high)
        score = 0.5 * (low + high) if score is None else np.array(score)
        return {"mean_test_score": score, "mean_test_score_low": low, "mean_test_score_high": high}

    assert select(1, results([0.5, 0.9], [0.6, 0.9]), "score") == Selection(1, True, (1,), (0.9, 0.9))
    assert select(0, results([0.9, 0.9], [0.9, 0.9]), "score") == Selection(0, True, (0, 1), (0.9, 0.9))
    assert select(0, results([0.8, 0.7], [0.9, 0.85]), "score") == Selection(0, False, (0, 1), (0.8, 0.9))
    nan = float("nan")
    # A candidate that failed cannot win; one without an interval may.
    assert select(0, results([0.8, nan], [0.8, nan], [0.8, nan]), "score") == Selection(0, True, (0,), (0.8, 0.8))
    assert select(0, results([0.8, nan], [0.8, nan], [0.8, 0.7]), "score") == Selection(0, False, (0, 1), (0.8, 0.8))
    assert select(0, results([nan, 0.8], [nan, 0.8], [0.9, 0.8]), "score") is None
    assert select(0, {"mean_test_score": np.ones(2)}, "score") is None
    assert "candidates 1, 2 and 4 may have a better one" in str(Selection(0, False, (0, 1, 2, 4), (0.1, 0.2)))


def test_where_there_is_nothing_to_prove(capsys):
    X, y = IRIS
    GridSearchCV(gl.SVC(), {"C": [1.0]}, racing=True, scoring="f1_macro", verbose=1).fit(X, y)
    assert "No candidate is dropped: the choice is not made by a metric with intervals." in capsys.readouterr().out
    quiet = {"param_grid": {"C": [0.1, 1.0]}, "racing": True}
    for settings_ in ({"scoring": "f1_macro"}, {"scoring": lambda e, X, y: e.score(X, y)}):
        search = GridSearchCV(gl.SVC(), **quiet, **settings_).fit(X, y)
        assert search.selection_ is None and not_run(search) == 0
        assert not any(key.endswith(("_low", "_high")) for key in search.cv_results_)
    # Who chooses by a function of all results gets all results.
    search = GridSearchCV(gl.SVC(), **quiet, refit=lambda results: 1).fit(X, y)
    assert search.selection_ is None and not_run(search) == 0 and "mean_test_score_low" in search.cv_results_
    other = GridSearchCV(RidgeClassifier(), {"alpha": [1.0]}, racing=True).fit(X, y)
    assert other.selection_ is None
    given = GridSearchCV(gl.SVC(kernel="precomputed"), **quiet).fit(X @ X.T, y)
    assert given.selection_ is None and not_run(given) == 0
    with pytest.raises(InvalidParameterError, match="'racing' parameter of GridSearchCV must be"):
        GridSearchCV(gl.SVC(), {"C": [1.0]}, racing="yes").fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "data", "scorer"),
    [
        (gl.SVC(), IRIS, make_scorer(accuracy_score, greater_is_better=False)),
        (gl.SVC(), IRIS, make_scorer(zero_one_loss)),
        (gl.SVR(), DIABETES, make_scorer(mean_squared_error)),
    ],
)
def test_whoever_looks_for_the_worst_gets_all_results(estimator, data, scorer):
    grid = {"C": [0.01, 1.0, 10.0]}
    search = GridSearchCV(estimator, grid, scoring=scorer, racing=True).fit(*data)
    other = theirs.GridSearchCV(estimator, grid, scoring=scorer).fit(*data)
    assert search.selection_ is None and not_run(search) == 0 and search.best_index_ == other.best_index_


def test_several_metrics_are_raced_by_the_one_that_decides():
    X, y = CANCER
    grid = {"C": [1e-3, 1.0], "gamma": [1.0, 1e-6]}
    settings_ = {"scoring": ["balanced_accuracy", "f1", "accuracy"], "refit": "balanced_accuracy"}
    whole, raced = (GridSearchCV(gl.SVC(), grid, **settings_, racing=racing).fit(X, y) for racing in (False, True))
    assert raced.best_params_ == whole.best_params_ and raced.selection_.index == raced.best_index_
    for name in ("balanced_accuracy", "accuracy"):
        low, high = (whole.cv_results_[f"mean_test_{name}_{end}"] for end in ("low", "high"))
        score = whole.cv_results_[f"mean_test_{name}"]
        assert (low <= score).all() and (score <= high).all()
    assert "mean_test_f1_low" not in whole.cv_results_
    assert np.isnan(raced.cv_results_["mean_test_f1"]).any()


def test_failed_fits_neither_win_nor_race():
    X, y = IRIS
    with pytest.warns(match="5 fits failed|scores are non-finite"):
        search = GridSearchCV(gl.NuSVC(), {"nu": [2.0, 0.1, 0.2]}).fit(X, y)
    assert 0 not in search.selection_.tied
    assert np.isnan(search.cv_results_["mean_test_score_high"][0])
    with pytest.warns(match="fits? failed"):
        search = GridSearchCV(gl.NuSVC(), {"nu": [2.0, 0.1, 0.2]}, error_score=0.0, racing=True).fit(X, y)
    assert search.cv_results_["split0_test_score_high"][0] == 0.0 and search.best_index_ > 0


def test_failed_regressions_are_no_rivals():
    X, y = DIABETES
    with pytest.warns(match="5 fits failed|scores are non-finite"):
        search = GridSearchCV(gl.NuSVR(tol=0.1), {"nu": [2.0, 0.5, 0.51]}).fit(X, y)
    assert search.selection_.proven and 0 not in search.selection_.tied


def test_targets_that_a_metric_refuses_are_an_error_of_the_fits():
    X, y = DIABETES
    y = np.where(np.arange(len(y)) == 5, np.nan, y)
    cv = [(np.arange(20, 120), np.arange(20)), (np.arange(10, 110), np.arange(110, 120))]
    scores = []
    for module in (theirs, gl.model_selection):
        search = module.GridSearchCV(gl.SVR(), {"C": [1.0, 10.0]}, cv=cv, refit=False)
        with pytest.warns(match="Scoring failed|non-finite"):
            search.fit(X, y)
        scores.append(search.cv_results_["split0_test_score"])
        with pytest.raises(ValueError, match="All the 4 fits failed"):
            search.set_params(cv=[cv[0][::-1], (np.arange(20), np.arange(20))]).fit(X, y)
    np.testing.assert_array_equal(*scores)


def test_weights_of_samples_count_in_intervals():
    X, y = IRIS
    weight = np.where(np.arange(150) % 3 == 0, 5.0, 0.5)
    search = GridSearchCV(gl.NuSVC(), {"nu": [0.1, 0.2]}, scoring="accuracy", prove="full").fit(
        X, y, sample_weight=weight
    )
    for key in SPLITS:
        low, high = search.cv_results_[f"{key}_low"], search.cv_results_[f"{key}_high"]
        assert ((low <= search.cv_results_[key]) & (search.cv_results_[key] <= high)).all()
    assert search.selection_.proven


def test_draws_are_raced_as_well():
    search = RandomizedSearchCV(gl.SVC(), {"C": [0.01, 1.0, 10.0]}, n_iter=3, random_state=0, racing=True).fit(*IRIS)
    assert search.selection_.index == search.best_index_


def test_a_bound_on_a_fit_that_is_under_way_counts():
    race = Race(np.zeros((2, 2)), np.ones((2, 2)))
    for fold in range(2):
        race.put(0, fold, 0.9, 0.9, 0.9)
    race.bound(1, 0, 0.81)
    assert not race.is_out(1)  # 0.81 and 1
    race.bound(1, 1, 0.98)
    assert race.is_out(1)
    race.put(1, 0, 0.7, 0.7, 0.7)
    race.put(1, 1, 0.8, 0.8, 0.8)
    assert race.is_out(1) and not race.is_out(0)


def test_folds_are_fitted_in_the_groups_that_cost_least():
    race, every = Race(np.zeros((4, 5)), np.ones((4, 5))), [0, 1, 2, 3]
    assert race.next_folds(every, 0, 1) == range(5) and not race.has_finisher()  # nobody has been seen
    for fold in range(5):
        race.put(0, fold, 0.9, 0.9, 0.9)
    assert race.has_finisher()
    assert race.next_folds(every, 0, 1) == range(
        5
    )  # the only candidate that has been seen is not out after any number of folds
    race.put(1, 0, 0.3, 0.3, 0.3)
    race.put(2, 0, 0.7, 0.7, 0.7)
    # With 0.3 a candidate is out after one fold, with 0.7 after two: (1 × 0.3 + 4) / 5 and (2 × 0.7 + 3) / 5 are below 0.9.
    assert race.next_folds(every, 0, 1) == range(1)
    assert race.next_folds(every, 1, 1) == range(1, 2)
    assert race.next_folds(every, 2, 1) == range(2, 5)
    assert race.next_folds([3], 0, 1) == range(1)  # who has not been seen is taken to be like the others
    assert race.next_folds([0, 3], 1, 1) == range(1, 5)
    # A fold that is fitted alone takes half as long again where two are fitted at once.
    assert race.next_folds(every, 0, 2) == range(2)
    race = Race(np.zeros((4, 5)), np.ones((4, 5)))
    for fold in range(5):
        race.put(0, fold, 0.6, 0.6, 0.6)
        race.put(1, fold, 0.58, 0.58, 0.58)
    assert race.next_folds(every, 0, 1) == range(5)  # who is so close is out after all folds at the earliest
