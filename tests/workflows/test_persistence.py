"""Fitted support vector machines stored, copied, and taken up again."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from tests.estimators.data import cancer, diabetes, iris
from tests.packages.installed import Package

cloudpickle = Package("cloudpickle")

MACHINES: list[tuple[str, dict[str, Any]]] = [
    ("SVC", {"class_weight": {0: 2.0}}),
    ("NuSVC", {"nu": 0.2}),
    ("LinearSVC", {"C": 0.1}),
    ("SVR", {"C": 2.0}),
    ("NuSVR", {}),
    ("LinearSVR", {"C": 0.1, "max_iter": 100_000}),
    ("OneClassSVM", {"nu": 0.1}),
]


def made(svm: ModuleType, name: str, parameters: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """(the machine, fitted, and its samples)"""
    X, y = diabetes() if name.endswith("SVR") else cancer()
    return getattr(svm, name)(**parameters).fit(X, y), X


def outputs(model: Any, X: Any) -> np.ndarray:
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("name, parameters", MACHINES, ids=[name for name, _ in MACHINES])
def test_every_way_to_store_and_copy(svm: ModuleType, name: str, parameters: dict[str, Any], tmp_path: Path) -> None:
    model, X = made(svm, name, parameters)
    joblib.dump(model, tmp_path / "model.joblib", compress=3)
    copies = [pickle.loads(pickle.dumps(model, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    copies += [copy.copy(model), copy.deepcopy(model), joblib.load(tmp_path / "model.joblib")]
    for each in copies:
        assert type(each) is type(model) and each.get_params() == model.get_params()
        np.testing.assert_array_equal(outputs(each, X), outputs(model, X))


def test_arrays_mapped_from_a_file(svm: ModuleType, tmp_path: Path) -> None:
    """joblib maps large arrays read-only; predictions, and a fit after them, go on as before."""
    X, y = cancer()
    for model in (
        svm.SVC().fit(X, y),
        svm.SVC(kernel="linear").fit(sp.csr_matrix(X), y),
        svm.LinearSVC(C=0.1).fit(X, y),
    ):
        joblib.dump(model, tmp_path / "model.joblib")
        mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
        np.testing.assert_array_equal(mapped.decision_function(X), model.decision_function(X))
        if hasattr(model, "support_vectors_") and not sp.issparse(model.support_vectors_):
            assert isinstance(mapped.support_vectors_, np.memmap)
        mapped.set_params(C=0.5).fit(X, y)
        np.testing.assert_array_equal(
            mapped.decision_function(X), clone(model).set_params(C=0.5).fit(X, y).decision_function(X)
        )


def test_a_function_as_kernel_travels_by_cloudpickle(svm: ModuleType) -> None:
    X, y = iris()
    power = 2
    model = svm.SVC(kernel=lambda A, B: (1 + A @ B.T) ** power).fit(X, y)
    again = pickle.loads(cloudpickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(model)


def test_a_clone_is_unfitted_and_equal(svm: ModuleType) -> None:
    X, y = cancer()
    model = svm.SVC(C=7, kernel="poly", degree=2, class_weight={0: 3, 1: 1}, random_state=4).fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and fresh.class_weight is not model.class_weight
    assert [name for name in vars(fresh) if name.endswith("_")] == []
    with pytest.raises(NotFittedError, match="This SVC instance is not fitted yet"):
        check_is_fitted(fresh)
    np.testing.assert_array_equal(fresh.fit(X, y).decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name, parameters", MACHINES, ids=[name for name, _ in MACHINES])
def test_parameters_there_and_back(svm: ModuleType, name: str, parameters: dict[str, Any]) -> None:
    """Every parameter that get_params tells is one that the constructor and set_params take; a dict in JSON is a model's recipe."""
    cls = getattr(svm, name)
    model = cls(**parameters)
    told = model.get_params()
    assert set(parameters) <= set(told) and cls(**told).get_params() == told
    assert model.set_params(**cls().get_params()) is model
    assert model.get_params() == cls().get_params()
    assert repr(model) == f"{name}()"


def test_a_search_stored_whole_and_used_again(svm: ModuleType, tmp_path: Path) -> None:
    X, y = cancer()
    search = GridSearchCV(make_pipeline(StandardScaler(), svm.SVC()), {"svc__C": [0.1, 1, 10]}, cv=3).fit(X, y)
    joblib.dump(search, tmp_path / "search.joblib")
    again = joblib.load(tmp_path / "search.joblib")
    assert again.best_params_ == search.best_params_
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    again.fit(X[:100], y[:100])
    assert again.best_estimator_["svc"].shape_fit_ == (100, 30)


def test_fitted_again_on_other_data(svm: ModuleType) -> None:
    """Nothing of the first fit stays: features, classes and storage may all be different."""
    X, y = cancer()
    model = svm.SVC(kernel="linear").fit(sp.csr_matrix(X), y)
    assert sp.issparse(model.coef_)
    fresh = svm.SVC(kernel="linear")
    for X, y in (iris(), (cancer()[0][:, :3], np.array(["no", "yes"])[cancer()[1]])):
        model.fit(X, y), fresh.fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))
        np.testing.assert_array_equal(model.coef_, fresh.coef_)
        np.testing.assert_array_equal(model.classes_, np.unique(y))
        fresh = clone(fresh)


def test_the_samples_of_a_fit_may_change_after_it(svm: ModuleType) -> None:
    """A model does not look at the caller's arrays again, which are often buffers that are filled anew."""
    X, y = cancer()
    for machine in (svm.SVC(), svm.LinearSVC(C=0.1), svm.OneClassSVM(nu=0.1)):
        given, labels = X.copy(), y.copy()
        model = machine.fit(given, labels)
        before = model.decision_function(X)
        given[:], labels[:] = 0.0, 0
        np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_fit_leaves_what_it_was_given_alone(svm: ModuleType) -> None:
    X, y = cancer()
    weights = {0: 2.0, 1: 1.0}
    kept = X.copy(), y.copy(), weights.copy()
    sample_weight = np.arange(1.0, 201.0)
    svm.SVC(class_weight=weights).fit(X, y, sample_weight=sample_weight)
    svm.LinearSVC(class_weight=weights, C=0.01).fit(X, y, sample_weight=sample_weight)
    np.testing.assert_array_equal(X, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    np.testing.assert_array_equal(sample_weight, np.arange(1.0, 201.0))
    assert weights == kept[2]
