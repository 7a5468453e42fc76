"""Weights mean what they say: k equals k repetitions, zero equals removal, in γ and in the classes too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless.errors import InvalidInputError
from tests.estimators.data import cancer, iris

ESTIMATORS = [
    gl.SVC(tol=1e-10),
    gl.SVC(kernel="linear", tol=1e-10, class_weight="balanced"),
    gl.NuSVC(nu=0.15, tol=1e-10),
    gl.SVR(tol=1e-10),
    gl.NuSVR(tol=1e-10),
    gl.OneClassSVM(nu=0.3, tol=1e-10),
    gl.LinearSVC(tol=1e-12, max_iter=20_000, C=0.2, class_weight="balanced"),
    gl.LinearSVR(tol=1e-12, max_iter=20_000, C=0.2, epsilon=0.1, loss="squared_epsilon_insensitive"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: f"{type(estimator).__name__}-{estimator.tol}")
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=4)
def test_weights_are_repetitions(estimator, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 3)) + 1.0
    y = np.arange(24) % 3
    weight = rng.integers(0, 4, size=24)
    weight[:6] += 1
    order = rng.permutation(24)
    repeated = estimator.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    scores = "decision_function" if hasattr(estimator, "decision_function") else "predict"
    expected = getattr(repeated, scores)(X)
    weighted = estimator.fit(X[order], y[order], sample_weight=weight[order])
    np.testing.assert_allclose(getattr(weighted, scores)(X), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cls", [gl.SVC, gl.LinearSVC])
def test_a_class_without_weight_is_absent(cls):
    X, y = iris()
    weight = np.where(y == 1, 0.0, 1.0)
    without, weighted = cls().fit(X[y != 1], y[y != 1]), cls().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.classes_, [0, 2])
    np.testing.assert_array_equal(weighted.predict(X), without.predict(X))
    if cls is gl.SVC:
        np.testing.assert_array_equal(np.flatnonzero(y != 1)[without.support_], weighted.support_)


def test_balanced_counts_weights():
    X, y = cancer()
    weight = np.where(y == 0, 2.0, 1.0)
    model = gl.SVC(class_weight="balanced").fit(X, y, sample_weight=weight)
    counts = np.array([2.0 * (y == 0).sum(), (y == 1).sum()])
    np.testing.assert_allclose(model.class_weight_, counts.sum() / (2 * counts))


def test_negative_weights_are_absent_samples_to_kernel_estimators_as_in_libsvm():
    X, y = cancer()
    weight = np.ones(len(y))
    weight[::3] = -1.0
    kept = weight > 0
    a, b = gl.SVC(tol=1e-11).fit(X, y, sample_weight=weight), gl.SVC(tol=1e-11).fit(X[kept], y[kept])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    "cls, weight, message",
    [
        (gl.SVC, [1.0, 1.0], r"sample_weight and X have incompatible shapes: \(2,\) vs \(4, 1\)\."),
        (gl.SVC, [1.0, np.nan, 1, 1], "sample_weight must be finite; it has NaN or infinite entries."),
        (gl.SVR, [0, 0, -1, 0], "Invalid input - all samples have zero or negative weights."),
        (gl.SVC, [0, 0, 1, 1], "Invalid input - all samples with positive weights belong to the same class."),
        (
            gl.NuSVC,
            [0, 0, 1, 1],
            "specified nu is infeasible: all samples with positive weights belong to the same class.",
        ),
        (
            gl.NuSVC,
            [0.1, 0.1, 9, 9],
            "specified nu is infeasible: nu=0.5 asks for 4.55 weighted support vectors a class",
        ),
        (gl.LinearSVC, [0, 0, 1, 1], "sample_weight leaves one class, and a classifier needs two."),
        (gl.LinearSVC, [1.0, 1.0], r"sample_weight must have one entry for each of the 4 samples; got \(2,\)\."),
        (gl.LinearSVR, [1, -1, 1, 1], "sample_weight must not be negative; entry 1 is -1."),
        (gl.LinearSVR, [0, 0, 0, 0], "sample_weight must have a positive entry; all are zero."),
        (gl.LinearSVR, [1, np.inf, 1, 1], "sample_weight must be finite; it has NaN or infinite entries."),
    ],
)
def test_weights_that_make_no_sense(cls, weight, message):
    with pytest.raises(InvalidInputError, match=message):
        cls().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], sample_weight=weight)


def test_class_weights_of_nu_svc_favour_a_class():
    X, y = cancer()
    plain = gl.NuSVC(nu=0.3, tol=1e-6).fit(X, y)
    equal = gl.NuSVC(nu=0.3, tol=1e-6, class_weight={0: 7.0, 1: 7.0}).fit(X, y)
    np.testing.assert_allclose(equal.decision_function(X), plain.decision_function(X), atol=1e-4)
    shares = [
        (gl.NuSVC(nu=0.3, tol=1e-6, class_weight={0: w, 1: 1.0}).fit(X, y).predict(X) == 0).mean()
        for w in (0.01, 1.0, 100.0)
    ]
    assert shares[0] < shares[1] < shares[2]
