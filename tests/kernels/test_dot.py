from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity, polynomial_kernel, sigmoid_kernel

from gapless.errors import InvalidInputError
from gapless.kernels import Chi2, Cosine, Linear, Polynomial, Sigmoid
from tests.kernels.samples import matrices


@given(matrices(), matrices())
def test_agree_with_scikit_learn(X, Z):
    assert_allclose(Linear()(X, Z), X @ Z.T, rtol=1e-14, atol=1e-14)
    assert_allclose(Polynomial(3, 0.5, 2.0)(X, Z), polynomial_kernel(X, Z, 3, 0.5, 2.0), rtol=1e-12, atol=1e-12)
    assert_allclose(Sigmoid(0.5, -1.0)(X, Z), sigmoid_kernel(X, Z, 0.5, -1.0), rtol=1e-12, atol=1e-12)
    assert_allclose(Cosine()(X, Z), cosine_similarity(X, Z), rtol=1e-12, atol=1e-12)
    assert_allclose(Chi2(0.5)(abs(X), abs(Z)), chi2_kernel(abs(X), abs(Z), gamma=0.5), rtol=1e-12)


def test_linear_gram_is_exactly_symmetric():
    X = np.random.default_rng(0).normal(size=(50, 7))
    for data in (X, X.astype(np.float32), sp.csr_array(X)):
        K = Linear().block(data, data)
        assert_array_equal(K, K.T)


def test_cosine_with_a_zero_row_is_zero():
    K = Cosine()([[0.0, 0.0], [2.0, 0.0]])
    assert_array_equal(K, [[0.0, 0.0], [0.0, 1.0]])
    assert_array_equal(Cosine().diag(sp.csr_array([[0.0, 0.0], [2.0, 0.0]])), [0.0, 1.0])


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("place", ["X", "Z", "diag"])
def test_chi2_refuses_negative_entries(container, place):
    good, bad = container([[1.0, 0.0]]), container([[0.5, -2.5]])
    calls = {"X": lambda: Chi2()(bad, good), "Z": lambda: Chi2()(good, bad), "diag": lambda: Chi2().diag(bad)}
    with pytest.raises(InvalidInputError) as error:
        calls[place]()
    assert str(error.value) == "Chi2 needs data without negative entries; the smallest is -2.5."


def test_chi2_of_an_empty_sparse_matrix():
    assert_array_equal(Chi2()(sp.csr_array((2, 3))), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Polynomial(degree=2.5), "degree must be a natural number of at least 1; got 2.5."),
        (lambda: Polynomial(degree=0), "degree must be a natural number of at least 1; got 0."),
        (lambda: Polynomial(gamma=float("inf")), "gamma must be a finite number; got inf."),
        (lambda: Polynomial(coef0="a"), "coef0 must be a finite number; got 'a'."),
        (lambda: Sigmoid(gamma=None), "gamma must be a finite number; got None."),
        (lambda: Sigmoid(coef0=float("nan")), "coef0 must be a finite number; got nan."),
        (lambda: Chi2(gamma=-1), "gamma must be a finite number of at least 0; got -1."),
    ],
)
def test_wrong_parameters_are_refused(build, message):
    with pytest.raises(InvalidInputError) as error:
        build()
    assert str(error.value) == message
