"""Linear machines on data as it comes: scales that are seven orders of magnitude apart with heavy tails, and whole numbers with many equal rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gapless as gl

SCALES = np.logspace(-3, 4, 8)


def heavy_tails(n):
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.5, size=(n, 8)) * SCALES
    scores = (X / SCALES) @ rng.standard_normal((8, 2)) + rng.standard_normal((n, 2))
    return X, scores.argmax(axis=1), scores[:, 0]


def whole_numbers(n):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(n, 8)).astype(float)
    score = X @ rng.standard_normal(8) + rng.standard_normal(n)
    return X, (score > np.median(score)).astype(int), np.round(score)


def ends_within_tol(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l2"), ("squared_hinge", "l2"), ("squared_hinge", "l1")])
@pytest.mark.parametrize("data", [heavy_tails, whole_numbers])
def test_linear_classifiers(data, loss, penalty, C, fit_intercept):
    X, y, _ = data(1000)
    dual = True if loss == "hinge" else "auto"
    ends_within_tol(gl.LinearSVC(loss=loss, penalty=penalty, C=C, dual=dual, fit_intercept=fit_intercept), X, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("data", [heavy_tails, whole_numbers])
def test_linear_regressions(data, loss, C):
    X, _, y = data(1000)
    ends_within_tol(gl.LinearSVR(loss=loss, C=C, dual="auto"), X, y)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_linear_kernel_on_whole_numbers(C):
    X, y, target = whole_numbers(1000)
    ends_within_tol(gl.SVC(kernel="linear", C=C), X, y)
    ends_within_tol(gl.SVR(kernel="linear", C=C), X, target)


@pytest.mark.parametrize(("options", "n"), [({"kernel": "linear"}, 6000), ({"kernel": "poly", "nu": 0.8}, 2500)])
def test_few_free_support_vectors_of_many_samples(options, n):
    """Pairs ran into max_iter, with KKT violations of 0.07: Newton's steps need a ridge there, which hides the way; walks over faces end at once."""
    rng = np.random.default_rng(0)
    Z = rng.standard_t(2, size=(n, 8))
    y = Z[:, 0] + 2 * np.tanh(Z[:, 3]) - Z[:, 6] + rng.standard_t(2, size=n)
    model = gl.NuSVR(**options)
    ends_within_tol(model, Z * np.logspace(-2, 3, 8), y)
    assert model.n_iter_ < 2_000_000


@pytest.mark.parametrize("n", [1500, 2500, 6000])
@pytest.mark.parametrize("form", ["SVC", "SVR"])
def test_margins_that_float64_blurs(form, n):
    """A large C on heavy tails: f of a sample on the margin, as float64 sums it, is off by more than the KKT violation that tol allows.

    Fits took all of their steps and warned, with gaps of 1e-6.
    """
    rng = np.random.default_rng(0)
    Z = rng.standard_t(2, size=(n, 8))
    score = Z[:, 0] + Z[:, 3] - Z[:, 6] + rng.standard_t(2, size=n)
    X, y = Z * np.logspace(-2, 3, 8), (score > 0).astype(int) if form == "SVC" else score
    model = getattr(gl, form)(kernel="linear", C=100.0)
    ends_within_tol(model, X, y)
    assert model.certificate_.kkt_violation <= model.tol
    assert (
        gl.certify(model, X, y).kkt_violation <= 2 * model.tol
    )  # the model's coefficients are rounded once more, and its intercept is its own


def test_samples_of_length_zero_beside_margins_that_float64_blurs():
    """f of such a sample does not move, so that its distance from the margin is divided by zero, which warned."""
    X = np.zeros((11, 1))
    X[[1, 10]] = -175000.0
    y = np.array([3.3, -3.6, -9.9, -2.8, 1.4, -0.2, 0.8, 5.2, -3.7, -2.3, -0.7])
    ends_within_tol(gl.SVR(kernel="linear", C=100.0, epsilon=0.0, tol=1e-9), X, y)
