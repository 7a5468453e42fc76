"""shap: what each feature adds to a decision of ours, by both kinds of explainer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import gapless as gl
from tests.packages.installed import Package

shap = Package("shap")

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[:150, :4], Y[:150]


def test_values_of_a_kernel_explainer_add_up_to_the_decision() -> None:
    model = gl.SVC().fit(X, Y)
    explainer = shap.KernelExplainer(model.decision_function, X[:20])
    values = explainer.shap_values(X[:5], silent=True)
    assert values.shape == (5, 4)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, model.decision_function(X[:5]), atol=1e-6)


@pytest.mark.parametrize("cls", [gl.LinearSVC, gl.SVC])
def test_values_of_a_linear_explainer_are_the_weighted_distances_from_the_mean(cls: type) -> None:
    model = cls(kernel="linear") if cls is gl.SVC else cls()
    model.fit(X, Y)
    masker = shap.maskers.Independent(X, max_samples=len(X))
    explainer = shap.LinearExplainer((model.coef_[0], float(model.intercept_[0])), masker)
    expected = model.coef_[0] * (X - X.mean(axis=0))
    np.testing.assert_allclose(explainer.shap_values(X), expected, atol=1e-6)


def test_a_linear_explainer_takes_the_estimator_itself() -> None:
    model = gl.LinearSVC().fit(X, Y)
    explainer = shap.LinearExplainer(model, shap.maskers.Independent(X, max_samples=len(X)))
    values = explainer.shap_values(X)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, model.decision_function(X), atol=1e-6)
