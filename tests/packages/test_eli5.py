"""eli5: importance by permutation, and weights of a linear model."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification

import gapless as gl
from tests.packages.installed import Package

eli5_sklearn = Package("eli5.sklearn")

X, Y = make_classification(300, 5, n_informative=2, n_redundant=0, shuffle=False, class_sep=2.0, random_state=0)


def test_features_that_tell_the_classes_apart_are_important() -> None:
    importance = eli5_sklearn.PermutationImportance(gl.SVC().fit(X, Y), random_state=0, cv="prefit").fit(X, Y)
    assert set(np.argsort(importance.feature_importances_)[-2:]) == {0, 1}


def test_weights_of_a_linear_model() -> None:
    """``eli5.explain_weights`` looks the class up among scikit-learn's own; the function that it finds there takes ours."""
    model = gl.LinearSVC().fit(X, Y)
    explanation = eli5_sklearn.explain_linear_classifier_weights(model, feature_names=list("abcde"))
    (target,) = explanation.targets
    weights = {each.feature: each.weight for each in (*target.feature_weights.pos, *target.feature_weights.neg)}
    assert weights.pop("<BIAS>") == model.intercept_[0]
    assert weights == dict(zip("abcde", model.coef_[0], strict=True))
