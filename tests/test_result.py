from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import gapless as gl
from gapless import kernels
from gapless.errors import InvalidInputError


def data(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize("status", gl.Status)
def test_a_status_is_a_sentence(status):
    text = str(status)
    assert text == status.value
    assert text[0].isupper() and text.endswith(".") and "  " not in text and "\n" not in text
    assert len({str(each) for each in gl.Status}) == len(gl.Status)


@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.4)], ids=repr)
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_decision_values_are_those_of_the_model(kernel, intercept):
    X, y = data()
    Z = np.random.default_rng(1).normal(size=(7, 3))
    result = gl.solve(gl.Problem(X, y, kernel=kernel, intercept=intercept), "smo", tol=1e-8)
    if kernel is None:
        expected = Z @ result.w + result.b
        assert result.expansion is None
    else:
        expected = kernel(Z, X) @ result.expansion + result.b
        assert result.w is None
    assert_allclose(result.decision_function(Z), expected, atol=1e-12)
    for form in (Z.tolist(), sp.csr_array(Z), sp.coo_array(Z), np.asfortranarray(Z)):
        assert_allclose(result.decision_function(form), expected, atol=1e-12)
    assert_allclose(result.decision_function(Z.astype(np.float32)), expected, atol=1e-5)
    if intercept == "none":
        assert result.b == 0.0


def test_a_model_trained_on_csr_takes_dense_samples():
    X, y = data()
    result = gl.solve(gl.Problem(sp.csr_array(X), y, kernel=kernels.RBF(0.4)), tol=1e-8)
    assert_allclose(result.decision_function(X), result.decision_function(sp.csr_array(X)), atol=1e-12)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (3, 7), (0.5, 2.5)])
def test_predictions_are_labels_of_the_given_type(labels):
    X, y = data()
    named = np.array(labels)[(y > 0).astype(int)]
    result = gl.solve(gl.Problem(X, named))
    predicted = result.predict(X)
    assert predicted.dtype == named.dtype
    assert_array_equal(predicted, np.array(labels)[(result.decision_function(X) > 0).astype(int)])
    assert (predicted == named).mean() > 0.8


def test_the_smaller_label_is_predicted_on_the_border():
    result = gl.solve(gl.Problem([[-1.0], [1.0]], ["a", "b"], intercept="none"))
    assert result.predict([[0.0]]).tolist() == ["a"]


def test_a_regression_predicts_its_decision_values():
    X, _ = data()
    y = X @ [1.0, -2.0, 0.5] + 3.0
    result = gl.solve(gl.Problem(X, y, loss="epsilon_insensitive", C=100.0), tol=1e-8)
    assert_array_equal(result.predict(X), result.decision_function(X))
    assert np.abs(result.predict(X) - y).max() <= 0.1 + 1e-3


@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.4)], ids=repr)
def test_wrong_samples_are_refused_in_words(kernel):
    X, y = data()
    result = gl.solve(gl.Problem(X, y, kernel=kernel), tol=1e-2)
    for method in (result.predict, result.decision_function):
        with pytest.raises(InvalidInputError) as error:
            method(X[:, :2])
        assert str(error.value) == "X must have 3 features as in training; got 2."
        with pytest.raises(InvalidInputError) as error:
            method([[1.0, np.nan, 0.0]])
        assert str(error.value) == "X must be finite; row 0, column 1 is nan."


def test_alpha_in_four_scalings():
    X, y = data()
    weight = np.where(np.arange(40) == 3, 0.0, 1.0 + np.arange(40) % 2)
    result = gl.solve(gl.Problem(X, y, C=0.2, sample_weight=weight), tol=1e-8)
    cost = 0.2 * weight
    alpha = result.alpha()
    assert_array_equal(alpha, np.abs(result.beta))
    assert_array_equal(result.alpha("C"), alpha)
    assert (alpha <= cost * (1 + 1e-12)).all()
    unit = result.alpha("unit")
    assert unit[3] == 0.0 and unit.max() == pytest.approx(1.0) and unit.min() == 0.0
    assert_allclose(unit * cost, alpha, atol=1e-15)
    assert_array_equal(result.alpha("fenchel"), -unit)
    with pytest.raises(InvalidInputError) as error:
        result.alpha("nu")
    assert str(error.value) == "scaling must be one of stated, C, unit, fenchel; got 'nu'."
    stated = gl.solve(gl.Problem(X, y, lam_sum=5.0, sample_weight=weight), tol=1e-8)
    assert_allclose(stated.alpha(), 5.0 * np.abs(stated.beta))
    assert (stated.alpha() <= weight * (1 + 1e-12)).all()


def test_support_vectors_are_those_with_weight():
    X, y = data()
    result = gl.solve(gl.Problem(X, y), tol=1e-8)
    assert 0 < len(result.support) < 40
    assert_array_equal(result.support, np.flatnonzero(result.beta != 0))
    assert result.certificate.n_support == len(result.support)


def test_a_result_is_frozen_and_its_repr_is_short():
    X, y = data()
    result = gl.solve(gl.Problem(X, y), "smo")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.b = 0.0
    text = repr(result)
    assert text.startswith("Result(solver='smo', certificate=") and "array" not in text and len(text) < 700
