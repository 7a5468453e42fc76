"""Support vectors of the linear estimators: indices, coefficients and counts, which give back the weights and the intercept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from tests.estimators.data import cancer, diabetes, iris

CASES = {
    "hinge, two classes": (gl.LinearSVC(loss="hinge", tol=1e-8, max_iter=100_000), cancer),
    "squared hinge, three classes": (gl.LinearSVC(tol=1e-8), iris),
    "hinge, three classes, free intercept": (
        gl.LinearSVC(loss="hinge", intercept="free", C=0.1, tol=1e-8, max_iter=100_000),
        iris,
    ),
    "Crammer and Singer, three classes": (
        gl.LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-6, max_iter=100_000),
        iris,
    ),
    "Crammer and Singer, two classes": (gl.LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-6), cancer),
    "a regression": (gl.LinearSVR(epsilon=0.5, C=0.1, tol=1e-8, max_iter=100_000), diabetes),
    "a squared regression": (gl.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.5, tol=1e-8), diabetes),
}


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", CASES)
def test_weights_are_a_combination_of_the_support_vectors(name, storage):
    model, data = CASES[name]
    X, y = data()
    model.fit(storage(X), y)
    coef = np.atleast_2d(model.coef_)
    assert model.dual_coef_.shape == (len(coef), len(model.support_))
    apart = np.linalg.norm(model.dual_coef_ @ X[model.support_] - coef, axis=1)
    wide = np.sqrt(2) if "Singer, two" in name else 1.0
    allowed = wide * np.sqrt([2 * certificate.gap for certificate in model.certificates_])
    assert (apart <= allowed + 1e-12).all()
    assert np.linalg.norm(coef) > 0.1
    assert (
        0 < len(model.support_) <= len(X) and (np.diff(model.support_) > 0).all() and model.support_.dtype == np.int32
    )


@pytest.mark.parametrize("name", CASES)
def test_counts_and_alphas(name):
    model, data = CASES[name]
    X, y = data()
    model.fit(X, y)
    expected = [len(model.support_)]
    if hasattr(model, "classes_"):
        expected = [np.count_nonzero(y[model.support_] == label) for label in model.classes_]
    assert model.n_support_.tolist() == expected and model.n_support_.dtype == np.int32
    alpha = model.alpha_.reshape(len(X), -1)
    np.testing.assert_array_equal(np.flatnonzero(alpha.any(axis=1)), model.support_)
    if len(alpha.T) == len(model.dual_coef_):
        np.testing.assert_array_equal(alpha[model.support_], np.abs(model.dual_coef_).T)


def test_a_binary_model_has_the_support_vectors_of_svc():
    X, y = cancer()
    linear = gl.LinearSVC(loss="hinge", intercept="free", solver="smo", tol=1e-9, C=0.1, max_iter=10_000_000).fit(X, y)
    kernel = gl.SVC(kernel="linear", C=0.1, tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(linear.support_, np.sort(kernel.support_))
    np.testing.assert_array_equal(linear.n_support_, kernel.n_support_)
    order = np.argsort(kernel.support_)
    np.testing.assert_allclose(linear.dual_coef_[0], kernel.dual_coef_[0, order], atol=1e-4)


def test_an_l1_penalty_has_dual_variables_of_its_own():
    X, y = cancer()
    model = gl.LinearSVC(penalty="l1", C=0.1, tol=1e-6).fit(X, y)
    assert model.dual_coef_.shape == (1, len(model.support_))
    # |Xᵀβ| ≤ 1 is what makes β feasible, and where a weight is not zero it is an equality.
    correlations = model.dual_coef_[0] @ X[model.support_]
    assert np.abs(correlations).max() <= 1 + 1e-9
    used = model.coef_[0] != 0
    np.testing.assert_allclose(correlations[used], np.sign(model.coef_[0, used]), atol=1e-2)


def test_samples_are_not_kept_and_the_message_says_where_they_are():
    X, y = cancer()
    model = gl.LinearSVC().fit(X, y)
    assert not hasattr(model, "support_vectors_")
    with pytest.raises(AttributeError, match=r"LinearSVC keeps no training samples; .* X\[model.support_\]"):
        _ = model.support_vectors_
    assert len(pickle.dumps(model)) < X.nbytes


def test_nothing_is_known_before_a_fit():
    for model in (gl.LinearSVC(), gl.LinearSVR()):
        for name in ("support_", "dual_coef_", "n_support_", "alpha_"):
            assert not hasattr(model, name)


def test_samples_of_weight_zero_are_no_support_vectors():
    X, y = cancer()
    weight = np.ones(len(X))
    weight[::3] = 0
    model = gl.LinearSVC(loss="hinge").fit(X, y, sample_weight=weight)
    assert len(model.support_) and (weight[model.support_] > 0).all()


@pytest.mark.parametrize("name", ["squared hinge, three classes", "a regression"])
def test_a_file_keeps_them(name, tmp_path):
    model, data = CASES[name]
    model.fit(*data()).save(tmp_path / "model.safetensors")
    again = gl.load(tmp_path / "model.safetensors")
    for attribute in ("support_", "dual_coef_", "n_support_", "alpha_"):
        np.testing.assert_array_equal(getattr(again, attribute), getattr(model, attribute))
