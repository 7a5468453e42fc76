"""A fitted model is copied, pickled and cloned, and does not carry its training data."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

import gapless as gl
from tests.estimators.data import cancer, diabetes, iris, large

CASES = [
    (gl.SVC(), iris),
    (gl.SVC(kernel="linear", C=0.1), cancer),
    (gl.SVC(kernel=gl.kernels.RBF(0.1) + gl.kernels.Linear()), cancer),
    (gl.NuSVC(), cancer),
    (gl.SVR(), diabetes),
    (gl.NuSVR(), diabetes),
    (gl.OneClassSVM(), cancer),
    (gl.LinearSVC(), iris),
    (gl.LinearSVR(C=0.1), diabetes),
]


@pytest.mark.parametrize("estimator, data", CASES, ids=[str(estimator) for estimator, _ in CASES])
def test_copies_predict_alike(estimator, data):
    X, y = data()
    model = clone(estimator).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(np.asarray(other.alpha_), np.asarray(model.alpha_))
        assert other.certificate_ == model.certificate_ and other.certificates_ == model.certificates_
        np.testing.assert_array_equal(other.decision_interval(X), model.decision_interval(X))
    fresh = clone(model)
    assert not hasattr(fresh, "certificate_") and str(fresh) == str(model)
    np.testing.assert_array_equal(fresh.fit(X, y).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "estimator", [gl.LinearSVC(), gl.SVC(kernel="linear", C=1e-3), gl.OneClassSVM(nu=0.05, gamma=1e-3)], ids=str
)
def test_the_training_data_is_not_kept(estimator):
    X, y = large()
    model = estimator.fit(X, y)
    support = 0 if isinstance(model, gl.LinearSVC) else len(model.support_)
    # The support vectors, and per sample and subproblem a coefficient and an index.
    assert len(pickle.dumps(model)) < 8 * (support * (X.shape[1] + 4) + 2.2 * len(y)) + 20_000
    assert not any(value is X for value in vars(model).values())


def test_no_problem_stays_in_memory():
    """A fit of a Gram matrix lets go of it: 600 x 600 numbers are 2.9 MB."""
    X, y = (part[:600] for part in large())
    gl.SVC().fit(X, y)
    tracemalloc.start()
    model = gl.SVC().fit(X[:, :5], y)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak > 2.5e6 > 10 * kept and model.certificate_.gap >= 0
