"""Sample weights on their way through pipelines, searches and scores, with and without metadata routing."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

from tests.estimators.data import cancer, diabetes
from tests.workflows.agreement import assert_same_labels, other

X, Y = cancer()
WEIGHT = np.where(Y == 0, 5.0, 1.0)


@pytest.fixture
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


def test_weights_by_the_name_of_the_step(svm: ModuleType) -> None:
    """The way without routing: step__sample_weight."""
    model, twin = (
        make_pipeline(StandardScaler(), each.SVC()).fit(X, Y, svc__sample_weight=WEIGHT) for each in (svm, other(svm))
    )
    assert_same_labels(model, twin, X)
    scaled = StandardScaler().fit_transform(X)
    by_hand = svm.SVC().fit(scaled, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.decision_function(X), by_hand.decision_function(scaled))
    assert not np.array_equal(by_hand.decision_function(scaled), svm.SVC().fit(scaled, Y).decision_function(scaled))


def test_weights_through_a_search_without_routing(svm: ModuleType) -> None:
    search, twin = (
        GridSearchCV(make_pipeline(StandardScaler(), each.LinearSVC()), {"linearsvc__C": [0.01, 0.1]}, cv=3).fit(
            X, Y, linearsvc__sample_weight=WEIGHT
        )
        for each in (svm, other(svm))
    )
    assert search.best_params_ == twin.best_params_
    assert_same_labels(search, twin, X)


@pytest.mark.usefixtures("routing")
def test_weights_requested_by_a_step(svm: ModuleType) -> None:
    steps = StandardScaler().set_fit_request(sample_weight=False), svm.SVC().set_fit_request(sample_weight=True)
    model = make_pipeline(*steps).fit(X, Y, sample_weight=WEIGHT)
    scaled = StandardScaler().fit_transform(X)
    by_hand = svm.SVC().fit(scaled, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.decision_function(X), by_hand.decision_function(scaled))


@pytest.mark.usefixtures("routing")
def test_weights_that_nobody_asked_for_are_an_error(svm: ModuleType) -> None:
    for wrapper in (make_pipeline(svm.SVC()), GridSearchCV(svm.SVC(), {"C": [1]})):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            wrapper.fit(X, Y, sample_weight=WEIGHT)


@pytest.mark.usefixtures("routing")
def test_weights_in_fits_and_scores_of_a_search(svm: ModuleType) -> None:
    def built(svm: ModuleType) -> GridSearchCV:
        machine = svm.SVC(gamma=0.02).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        return GridSearchCV(machine, {"C": [0.01, 0.1, 1]}, cv=3).fit(X, Y, sample_weight=WEIGHT)

    search, twin = built(svm), built(other(svm))
    assert search.best_params_ == twin.best_params_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], twin.cv_results_["mean_test_score"], atol=0.03)
    by_hand = svm.SVC(gamma=0.02, **search.best_params_).fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(search.decision_function(X), by_hand.decision_function(X))


@pytest.mark.usefixtures("routing")
def test_weights_in_cross_validation_with_groups(svm: ModuleType) -> None:
    """Weights go to the fits under another name, groups to the folds, and to the score nothing."""
    machine = svm.SVC(gamma=0.02).set_fit_request(sample_weight="importance")
    scorer = get_scorer("accuracy").set_score_request(sample_weight=False)
    groups = np.arange(200) // 20
    params = {"importance": WEIGHT, "groups": groups}
    results = cross_validate(
        machine, X, Y, cv=GroupKFold(4), params=params, scoring=scorer, return_estimator=True, return_indices=True
    )
    for model, train, test, score in zip(
        results["estimator"], *results["indices"].values(), results["test_score"], strict=True
    ):
        by_hand = svm.SVC(gamma=0.02).fit(X[train], Y[train], sample_weight=WEIGHT[train])
        np.testing.assert_array_equal(model.decision_function(X), by_hand.decision_function(X))
        assert score == accuracy_score(Y[test], by_hand.predict(X[test]))
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.usefixtures("routing")
def test_what_each_machine_can_be_asked_for(svm: ModuleType) -> None:
    """Requests have the same methods and the same names, so that set_..._request calls written for one work with the other."""
    names = ("SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM")
    for name in names:
        model, twin = getattr(svm, name)(), getattr(other(svm), name)()
        assert hasattr(model, "set_fit_request") == hasattr(twin, "set_fit_request")
        assert hasattr(model, "set_score_request") == hasattr(twin, "set_score_request")
        assert str(get_routing_for_object(model)) == str(get_routing_for_object(twin))
        asked = clone(model.set_fit_request(sample_weight=True))
        assert get_routing_for_object(asked).fit.requests == {"sample_weight": True}


@pytest.mark.usefixtures("routing")
def test_weights_of_several_outputs_and_of_a_regression(svm: ModuleType) -> None:
    Z = np.column_stack([Y, X[:, 0] > 0])
    model = MultiOutputClassifier(svm.SVC(gamma=0.02).set_fit_request(sample_weight=True)).fit(
        X, Z, sample_weight=WEIGHT
    )
    by_hand = svm.SVC(gamma=0.02).fit(X, Z[:, 0], sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.estimators_[0].decision_function(X), by_hand.decision_function(X))
    features, targets = diabetes()
    weight = np.linspace(1, 3, len(targets))
    regression = make_pipeline(svm.SVR().set_fit_request(sample_weight=True).set_score_request(sample_weight=True))
    regression.fit(features, targets, sample_weight=weight)
    weighted = regression.score(features, targets, sample_weight=weight)
    assert (
        weighted == regression[-1].score(features, targets, sample_weight=weight) != regression.score(features, targets)
    )
