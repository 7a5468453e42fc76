"""Tables of kernel entries: every entry is within the table's own bounds of the exact one, in float64 and in float32."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from gapless import _native
from gapless.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from gapless.kernels.rounding import UNIT
from gapless.model_selection import kernel_table
from gapless.model_selection.kernel_table import Tables, fits_in_memory

RNG = np.random.default_rng(0)
X = RNG.normal(size=(41, 5)) * np.array([1.0, 3.0, 0.1, 10.0, 1.0])
SAMPLES = {
    "plain": X,
    "far": X + 1e3,
    "near": 1e-3 * X,
    "wide": RNG.normal(size=(23, 300)),  # more features than differences are taken of
    "sparse": sp.csr_array(np.where(X > 0, X, 0.0)),
    "with a row of zeros": np.vstack([X[:6], np.zeros(5)]),
}


def _products(X):
    X = X.astype(np.longdouble)
    return X @ X.T


def _squares(X):
    X = X.astype(np.longdouble)
    return ((X[:, None] - X) ** 2).sum(axis=2)


# Each kernel, and its entries by their formula with the digits of a long double.
KERNELS = {
    "rbf": (RBF(0.03), lambda X: np.exp(-np.longdouble(0.03) * _squares(X))),
    "narrow": (RBF(40.0), lambda X: np.exp(-np.longdouble(40.0) * _squares(X))),
    "linear": (Linear(), _products),
    "poly": (Polynomial(degree=3, gamma=0.2, coef0=1.0), lambda X: (np.longdouble(0.2) * _products(X) + 1) ** 3),
    "laplacian": (
        Laplacian(0.1),
        lambda X: np.exp(-np.longdouble(0.1) * np.abs(X[:, None].astype(np.longdouble) - X).sum(axis=2)),
    ),
    "sum": (RBF(0.5) + 2.0 * Linear(), lambda X: np.exp(-_squares(X) / 2) + 2 * _products(X)),
}

precise = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double has the digits of float64 here")


@pytest.fixture(params=[np.float32, np.float64])
def dtype(request, monkeypatch):
    if request.param is np.float32:
        monkeypatch.setattr(kernel_table, "FULL_BYTES", 0)
        monkeypatch.setattr(kernel_table, "_STRIP", 7)  # so that there are several strips
    return request.param


def assert_within_bounds(table, exact):
    entries = table.entries.astype(np.longdouble)
    assert_array_equal(table.entries, table.entries.T)
    assert (np.abs(entries - exact) <= UNIT * (np.outer(table.r, table.g) + np.outer(table.g, table.r))).all()
    assert (np.abs(exact) <= np.outer(table.g, table.g) * (1 + 1e-12)).all()
    np.testing.assert_allclose(table.diagonal, exact.diagonal().astype(float), rtol=1e-12)


@precise
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("place", SAMPLES)
def test_entries_are_within_their_bounds(name, place, dtype):
    (kernel, exactly), samples = KERNELS[name], SAMPLES[place]
    table = Tables(samples, [kernel]).table(kernel)
    assert table.entries.dtype == dtype
    assert_within_bounds(table, exactly(samples.toarray() if sp.issparse(samples) else samples))


@precise
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e12, 1e22, 1e60])
def test_entries_of_any_size_are_within_their_bounds_or_there_is_no_table(scale, dtype):
    """Entries below the least number of float32, and above its largest one, are not its zero and its infinity."""
    table = Tables(scale * X, [Linear()]).table(Linear())
    assert (table is None) == (dtype is np.float32 and scale != 1e12)
    if table is not None:
        assert_within_bounds(table, _products(scale * X))


def test_distances_are_computed_once_for_all_gaussian_kernels(monkeypatch):
    calls, original = [], _native.squared_distances
    monkeypatch.setattr(_native, "squared_distances", lambda X, out: (calls.append(len(X)), original(X, out))[1])
    kernels = [RBF(0.1), Linear(), RBF(2.0)]
    tables = Tables(X, kernels)
    twice = [tables.table(kernel).entries.copy() for kernel in kernels + kernels]
    assert calls == [41]
    for kernel, first, second in zip(kernels, twice[:3], twice[3:], strict=True):
        assert_array_equal(first, second)
        np.testing.assert_allclose(first, kernel(X), rtol=1e-12, atol=1e-300)


def test_the_table_of_a_single_gaussian_kernel_takes_the_place_of_its_distances():
    tables = Tables(X, [RBF(0.1)])
    first = tables.table(RBF(0.1)).entries.copy()
    assert_array_equal(tables.table(RBF(0.1)).entries, first)  # a race asks for it again
    assert tables._distances is None


def test_tables_beside_each_other_have_the_distances_in_common_and_nothing_else(monkeypatch):
    calls, original = [], _native.squared_distances
    monkeypatch.setattr(_native, "squared_distances", lambda X, out: (calls.append(len(X)), original(X, out))[1])
    tables = Tables(X, [RBF(0.1), Linear(), RBF(2.0)])
    one, other = tables.table(RBF(0.1)), tables.beside().table(RBF(2.0))
    assert calls == [41]
    np.testing.assert_allclose(one.entries, RBF(0.1)(X), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(other.entries, RBF(2.0)(X), rtol=1e-12, atol=1e-300)


def test_a_table_is_in_float32_where_float64_would_be_too_large(monkeypatch):
    for most, expected in ((8 * 41**2, np.float64), (8 * 41**2 - 1, np.float32)):
        monkeypatch.setattr(kernel_table, "FULL_BYTES", most)
        for kernel in (RBF(0.1), Linear()):
            assert Tables(X, [kernel]).table(kernel).entries.dtype == expected


def test_entries_that_are_no_numbers_have_no_table(dtype):
    for samples, kernel in ((1e200 * X, Linear()), (1e150 * X, Polynomial(degree=3, gamma=1.0, coef0=0.0))):
        assert Tables(samples, [kernel]).table(kernel) is None
    assert Tables(X, [Sigmoid(0.1, 0.0)]).table(Sigmoid(0.1, 0.0)) is not None


def test_how_many_samples_have_a_table():
    assert fits_in_memory(1) and fits_in_memory(23_170) and not fits_in_memory(23_171)
