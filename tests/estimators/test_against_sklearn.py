"""At a tight tolerance ours and scikit-learn's estimators are the same model, in the same attributes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel

import gapless as gl
from tests.estimators.data import cancer, diabetes, iris, large

TOL = 1e-9
CASES = [
    ("SVC", {}, cancer),
    ("SVC", {"kernel": "linear", "C": 0.1}, cancer),
    ("SVC", {"kernel": "poly", "degree": 2, "coef0": 1.0, "class_weight": "balanced"}, cancer),
    ("SVC", {"C": 5.0, "class_weight": {0: 2.0, 1: 0.5}}, iris),
    ("SVC", {"decision_function_shape": "ovo"}, iris),
    ("SVC", {"break_ties": True}, iris),
    ("NuSVC", {"nu": 0.2}, cancer),
    ("NuSVC", {"nu": 0.37, "kernel": "linear"}, iris),
    ("SVR", {"C": 2.0}, diabetes),
    ("SVR", {"kernel": "linear", "epsilon": 0.3}, diabetes),
    ("NuSVR", {"nu": 0.3, "C": 2.0}, diabetes),
    ("OneClassSVM", {"nu": 0.2}, diabetes),
    ("OneClassSVM", {"nu": 0.1, "gamma": 0.01}, cancer),
]
IDS = [f"{name}-{data.__name__}-{'-'.join(parameters)}" for name, parameters, data in CASES]


def fitted(module, name, parameters, X, y, weight=None):
    return getattr(module, name)(tol=TOL, **parameters).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("name, parameters, data", CASES, ids=IDS)
def test_the_same_model(name, parameters, data, storage):
    X, y = data()
    X = sp.csr_matrix(X) if storage == "sparse" else X
    ours, theirs = fitted(gl, name, parameters, X, y), fitted(svm, name, parameters, X, y)
    scores = "predict" if name in ("SVR", "NuSVR") else "decision_function"
    np.testing.assert_allclose(getattr(ours, scores)(X), getattr(theirs, scores)(X), atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert ours.certificate_.relative_gap <= TOL
    assert ours.fit_status_ == theirs.fit_status_ == 0
    assert type(ours.n_iter_) is type(theirs.n_iter_) and np.shape(ours.n_iter_) == np.shape(theirs.n_iter_)
    assert sp.issparse(ours.dual_coef_) == sp.issparse(theirs.dual_coef_) == (storage == "sparse")
    assert sp.issparse(ours.support_vectors_) == (storage == "sparse")
    assert ours.n_support_.shape == theirs.n_support_.shape and ours.n_support_.dtype == theirs.n_support_.dtype
    assert ours.support_.dtype == theirs.support_.dtype
    assert ours.shape_fit_ == theirs.shape_fit_
    if name in ("SVC", "NuSVC"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    if parameters.get("kernel") == "linear":
        np.testing.assert_allclose(_dense(ours.coef_), _dense(theirs.coef_), atol=1e-4)


@pytest.mark.parametrize("name, parameters, data", [CASES[0], CASES[3], CASES[8]], ids=["binary", "multiclass", "svr"])
def test_the_same_dual_variables(name, parameters, data):
    """Where the dual optimum is unique: positive definite kernels on distinct samples."""
    X, y = data()
    X, first = np.unique(X, axis=0, return_index=True)
    ours, theirs = fitted(gl, name, parameters, X, y[first]), fitted(svm, name, parameters, X, y[first])
    full = [np.zeros((len(m.dual_coef_), len(X))) for m in (ours, theirs)]
    for model, coefficients in zip((ours, theirs), full, strict=True):
        coefficients[:, model.support_] = model.dual_coef_
    np.testing.assert_allclose(full[0], full[1], atol=1e-4)
    np.testing.assert_allclose(
        ours._dual_coef_, -ours.dual_coef_ if name == "SVC" and len(ours.classes_) == 2 else ours.dual_coef_
    )


def test_more_than_a_gram_matrix_at_once():
    X, y = large()
    for kernel in ("linear", "rbf"):
        ours, theirs = (
            gl.SVC(kernel=kernel, C=0.1, tol=1e-4).fit(X, y),
            svm.SVC(kernel=kernel, C=0.1, tol=1e-4).fit(X, y),
        )
        assert ours.certificate_.relative_gap <= 1e-4 and ours.certificate_.kkt_violation <= 1e-4
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
        assert (ours.predict(X) == theirs.predict(X)).mean() > 0.999
        assert set(ours.predict(X)) == {"yes", "no"}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    "parameters", [{}, {"fit_intercept": False}, {"intercept_scaling": 3.0, "class_weight": "balanced"}]
)
def test_linear_svc(loss, parameters):
    X, y = iris()
    X = X - X.mean(axis=0)
    ours = gl.LinearSVC(loss=loss, tol=1e-9, max_iter=100_000, C=0.1, **parameters).fit(X, y)
    theirs = svm.LinearSVC(loss=loss, tol=1e-9, max_iter=1_000_000, C=0.1, dual=True, random_state=0, **parameters).fit(
        X, y
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert ours.coef_.shape == theirs.coef_.shape and np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert type(ours.n_iter_) is int


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_svr(loss):
    X, y = diabetes()
    ours = gl.LinearSVR(loss=loss, tol=1e-9, max_iter=100_000, C=0.1, epsilon=0.1).fit(X, y)
    theirs = svm.LinearSVR(loss=loss, tol=1e-9, max_iter=1_000_000, C=0.1, epsilon=0.1, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.coef_.shape == theirs.coef_.shape and np.shape(ours.intercept_) == np.shape(theirs.intercept_)


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        (gl.LinearSVC, {"loss": "hinge"}),
        (gl.LinearSVC, {"loss": "squared_hinge"}),
        (gl.LinearSVC, {"penalty": "l1"}),
        (gl.LinearSVR, {"loss": "epsilon_insensitive"}),
        (gl.LinearSVR, {"loss": "squared_epsilon_insensitive"}),
    ],
)
def test_dual_changes_nothing(cls, parameters):
    X, y = iris()
    models = [cls(dual=dual, C=0.1, tol=1e-6, **parameters).fit(X, y) for dual in ("auto", True, False)]
    for model in models:
        assert model.certificate_.relative_gap <= 1e-6
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)


def test_a_free_intercept_is_that_of_svc():
    X, y = cancer()
    linear = gl.LinearSVC(loss="hinge", intercept="free", tol=1e-9, C=0.1, max_iter=10_000_000).fit(X, y)
    kernel = gl.SVC(kernel="linear", C=0.1, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-4)
    np.testing.assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"])
def test_parameters_and_defaults_are_scikit_learns(name):
    ours, theirs = getattr(gl, name)().get_params(), getattr(svm, name)().get_params()
    theirs.pop("probability", None)
    assert {key: ours[key] for key in theirs} == theirs
    added = set(ours) - set(theirs)
    expected = {"solver", "max_time", "warm_start", "n_jobs", "callback"}
    expected |= {"probability"} if name in ("SVC", "NuSVC") else {"intercept"} if name.startswith("Linear") else set()
    expected |= {"approximation", "polish"} if name == "SVC" else set()
    assert added == expected


def test_alpha():
    X, y = cancer()
    model = gl.SVC(C=2.0, tol=1e-6).fit(X, y)
    assert model.alpha_.shape == (200,) and model.alpha_.max() <= 2.0
    np.testing.assert_array_equal(np.flatnonzero(model.alpha_), np.sort(model.support_))
    np.testing.assert_allclose(model.alpha_[model.support_], np.abs(model.dual_coef_[0]))
    X, y = iris()
    X, y = diabetes()
    model = gl.NuSVR(tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.alpha_[model.support_], np.abs(model.dual_coef_[0]))


@pytest.mark.parametrize("cls", [gl.SVC, gl.NuSVC])
def test_alpha_of_several_classes_has_a_column_for_each_decision(cls):
    """The decision of a pair is Σ over its first class of αk minus that over its second, plus the intercept."""
    X, y = iris()
    model = cls(tol=1e-6, decision_function_shape="ovo").fit(X, y)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert model.alpha_.shape == (150, 3) and (model.alpha_ >= 0).all()
    np.testing.assert_array_equal(np.flatnonzero(model.alpha_.any(axis=1)), np.sort(model.support_))
    signs = np.column_stack([np.where(y == i, 1.0, np.where(y == j, -1.0, 0.0)) for i, j in pairs])
    decisions = rbf_kernel(X, gamma=1 / (4 * X.var())) @ (signs * model.alpha_) + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-10)
    for k, (i, j) in enumerate(pairs):
        assert not model.alpha_[(y != i) & (y != j), k].any()


def _dense(X):
    return X.toarray() if sp.issparse(X) else X
