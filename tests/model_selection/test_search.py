"""What a search shares, what it says, and what happens where a fit fails; that the choice is scikit-learn's is tested beside."""

from __future__ import annotations

import inspect
import pickle
import re
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection as theirs
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gapless as gl
from gapless.model_selection import GridSearchCV, RandomizedSearchCV
from gapless.model_selection.engine import engine_for, is_ours
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.steps import PipelineFits

X, Y = load_iris(return_X_y=True)
FITS = []


class Counting(TransformerMixin, BaseEstimator):
    """Changes nothing, and counts its fits; a negative shift is an error."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y=None):
        if self.shift < 0:
            raise ValueError("a negative shift")
        FITS.append(self.shift)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        if isinstance(X, csr_array):
            return csr_array(X.toarray() + self.shift)
        return X + self.shift


class Recording(gl.SVC):
    """Keeps the threads that it was fitted in."""

    def fit(self, X, y, sample_weight=None):
        FITS.append(threading.get_ident())
        return super().fit(X, y, sample_weight)


class Everything:
    """The wishes of a search that wants all fits, decided or not."""

    needs_intervals = decides = races = False

    def most_work(self, candidate):
        return np.inf

    def wanted(self, candidate, fold):
        return True

    def begin(self, candidate, fold):
        return self.wanted(candidate, fold)

    def open_rows(self, candidate, fold, low, high):
        return None

    def by_promise(self):
        return []

    def has_finisher(self):
        return True

    def next_folds(self, candidates, begin, at_once):
        return range(begin, 100)


ALL = Everything()


@pytest.fixture(autouse=True)
def _no_fits():
    FITS.clear()


def pipeline():
    return Pipeline([("count", Counting()), ("svm", gl.SVC())])


@pytest.mark.parametrize(
    ("grid", "fits"),
    [
        ({"svm__C": [0.1, 1, 10], "svm__gamma": [0.1, 1]}, 3),
        ({"count__shift": [0.0, 1.0], "svm__C": [0.1, 1, 10]}, 6),
        ({"svm__C": [0.1, 1], "svm": [gl.SVC(), gl.LinearSVC()]}, 3),
        ([{"svm__C": [0.1, 1]}, {"svm__gamma": [0.1, 1]}, {"count__shift": [0.0]}], 6),
        ({"count": [Counting(1.0)], "svm__C": [0.1, 1]}, 3),
        ({"steps": [[("count", Counting()), ("svm", gl.SVC(C=C))] for C in (0.1, 1)]}, 6),
    ],
    ids=str,
)
def test_a_transformer_is_fitted_once_a_fold(grid, fits):
    GridSearchCV(pipeline(), grid, cv=3, refit=False, scoring="f1_macro").fit(X, Y)  # a metric without intervals
    assert len(FITS) == fits


def test_a_pipeline_of_other_estimators_is_left_to_scikit_learn():
    GridSearchCV(make_pipeline(Counting(), RidgeClassifier()), {"ridgeclassifier__alpha": [1, 2]}, cv=3).fit(X, Y)
    assert len(FITS) == 2 * 3 + 1


def test_the_times_of_shared_steps_are_divided_among_the_candidates():
    fits = engine_for(pipeline(), X, Y, {})
    rows = np.arange(len(X))
    times = [each.fit_time for each in fits.fit_all([{"svm__C": C} for C in (0.1, 1, 10)], [(rows, rows[:0])], ALL)]
    assert len(times) == 3 and min(times) > 0


def test_which_estimators_are_ours():
    class Own(Pipeline):
        pass

    assert all(is_ours(each) for each in (gl.SVC(), gl.LinearSVR(), gl.OneClassSVM(), pipeline(), Recording()))
    others = (RidgeClassifier(), BaggingClassifier(gl.SVC()), Own([("svm", gl.SVC())]), make_pipeline(StandardScaler()))
    assert not any(is_ours(each) for each in (*others, make_pipeline(gl.SVC(), "passthrough"), "none"))


def test_folds_run_in_threads():
    GridSearchCV(Recording(), {"C": [1, 10]}, n_jobs=2, cv=4, refit=False).fit(X, Y)
    assert len(FITS) >= 8 and threading.get_ident() not in FITS


def test_folds_run_in_threads_whatever_joblib_is_told():
    with joblib.parallel_config(backend="loky"):
        GridSearchCV(Recording(), {"C": [1, 10]}, n_jobs=2, cv=4, refit=False).fit(X, Y)
    assert len(FITS) >= 8 and threading.get_ident() not in FITS


def test_an_engine_makes_the_fits_that_are_wanted():
    class Wish(Everything):
        def wanted(self, candidate, fold):
            return (candidate + fold) % 2 == 0

    rows = np.arange(0, 150, 2), np.arange(1, 150, 2)
    for estimator, name in ((gl.SVC(), "C"), (gl.NuSVC(nu=0.2), "gamma"), (pipeline(), "svm__C")):
        FITS.clear()
        fits = engine_for(estimator, X, Y, {}, n_jobs=2)
        made = list(fits.fit_all([{name: value} for value in (0.1, 1.0, 10.0)], [rows, rows[::-1]], Wish()))
        assert sorted((each.candidate, each.fold) for each in made) == [(0, 0), (1, 1), (2, 0)]
        assert all(each.error is None and each.estimator is each.estimator for each in made)
        assert all(each.estimator.get_params()[name] == (0.1, 1.0, 10.0)[each.candidate] for each in made)


def test_the_last_step_is_told_the_test_rows_as_well():
    seen = []

    def engine(last, X, y, params, n_jobs=None):
        class Seeing(OneByOne):
            def fit_all(self, candidates, folds, wishes):
                seen.append((self.X, self.y, folds))
                return super().fit_all(candidates, folds, wishes)

        return Seeing(last, X, y, params)

    rows = np.arange(0, 150, 2), np.arange(1, 150, 2)
    for before, samples in ((Counting(1.0), X), (Counting(1.0), csr_array(X)), (Counting(1.0), pd.DataFrame(X))):
        whole = Pipeline([("count", before), ("svm", gl.SVC())])
        (fitted,) = PipelineFits(whole, samples, Y, {}, None, last_step=engine).fit_all([{}], [rows], ALL)
        stacked, y, [(train, test)] = seen.pop()
        assert type(stacked) is type(samples)
        dense = stacked.toarray() if isinstance(stacked, csr_array) else np.asarray(stacked)
        np.testing.assert_array_equal(dense, X[np.concatenate(rows)] + 1.0)
        np.testing.assert_array_equal(y, Y[np.concatenate(rows)])
        assert (len(train), len(test)) == (75, 75) and fitted.estimator.score(samples, Y) > 0.9
    # With parameters of fit, or without a way to transform other rows, the last step is fitted without them.
    for params, before in (({"svm__sample_weight": np.ones(150)}, Counting()), ({}, FunctionTransformer(_only_75))):
        whole = Pipeline([("count", before), ("svm", gl.SVC())])
        shifted = rows[0], rows[1][:20]
        (fitted,) = PipelineFits(whole, X, Y, params, None, last_step=engine).fit_all([{}], [shifted], ALL)
        stacked, y, [(train, test)] = seen.pop()
        assert (len(stacked), len(y), len(train), len(test)) == (75, 75, 75, 0) and fitted.error is None


def _only_75(X):
    if len(X) != 75:
        raise ValueError("not the training rows")
    return X


# --- what is said


def test_verbose_says_what_is_shared(capsys):
    GridSearchCV(gl.NuSVC(), {"nu": [0.1, 0.3]}, cv=3, verbose=1).fit(X, Y)
    assert capsys.readouterr().out.splitlines() == [
        "Fitting 3 folds for each of 2 candidates, totalling 6 fits",
        "NuSVC: candidates share the checked rows of a fold, and those with one kernel go on from a smaller nu to a larger one.",
    ]
    GridSearchCV(gl.SVC(), {"C": [1, 10]}, cv=3, verbose=1).fit(X, Y)
    assert capsys.readouterr().out.splitlines()[1] == (
        "SVC: candidates with one kernel share its Gram matrix where that pays, and go on from a smaller C to a larger one."
    )
    GridSearchCV(pipeline(), {"svm__C": [1, 10], "count__shift": [0.0, 1.0]}, cv=3, verbose=1).fit(X, Y)
    assert capsys.readouterr().out.splitlines()[1] == (
        "Pipeline: the steps before 'svm' are fitted 2 times a fold for 4 candidates. "
        "SVC: candidates with one kernel share its Gram matrix where that pays, and go on from a smaller C to a larger one."
    )
    GridSearchCV(pipeline(), {"svm__C": [1]}, cv=3, verbose=1).fit(X, Y)
    assert capsys.readouterr().out.splitlines()[1] == (
        "Pipeline: the steps before 'svm' are fitted once a fold for 1 candidate. "
        "SVC: candidates with one kernel share its Gram matrix where that pays, and go on from a smaller C to a larger one."
    )
    GridSearchCV(pipeline(), {"svm": [gl.NuSVC(), gl.SVR(), gl.LinearSVC()]}, cv=3, verbose=1, scoring="r2").fit(X, Y)
    assert capsys.readouterr().out.splitlines()[1] == (
        "Pipeline: the steps before 'svm' are fitted once a fold for 3 candidates."
        " NuSVC: candidates share the checked rows of a fold, and those with one kernel go on from a smaller nu to a larger one."
        " SVR: candidates with one kernel share its Gram matrix where that pays, and go on from a smaller C to a larger one."
        " LinearSVC: candidates share the checked rows of a fold, and those that differ in C alone go on from a smaller C to a larger one."
    )
    GridSearchCV(pipeline(), {"steps": [[("svm", gl.SVC())]]}, cv=3, verbose=1).fit(X, Y)
    assert capsys.readouterr().out.splitlines()[1] == (
        "Pipeline: the candidates replace its steps, so that no step is shared. Pipeline: 1 candidate is fitted one by one."
    )


@pytest.mark.parametrize("verbose", [0, 2, 3, 10])
@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1_macro"]])
@pytest.mark.parametrize("train", [False, True])
def test_the_lines_of_fits_are_scikit_learns(capsys, verbose, scoring, train):
    lines = []
    for kind in (GridSearchCV, theirs.GridSearchCV):
        settings = {"scoring": scoring, "refit": False, "return_train_score": train, "verbose": verbose}
        kind(gl.SVC(), {"C": [1, 10]}, cv=2, **settings).fit(X, Y)
        said = capsys.readouterr().out.splitlines()
        # The order is by folds and not by candidates, and the time may round differently.
        lines.append(sorted(re.sub(r"=\s+\S+s$", "", line) for line in said if line.startswith("[CV")))
    assert lines[0] == lines[1] and bool(lines[0]) == (verbose > 1)


def test_callbacks_are_told_of_every_fit(capsys):
    pytest.importorskip("sklearn.callback")

    class Telling:
        def __init__(self):
            self.ended = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **data):
            pass

        def on_fit_task_end(self, estimator, context, **data):
            self.ended.append(context.task_name)

    counts = []
    for kind in (GridSearchCV, theirs.GridSearchCV):
        telling = Telling()
        kind(gl.SVC(), {"C": [1, 10]}, cv=3, verbose=1).set_callbacks(telling).fit(X, Y)
        counts.append(sorted(telling.ended))
    assert counts[0] == counts[1] and counts[0].count("candidate-split-evaluation") == 6
    assert capsys.readouterr().out.startswith(
        "Callbacks are set, which are told of every fit: the candidates are fitted one by one."
    )


# --- where a fit fails


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("score", [np.nan, -1.0])
def test_a_failed_fit_has_the_score_that_was_asked_for(score):
    results = []
    for kind in (GridSearchCV, theirs.GridSearchCV):
        search = kind(gl.NuSVC(), {"nu": [0.1, 2.0]}, cv=3, error_score=score)
        with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 6") as caught:
            search.fit(X, Y)
        assert any("nu" in str(each.message) and "InvalidInputError" in str(each.message) for each in caught)
        results.append(search.cv_results_)
    np.testing.assert_array_equal(results[0]["mean_test_score"], results[1]["mean_test_score"])
    np.testing.assert_array_equal(results[0]["rank_test_score"], results[1]["rank_test_score"])


def test_a_failed_step_fails_the_candidates_that_share_it():
    grid = {"count__shift": [0.0, -1.0], "svm__C": [1, 10]}
    search = GridSearchCV(pipeline(), grid, cv=3, error_score=0.0, scoring=["accuracy", "f1_macro"], refit="accuracy")
    with pytest.warns(
        FitFailedWarning, match="6 fits failed with the following error:\n(.|\n)*ValueError: a negative shift"
    ):
        search.fit(X, Y)
    assert (search.cv_results_["mean_test_f1_macro"][2:] == 0).all() and len(FITS) == 3 + 1


def test_a_failed_fit_ends_the_search_where_that_is_asked_for():
    with pytest.raises(ValueError, match="a negative shift"):
        GridSearchCV(pipeline(), {"count__shift": [0.0, -1.0]}, error_score="raise").fit(X, Y)
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        GridSearchCV(gl.NuSVC(), {"nu": [2.0]}).fit(X, Y)


@pytest.mark.parametrize("estimator", [gl.SVC(), pipeline()])
def test_an_unknown_parameter_ends_the_search(estimator):
    with pytest.raises(ValueError, match="Invalid parameter 'unknown'"):
        GridSearchCV(estimator, {"unknown": [1]}).fit(X, Y)


def test_wrong_folds_and_empty_ones_are_refused():
    class Short(theirs.KFold):
        def get_n_splits(self, *args, **kwargs):
            return 9

    with pytest.raises(ValueError, match="Expected 9 splits, got 5"):
        GridSearchCV(gl.SVC(), {"C": [1]}, cv=Short(5)).fit(X, Y)
    with pytest.raises(ValueError, match="No fits were performed"):
        GridSearchCV(gl.SVC(), {"C": [1]}, cv=iter([])).fit(X, Y)


# --- as an object


def test_pickle_clone_and_parameters():
    search = GridSearchCV(pipeline(), {"svm__C": [1, 10]}, cv=3).fit(X, Y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert again.best_params_ == search.best_params_
    fresh = clone(search).set_params(estimator__svm__kernel="linear", cv=4)
    assert not hasattr(fresh, "best_params_")
    assert fresh.fit(X, Y).n_splits_ == 4 and fresh.best_estimator_["svm"].kernel == "linear"
    assert gl.certify(search.best_estimator_["svm"], X, Y).relative_gap <= 1e-3


def test_the_constructors_are_scikit_learns():
    for kind in (GridSearchCV, RandomizedSearchCV):
        name = kind.__name__
        ours, others = (inspect.signature(each).parameters for each in (kind, getattr(theirs, name)))
        assert list(ours) == [*others, "racing", "resume", "prove"] and issubclass(kind, getattr(theirs, name))
        assert all((ours[key].default, ours[key].kind) == (others[key].default, others[key].kind) for key in others)
        assert f"{name}({'estimator=SVC()'}" in repr(kind(gl.SVC(), {"C": [1]})).replace("\n", "")


def test_the_estimator_that_was_given_stays_unfitted():
    given = pipeline()
    GridSearchCV(given, {"svm__C": [1, 10]}, cv=3).fit(X, Y)
    assert not hasattr(given["svm"], "support_") and not hasattr(given["count"], "n_features_in_")


def test_one_by_one_gives_what_a_fit_by_hand_gives():
    rows = np.arange(0, 150, 2)
    (fitted,) = OneByOne(gl.SVC(), X, Y, {"sample_weight": np.arange(1.0, 151.0)}).fit_all(
        [{"C": 3}], [(rows, rows[:0])], ALL
    )
    by_hand = gl.SVC(C=3).fit(X[rows], Y[rows], np.arange(1.0, 151.0)[rows])
    np.testing.assert_array_equal(fitted.estimator.dual_coef_, by_hand.dual_coef_)
