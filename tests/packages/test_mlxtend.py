"""mlxtend: regions of decision drawn, and features selected, with our estimators."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from tests.packages.installed import Package

plotting = Package("mlxtend.plotting")
selection = Package("mlxtend.feature_selection")

X, Y = load_iris(return_X_y=True)


def test_decision_regions() -> None:
    model = gl.SVC().fit(X[:, :2], Y)
    figure, ax = plt.subplots()
    plotting.plot_decision_regions(X[:, :2], Y, clf=model, ax=ax)
    figure.canvas.draw()
    drawn = sum(len(points.get_offsets()) for points in ax.collections if len(points.get_offsets()) > 1)
    plt.close(figure)
    assert drawn == len(X)


def test_features_selected_are_those_with_scikit_learns_svc() -> None:
    selected = []
    for svc in (gl.SVC, svm.SVC):
        search = selection.SequentialFeatureSelector(make_pipeline(StandardScaler(), svc(tol=1e-6)), k_features=2, cv=3)
        search.fit(X, Y)
        selected.append((search.k_feature_idx_, search.k_score_))
    assert selected[0][0] == selected[1][0] and len(selected[0][0]) == 2
    np.testing.assert_allclose(selected[0][1], selected[1][1])
