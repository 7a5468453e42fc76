"""imbalanced-learn: SVMSMOTE reads the support vectors of an SVM that it is given."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import make_classification

import gapless as gl
from tests.packages.installed import Package

over_sampling = Package("imblearn.over_sampling")
pipeline = Package("imblearn.pipeline")

X, Y = make_classification(300, 5, weights=[0.85], class_sep=0.8, random_state=0)


@pytest.mark.parametrize("ours", [gl.SVC(), gl.SVC(kernel="linear", C=0.1), gl.LinearSVC(loss="hinge")], ids=repr)
def test_svmsmote_balances_the_classes(ours: Any) -> None:
    X_new, y_new = over_sampling.SVMSMOTE(svm_estimator=ours, random_state=0).fit_resample(X, Y)
    counts = Counter(Y.tolist())
    assert Counter(y_new.tolist()) == {0: counts[0], 1: counts[0]}
    np.testing.assert_array_equal(X_new[: len(X)], X)
    assert np.isfinite(X_new).all()


def test_svmsmote_gives_the_samples_that_it_gives_with_scikit_learns_svc() -> None:
    """The support vectors are the same at a tight tol, and so are the samples made from them."""
    made = [
        over_sampling.SVMSMOTE(svm_estimator=svc(kernel="linear", C=0.1, tol=1e-8), random_state=0).fit_resample(X, Y)
        for svc in (gl.SVC, svm.SVC)
    ]
    np.testing.assert_allclose(made[0][0], made[1][0])
    np.testing.assert_array_equal(made[0][1], made[1][1])


def test_svmsmote_in_a_pipeline_that_ends_in_ours() -> None:
    model = pipeline.make_pipeline(over_sampling.SVMSMOTE(svm_estimator=gl.SVC(), random_state=0), gl.SVC()).fit(X, Y)
    assert model.score(X, Y) > 0.8 and model[-1].certificate_.relative_gap <= 1e-3
