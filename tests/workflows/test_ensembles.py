"""Machines made of support vector machines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from tests.estimators.data import cancer, diabetes, iris
from tests.workflows.agreement import assert_close_values, assert_same_form, assert_same_labels, other


def test_bagging(svm: ModuleType) -> None:
    """Members are fitted with weights that count how often a sample was drawn, and score the samples that were not."""
    X, y = cancer()
    model, twin = (
        BaggingClassifier(each.SVC(), n_estimators=20, max_features=0.5, oob_score=True, random_state=0).fit(X, y)
        for each in (svm, other(svm))
    )
    assert_same_labels(model, twin, X)
    assert model.oob_score_ == pytest.approx(twin.oob_score_, abs=2.1 / len(y)) and model.oob_score_ > 0.9
    assert all(isinstance(each, svm.SVC) and each.n_features_in_ == 15 for each in model.estimators_)


def test_soft_vote_of_calibrated_machines(svm: ModuleType) -> None:
    X, y = iris()

    def built(svm: ModuleType) -> VotingClassifier:
        members = [
            ("linear", CalibratedClassifierCV(svm.LinearSVC(C=0.1), ensemble=False, cv=3)),
            ("rbf", CalibratedClassifierCV(svm.SVC(), ensemble=False, cv=3)),
            ("bayes", GaussianNB()),
        ]
        return VotingClassifier(members, voting="soft", weights=[1, 2, 1]).fit(X, y)

    model, twin = built(svm), built(other(svm))
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(X), rtol=0, atol=1e-2)
    assert model.score(X, y) > 0.95 and model.named_estimators_["rbf"].score(X, y) > 0.95


def test_hard_vote_of_names(svm: ModuleType) -> None:
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model, twin = (
        VotingClassifier(
            [("a", each.SVC(tol=1e-6)), ("b", each.NuSVC(nu=0.3, tol=1e-6)), ("c", each.SVC(kernel="linear", tol=1e-6))]
        ).fit(X, names)
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    assert_same_form(model.transform(X), twin.transform(X))


def test_stacking_on_decisions(svm: ModuleType) -> None:
    X, y = cancer()

    def built(svm: ModuleType) -> StackingClassifier:
        members = [("rbf", make_pipeline(StandardScaler(), svm.SVC())), ("linear", svm.LinearSVC(C=0.01))]
        return StackingClassifier(members, final_estimator=LogisticRegression(), cv=3).fit(X, y)

    model, twin = built(svm), built(other(svm))
    assert model.stack_method_ == twin.stack_method_ == ["decision_function", "decision_function"]
    np.testing.assert_allclose(model.transform(X), twin.transform(X), rtol=0, atol=2e-2)
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(X), rtol=0, atol=2e-2)


def test_a_machine_on_top_of_a_stack(svm: ModuleType) -> None:
    X, y = cancer()
    members = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]
    model, twin = (
        StackingClassifier(members, final_estimator=each.SVC(), cv=3).fit(X, y) for each in (svm, other(svm))
    )
    assert_same_labels(model, twin, X)
    assert model.final_estimator_.n_features_in_ == 2


def test_boosting_by_sample_weights(svm: ModuleType) -> None:
    X, y = iris()
    model, twin = (
        AdaBoostClassifier(each.SVC(kernel="linear", C=0.05, tol=1e-8), n_estimators=4, random_state=0).fit(X, y)
        for each in (svm, other(svm))
    )
    np.testing.assert_allclose(model.estimator_errors_, twin.estimator_errors_, atol=1e-6)
    np.testing.assert_allclose(model.estimator_weights_, twin.estimator_weights_, rtol=1e-4)
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_classes_one_by_one(svm: ModuleType, wrapper: Any) -> None:
    X, y = iris()
    model, twin = (wrapper(each.SVC(tol=1e-6)).fit(X, y) for each in (svm, other(svm)))
    assert_same_labels(model, twin, X)
    assert len(model.estimators_) == 3 and all(isinstance(each, svm.SVC) for each in model.estimators_)
    if wrapper is OneVsOneClassifier:  # the machine itself does the same
        assert (model.predict(X) == svm.SVC(tol=1e-6).fit(X, y).predict(X)).mean() > 0.98


def test_output_codes(svm: ModuleType) -> None:
    X, y = iris()
    model, twin = (
        OutputCodeClassifier(each.LinearSVC(max_iter=10_000), code_size=3, random_state=0).fit(X, y)
        for each in (svm, other(svm))
    )
    assert (model.predict(X) == twin.predict(X)).mean() > 0.98 and model.score(X, y) > 0.7
    assert len(model.estimators_) == 9


def test_several_labels_a_sample(svm: ModuleType) -> None:
    X, Y = make_multilabel_classification(120, 10, n_classes=3, random_state=0)
    X = StandardScaler().fit_transform(X)
    for wrapper in (MultiOutputClassifier, ClassifierChain, OneVsRestClassifier):
        model, twin = (wrapper(each.SVC(tol=1e-8)).fit(X, Y) for each in (svm, other(svm)))
        found = model.predict(X)
        assert found.shape == Y.shape and (found == Y).mean() > 0.85
        np.testing.assert_array_equal(found, twin.predict(X))


def test_several_targets(svm: ModuleType) -> None:
    X, y = diabetes()
    Y = np.column_stack([y, X[:, 2] - y, y**2])
    for wrapper in (MultiOutputRegressor, RegressorChain):
        model, twin = (wrapper(each.SVR(C=10, gamma=0.02)).fit(X, Y) for each in (svm, other(svm)))
        assert_close_values(model.predict(X), twin.predict(X))
        assert len(model.estimators_) == 3


def test_ensembles_of_regressions(svm: ModuleType) -> None:
    X, y = diabetes()

    def built(svm: ModuleType) -> list[Any]:
        linear = svm.LinearSVR(epsilon=0.1, C=0.1, tol=1e-6, max_iter=100_000)
        members = [("svr", svm.SVR()), ("nu", svm.NuSVR()), ("linear", linear)]
        return [
            BaggingRegressor(svm.SVR(gamma=0.1), n_estimators=5, random_state=0),
            VotingRegressor(members),
            StackingRegressor(members, final_estimator=RidgeCV(), cv=3),
            AdaBoostRegressor(svm.SVR(kernel="linear", tol=1e-8), n_estimators=3, random_state=0),
        ]

    for model, twin in zip(built(svm), built(other(svm)), strict=True):
        assert model.fit(X, y).score(X, y) > 0.4
        assert_close_values(model.predict(X), twin.fit(X, y).predict(X))


def test_unlabelled_samples(svm: ModuleType) -> None:
    X, y = iris()
    known = np.where(np.random.default_rng(0).random(len(y)) < 0.7, -1, y)
    model, twin = (
        SelfTrainingClassifier(CalibratedClassifierCV(each.SVC(gamma=0.5), ensemble=False, cv=3)).fit(X, known)
        for each in (svm, other(svm))
    )
    assert model.score(X, y) > 0.9 and (model.transduction_ >= 0).sum() > (known >= 0).sum()
    assert (model.predict(X) == twin.predict(X)).mean() > 0.97
