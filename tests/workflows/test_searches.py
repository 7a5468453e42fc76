"""Searches over the parameters of support vector machines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import make_scorer, precision_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    ParameterGrid,
    PredefinedSplit,
    RandomizedSearchCV,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.estimators.data import cancer, diabetes, iris
from tests.workflows.agreement import assert_close_values, assert_same_labels, other

# Two counts of right answers may differ by a sample whose decision is near zero.
ONE_SAMPLE = 1.1


def assert_same_search(search: Any, twin: Any, smallest_fold: int) -> None:
    """The same parameters win, and each mean score differs by no more than one sample of the smallest fold."""
    assert search.best_params_ == twin.best_params_
    assert search.best_index_ == twin.best_index_
    assert search.n_splits_ == twin.n_splits_
    assert set(search.cv_results_) == set(twin.cv_results_)
    scores, expected = (each.cv_results_["mean_test_score"] for each in (search, twin))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=ONE_SAMPLE / smallest_fold)


def test_grid_over_c_and_gamma(svm: ModuleType) -> None:
    X, y = iris()
    grid = {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.1, "scale"]}
    search, twin = (GridSearchCV(each.SVC(), grid, cv=3).fit(X, y) for each in (svm, other(svm)))
    assert_same_search(search, twin, 50)
    assert search.best_score_ > 0.97
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 12 and table["mean_fit_time"].gt(0).all()
    assert table.pivot_table(index="param_C", columns="param_gamma", values="mean_test_score").shape == (4, 3)
    assert isinstance(search.best_estimator_, svm.SVC) and search.best_params_["C"] == search.best_estimator_.C


def test_grid_over_kernels_each_with_its_own_parameters(svm: ModuleType) -> None:
    X, y = cancer()
    grid: list[dict[str, Any]] = [
        {"svc__kernel": ["linear"], "svc__C": [0.01, 0.1, 1]},
        {"svc__kernel": ["rbf", "sigmoid"], "svc__C": [1, 10], "svc__gamma": [0.001, 0.01]},
        {"svc__kernel": ["poly"], "svc__degree": [2, 3]},
    ]
    searches = [
        GridSearchCV(Pipeline([("scale", StandardScaler()), ("svc", each.SVC())]), grid, cv=4).fit(X, y)
        for each in (svm, other(svm))
    ]
    assert_same_search(*searches, 50)
    table = pd.DataFrame(searches[0].cv_results_)
    best = table.groupby("param_svc__kernel")["mean_test_score"].max()
    assert sorted(best.index) == ["linear", "poly", "rbf", "sigmoid"] and best.max() == searches[0].best_score_


def test_random_search_over_a_log_scale(svm: ModuleType) -> None:
    X, y = cancer()
    space = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1e0), "class_weight": [{0: 2.0}, None]}
    search, twin = (
        RandomizedSearchCV(each.SVC(), space, n_iter=12, cv=4, random_state=0).fit(X, y) for each in (svm, other(svm))
    )
    assert_same_search(search, twin, 50)
    assert 1e-2 <= search.best_params_["C"] <= 1e3
    assert search.cv_results_["params"] == twin.cv_results_["params"]


def test_halving(svm: ModuleType) -> None:
    X, y = cancer()
    grid = {"C": [0.01, 0.1, 1, 10], "kernel": ["linear", "rbf"]}
    search, twin = (
        HalvingGridSearchCV(each.SVC(), grid, cv=3, factor=2, random_state=0).fit(X, y) for each in (svm, other(svm))
    )
    assert search.n_resources_ == twin.n_resources_ and search.n_candidates_ == twin.n_candidates_
    assert search.best_params_ == twin.best_params_


def test_several_metrics_and_the_one_to_refit_by(svm: ModuleType) -> None:
    X, y = cancer()
    scoring = {"auc": "roc_auc", "accuracy": "accuracy", "precision": make_scorer(precision_score, pos_label=0)}
    search, twin = (
        GridSearchCV(each.SVC(), {"C": [0.1, 1, 10]}, scoring=scoring, refit="auc", cv=4, return_train_score=True).fit(
            X, y
        )
        for each in (svm, other(svm))
    )
    assert search.best_params_ == twin.best_params_
    for name in ("auc", "accuracy", "precision"):
        for part in ("test", "train"):
            scores, expected = (each.cv_results_[f"mean_{part}_{name}"] for each in (search, twin))
            np.testing.assert_allclose(scores, expected, rtol=0, atol=ONE_SAMPLE / 50)
    assert search.score(X, y) == pytest.approx(search.scorer_["auc"](search.best_estimator_, X, y))


def test_nested_cross_validation(svm: ModuleType) -> None:
    X, y = iris()

    def scores(svm: ModuleType) -> np.ndarray:
        inner = GridSearchCV(
            svm.SVC(kernel="rbf"), {"C": [1, 10, 100], "gamma": [0.01, 0.1]}, cv=KFold(3, shuffle=True, random_state=1)
        )
        return cross_val_score(inner, X, y, cv=KFold(4, shuffle=True, random_state=1))

    found = scores(svm)
    assert found.shape == (4,) and found.mean() > 0.93
    np.testing.assert_allclose(found, scores(other(svm)), rtol=0, atol=ONE_SAMPLE / 37)


def simplest_within_a_standard_error(results: dict[str, Any]) -> int:
    best = np.argmax(results["mean_test_score"])
    least = results["mean_test_score"][best] - results["std_test_score"][best]
    good = np.flatnonzero(results["mean_test_score"] >= least)
    return int(good[np.argmin(results["param_C"][good].astype(float))])


def test_refit_by_a_function(svm: ModuleType) -> None:
    X, y = cancer()
    grid = {"C": [0.001, 0.01, 0.1, 1.0]}
    search, twin = (
        GridSearchCV(each.LinearSVC(), grid, refit=simplest_within_a_standard_error, cv=5).fit(X, y)
        for each in (svm, other(svm))
    )
    assert search.best_params_ == twin.best_params_
    assert search.best_params_["C"] < 1.0 and not hasattr(search, "best_score_")
    assert_same_labels(search, twin, X)


def test_groups_stay_together(svm: ModuleType) -> None:
    X, y = cancer()
    groups = np.arange(len(y)) // 10
    search, twin = (
        GridSearchCV(each.SVC(), {"C": [0.1, 1, 10]}, cv=GroupKFold(4)).fit(X, y, groups=groups)
        for each in (svm, other(svm))
    )
    assert_same_search(search, twin, 50)


def test_search_in_two_processes(svm: ModuleType) -> None:
    X, y = cancer()
    alone, together = (GridSearchCV(svm.SVC(), {"C": [0.1, 1, 10]}, cv=3, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(alone.decision_function(X), together.decision_function(X))


class GramMatrix(TransformerMixin, BaseEstimator):
    """Kernel values with the samples of fit."""

    def __init__(self, kernel: Any = rbf_kernel, gamma: float = 0.1) -> None:
        self.kernel = kernel
        self.gamma = gamma

    def fit(self, X: Any, y: Any = None) -> GramMatrix:
        self.samples_ = X
        return self

    def transform(self, X: Any) -> np.ndarray:
        return self.kernel(X, self.samples_, gamma=self.gamma)


def test_search_over_precomputed_kernels(svm: ModuleType) -> None:
    """A step computes the Gram matrix, so that its parameters, and the kernel itself, are searched like any other."""
    X, y = cancer()
    grid = {"gram__kernel": [rbf_kernel, laplacian_kernel], "gram__gamma": [0.01, 0.1]}
    searches = [
        GridSearchCV(Pipeline([("gram", GramMatrix()), ("svc", each.SVC(kernel="precomputed"))]), grid, cv=4).fit(X, y)
        for each in (svm, other(svm))
    ]
    assert_same_search(*searches, 50)


def test_search_on_one_gram_matrix(svm: ModuleType) -> None:
    """Folds of a precomputed kernel are cut out of its rows and its columns, by the tag that says so."""
    X, y = iris()
    K = rbf_kernel(X, gamma=0.1)
    search = GridSearchCV(svm.SVC(kernel="precomputed", tol=1e-6), {"C": [0.1, 1, 10]}, cv=5).fit(K, y)
    on_features = GridSearchCV(svm.SVC(gamma=0.1, tol=1e-6), {"C": [0.1, 1, 10]}, cv=5).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], on_features.cv_results_["mean_test_score"])
    assert search.best_estimator_.shape_fit_ == (150, 150)
    np.testing.assert_array_equal(search.predict(K), on_features.predict(X))


def test_folds_given_or_in_the_order_of_time(svm: ModuleType) -> None:
    X, y = diabetes()
    given = PredefinedSplit(np.where(np.arange(len(y)) < 150, -1, 0))
    for cv in (given, TimeSeriesSplit(3)):
        search, twin = (
            GridSearchCV(
                each.SVR(), {"C": [0.1, 1, 10], "epsilon": [0.05, 0.2]}, cv=cv, scoring="neg_mean_absolute_error"
            ).fit(X, y)
            for each in (svm, other(svm))
        )
        assert search.best_params_ == twin.best_params_
        assert search.best_score_ == pytest.approx(twin.best_score_, rel=1e-3)


def test_predictions_of_held_out_folds(svm: ModuleType) -> None:
    X, y = cancer()
    decisions, expected = (
        cross_val_predict(make_pipeline(StandardScaler(), each.SVC()), X, y, cv=4, method="decision_function")
        for each in (svm, other(svm))
    )
    assert_close_values(decisions, expected)
    assert ((decisions > 0) == y).mean() > 0.93


def test_parameters_that_fail_score_nan(svm: ModuleType) -> None:
    """ν that no class has samples for: a search goes on, warns, and ranks the candidate last."""
    X, y = cancer()
    X, y = X[np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:20]]], np.r_[np.zeros((y == 0).sum()), np.ones(20)]
    with pytest.warns(Warning) as told:
        search = GridSearchCV(svm.NuSVC(), {"nu": [0.1, 0.9]}, cv=StratifiedKFold(3)).fit(X, y)
    assert len(told) == 2  # the folds that failed, and the scores that are not finite
    assert "specified nu is infeasible" in str(told[0].message)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert search.best_params_ == {"nu": 0.1}


def test_loop_over_a_grid_by_hand(svm: ModuleType) -> None:
    X, y = iris()
    names = [(p["kernel"], p["C"]) for p in ParameterGrid({"kernel": ["linear", "rbf"], "C": [1, 10]})]
    scores = [
        [
            each.SVC(**p).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
            for p in ParameterGrid({"kernel": ["linear", "rbf"], "C": [1, 10]})
        ]
        for each in (svm, other(svm))
    ]
    assert len(names) == 4 and all(type(score) is float for score in scores[0])
    assert scores[0] == pytest.approx(scores[1], abs=ONE_SAMPLE / 75) and min(scores[0]) > 0.9
