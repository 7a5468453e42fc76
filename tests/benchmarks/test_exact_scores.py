"""The scores of the exact optimum agree with those of scikit-learn's SVC where nothing is close, and are bounds where something is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from benchmarks._exact_scores import exact_score

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_the_score_is_that_of_a_tight_fit(n_classes, C):
    y = np.arange(120) % n_classes
    X = RNG.normal(size=(n_classes, 3))[y] + 0.7 * RNG.normal(size=(120, 3))
    train = np.arange(120) < 80
    theirs = SVC(C=C, gamma=0.3, tol=1e-10).fit(X[train], y[train])
    right = (theirs.predict(X[~train]) == y[~train]).sum()
    score = exact_score(X[train], y[train], X[~train], y[~train], C, 0.3)
    assert score.low == right == score.high


def test_a_sample_on_the_boundary_is_not_decided():
    X, y = np.array([[-1.0], [1.0], [-2.0], [2.0]]), np.array([0, 1, 0, 1])
    score = exact_score(X, y, np.array([[0.0], [1.5]]), np.array([1, 1]), 1.0, 0.5)
    assert score == (1, 2)
