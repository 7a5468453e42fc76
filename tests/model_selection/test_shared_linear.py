"""Linear fits of a search that share their work: each is the estimator that a fit by itself gives, within what both have proven."""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.model_selection
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.estimators import linear
from gapless.model_selection import GridSearchCV
from gapless.model_selection.linear_chain import LinearChains

CV = StratifiedKFold(3, shuffle=True, random_state=0)
ROWS = KFold(3, shuffle=True, random_state=0)
SCORES = [f"split{k}_test_score" for k in range(3)]
TIGHT = 1e-9


def labelled(classes: int = 3, n: int = 90, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(classes, 4))[y] + 0.8 * rng.normal(size=(n, 4)), np.array(["b", "a", "d", "c"])[y]


def measured(n: int = 90, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=n)


def fits_of(search, X, y, **params):
    """The estimators that a search fits: for each candidate those of all folds."""
    seen = defaultdict(list)

    def score(estimator, X, y):
        seen[str(estimator.get_params())].append(estimator)
        return 0.0

    search.set_params(scoring=score, refit=False).fit(X, y, **params)
    return seen


CASES = {
    "squared hinge": (gl.LinearSVC(), {"C": [10.0, 0.001, 1.0, 1000.0]}, 2),
    "several classes": (gl.LinearSVC(), {"C": [10.0, 0.1, 1.0], "loss": ["hinge", "squared_hinge"]}, 4),
    "free intercept": (gl.LinearSVC(intercept="free", loss="hinge"), {"C": [0.1, 10.0, 0.01]}, 2),
    "no intercept": (gl.LinearSVC(fit_intercept=False), {"C": [1, np.float32(10), np.int64(3)]}, 3),
    "class weights": (gl.LinearSVC(), {"C": [0.1, 10.0], "class_weight": [None, "balanced", {"a": 3.0}]}, 3),
    "crammer singer": (gl.LinearSVC(multi_class="crammer_singer"), {"C": [0.1, 10.0, 1.0]}, 3),
    "two at once": (gl.LinearSVC(multi_class="crammer_singer"), {"C": [0.1, 10.0, 1.0]}, 2),
    "l1": (gl.LinearSVC(), {"C": [0.1, 1.0], "penalty": ["l1", "l2"]}, 2),
    "solvers": (gl.LinearSVC(loss="hinge", max_iter=10_000), {"C": [0.1, 1.0], "solver": ["sdca", "auto"]}, 2),
    "hard margin": (gl.LinearSVC(loss="hinge"), {"C": [np.inf, 1.0]}, "separable"),
    "regression": (gl.LinearSVR(), {"C": [10.0, 0.01, 1.0], "epsilon": [0.0, 0.2]}, 0),
    "squared errors": (gl.LinearSVR(loss="squared_epsilon_insensitive"), {"C": [10.0, 0.01, 1.0]}, 0),
}


def data_of(kind):
    if kind == "separable":
        X, y = labelled(2)
        return X + 20.0 * (y == "a")[:, None], y
    return labelled(kind) if kind else measured()


@pytest.mark.filterwarnings("ignore:The scoring .* does not support sample_weight")  # all scores are zero
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_each_fit_is_that_of_the_estimator_by_itself(name, weighted):
    estimator, grid, kind = CASES[name]
    X, y = data_of(kind)
    cv = CV if kind else ROWS
    params = {"sample_weight": np.random.default_rng(1).uniform(0.5, 2.0, len(y))} if weighted else {}
    if name == "hard margin" and weighted:
        params["sample_weight"][:5] = 0.0
    estimator = clone(estimator).set_params(tol=TIGHT, random_state=0, max_iter=100_000)
    ours = fits_of(GridSearchCV(estimator, grid, cv=cv), X, y, **params)
    alone = fits_of(sklearn.model_selection.GridSearchCV(estimator, grid, cv=cv), X, y, **params)
    assert ours.keys() == alone.keys()
    for name in ours:
        assert len(ours[name]) == 3
        for one, other in zip(ours[name], alone[name], strict=True):
            assert_array_equal(getattr(one, "classes_", None), getattr(other, "classes_", None))
            assert vars(one).keys() == vars(other).keys()
            assert repr(one.get_params()) == repr(other.get_params())
            assert 1 <= one.n_iter_ <= one.max_iter and one.n_features_in_ == 4
            assert one.coef_.shape == other.coef_.shape
            for a, b in zip(one.certificates_, other.certificates_, strict=True):
                assert a.relative_gap <= TIGHT
                assert max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-12)
            low, high = one.decision_interval(X)
            theirs = other.decision_interval(X)
            assert (low <= theirs[1]).all() and (theirs[0] <= high).all()


@pytest.mark.parametrize("name", ["squared hinge", "several classes", "class weights", "crammer singer", "l1"])
def test_scores_are_those_of_scikit_learns_search_at_a_tight_tol(name):
    estimator, grid, classes = CASES[name]
    X, y = labelled(classes)
    tight = clone(estimator).set_params(tol=TIGHT, max_iter=100_000)
    ours = GridSearchCV(estimator, grid, cv=CV, prove="full").fit(X, y)
    alone = sklearn.model_selection.GridSearchCV(tight, grid, cv=CV).fit(X, y)
    for key in SCORES:
        assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])
        low, high = ours.cv_results_[f"{key}_low"], ours.cv_results_[f"{key}_high"]
        assert (low <= alone.cv_results_[key]).all() and (alone.cv_results_[key] <= high).all()
        if name not in ("l1", "crammer singer"):  # whose gap does not bound w, or hardly
            assert_array_equal(low, high)
    assert ours.best_params_ == alone.best_params_


class ByItself(gl.LinearSVR):
    """Fitted one by one, as a subclass may do whatever it likes."""


def test_intervals_of_regressions_hold_the_same_scores():
    X, y = measured()
    grid = {"C": [100.0, 0.01, 1.0], "epsilon": [0.1, 0.5]}
    ours, alone = (
        GridSearchCV(kind(tol=tol), grid, cv=ROWS, scoring="neg_mean_squared_error", prove="full").fit(X, y)
        for kind, tol in ((gl.LinearSVR, 1e-4), (ByItself, 1e-8))
    )
    for key in SCORES:
        assert (ours.cv_results_[f"{key}_low"] <= alone.cv_results_[f"{key}_high"]).all()
        assert (alone.cv_results_[f"{key}_low"] <= ours.cv_results_[f"{key}_high"]).all()
    assert ours.best_params_ == alone.best_params_ and ours.selection_.proven


@settings(max_examples=15, deadline=None)
@given(
    C=st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=5, unique=True),
    order=st.randoms(use_true_random=False),
    seed=st.integers(0, 99),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
)
def test_the_order_of_the_grid_does_not_matter(C, order, seed, loss):
    X, y = labelled(2, n=30, seed=seed)
    shuffled = C.copy()
    order.shuffle(shuffled)
    results = [
        dict(
            zip(
                search.cv_results_["param_C"].tolist(),
                np.transpose([search.cv_results_[key] for key in SCORES]).tolist(),
                strict=True,
            )
        )
        for search in (
            GridSearchCV(gl.LinearSVC(loss=loss, random_state=0), {"C": values}, cv=CV, refit=False).fit(X, y)
            for values in (C, shuffled)
        )
    ]
    assert results[0] == results[1]


def test_rows_are_checked_once_a_fold(monkeypatch):
    X, y = labelled(3)
    taken, original = [], linear.take_training_data
    monkeypatch.setattr(linear, "take_training_data", lambda *data: (taken.append(data[1].shape), original(*data))[1])
    GridSearchCV(gl.LinearSVC(), {"C": [0.1, 1.0, 10.0], "loss": ["hinge", "squared_hinge"]}, cv=CV).fit(X, y)
    assert taken == [(60, 4)] * 3 + [(90, 4)]  # the last is the final fit


def test_a_chain_goes_up(monkeypatch):
    """Fits begin where the fit of the next smaller C ended, which takes fewer iterations than to begin anew."""
    X, y = labelled(2, n=300)
    grid = {"C": np.logspace(3, -3, 13)}
    seen, original = [], linear.LinearSVC.fit
    monkeypatch.setattr(linear.LinearSVC, "fit", lambda self, *a, **k: (original(self, *a, **k), seen.append(self))[0])
    GridSearchCV(gl.LinearSVC(), grid, cv=CV, refit=False, scoring="roc_auc").fit(X, y)
    assert [each.C for each in seen] == sorted(grid["C"]) * 3
    chained = sum(each.n_iter_ for each in seen)
    del seen[:]
    sklearn.model_selection.GridSearchCV(gl.LinearSVC(), grid, cv=CV, refit=False, scoring="roc_auc").fit(X, y)
    assert chained < sum(each.n_iter_ for each in seen)


@pytest.mark.parametrize("classes", [2, 3])
def test_pipelines(classes, monkeypatch):
    X, y = labelled(classes)
    prepared, original = [], LinearChains.fit_all
    monkeypatch.setattr(
        LinearChains,
        "fit_all",
        lambda self, c, folds, wishes: (prepared.append((len(c), len(folds))), original(self, c, folds, wishes))[1],
    )
    pipeline, grid = make_pipeline(StandardScaler(), gl.LinearSVC(tol=1e-6)), {"linearsvc__C": [10.0, 0.1, 1.0]}
    ours = GridSearchCV(pipeline, grid, cv=CV).fit(X, y)
    alone = sklearn.model_selection.GridSearchCV(pipeline, grid, cv=CV).fit(X, y)
    assert prepared == [(3, 1)] * 3
    for key in SCORES:
        assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])
    assert ours.best_params_ == alone.best_params_


@pytest.mark.parametrize(
    "kind", [sp.csr_array, sp.csc_matrix, np.float32, np.asfortranarray, pd.DataFrame, np.ndarray.tolist]
)
def test_samples_of_every_kind(kind):
    X, y = labelled(3)
    if kind is pd.DataFrame:
        X, y = pd.DataFrame(X, columns=list("abcd")), pd.Series(y)
    else:
        X = kind(X)
    ours, alone = (
        module.GridSearchCV(gl.LinearSVC(tol=1e-6), {"C": [0.1, 1.0, 10.0]}, cv=CV).fit(X, y)
        for module in (gl.model_selection, sklearn.model_selection)
    )
    for key in SCORES:
        assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])
    if kind is pd.DataFrame:
        for models in fits_of(GridSearchCV(gl.LinearSVC(), {"C": [0.1, 1.0]}, cv=CV), X, y).values():
            assert all(model.feature_names_in_.tolist() == list("abcd") for model in models)


def test_threads_change_nothing():
    X, y = labelled(3)
    one, two = (
        GridSearchCV(gl.LinearSVC(random_state=0), {"C": np.logspace(-2, 2, 5)}, cv=CV, n_jobs=n).fit(X, y)
        for n in (None, 2)
    )
    for key in SCORES:
        assert_array_equal(one.cv_results_[key], two.cv_results_[key])


def test_racing_keeps_the_choice():
    X, y = labelled(3)
    every, racing = (
        GridSearchCV(gl.LinearSVC(), {"C": np.logspace(-3, 2, 8)}, cv=CV, racing=racing, prove="full").fit(X, y)
        for racing in (False, True)
    )
    assert every.best_params_ == racing.best_params_


def test_what_a_fit_says_is_kept():
    """Errors and warnings are those of fits one by one."""
    X, y = labelled(2)
    with pytest.warns(FitFailedWarning, match="C must be"), pytest.warns(UserWarning, match="non-finite"):
        failed = GridSearchCV(gl.LinearSVC(), {"C": [1.0, -1.0]}, cv=CV).fit(X, y)
    assert np.isnan(failed.cv_results_["mean_test_score"][1]) and failed.best_params_ == {"C": 1.0}
    with pytest.raises(ValueError, match="X contains infinity"):
        GridSearchCV(gl.LinearSVC(), {"C": [1.0, 2.0]}, cv=CV, error_score="raise").fit(np.where(X > 1, np.inf, X), y)
    hard = gl.LinearSVC(loss="hinge", max_iter=1, tol=1e-12, random_state=0)
    texts = []
    for module in (gl.model_selection, sklearn.model_selection):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.GridSearchCV(hard, {"C": [1.0, 100.0]}, cv=CV, refit=False, scoring="roc_auc").fit(X, y)
        assert {each.category for each in caught} == {ConvergenceWarning}
        texts.append([str(each.message) for each in caught])
    assert sorted(texts[0]) == sorted(texts[1])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "LinearSVC: candidates share the checked rows of a fold, and those that differ in C alone"),
        ({"penalty": ["l1", "l2"]}, "go on from a smaller C to a larger one. 2 candidates not among them."),
        ({"penalty": ["l1"]}, "LinearSVC: 2 candidates are fitted one by one."),
        ({"warm_start": [True]}, "LinearSVC: 2 candidates are fitted one by one."),
        ({"max_time": [60.0, None]}, "2 candidates not among them."),
    ],
)
def test_a_search_says_what_is_shared(settings, says, capsys):
    X, y = labelled(2)
    GridSearchCV(gl.LinearSVC(), {"C": [0.1, 1.0], **settings}, cv=CV, verbose=1).fit(X, y)
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("entries, threads", [(np.inf, {True}), (0.0, {False})])
def test_folds_run_side_by_side_where_a_pass_over_the_rows_is_long(entries, threads, monkeypatch):
    """Short fits are Python for the most part, which holds the interpreter's lock."""
    X, y = labelled(n=120)
    estimator, grid = gl.LinearSVC(tol=TIGHT), {"C": [0.1, 1.0, 10.0]}
    expected = GridSearchCV(estimator, grid, cv=CV, n_jobs=1).fit(X, y).cv_results_
    monkeypatch.setattr("gapless.model_selection.one_by_one._MANY", entries)
    monkeypatch.setattr("gapless.model_selection.one_by_one.thread_count", lambda: 2)
    here, taken = threading.get_ident(), set()
    take = linear.LinearFold.training_data

    def noted(self, estimator):
        taken.add(threading.get_ident() == here)
        return take(self, estimator)

    monkeypatch.setattr(linear.LinearFold, "training_data", noted)
    found = GridSearchCV(estimator, grid, cv=CV, refit=False).fit(X, y).cv_results_
    assert taken == threads
    for name in [*SCORES, "rank_test_score"]:
        assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize("estimator", [gl.LinearSVC(), gl.LinearSVC(loss="hinge"), gl.LinearSVR()])
def test_equal_candidates_have_equal_models(estimator):
    X, y = labelled(2) if isinstance(estimator, gl.LinearSVC) else measured()
    found = fits_of(GridSearchCV(estimator, {"C": [0.1, 0.1, 0.2, 0.2]}, cv=ROWS), X, y)
    assert len(found) == 2
    for fits in found.values():
        weights = {}
        for fit in fits:
            weights.setdefault(fit.coef_.tobytes(), []).append(fit)
        assert [len(each) for each in weights.values()] == [2, 2, 2]
