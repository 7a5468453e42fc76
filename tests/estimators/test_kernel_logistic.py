"""KernelLogisticRegression: scikit-learn's where the kernel is linear, certified, weighted, interrupted and resumed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import gapless as gl
from gapless import KernelLogisticRegression
from gapless.kernels import RBF
from tests.estimators.data import cancer, iris

BOTH = pytest.mark.parametrize("data", [cancer, iris])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
@BOTH
def test_with_the_linear_kernel_it_is_scikit_learns(data, C, fit_intercept):
    X, y = data()
    ours = KernelLogisticRegression(C=C, kernel="linear", tol=1e-12, fit_intercept=fit_intercept).fit(X, y)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=100_000, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@BOTH
def test_every_fit_is_certified(data, C):
    X, y = data()
    model = KernelLogisticRegression(C=C, tol=1e-9).fit(X, y)
    assert model.certificate_.relative_gap + 1e-14 >= 0 and model.certificate_.relative_gap <= 1e-9
    assert model.trace_.unit == "Newton steps" and model.n_iter_ < 40


def test_two_classes_are_the_logistic_problem_that_every_solver_solves():
    X, y = cancer()
    model = KernelLogisticRegression(C=2.0, kernel=RBF(gamma=0.02), tol=1e-10).fit(X, y)
    problem = gl.Problem(X, y, loss="logistic", kernel=RBF(gamma=0.02), C=2.0)
    result = gl.solve(problem, "smo", tol=1e-10)
    assert model.certificate_.primal == pytest.approx(result.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), result.decision_function(X), atol=1e-4)


@BOTH
def test_probabilities_are_those_of_the_scores(data):
    X, y = data()
    model = KernelLogisticRegression(C=5.0).fit(X, y)
    f, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(p, softmax(f, axis=1) if f.ndim == 2 else np.column_stack([expit(-f), expit(f)]))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    # The first-order condition in b: predicted and observed frequencies agree.
    np.testing.assert_allclose(p.mean(axis=0), np.bincount(y) / len(y), atol=1e-10)


@BOTH
def test_weights_are_repetitions_and_zero_is_absence(data):
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    options = {"kernel": RBF(gamma=0.05), "tol": 1e-12, "class_weight": "balanced"}
    weighted = KernelLogisticRegression(**options).fit(X, y, sample_weight=weight)
    repeated = KernelLogisticRegression(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-10)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    assert not np.isin(np.flatnonzero(weight == 0), weighted.support_).any()


@BOTH
def test_an_early_stop_says_so_and_goes_on_where_it_was(data):
    X, y = data()
    model = KernelLogisticRegression(C=100.0, tol=1e-10, max_iter=2, warm_start=True)
    with pytest.warns(ConvergenceWarning, match=r"after 2 Newton steps"):
        model.fit(X, y)
    first = model.certificate_
    assert first.gap > 0 and np.isfinite(first.gap)
    model.set_params(max_iter=-1).fit(X, y)
    cold = KernelLogisticRegression(C=100.0, tol=1e-10).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-10
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-9)
    assert first.dual <= cold.certificate_.primal <= first.primal * (1 + 1e-12)
    assert model.n_iter_ <= cold.n_iter_


@BOTH
def test_ctrl_c_leaves_a_fitted_and_certified_model(data):
    X, y = data()

    def press(progress):
        if progress.iterations >= 1:
            raise KeyboardInterrupt

    model = KernelLogisticRegression(C=100.0, tol=1e-12, callback=press)
    with pytest.raises(gl.Interrupted):
        model.fit(X, y)
    assert np.isfinite(model.certificate_.gap) and model.predict_proba(X).shape == (len(y), len(set(y)))


def test_a_callback_sees_the_gap_fall():
    X, y = cancer()
    gaps = []
    KernelLogisticRegression(C=100.0, tol=1e-10, callback=lambda step: gaps.append(step.certificate.gap)).fit(X, y)
    assert len(gaps) >= 2 and gaps == sorted(gaps, reverse=True)


@BOTH
def test_precomputed_and_functions_are_the_same_model(data):
    X, y = data()
    kernel = RBF(gamma=0.05)
    expected = KernelLogisticRegression(kernel=kernel, tol=1e-12).fit(X, y).decision_function(X)
    given = KernelLogisticRegression(kernel="precomputed", tol=1e-12).fit(kernel(X), y)
    np.testing.assert_allclose(given.decision_function(kernel(X)), expected, atol=1e-6)
    function = KernelLogisticRegression(kernel=lambda A, B: kernel(A, B), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(function.decision_function(X), expected, atol=1e-6)
