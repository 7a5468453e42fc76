"""Features selected by support vector machines, and the curves and tests that judge them."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.estimators.data import cancer, diabetes, iris
from tests.workflows.agreement import assert_same_form, assert_same_labels, other


def test_features_with_weights_under_an_l1_penalty(svm: ModuleType) -> None:
    X, y = cancer()

    def built(svm: ModuleType) -> SelectFromModel:
        return SelectFromModel(svm.LinearSVC(C=0.05, penalty="l1", dual=False, tol=1e-7, max_iter=100_000)).fit(X, y)

    model, twin = built(svm), built(other(svm))
    np.testing.assert_array_equal(model.get_support(), twin.get_support())
    assert 0 < model.get_support().sum() < 20
    assert model.transform(X).shape == (200, model.get_support().sum())
    assert model.threshold_ == twin.threshold_
    np.testing.assert_allclose(model.estimator_.coef_, twin.estimator_.coef_, atol=1e-4)


def test_smallest_c_that_keeps_a_feature(svm: ModuleType) -> None:
    X, y = cancer()
    least = svm.l1_min_c(X, y, loss="squared_hinge")
    assert least == pytest.approx(other(svm).l1_min_c(X, y, loss="squared_hinge"))
    kept = [
        np.count_nonzero(svm.LinearSVC(C=c * least, penalty="l1", dual=False, tol=1e-6).fit(X, y).coef_)
        for c in (0.99, 1.5)
    ]
    assert kept[0] == 0 < kept[1]


@pytest.mark.parametrize("name", ["SVC", "LinearSVC"])
def test_features_dropped_one_by_one(svm: ModuleType, name: str) -> None:
    X, y = cancer()
    parameters = {"kernel": "linear", "C": 0.1} if name == "SVC" else {"C": 0.1}
    model, twin = (
        RFE(getattr(each, name)(tol=1e-8, **parameters), n_features_to_select=6, step=2).fit(X, y)
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(model.ranking_, twin.ranking_)
    assert model.n_features_ == 6 and model.estimator_.coef_.shape == (1, 6)
    assert_same_labels(model, twin, X)


def test_number_of_features_by_cross_validation(svm: ModuleType) -> None:
    X, y = cancer()
    X = X[:, :10]
    model, twin = (
        RFECV(each.SVC(kernel="linear", tol=1e-8), cv=3, min_features_to_select=2).fit(X, y)
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(model.support_, twin.support_)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], twin.cv_results_["mean_test_score"], atol=1 / 66)
    assert list(model.cv_results_["n_features"]) == list(range(2, 11))


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_features_added_one_by_one(svm: ModuleType, direction: str) -> None:
    X, y = iris()
    model, twin = (
        SequentialFeatureSelector(each.SVC(tol=1e-6), n_features_to_select=2, direction=direction, cv=3).fit(X, y)
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(model.get_support(indices=True), twin.get_support(indices=True))
    assert model.transform(X).shape == (150, 2)


def test_learning_curve(svm: ModuleType) -> None:
    X, y = cancer()

    def curve(svm: ModuleType) -> tuple[np.ndarray, ...]:
        return learning_curve(
            svm.SVC(),
            X,
            y,
            train_sizes=[0.2, 0.5, 1.0],
            cv=ShuffleSplit(4, test_size=0.25, random_state=0),
            return_times=True,
        )

    sizes, train, test, fit_times, _ = curve(svm)
    assert sizes.tolist() == [30, 75, 150] and train.shape == test.shape == (3, 4) and (fit_times > 0).all()
    _, expected_train, expected_test, _, _ = curve(other(svm))
    np.testing.assert_allclose(train, expected_train, rtol=0, atol=1.1 / 30)
    np.testing.assert_allclose(test, expected_test, rtol=0, atol=1.1 / 50)
    assert test[-1].mean() > test[0].mean()


def test_validation_curve_of_gamma(svm: ModuleType) -> None:
    X, y = cancer()
    gammas = np.logspace(-4, 1, 6)
    (train, test), (expected_train, expected_test) = (
        validation_curve(each.SVC(), X, y, param_name="gamma", param_range=gammas, cv=4) for each in (svm, other(svm))
    )
    np.testing.assert_allclose(train, expected_train, rtol=0, atol=1.1 / 150)
    np.testing.assert_allclose(test, expected_test, rtol=0, atol=1.1 / 50)
    assert train[-1].min() == 1.0 > test[-1].max() and test.mean(axis=1).argmax() not in (0, 5)


def test_labels_permuted(svm: ModuleType) -> None:
    X, y = iris()
    noise = np.random.default_rng(0).normal(size=(len(y), 3))
    score, permuted, p = permutation_test_score(svm.SVC(), X, y, cv=3, n_permutations=15, random_state=0)
    assert score > 0.9 > permuted.max() and p == pytest.approx(1 / 16)
    _, _, p = permutation_test_score(svm.SVC(), noise, y, cv=3, n_permutations=15, random_state=0)
    assert p == pytest.approx(
        permutation_test_score(other(svm).SVC(), noise, y, cv=3, n_permutations=15, random_state=0)[2], abs=2.1 / 16
    )


def test_cross_validation_that_keeps_everything(svm: ModuleType) -> None:
    X, y = iris()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    results = cross_validate(
        make_pipeline(StandardScaler(), svm.SVC(kernel="linear")), frame, y, cv=4, return_estimator=True, return_indices=True,
        scoring=["accuracy", "f1_macro"], return_train_score=True,
    )  # fmt: skip
    assert len(results["estimator"]) == 4 and {"test_f1_macro", "train_accuracy"} <= set(results)
    for model, test, score in zip(
        results["estimator"], results["indices"]["test"], results["test_accuracy"], strict=True
    ):
        assert isinstance(model[-1], svm.SVC) and model[-1].coef_.shape == (3, 4)
        assert model.score(frame.iloc[test], y[test]) == score
    weights = np.array([np.abs(model[-1].coef_).sum(axis=0) for model in results["estimator"]])
    assert_same_form(weights, np.empty((4, 4)))
    assert (weights.std(axis=0) < weights.mean(axis=0)).all()


def test_two_machines_on_the_same_repeated_folds(svm: ModuleType) -> None:
    """The comparison of models that a paired test is made of: differences fold by fold."""
    X, y = cancer()
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)

    def differences(svm: ModuleType) -> np.ndarray:
        rbf, linear = (
            cross_validate(svm.SVC(kernel=kernel, C=0.1), X, y, cv=folds, scoring="roc_auc")
            for kernel in ("rbf", "linear")
        )
        return rbf["test_score"] - linear["test_score"]

    found = differences(svm)
    assert found.shape == (8,)
    np.testing.assert_allclose(found, differences(other(svm)), rtol=0, atol=2e-3)


def test_importance_by_permutation_of_a_regression(svm: ModuleType) -> None:
    X, y = diabetes()
    importances = [
        permutation_importance(each.SVR().fit(X, y), X, y, n_repeats=4, random_state=0).importances_mean
        for each in (svm, other(svm))
    ]
    np.testing.assert_allclose(*importances, rtol=0, atol=0.01)
    assert set(np.argsort(importances[0])[-2:]) == {2, 8}  # body mass and a blood serum
