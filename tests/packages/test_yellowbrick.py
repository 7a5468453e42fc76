"""yellowbrick: reports on our classifiers and regressors.

yellowbrick 1.5 asks estimators for an attribute that scikit-learn has removed; it takes scikit-learn's own too with ``force_model=True`` alone.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import confusion_matrix

import gapless as gl
from tests.packages.installed import Package

classifier = Package("yellowbrick.classifier")
regressor = Package("yellowbrick.regressor")

# What yellowbrick itself does in ways that Matplotlib deprecates is its own affair.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:yellowbrick"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning:yellowbrick"),
]


def test_a_confusion_matrix() -> None:
    X, y = load_iris(return_X_y=True)
    figure, ax = plt.subplots()
    visualizer = classifier.ConfusionMatrix(gl.SVC(), ax=ax, force_model=True)
    visualizer.fit(X, y)
    score = visualizer.score(X, y)
    plt.close(figure)
    model = gl.SVC().fit(X, y)
    assert score == model.score(X, y)
    np.testing.assert_array_equal(visualizer.confusion_matrix_, confusion_matrix(y, model.predict(X)))


def test_residuals_of_a_regression() -> None:
    X, y = load_diabetes(return_X_y=True)
    figure, ax = plt.subplots()
    visualizer = regressor.ResidualsPlot(gl.SVR(C=100), ax=ax, hist=False, force_model=True)
    visualizer.fit(X[:300], y[:300])
    score = visualizer.score(X[300:], y[300:])
    plt.close(figure)
    assert score == pytest.approx(gl.SVR(C=100).fit(X[:300], y[:300]).score(X[300:], y[300:]))
