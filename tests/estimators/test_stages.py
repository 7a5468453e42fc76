"""Small subproblems in stages: what pairs alone would take minutes for is solved by way of features, and proven by the kernel itself."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.svm import SVC as TheirSVC

import gapless as gl
from gapless.estimators import stages
from gapless.estimators.kernel_spec import small_gram
from gapless.estimators.stages import features_of, solve_in_stages
from gapless.kernels import RBF, Linear, Polynomial
from gapless.solvers import SMO

OPTIONS = {"tol": 1e-3, "kkt_tol": 1e-3, "max_iter": None, "max_time": None, "callback": None, "start": None,
           "random_state": 0, "in_samples": True}  # fmt: skip


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # in particular that it stopped early
        return model.fit(X, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_breast_cancer_as_it_is(C):
    X, y = load_breast_cancer(return_X_y=True)
    model = fitted(gl.SVC(kernel="linear", C=C), X, y)
    assert model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3
    assert model.n_iter_[0] <= 200 * len(y)  # pairs alone take 660 n and more
    if C < 1:
        theirs = TheirSVC(kernel="linear", C=C).fit(X, y)
        assert_allclose(model.coef_, theirs.coef_, rtol=0.05, atol=0.02 * np.abs(theirs.coef_).max())
        assert (model.predict(X) == theirs.predict(X)).mean() >= 0.995


@pytest.mark.parametrize("model", [gl.SVC(kernel="linear", C=1e4), gl.SVC(kernel="poly", C=1e4)], ids=repr)
def test_three_classes_as_they_are(model):
    X, y = load_wine(return_X_y=True)
    assert max(each.relative_gap for each in fitted(model, X, y).certificates_) <= 1e-3


def test_a_regression_with_a_large_C():
    X, y = load_diabetes(return_X_y=True)
    model = fitted(gl.SVR(kernel="linear", C=1e4), X, y)
    assert model.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 0.1, 1.0), RBF(0.2)], ids=repr)
def test_features_have_the_products_of_the_kernel(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-2, 3, size=(40, 1))  # samples of very different sizes
    y = np.arange(40) % 2
    K = kernel(X, X)
    size = np.sqrt(K.diagonal())
    table = small_gram(kernel, X)
    for problem in (
        gl.Problem(X, y, kernel=kernel),
        gl.Problem(np.arange(40.0)[:, None], y, kernel=table),
    ):
        rows = features_of(problem)
        assert_allclose(rows @ rows.T / np.outer(size, size), K / np.outer(size, size), atol=1e-12)


def test_a_kernel_that_is_none_has_no_features():
    assert features_of(gl.Problem(np.eye(3), [0, 1, 1], kernel=gl.kernels.Sigmoid(1.0, -1.0))) is None


def hard_for_pairs() -> gl.Problem:
    X, y = load_wine(return_X_y=True)
    return gl.Problem(X[y > 0], y[y > 0], C=100.0)


def test_max_iter_bounds_all_stages_together(monkeypatch):
    problem = hard_for_pairs()
    for most in (50, 20 * problem.n_samples + 7, 50_000):
        result = solve_in_stages(problem, SMO(), **{**OPTIONS, "max_iter": most})
        assert result.iterations <= most
    assert result.status is gl.Status.CONVERGED
    # Without the features it takes far more.
    monkeypatch.setattr(stages, "features_of", lambda problem: None)
    assert solve_in_stages(problem, SMO(), **{**OPTIONS, "max_iter": 50_000}).status is gl.Status.MAX_ITER


def test_the_history_is_one():
    result = solve_in_stages(hard_for_pairs(), SMO(), **OPTIONS)
    trace = result.trace
    assert result.status is gl.Status.CONVERGED
    assert trace.iterations[-1] == result.iterations and (np.diff(trace.iterations) >= 0).all()
    assert (np.diff(trace.best_primal) <= 0).all() and (np.diff(trace.best_dual) >= 0).all()
    again = gl.certify(result.problem, result)
    assert again.relative_gap <= 1e-3


def test_an_interruption_on_the_way_keeps_what_pairs_have_found(monkeypatch):
    def interrupted(*_, **__):
        raise gl.Interrupted(gl.solve(gl.Problem([[0.0], [1.0]], [0, 1])))

    monkeypatch.setattr(stages, "_by_features", interrupted)
    problem = hard_for_pairs()
    with pytest.raises(gl.Interrupted) as caught:
        solve_in_stages(problem, SMO(), **OPTIONS)
    assert caught.value.result.problem is problem and caught.value.result.status is gl.Status.INTERRUPTED
