from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from gapless.errors import InvalidInputError
from gapless.kernels import FeatureMapKernel, FunctionKernel, Linear, Polynomial, Precomputed, custom
from tests.kernels.samples import inner

X = np.random.default_rng(0).normal(size=(6, 2))
GRAM = X @ X.T


def test_precomputed_picks_from_the_gram_matrix():
    kernel, samples = Precomputed(GRAM), np.arange(6.0)[:, None]
    assert_array_equal(kernel.block(samples, samples), GRAM)
    assert_array_equal(kernel.block(samples[[4, 1]], samples), GRAM[[4, 1]])
    assert_array_equal(kernel.block(samples[[4, 1]], samples[[0, 0, 5]]), GRAM[[4, 1]][:, [0, 0, 5]])
    assert_array_equal(kernel.diag(samples[[3, 2]]), GRAM[[3, 2], [3, 2]])
    assert_array_equal((2 * kernel + 1).block(samples, samples), 2 * GRAM + 1)
    assert kernel([3], [2]) == GRAM[3, 2]


def test_precomputed_clones_share_the_matrix_and_compare_its_entries():
    kernel = Precomputed(GRAM)
    assert clone(kernel).gram is GRAM and clone(2 * kernel).kernel.gram is GRAM
    assert kernel == Precomputed(GRAM.copy()) and hash(kernel) == hash(Precomputed(GRAM.copy()))
    assert kernel != Precomputed(2 * GRAM)
    assert repr(kernel) == "Precomputed(gram=<6 × 6 array>)"


def test_precomputed_takes_other_number_types():
    for gram in (GRAM.astype(np.float32), np.eye(6, dtype=np.uint8), np.zeros((6, 6), dtype=int)):
        K = Precomputed(gram).block(np.arange(6)[:, None], np.arange(6)[:, None])
        assert K.dtype == np.float64
        assert_array_equal(K, gram)


def test_precomputed_symmetry_is_seen_in_every_part_of_a_large_matrix(monkeypatch):
    monkeypatch.setattr(custom, "_CHECK_ENTRIES", 12)
    Precomputed(GRAM * (1 + 1e-12 * np.arange(6)))
    skew = GRAM.copy()
    skew[5, 0] += 1.0
    with pytest.raises(InvalidInputError) as error:
        Precomputed(skew)
    assert str(error.value) == "gram must be symmetric; an entry differs from its mirror image by 1."


@pytest.mark.parametrize(
    ("gram", "message"),
    [
        (GRAM[:3], "gram must be a square array; got an array of shape (3, 6)."),
        (np.zeros((0, 0)), "gram must be a square array; got an array of shape (0, 0)."),
        (GRAM.tolist(), "gram must be a square array; got list."),
        (GRAM * np.nan, "gram must be finite; it has NaN or infinite entries."),
        (GRAM * 1j, "gram must hold real numbers; got the type complex128."),
        (
            np.array([[0, 1], [255, 0]], dtype=np.uint8),
            "gram must be symmetric; an entry differs from its mirror image by 254.",
        ),
    ],
)
def test_precomputed_refuses_what_is_not_a_gram_matrix(gram, message):
    with pytest.raises(InvalidInputError) as error:
        Precomputed(gram)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([[0.5]], "Precomputed takes indices, whole numbers from 0 to 5; got 0.5."),
        ([[0], [-1]], "Precomputed takes indices, whole numbers from 0 to 5; got -1."),
        ([[6]], "Precomputed takes indices, whole numbers from 0 to 5; got 6."),
        (GRAM, "Precomputed takes samples as one column of indices into its Gram matrix; got 6 columns."),
    ],
)
def test_precomputed_refuses_what_is_not_an_index(samples, message):
    with pytest.raises(InvalidInputError) as error:
        Precomputed(GRAM)(samples)
    assert str(error.value) == message


def test_feature_map_by_transform_or_call():
    fitted = PolynomialFeatures(2).fit(X)
    for phi in (fitted, fitted.transform, lambda X: sp.coo_array(fitted.transform(X))):
        kernel = FeatureMapKernel(phi)
        assert_allclose(kernel(X, X[:2]), fitted.transform(X) @ fitted.transform(X[:2]).T)
        assert_allclose(kernel.diag(X), np.diag(kernel(X)))


def test_feature_map_of_the_polynomial_kernel():
    def phi(X):
        x, y = X.T
        return np.column_stack([np.ones(len(X)), np.sqrt(2) * X, x**2, np.sqrt(2) * x * y, y**2])

    assert_allclose(FeatureMapKernel(phi)(X), Polynomial(degree=2)(X), rtol=1e-12)


def test_feature_map_stays_fitted_in_clones():
    fitted = PolynomialFeatures(2).fit(X)
    twin = clone(FeatureMapKernel(fitted) + Linear())
    assert twin.left.map is fitted
    assert twin(X).shape == (6, 6)
    assert list(FeatureMapKernel(fitted).get_params()) == ["map"]


def test_feature_map_refuses_wrong_maps():
    with pytest.raises(InvalidInputError) as error:
        FeatureMapKernel(3)
    assert str(error.value) == "map must be callable or have a method transform; got 3."
    for phi, shape in [(lambda X: X[0], "(2,)"), (lambda X: X[:3], "(3, 2)")]:
        with pytest.raises(InvalidInputError) as error:
            FeatureMapKernel(phi)(X)
        expected = f"map must return a matrix with one row for each of the 6 samples; got the shape {shape}."
        assert str(error.value) == expected


def test_function_of_rows_and_of_blocks():
    rows = FunctionKernel(np.dot)
    whole = FunctionKernel(inner, vectorized=True)
    for kernel in (rows, whole):
        for data in (X, sp.csr_array(X)):
            assert_allclose(kernel(data, data[:2]), X @ X[:2].T, rtol=1e-14)
            assert_allclose(kernel.diag(data), np.diag(GRAM), rtol=1e-14)


def test_function_may_keep_what_it_returns():
    kept = np.ones((6, 6))
    kernel = 2 * FunctionKernel(lambda X, Z: kept, vectorized=True)
    assert_array_equal(kernel(X), 2 * np.ones((6, 6)))
    assert_array_equal(kept, np.ones((6, 6)))


def test_function_refuses_wrong_arguments_and_results():
    for build, message in [
        (lambda: FunctionKernel("rbf"), "function must be callable; got 'rbf'."),
        (lambda: FunctionKernel(min, valid="yes"), "valid must be None, True or False; got 'yes'."),
        (
            lambda: FunctionKernel(lambda X, Z: X[:, 0], vectorized=True)(X, X[:4]),
            "function must return an array of shape (6, 4) for 6 and 4 samples; got (6,).",
        ),
    ]:
        with pytest.raises(InvalidInputError) as error:
            build()
        assert str(error.value) == message
