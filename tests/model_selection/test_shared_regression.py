"""Fits of SVR that share their work: each is the estimator that a fit by itself gives, within what both have proven."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.model_selection
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.kernels import RBF, Linear
from gapless.model_selection import GridSearchCV
from gapless.model_selection.engine import engine_for
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.shared import SharedFits

CV = KFold(3, shuffle=True, random_state=0)
METRIC = "neg_mean_absolute_error"


def data(n: int = 80, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)


X, Y = data()


class Alone(gl.SVR):
    """An estimator whose candidates share nothing."""


def assert_contains(search, exact, folds: int) -> None:
    """The intervals of a search hold its own scores, and those of the same search at a far smaller tol."""
    for k in range(folds):
        key = f"split{k}_test_score"
        low, high = (search.cv_results_[f"{key}_{end}"] for end in ("low", "high"))
        for score in (search.cv_results_[key], exact.cv_results_[key]):
            assert (low <= score + 1e-9).all() and (score <= high + 1e-9).all()


def fits_of(search, X, y, **params):
    """The estimators that a search fits: for each candidate those of all folds."""
    seen = defaultdict(list)

    def score(estimator, X, y, sample_weight=None):
        seen[str(estimator.get_params())].append(estimator)
        return float(-np.abs(estimator.predict(X) - y).mean())

    search.set_params(scoring=score, refit=False).fit(X, y, **params)
    return seen


def count_alone(monkeypatch) -> list[int]:
    """What counts the fits that were made one by one."""
    alone = []
    original = OneByOne.fit_all

    def fit_all(self, candidates, folds, wishes):
        for fitted in original(self, candidates, folds, wishes):
            alone.append(fitted.candidate)
            yield fitted

    monkeypatch.setattr(OneByOne, "fit_all", fit_all)
    return alone


GRIDS = {
    "rbf": {"C": [10.0, 0.1, 1.0], "gamma": [0.1, 1.0], "epsilon": [0.0, 0.1, 0.5]},
    "scale": {"C": [1.0, 100.0], "gamma": ["scale", "auto"], "epsilon": [0.2, 0.02]},
    "kernels": {"kernel": ["linear", "poly", "sigmoid", RBF(0.3) + Linear()], "C": [0.05, 5.0]},
    "tol": {"tol": [1e-2, 1e-6], "C": [1.0, 30.0]},
}


@pytest.mark.parametrize("grid", GRIDS)
def test_each_fit_is_that_of_the_estimator_by_itself(grid):
    ours = fits_of(GridSearchCV(gl.SVR(), GRIDS[grid], cv=CV), X, Y)
    alone = fits_of(sklearn.model_selection.GridSearchCV(gl.SVR(), GRIDS[grid], cv=CV), X, Y)
    assert ours.keys() == alone.keys()
    for name in ours:
        for one, other in zip(ours[name], alone[name], strict=True):
            assert one.fit_status_ == 0 and one.shape_fit_ == other.shape_fit_ and "_given" not in vars(one)
            assert one.dual_coef_.shape == (1, len(one.support_)) and one.n_support_.tolist() == [len(one.support_)]
            assert one.intercept_.shape == (1,) and isinstance(one.n_iter_, int)
            assert one.trace_.iterations and one.alpha_.max() <= one.C * (1 + 1e-12)
            assert one.certificate_.kkt_violation <= one.tol
            if one.kernel == "sigmoid":  # which has no gap
                continue
            a, b = one.certificate_, other.certificate_
            assert a.relative_gap <= one.tol and max(a.dual, b.dual) <= min(a.primal, b.primal)
            (low, high), (others_low, others_high) = one.decision_interval(X), other.decision_interval(X)
            assert (low <= others_high).all() and (others_low <= high).all()


def test_a_shared_model_proves_what_it_says():
    """Both bounds from the definition, at the model that the estimator keeps."""
    weight = np.linspace(0.5, 2.0, len(Y))
    grid = {"C": [0.1, 10.0, 1e3], "epsilon": [0.0, 0.3]}
    for models in fits_of(GridSearchCV(gl.SVR(gamma=0.3), grid, cv=CV), X, Y, sample_weight=weight).values():
        for model, (train, _) in zip(models, CV.split(X), strict=True):
            samples, y, cost = X[train], Y[train], model.C * weight[train]
            K = np.exp(-0.3 * ((samples[:, None] - samples[None]) ** 2).sum(-1))
            beta = np.zeros(len(train))
            beta[model.support_] = model.dual_coef_[0]
            f = K @ beta
            loss = np.maximum(0.0, np.abs(y - f - model.intercept_[0]) - model.epsilon)
            primal = 0.5 * beta @ f + cost @ loss
            dual = y @ beta - model.epsilon * np.abs(beta).sum() - 0.5 * beta @ f
            certificate = model.certificate_
            assert abs(beta.sum()) <= 1e-9 * cost.sum() and (np.abs(beta) <= cost * (1 + 1e-12)).all()
            assert_allclose([primal, dual], [certificate.primal, certificate.dual], rtol=1e-8)
            assert certificate.relative_gap <= model.tol


@pytest.mark.parametrize("scoring", [None, METRIC, "neg_mean_squared_error", "explained_variance"])
def test_scores_are_those_of_fits_one_by_one(scoring):
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5], "epsilon": [0.05, 0.3]}
    tight = gl.SVR(tol=1e-8)
    ours = GridSearchCV(tight, grid, cv=CV, scoring=scoring).fit(X, Y)
    alone = sklearn.model_selection.GridSearchCV(tight, grid, cv=CV, scoring=scoring).fit(X, Y)
    for k in range(3):
        key = f"split{k}_test_score"
        assert_allclose(ours.cv_results_[key], alone.cv_results_[key], atol=1e-5)
    assert ours.best_params_ == alone.best_params_
    assert_allclose(ours.predict(X), alone.predict(X))


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 40), decimals=st.integers(0, 3), weighted=st.booleans())
def test_intervals_hold_the_score_of_a_thousandfold_smaller_tol(seed, n, decimals, weighted):
    """Of any targets, also of few values that many samples have."""
    X, y = data(n, seed)
    y = y.round(decimals)
    grid = {"C": [0.01, 1.0, 30.0], "epsilon": [0.01, 0.2], "gamma": [0.3]}
    params = {"sample_weight": np.random.default_rng(seed).uniform(0.2, 3.0, n)} if weighted else {}
    ours = GridSearchCV(gl.SVR(tol=1e-2), grid, cv=CV, scoring=METRIC, refit=False).fit(X, y, **params)
    # A model at a smaller tol is not the exact optimum either, and ours may be the closer one: what both prove must have a score in common.
    alone = GridSearchCV(Alone(tol=1e-5), grid, cv=CV, scoring=METRIC, refit=False).fit(X, y, **params)
    for k in range(3):
        low, high = (ours.cv_results_[f"split{k}_test_score_{end}"] for end in ("low", "high"))
        least, most = (alone.cv_results_[f"split{k}_test_score_{end}"] for end in ("low", "high"))
        score = ours.cv_results_[f"split{k}_test_score"]
        assert (low <= score + 1e-9).all() and (score <= high + 1e-9).all()
        assert (low <= most + 1e-9).all() and (least <= high + 1e-9).all()


def twice(n: int):
    """A fold that trains on some samples twice, and one that scores some of those that it trains on."""
    rows = np.arange(n)
    return [(np.concatenate([rows[: n // 2], rows[: n // 4]]), rows[n // 2 :]), (rows[5:], rows[:15])]


@pytest.mark.parametrize(
    "cv",
    [ShuffleSplit(3, test_size=0.3, random_state=0), RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), twice(80)],
    ids=["shuffle", "repeated", "twice"],
)
@pytest.mark.parametrize("kind", [gl.SVR, gl.SVC])
def test_folds_that_are_no_partition(cv, kind):
    y = Y if kind is gl.SVR else (Y > 0).astype(int)
    grid = {"C": [0.1, 10.0], "gamma": [0.3]}
    ours = GridSearchCV(kind(tol=1e-7), grid, cv=cv, return_train_score=True).fit(X, y)
    alone = sklearn.model_selection.GridSearchCV(kind(tol=1e-7), grid, cv=cv, return_train_score=True).fit(X, y)
    for key, scores in alone.cv_results_.items():
        if key.startswith("split"):
            assert_allclose(ours.cv_results_[key], scores, atol=1e-5)


def test_a_pipeline_shares_within_a_fold(monkeypatch):
    alone = count_alone(monkeypatch)
    grid = {"svr__C": [0.1, 1.0, 10.0], "svr__epsilon": [0.1, 0.4]}
    pipeline = make_pipeline(StandardScaler(), gl.SVR(tol=1e-7))
    ours = GridSearchCV(pipeline, grid, cv=CV, verbose=0).fit(X, Y)
    assert not alone
    exact = sklearn.model_selection.GridSearchCV(pipeline, grid, cv=CV).fit(X, Y)
    assert_contains(ours, exact, 3)
    assert ours.best_params_ == exact.best_params_


@pytest.mark.parametrize("samples", [X.astype(np.float32), sp.csr_array(X), X.tolist()], ids=["float32", "CSR", "list"])
def test_samples_of_every_kind(samples):
    ours = GridSearchCV(gl.SVR(tol=1e-6), {"C": [0.1, 10.0]}, cv=CV).fit(samples, Y.tolist())
    exact = sklearn.model_selection.GridSearchCV(gl.SVR(tol=1e-9), {"C": [0.1, 10.0]}, cv=CV).fit(samples, Y)
    assert_contains(ours, exact, 3)


def test_racing_and_several_metrics():
    grid = {"C": [1e-4, 1.0, 10.0], "gamma": [1e-4, 0.3], "epsilon": [0.1, 2.0]}
    scoring = {"r2": "r2", "error": "neg_mean_squared_error"}
    whole, raced = (
        GridSearchCV(gl.SVR(), grid, cv=CV, scoring=scoring, refit="error", racing=racing).fit(X, Y)
        for racing in (False, True)
    )
    assert raced.best_params_ == whole.best_params_ and whole.selection_.proven and raced.selection_.proven
    dropped = np.isnan(raced.cv_results_["mean_test_error"])
    assert dropped.any() and not dropped[raced.best_index_]


def test_close_candidates_are_separated_from_where_the_shared_table_left_them(monkeypatch):
    alone = count_alone(monkeypatch)
    search = GridSearchCV(
        gl.SVR(tol=0.1), {"C": [1.0, 1.05, 0.01], "gamma": [0.3]}, cv=CV, scoring=METRIC, prove="full"
    )
    search.fit(X, Y)
    assert search.selection_.proven and not alone
    exact = sklearn.model_selection.GridSearchCV(gl.SVR(tol=1e-9), search.param_grid, cv=CV, scoring=METRIC).fit(X, Y)
    assert search.best_index_ == exact.best_index_
    assert_contains(search, exact, 3)
    low, high = (search.cv_results_[f"mean_test_score_{end}"] for end in ("low", "high"))
    assert (high - low)[2] > 10 * (high - low)[:2].max()  # which was not close


def test_only_svr_itself_shares():
    class Own(gl.SVR):
        pass

    assert isinstance(engine_for(gl.SVR(), X, Y, {}), SharedFits)
    for estimator in (gl.KernelPerceptron(), Own()):
        assert isinstance(engine_for(estimator, X, Y, {}), OneByOne)


def test_what_is_out_of_the_ordinary_is_fitted_as_always(monkeypatch):
    seen = []
    cases = [
        (gl.SVR(kernel="precomputed"), X @ X.T, {}),
        (gl.SVR(kernel=lambda A, B: A @ B.T), X, {}),
        (gl.SVR(solver="smo"), X, {}),
        (gl.SVR(max_time=60.0), X, {}),
        (gl.SVR(callback=lambda progress: seen.append(progress) and False), X, {}),
        (gl.SVR(), X, {"sample_weight": np.arange(len(Y)) % 3}),
    ]
    for estimator, samples, params in cases:
        alone = count_alone(monkeypatch)
        ours = GridSearchCV(estimator, {"C": [1.0, 2.0]}, cv=CV, scoring="explained_variance", refit=False)
        ours.fit(samples, Y, **params)
        assert sorted(alone) == [0, 0, 0, 1, 1, 1]
        theirs = sklearn.model_selection.GridSearchCV(estimator, {"C": [1.0, 2.0]}, cv=CV, scoring="explained_variance")
        theirs.fit(samples, Y, **params)
        for k in range(3):
            assert_array_equal(ours.cv_results_[f"split{k}_test_score"], theirs.cv_results_[f"split{k}_test_score"])
    assert seen


@pytest.mark.parametrize(
    ("name", "values"), [("epsilon", [0.1, -1.0]), ("C", [1.0, 0.0]), ("gamma", [0.1, -2.0]), ("cache_size", [9, -9])]
)
def test_parameters_that_are_wrong(name, values):
    with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 6"):
        search = GridSearchCV(gl.SVR(), {name: values}, cv=CV, error_score=-9.0).fit(X, Y)
    assert (search.cv_results_["mean_test_score"] == -9.0).tolist() == [False, True]


def test_a_tube_around_all_targets_and_targets_that_are_all_the_same():
    """The optimum is zero, and so are all gaps."""
    for y, epsilon in ((Y, 50.0), (np.full(len(Y), 3.0), 0.1)):
        grid = {"C": [1.0, 10.0], "epsilon": [epsilon]}
        ours = GridSearchCV(gl.SVR(), grid, cv=CV, scoring=METRIC).fit(X, y)
        alone = sklearn.model_selection.GridSearchCV(gl.SVR(), grid, cv=CV, scoring=METRIC).fit(X, y)
        assert_contains(ours, alone, 3)
        for k in range(3):
            key = f"split{k}_test_score"
            assert_allclose(ours.cv_results_[key], alone.cv_results_[key], atol=1e-9)


def test_targets_of_every_scale():
    """A fit whose problem the native call has not done goes on from there, as after a fit by itself."""
    for scale in (1e-6, 1e6):
        grid = {"C": [1.0, 10.0], "epsilon": [0.1 * scale]}
        ours = fits_of(GridSearchCV(gl.SVR(), grid, cv=CV), X, scale * Y)
        for model in (each for models in ours.values() for each in models):
            assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
            assert model.certificate_.kkt_violation <= model.tol


def test_a_fit_goes_on_where_the_native_call_stopped(monkeypatch):
    monkeypatch.setattr("gapless.model_selection.members._TURNS", 0.2)
    grid = {"C": [1.0, 30.0], "epsilon": [0.01]}
    ours = fits_of(GridSearchCV(gl.SVR(gamma=0.3), grid, cv=CV), X, Y)
    alone = fits_of(sklearn.model_selection.GridSearchCV(gl.SVR(gamma=0.3), grid, cv=CV), X, Y)
    for name in ours:
        for one, other in zip(ours[name], alone[name], strict=True):
            a, b = one.certificate_, other.certificate_
            assert one.fit_status_ == 0 and one.n_iter_ >= 0.2 * len(Y) * 2 / 3 and len(one.trace_.iterations) > 1
            assert a.relative_gap <= one.tol and max(a.dual, b.dual) <= min(a.primal, b.primal)


def test_targets_that_no_regression_takes():
    for y in (np.column_stack([Y, Y]), np.where(Y > 0, np.nan, Y), np.array(["a", "b"] * 40)):
        with pytest.raises(ValueError, match=r".+"):
            GridSearchCV(gl.SVR(), {"C": [1.0]}, cv=CV, error_score="raise").fit(X, y)
