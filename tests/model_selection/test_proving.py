"""How far the choice of a search is proven, and what that takes: a share of the work of all fits, unless the whole proof is asked for."""

from __future__ import annotations

import itertools
import math
import threading
import time

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.kernels import FunctionKernel
from gapless.model_selection import GridSearchCV, RandomizedSearchCV
from gapless.model_selection.kernel_table import Tables
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.work import FIT, SHARE, kernel_work, work_of


def clusters(n, classes=2, seed=0):
    """Overlapping clusters, with some labels drawn anew."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(2 * classes, 5))
    of = rng.integers(0, len(centres), size=n)
    y = np.where(rng.random(n) < 0.1, rng.integers(0, classes, size=n), of % classes)
    return centres[of] + rng.normal(size=(n, 5)), y


def measured(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


SEARCHES = {
    "SVC": (gl.SVC(tol=0.1), {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.3]}),
    "NuSVC": (gl.NuSVC(tol=0.1), {"nu": [0.3, 0.4, 0.5], "gamma": [0.05, 0.3]}),
    "LinearSVC": (gl.LinearSVC(tol=0.1, random_state=0), {"C": [0.01, 0.1, 1.0]}),
    "SVR": (gl.SVR(tol=0.1), {"C": [0.1, 1.0, 1.1], "gamma": [0.05, 0.3]}),
    "NuSVR": (gl.NuSVR(tol=0.1), {"C": [0.1, 1.0, 1.1], "gamma": [0.05, 0.3]}),
    "LinearSVR": (gl.LinearSVR(tol=0.1, random_state=0), {"C": [0.01, 0.1, 1.0]}),
    "pipeline": (make_pipeline(StandardScaler(), gl.SVC(tol=0.1)), {"svc__C": [0.1, 1.0, 1.1]}),
}


def search_of(name, **options):
    estimator, grid = SEARCHES[name]
    return GridSearchCV(clone(estimator), grid, **{"cv": 3, "refit": False, **options})


def data_of(name, n=150):
    estimator, _ = SEARCHES[name]
    return clusters(n) if is_classifier(estimator) else measured(n)


@pytest.fixture
def gone_on(monkeypatch):
    """The fits that have gone on, with their bounds."""
    found, go_on = [], OneByOne.go_on

    def recording(self, candidate, rows, place, start, tol, **bounds):
        fitted = go_on(self, candidate, rows, place, start, tol, **bounds)
        found.append((place, tol, bounds, fitted))
        return fitted

    monkeypatch.setattr(OneByOne, "go_on", recording)
    return found


@pytest.mark.parametrize("name", SEARCHES)
def test_the_whole_proof_agrees_with_what_a_share_of_it_leaves_open(name):
    X, y = data_of(name)
    bounded, whole = (search_of(name, prove=prove).fit(X, y) for prove in ("bounded", "full"))
    assert whole.best_index_ in bounded.selection_.tied
    assert set(whole.selection_.tied) <= set(bounded.selection_.tied)
    for end, sign in (("low", 1), ("high", -1)):
        # Both bound the score of the same optimum.
        other = {"low": "high", "high": "low"}[end]
        ends, others = bounded.cv_results_[f"mean_test_score_{end}"], whole.cv_results_[f"mean_test_score_{other}"]
        assert (sign * ends <= sign * others + 1e-12).all()
    if bounded.selection_.proven:
        assert whole.selection_.proven and whole.best_index_ == bounded.best_index_


@pytest.mark.parametrize("name", SEARCHES)
def test_the_result_depends_neither_on_the_clock_nor_on_threads(name, monkeypatch):
    X, y = data_of(name)
    first = search_of(name).fit(X, y)
    clock = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: 1e4 * clock())
    slow = search_of(name).fit(X, y)
    monkeypatch.undo()
    threads = search_of(name, n_jobs=2).fit(X, y)
    for other in (slow, threads):
        assert other.selection_ == first.selection_ and other.best_params_ == first.best_params_
        for key, values in first.cv_results_.items():
            if "score" in key and "time" not in key:
                np.testing.assert_array_equal(other.cv_results_[key], values, err_msg=key)


@pytest.mark.parametrize("name", ["NuSVC", "LinearSVC", "NuSVR", "SVR"])
def test_a_proof_takes_a_share_of_the_fits(name, gone_on):
    X, y = data_of(name, 600)
    estimator, _ = SEARCHES[name]
    # A fit alone is that of every fold, so that its work is known without the search.
    folds = list(sklearn.model_selection.check_cv(3, y, classifier=is_classifier(estimator)).split(X, y))
    search = search_of(name, cv=folds).fit(X, y)
    made = 0.0
    for params, (train, _) in itertools.product(search.cv_results_["params"], folds):
        made += (
            FIT + work_of(clone(estimator).set_params(**params).fit(X[train], y[train]), len(train), X.shape[1]).total
        )
    spent = sum(FIT + fitted.estimator.n_iter_ for _, _, _, fitted in gone_on if fitted.error is None)
    assert np.sum(spent) <= SHARE * 1.5 * made  # fits that share work count as they are, which is not quite as much
    assert all(0 < bounds["steps"] < math.inf and bounds["checks"] > 1 for _, _, bounds, _ in gone_on)
    gone_on.clear()
    search_of(name, cv=folds, prove="full").fit(X, y)
    assert all(not bounds for _, _, bounds, _ in gone_on)


def test_the_best_candidates_go_on_first(gone_on):
    X, y = measured(700)
    grid = {"C": [*np.geomspace(0.1, 1.0, 20).tolist(), 5.0, 5.5]}
    search = GridSearchCV(gl.NuSVR(tol=0.01, gamma=0.3), grid, cv=3, refit=False).fit(X, y)
    assert gone_on and {place[0] for place, *_ in gone_on} <= {20, 21}
    assert search.best_index_ in {20, 21} and {20, 21} >= {k for k in search.selection_.tied if k > 19}


def test_a_proof_that_would_separate_nothing_is_not_begun(gone_on):
    """Two candidates that are hard to tell apart, and no others whose fits would pay for the proof; a whole proof is made all the same."""
    X, y = measured(300)
    for prove, begins in (("bounded", False), ("full", True)):
        search = GridSearchCV(gl.NuSVR(tol=0.05), {"C": [5.0, 5.5]}, cv=3, refit=False, prove=prove).fit(X, y)
        assert bool(gone_on) is begins
        assert search.selection_.proven or not begins or len(search.selection_.tied) == 2


def test_equal_rows_do_not_make_a_proof_long(gone_on):
    """Few distinct rows with many targets: rounding is in the way of small gaps, and proofs with twice the digits would take long."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(116, 2)).astype(float)
    y = X[:, 0] + rng.normal(size=116)
    search = GridSearchCV(gl.SVR(), {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.selection_ is not None and len(gone_on) <= 8 * 3
    theirs = sklearn.model_selection.GridSearchCV(gl.SVR(tol=1e-8), search.param_grid, cv=3).fit(X, y)
    low, high = (search.cv_results_[f"mean_test_score_{end}"] for end in ("low", "high"))
    exact = theirs.cv_results_["mean_test_score"]
    assert (low <= exact + 1e-6).all() and (exact <= high + 1e-6).all()


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR"])
def test_fits_side_by_side_and_without_a_table_give_the_same_scores(name, monkeypatch):
    estimator, grid = SEARCHES[name]
    X, y = data_of(name)
    tight = clone(estimator).set_params(tol=1e-8)
    theirs = sklearn.model_selection.GridSearchCV(tight, grid, cv=3, refit=False).fit(X, y)
    monkeypatch.setattr("gapless.model_selection.one_by_one._LONG", 0)
    for shares in (True, False):
        monkeypatch.setattr("gapless.model_selection.shared.pays", lambda *_, shares=shares: shares)
        ours = GridSearchCV(tight, grid, cv=3, refit=False).fit(X, y)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=0, atol=1e-6
        )
        np.testing.assert_array_equal(ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"])


def test_large_searches_of_few_candidates_make_no_table(monkeypatch):
    def never(self, kernel):
        raise AssertionError("A table was made.")

    monkeypatch.setattr(Tables, "table", never)
    X, y = clusters(4500)
    GridSearchCV(gl.SVC(), {"C": [0.1, 1.0]}, cv=2, refit=False).fit(X, y)
    with pytest.raises(AssertionError, match="A table was made"):
        GridSearchCV(gl.SVC(), {"C": [0.1, 1.0], "gamma": [0.1]}, cv=2, refit=False).fit(X[:300], y[:300])


def test_functions_of_a_user_are_called_from_one_thread(monkeypatch):
    monkeypatch.setattr("gapless.model_selection.one_by_one._LONG", 0)
    X, y = clusters(80)
    seen = set()

    def plain(a, b):
        seen.add(threading.get_ident())
        return a @ b.T

    GridSearchCV(gl.SVC(kernel=FunctionKernel(plain)), {"C": [0.1, 1.0]}, cv=2, refit=False).fit(X, y)
    GridSearchCV(gl.SVC(kernel="linear"), {"kernel": [plain]}, cv=2, refit=False).fit(X, y)

    class Own(gl.SVC):
        def fit(self, X, y):
            seen.add(threading.get_ident())
            return super().fit(X, y)

    GridSearchCV(Own(), {"C": [0.2, 0.3]}, cv=2, refit=False).fit(X, y)
    assert seen == {threading.get_ident()}


# ---------------------------------------------------------------------------------------------------------------------------------------------------
# Costs that are equal but for rounding.


def unequal(weight):
    """7 samples against 16, of which ``"balanced"`` makes totals that are equal, and unequal by 6.5e-19 as they are stored."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(63, 2))
    y = np.r_[np.zeros(7), np.ones(16), np.arange(40) % 2].astype(int)
    X[y == 1] += 0.5
    folds = [(np.arange(23), np.arange(23, 63))]
    return gl.SVC(class_weight=weight, gamma=0.5), X, y, folds


@pytest.mark.parametrize("prove", ["bounded", "full"])
@pytest.mark.parametrize("kind", [gl.SVC, type("Alone", (gl.SVC,), {})], ids=["shared", "alone"])
def test_a_score_stays_open_where_costs_differ_by_rounding(kind, prove):
    estimator, X, y, folds = unequal("balanced")
    (train, test), estimator = folds[0], kind(**estimator.get_params())
    search = GridSearchCV(estimator, {"C": [0.001]}, cv=folds, refit=False, prove=prove).fit(X, y)
    model = clone(estimator).set_params(C=0.001).fit(X[train], y[train])
    low, high = model.decision_interval(X[test])
    is_open = (low <= 0) & (high >= 0)
    assert is_open.all()
    least, most = search.selection_.score
    right = model.predict(X[test]) == y[test]
    assert least <= np.mean(right & ~is_open) and most >= np.mean(right | is_open)


@pytest.mark.parametrize("kind", [gl.SVC, type("Alone", (gl.SVC,), {})], ids=["shared", "alone"])
@pytest.mark.parametrize(("weight", "minority"), [(None, 16), ({0: 16.0, 1: 7.0}, 7)])
def test_a_score_is_decided_where_costs_are_equal(kind, weight, minority):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(minority + 16 + 40, 2))
    y = np.r_[np.zeros(minority), np.ones(16), np.arange(40) % 2].astype(int)
    train, test = np.arange(minority + 16), np.arange(minority + 16, len(y))
    search = GridSearchCV(
        kind(class_weight=weight, gamma=0.5), {"C": [2.0**-10]}, cv=[(train, test)], refit=False, prove="full"
    )
    low, high = search.fit(X, y).selection_.score
    assert low == high


# ---------------------------------------------------------------------------------------------------------------------------------------------------
# Races.


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_race_chooses_the_same_where_that_is_proven_and_a_tied_one_elsewhere(name, seed):
    n = 90
    X, y = clusters(n, seed=seed) if is_classifier(SEARCHES[name][0]) else measured(n, seed)
    whole, raced = (search_of(name, racing=racing).fit(X, y) for racing in (False, True))
    if whole.selection_.proven and raced.selection_.proven:
        assert raced.best_score_ == pytest.approx(whole.best_score_, abs=1e-12) or not is_classifier(SEARCHES[name][0])
    assert raced.best_index_ in whole.selection_.tied and whole.best_index_ in raced.selection_.tied


# ---------------------------------------------------------------------------------------------------------------------------------------------------
# What is said, and what goes on later.


def test_the_whole_proof_says_what_is_left(capsys):
    X, y = measured(120)
    search = GridSearchCV(gl.SVR(tol=0.1), {"C": [1.0, 1.01]}, cv=3, verbose=1, prove="full").fit(X, y)
    assert "The proof of the choice: " in capsys.readouterr().out and search.selection_ is not None


def test_the_parameter():
    X, y = clusters(60)
    with pytest.raises(ValueError, match=r"The 'prove' parameter of GridSearchCV must be a str among {'(bounded|full)"):
        GridSearchCV(gl.SVC(), {"C": [1.0]}, prove="all").fit(X, y)
    drawn = RandomizedSearchCV(gl.SVC(), {"C": [0.1, 1.0]}, n_iter=2, random_state=0, prove="full").fit(X, y)
    assert drawn.selection_ is not None and clone(drawn).prove == "full"


@pytest.mark.parametrize("name", ["NuSVC", "NuSVR"])
def test_a_search_that_is_done_fits_nothing_when_it_is_run_again(name, tmp_path, gone_on):
    X, y = data_of(name, 1500)
    path = tmp_path / "fits"
    more = {
        "NuSVC": {"nu": np.linspace(0.25, 0.6, 8).tolist()},
        "NuSVR": {"C": [0.01, 0.02, 0.03, 0.05, 0.1, 0.5, 3.0]},
    }
    grid = SEARCHES[name][1] | more[name]
    first = search_of(name, resume=path, cv=4).set_params(param_grid=grid).fit(X, y)
    assert gone_on
    gone_on.clear()
    again = search_of(name, resume=path, cv=4).set_params(param_grid=grid).fit(X, y)
    assert not gone_on and again.selection_ == first.selection_
    # One of which a part is missing begins those fits anew whose scores are open.
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 3]))
    assert search_of(name, resume=path, cv=4).set_params(param_grid=grid).fit(X, y).selection_ == first.selection_


def test_work_is_what_it_is_made_of():
    work = kernel_work(10, 100, 5.0, 7.0)
    assert work.total == work.proof + 7.0 * work.step and work.proof > 1000
    assert work._replace(spared=FIT).total == FIT + work.total
    model = gl.LinearSVC().fit(*clusters(50))
    assert work_of(model, 50, 5.0).steps == model.n_iter_
