"""Polynomial: against naive loops, scikit-learn's PolynomialFeatures, and its kernel twin."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

import gapless.data.memory
import gapless.features.polynomial
from gapless.errors import InvalidInputError, TooLargeError, UnsupportedError
from gapless.features import Polynomial
from gapless.kernels import FeatureMapKernel

MODES = [{"ordered": True}, {"scaled": True}, {"scaled": False}]


def naive(
    X: np.ndarray, degree: int, ordered: bool = False, scaled: bool = True, include_bias: bool = True
) -> np.ndarray:
    """Column after column, entry after entry."""
    d = X.shape[1]
    columns = []
    for k in range(0 if include_bias else 1, degree + 1):
        terms = product(range(d), repeat=k) if ordered else combinations_with_replacement(range(d), k)
        for term in terms:
            orderings = math.factorial(k)
            for power in Counter(term).values():
                orderings //= math.factorial(power)
            scale = math.sqrt(orderings) if scaled and not ordered else 1.0
            columns.append([scale * math.prod(x[j] for j in term) for x in X])
    return np.array(columns).T


def random_rows(seed: int, n: int, d: int) -> np.ndarray:
    """About half of the entries are zero, and the first row is all zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[0] = 0.0
    return X


@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("mode", MODES, ids=str)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 4), d=st.integers(1, 4), degree=st.integers(1, 5))
def test_equals_the_naive_loop_dense_and_csr(mode, include_bias, seed, n, d, degree):
    X = random_rows(seed, n, d)
    phi = Polynomial(degree, include_bias=include_bias, **mode)
    expected = naive(X, degree, include_bias=include_bias, **mode)
    Z = phi.fit_transform(X)
    assert isinstance(Z, np.ndarray)
    assert Z.shape == (n, phi.n_output_features_)
    np.testing.assert_allclose(Z, expected, rtol=1e-13)
    S = phi.fit_transform(sp.csr_array(X))
    assert isinstance(S, sp.csr_array)
    assert S.has_canonical_format
    assert np.count_nonzero(S.data) == S.nnz, "only products of stored entries are stored"
    np.testing.assert_array_equal(S.toarray(), Z)


@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("mode", MODES[:2], ids=str)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 6), degree=st.integers(1, 5))
def test_inner_products_are_the_kernel(mode, include_bias, seed, d, degree):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(4, d)), rng.normal(size=(3, d))
    phi = Polynomial(degree, include_bias=include_bias, **mode).fit(X)
    inner = X @ Z.T
    closed_form = sum(inner**k for k in range(0 if include_bias else 1, degree + 1))
    # Products of both signs cancel: the error is relative to the sum of their sizes.
    size = sum((np.abs(X) @ np.abs(Z).T) ** k for k in range(degree + 1))
    assert (np.abs(phi.transform(X) @ phi.transform(Z).T - closed_form) <= 1e-12 * size).all()
    assert (np.abs(phi.kernel()(X, Z) - closed_form) <= 1e-12 * size).all()


def test_the_textbook_map_of_degree_two():
    """ψ(x) = (1, x₁…x_d, x₁x₁, x₁x₂, …, x_dx_d), dimension 1 + d + d², kernel 1 + ⟨x,z⟩ + ⟨x,z⟩²."""
    x = np.random.default_rng(0).normal(size=(1, 7))
    Z = Polynomial(2, ordered=True).fit_transform(x)
    np.testing.assert_array_equal(Z[0], np.concatenate([[1.0], x[0], np.outer(x[0], x[0]).ravel()]))
    assert Z.shape == (1, 1 + 7 + 49)


def test_the_feature_map_kernel_is_the_same_kernel():
    X = np.random.default_rng(1).normal(size=(8, 3))
    phi = Polynomial(3).fit(X)
    np.testing.assert_allclose(FeatureMapKernel(phi)(X, X), phi.kernel()(X, X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("include_bias", [True, False])
def test_unscaled_is_scikit_learn(degree, include_bias):
    X = random_rows(5, 12, 5)
    ours, theirs = (
        Polynomial(degree, scaled=False, include_bias=include_bias),
        PolynomialFeatures(degree, include_bias=include_bias),
    )
    np.testing.assert_array_equal(ours.fit_transform(X), theirs.fit_transform(X))
    np.testing.assert_array_equal(ours.fit_transform(sp.csr_array(X)).toarray(), theirs.fit_transform(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert ours.get_feature_names_out(list("abcde")).tolist() == theirs.get_feature_names_out(list("abcde")).tolist()


def test_names_of_ordered_products_are_distinct():
    phi = Polynomial(2, ordered=True).fit(np.ones((1, 2)))
    assert phi.get_feature_names_out().tolist() == ["1", "x0", "x1", "x0 x0", "x0 x1", "x1 x0", "x1 x1"]


@pytest.mark.parametrize("format", ["csr_matrix", "csc_array", "coo_array"])
def test_every_sparse_format_becomes_a_csr_array(format):
    X = random_rows(2, 6, 4)
    Z = Polynomial().fit_transform(getattr(sp, format)(X))
    assert isinstance(Z, sp.csr_array)
    np.testing.assert_array_equal(Z.toarray(), Polynomial().fit_transform(X))


def test_scales_do_not_depend_on_the_chunks(monkeypatch):
    X = random_rows(4, 6, 5)
    whole, whole_sparse = Polynomial(4).fit_transform(X), Polynomial(4).fit_transform(sp.csr_array(X))
    monkeypatch.setattr(gapless.features.polynomial, "_CHUNK", 7)
    np.testing.assert_array_equal(Polynomial(4).fit_transform(X), whole)
    np.testing.assert_array_equal(Polynomial(4).fit_transform(sp.csr_array(X)).toarray(), whole_sparse.toarray())


def test_wide_csr_costs_what_its_entries_cost():
    """200,000 columns make 2·10¹⁰, beyond 32-bit indices; a row of two entries fills six or seven of them."""
    X = sp.csr_array((np.array([2.0, 3.0]), np.array([5, 199_999]), np.array([0, 2])), shape=(1, 200_000))
    phi = Polynomial(2)
    Z = phi.fit_transform(X)
    assert Z.shape == (1, phi.n_output_features_) == (1, math.comb(200_002, 2))
    np.testing.assert_allclose(np.sort(Z.data), [1, 2, 3, 4, 6 * math.sqrt(2), 9], rtol=1e-15)
    Z = Polynomial(2, ordered=True).fit_transform(X)
    np.testing.assert_array_equal(np.sort(Z.data), [1, 2, 3, 4, 6, 6, 9])


def test_orderings_of_a_high_degree_are_exact():
    """Of degree 20 in two columns, x₁^a x₂^(20−a) equals C(20, a) ordered products."""
    Z = Polynomial(20).fit_transform(np.ones((1, 2)))
    np.testing.assert_allclose(Z[0, -21:], np.sqrt([math.comb(20, a) for a in range(20, -1, -1)]), rtol=1e-15)


@pytest.mark.parametrize("degree", [0, -1, 2.5, "2", True, None])
def test_degree_must_be_natural(degree):
    for use in (lambda phi: phi.fit(np.ones((2, 2))), lambda phi: phi.kernel()):
        with pytest.raises(InvalidInputError) as error:
            use(Polynomial(degree))
        assert str(error.value) == f"degree must be a natural number of at least 1; got {degree!r}."


@pytest.mark.parametrize("name", ["ordered", "scaled", "include_bias"])
def test_switches_are_true_or_false(name):
    with pytest.raises(InvalidInputError) as error:
        Polynomial(**{name: "no"}).fit(np.ones((2, 2)))
    assert str(error.value) == f"{name} must be True or False; got 'no'."


def test_plain_monomials_have_no_kernel_in_closed_form():
    with pytest.raises(UnsupportedError) as error:
        Polynomial(scaled=False).kernel()
    assert str(error.value) == (
        "Polynomial(scaled=False) has no kernel in closed form; use scaled=True or ordered=True, "
        "or gapless.kernels.FeatureMapKernel of this map."
    )
    X = np.array([[1.0, 2.0]])
    assert Polynomial(1, scaled=False).kernel()(X, X) == 6.0


def test_a_map_that_does_not_fit_into_memory_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 2**31)
    phi = Polynomial(6).fit(np.ones((1, 500)))
    assert phi.n_output_features_ == math.comb(506, 6)
    with pytest.raises(TooLargeError) as error:
        phi.transform(np.ones((3, 500)))
    assert str(error.value) == (
        f"Polynomial(degree=6) of 500 features makes {math.comb(506, 6):,} columns: its output for 3 rows "
        f"needs {math.comb(506, 6) * 24 / 2**30:,.0f} GiB, but only 2.00 GiB of memory is available."
    )


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_memory_of_csr_is_that_of_its_entries(monkeypatch, mode):
    X = sp.csr_array(np.eye(3, 50))
    phi = Polynomial(3, **mode).fit(X)
    n_entries = phi.transform(X).nnz
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 5 * 16 * n_entries)
    assert phi.transform(X).nnz == n_entries == 12
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 5 * 16 * n_entries - 1)
    with pytest.raises(TooLargeError, match=r"makes [0-9,]+ columns: its output for 3 rows needs 0\.00 GiB"):
        phi.transform(X)


@pytest.mark.parametrize("ordered", [True, False])
def test_more_columns_than_an_array_can_have(ordered):
    with pytest.raises(TooLargeError) as error:
        Polynomial(10, ordered=ordered).fit(np.ones((1, 1000)))
    power = 30 if ordered else 23
    assert str(error.value) == (
        f"Polynomial(degree=10) of 1,000 features makes about 10^{power} columns, more than an array can have."
    )
