"""Squared distances and the Gaussian kernel from them, at every instruction set, against exact rational numbers and 40 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from gapless import _native
from gapless.kernels.rounding import UNIT, distance_magnitudes

LEAST = np.finfo(np.float64).tiny  # the least normal number, which the compiled exponential does not go below


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request):
    """Every test runs at each instruction set that this machine has."""
    before = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(before)


def distances_of(X):
    out = np.full((len(X), len(X)), np.nan)
    _native.squared_distances(np.ascontiguousarray(X, dtype=np.float64), out)
    return out


def gaussian_of(distances, gamma):
    out = np.full_like(distances, np.nan)
    _native.gaussian(distances, gamma, out)
    return out


def exact_distance(x, z):
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))


def check(X, gamma):
    """Both against the exact values of every pair: distances to a relative error of (d + 3) u, entries to what `distance_magnitudes` says."""
    D = distances_of(X)
    K = gaussian_of(D, gamma)
    g, r = distance_magnitudes(X)
    assert_array_equal(D, D.T)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1.0)
    with localcontext(prec=40):
        for i in range(len(X)):
            for j in range(i, len(X)):
                exact = exact_distance(X[i], X[j])
                assert abs(Fraction(D[i, j]) - exact) <= Fraction((X.shape[1] + 3) * UNIT) * exact
                t = Fraction(gamma) * exact
                entry = (-Decimal(t.numerator) / Decimal(t.denominator)).exp()
                assert abs(Decimal(K[i, j]) - entry) <= Decimal(UNIT * (r[i] * g[j] + g[i] * r[j]))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 13, 21])
@pytest.mark.parametrize("d", [1, 2, 5, 17])
def test_sizes_that_are_no_multiple_of_a_vector(n, d):
    check(np.random.default_rng(n).normal(size=(n, d)), 0.7)


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 300.0])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4])
def test_small_and_large_numbers(scale, gamma):
    rng = np.random.default_rng(0)
    check(scale * rng.normal(size=(11, 3)), gamma)
    check(scale * rng.normal(size=(11, 3)) + 1e6 * scale, gamma)  # far from the origin: differences lose nothing


@settings(max_examples=25, deadline=None)
@given(data=st.data(), gamma=st.floats(1e-6, 1e6))
def test_whatever_the_numbers_are(data, gamma):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    number = st.floats(-1e50, 1e50).filter(lambda x: x == 0 or abs(x) > 1e-50)
    check(data.draw(arrays(np.float64, shape, elements=number)), gamma)


def test_equal_rows_are_at_distance_zero():
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 6)), 3, axis=0)
    D = distances_of(X)
    assert_array_equal(D == 0.0, np.kron(np.eye(5), np.ones((3, 3))) > 0)
    assert_array_equal(gaussian_of(D, 123.0)[D == 0.0], 1.0)


def test_rows_in_several_pieces():
    """128 rows are a piece; a distance depends on its two rows alone."""
    X = np.random.default_rng(1).normal(size=(300, 3))
    D = distances_of(X)
    assert_array_equal(D, D.T)
    some = [0, 5, 127, 128, 130, 255, 256, 299]
    np.testing.assert_allclose(D, ((X[:, None] - X) ** 2).sum(axis=2), rtol=6 * UNIT)
    np.testing.assert_allclose(D[np.ix_(some, some)], distances_of(X[some]), rtol=12 * UNIT)


def test_what_overflows_and_underflows():
    D = distances_of(np.array([[0.0], [1e200], [1e-200], [1.0]]))
    assert D[0, 1] == np.inf and D[0, 2] == 0.0 and D[0, 3] == 1.0
    K = gaussian_of(D, 1.0)
    assert 0.0 <= K[0, 1] <= LEAST and K[0, 2] == 1.0 and abs(K[0, 3] - np.exp(-1.0)) <= 4 * UNIT
    # Between the least normal number and zero, and far beyond.
    far = np.array([[700.0, 708.0, 709.0, 730.0, 745.0, 746.0, 1e5, 1e300]])
    with np.errstate(under="ignore"):
        expected = np.exp(-far)
    found = gaussian_of(far, 1.0)
    assert (np.abs(found - expected) <= 1e-13 * expected + LEAST).all() and (found >= 0).all()


@pytest.mark.parametrize("n", [1, 4, 9])
def test_the_entries_may_take_the_place_of_the_distances(n):
    D = distances_of(np.random.default_rng(0).normal(size=(n, 2)))
    expected = gaussian_of(D, 0.3)
    _native.gaussian(D, 0.3, D)
    assert_array_equal(D, expected)
