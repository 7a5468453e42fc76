"""The decision values of the exact optimum lie inside the interval that a loose fit proves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import gapless as gl
from tests.estimators.data import cancer, diabetes, iris

TIGHT = {"tol": 1e-11, "max_iter": 1_000_000}
CASES = [
    (gl.SVC(), cancer),
    (gl.SVC(kernel="linear", C=0.05), cancer),
    (gl.SVC(), iris),
    (gl.SVC(kernel="linear", C=np.inf), lambda: (iris()[0][:100], iris()[1][:100])),
    (gl.NuSVC(nu=0.31), cancer),
    (gl.NuSVC(nu=0.31, class_weight={0: 1e-3, 1: 1.0}), cancer),
    (gl.SVR(C=3.0), diabetes),
    (gl.NuSVR(nu=0.33), diabetes),
    (gl.OneClassSVM(nu=0.23, gamma=0.01), cancer),
    (gl.LinearSVC(C=0.1), cancer),
    (gl.LinearSVC(C=0.1, intercept_scaling=5.0), iris),
    (gl.LinearSVC(C=0.1, fit_intercept=False, loss="hinge"), cancer),
    (gl.LinearSVC(C=0.1, intercept="free"), cancer),
    (gl.LinearSVC(C=0.1, multi_class="crammer_singer"), cancer),
    (gl.LinearSVC(C=0.1, multi_class="crammer_singer"), iris),
    (gl.LinearSVR(C=0.1), diabetes),
]


def pairwise(model, X):
    if isinstance(model, gl.SVC | gl.NuSVC):
        return model.set_params(decision_function_shape="ovo").decision_function(X)
    return (getattr(model, "decision_function", None) or model.predict)(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize("estimator, data", CASES, ids=[str(estimator) for estimator, _ in CASES])
def test_the_optimum_is_inside(estimator, data, tol):
    X, y = data()
    exact = clone(estimator).set_params(**TIGHT).fit(X, y)
    loose = clone(estimator).set_params(tol=tol, max_iter=100_000).fit(X, y)
    probes = np.vstack([X, 3 * np.random.default_rng(0).normal(size=(50, X.shape[1]))])
    low, high = loose.decision_interval(probes)
    optimum = pairwise(exact, probes)
    assert low.shape == high.shape == optimum.shape
    slack = 1e-4 * (1 + np.abs(optimum))  # the exact one is exact to its own tolerance
    assert (low <= optimum + slack).all() and (optimum <= high + slack).all()
    own = pairwise(loose, probes)
    assert (low <= own + 1e-9).all() and (own <= high + 1e-9).all()


def test_the_interval_shrinks_with_the_gap():
    X, y = cancer()
    widths = []
    for tol in (1e-2, 1e-5, 1e-9):
        low, high = gl.LinearSVC(tol=tol, max_iter=10_000, solver="sdca").fit(X, y).decision_interval(X)
        widths.append((high - low).max())
    assert (
        widths[0] > 10 * widths[1] and widths[1] >= widths[2]
    )  # the solver may end at rounding level before it is asked to
    assert widths[2] < 1e-3 * widths[0]


def test_sparse_samples_have_the_same_interval():
    X, y = cancer()
    dense, sparse = gl.LinearSVC().fit(X, y), gl.LinearSVC().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.decision_interval(X), sparse.decision_interval(sp.csr_array(X)), atol=1e-6)
    dense, sparse = gl.SVC().fit(X, y), gl.SVC().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.decision_interval(X), sparse.decision_interval(sp.csr_array(X)))


def test_an_l1_penalty_bounds_no_weights():
    X, y = cancer()
    low, high = gl.LinearSVC(penalty="l1").fit(X, y).decision_interval(X)
    assert (low == -np.inf).all() and (high == np.inf).all()


def test_nu_svc_without_a_certain_rho_says_nothing():
    X, y = cancer()
    with pytest.warns(Warning, match="max_iter=1"):
        model = gl.NuSVC(max_iter=1).fit(X, y)
    low, high = model.decision_interval(X[:3])
    assert (low == -np.inf).all() and (high == np.inf).all()


def test_a_kernel_with_a_negative_diagonal_is_fitted():
    """Of an indefinite kernel k(x, x) may be negative for every sample: its interval is as wide as the offsets alone leave it."""
    X = np.array([[0.0], [0.1], [0.2], [0.3]])
    model = gl.SVC(kernel="sigmoid", gamma=0.1, coef0=-1.0).fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.decision_function(X)).all()
