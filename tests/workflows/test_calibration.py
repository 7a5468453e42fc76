"""Probabilities and thresholds from the decisions of support vector machines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay, calibration_curve
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import brier_score_loss, f1_score, log_loss, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.estimators.data import cancer, iris, large
from tests.workflows.agreement import assert_same_form, other


def assert_same_probabilities(model: Any, twin: Any, X: Any, atol: float) -> np.ndarray:
    """Rows sum to one and differ by no more than ``atol`` from the twin's."""
    probabilities, expected = model.predict_proba(X), twin.predict_proba(X)
    assert_same_form(probabilities, expected)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=atol)
    return probabilities


@pytest.mark.parametrize("ensemble", [True, False])
def test_sigmoid_over_a_linear_machine(svm: ModuleType, ensemble: bool) -> None:
    X, y = cancer()
    model, twin = (
        CalibratedClassifierCV(each.LinearSVC(C=0.1), method="sigmoid", ensemble=ensemble, cv=4).fit(X, y)
        for each in (svm, other(svm))
    )
    probabilities = assert_same_probabilities(model, twin, X, 1e-2)
    assert len(model.calibrated_classifiers_) == (4 if ensemble else 1)
    assert log_loss(y, probabilities) < 0.15 and (probabilities.argmax(axis=1) == model.predict(X)).all()


def test_the_replacement_of_probability_true(svm: ModuleType) -> None:
    """What scikit-learn's deprecation note recommends, with more than two classes."""
    X, y = iris()
    model, twin = (CalibratedClassifierCV(each.SVC(), ensemble=False).fit(X, y) for each in (svm, other(svm)))
    probabilities = assert_same_probabilities(model, twin, X, 1e-2)
    assert probabilities.shape == (150, 3) and model.score(X, y) > 0.95
    assert not hasattr(svm.SVC(), "predict_proba")


def test_isotonic_over_a_kernel_machine(svm: ModuleType) -> None:
    """A tight tol, since a step of an isotonic regression moves with the order of two decisions."""
    X, y = cancer()
    model, twin = (
        CalibratedClassifierCV(each.SVC(tol=1e-8), method="isotonic", cv=3).fit(X, y) for each in (svm, other(svm))
    )
    probabilities = assert_same_probabilities(model, twin, X, 1e-6)
    assert brier_score_loss(y, probabilities[:, 1]) < 0.05


def test_calibration_of_a_fitted_machine(svm: ModuleType) -> None:
    X, y = cancer()
    fitted = [each.SVC(C=10).fit(X[:120], y[:120]) for each in (svm, other(svm))]
    model, twin = (CalibratedClassifierCV(FrozenEstimator(each)).fit(X[120:], y[120:]) for each in fitted)
    assert_same_probabilities(model, twin, X, 2e-2)
    inside = model.calibrated_classifiers_[0].estimator
    np.testing.assert_array_equal(
        inside.decision_function(X), fitted[0].decision_function(X)
    )  # nothing was fitted again


def test_weighted_calibration(svm: ModuleType) -> None:
    X, y = cancer()
    weight = np.where(y == 0, 3.0, 1.0)
    plain, model, twin = (
        CalibratedClassifierCV(each.SVC(), cv=3).fit(X, y, sample_weight=w)
        for each, w in ((svm, None), (svm, weight), (other(svm), weight))
    )
    probabilities = assert_same_probabilities(model, twin, X, 1e-2)
    assert probabilities[:, 0].mean() > plain.predict_proba(X)[:, 0].mean()


def test_threshold_tuned_for_f1(svm: ModuleType) -> None:
    X, y = large()
    X, y = X[:250], y[:250]
    scorer = make_scorer(f1_score, pos_label="yes")
    model, twin = (
        TunedThresholdClassifierCV(each.SVC(), scoring=scorer, cv=3, response_method="decision_function").fit(X, y)
        for each in (svm, other(svm))
    )
    assert model.best_threshold_ == pytest.approx(twin.best_threshold_, abs=0.02)
    assert model.best_score_ == pytest.approx(twin.best_score_, abs=0.02)
    decisions = model.estimator_.decision_function(X)
    np.testing.assert_array_equal(model.predict(X) == "yes", decisions >= model.best_threshold_)


def test_threshold_of_ones_own(svm: ModuleType) -> None:
    X, y = cancer()
    machine = make_pipeline(StandardScaler(), svm.SVC())
    careful = FixedThresholdClassifier(machine, threshold=1.0, response_method="decision_function").fit(X, y)
    found = careful.predict(X)
    np.testing.assert_array_equal(found == 1, careful.estimator_.decision_function(X) >= 1.0)
    assert found.sum() < machine.fit(X, y).predict(X).sum()


def test_calibration_curve_of_held_out_probabilities(svm: ModuleType) -> None:
    X, y = large()
    X, y = X[:200], y[:200]
    curves = []
    for each in (svm, other(svm)):
        model = CalibratedClassifierCV(each.SVC(tol=1e-6), cv=3)
        probabilities = cross_val_predict(model, X, y, cv=3, method="predict_proba")[:, 1]
        curves.append(calibration_curve(y, probabilities, n_bins=5, pos_label="yes"))
    for found, expected in zip(*curves, strict=True):
        assert_same_form(found, expected)
        np.testing.assert_allclose(found, expected, atol=1e-3)
    assert len(curves[0][0]) >= 3


def test_calibration_display(svm: ModuleType) -> None:
    X, y = cancer()
    model = CalibratedClassifierCV(svm.SVC(), cv=3).fit(X, y)
    shown = CalibrationDisplay.from_estimator(model, X, y, n_bins=5)
    assert shown.line_.get_label() == "CalibratedClassifierCV"
    np.testing.assert_array_equal(shown.y_prob, model.predict_proba(X)[:, 1])
    shown.figure_.clear()
