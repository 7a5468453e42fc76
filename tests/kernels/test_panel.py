from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gapless import _native, kernels
from gapless.kernels import Panels

rng = np.random.default_rng(0)
X = rng.normal(size=(2300, 6))
SPARSE = sp.csr_array(np.where(np.abs(X) > 1.6, X, 0.0))
LEFT = rng.choice(len(X), 300, replace=False)
COEFFICIENTS = rng.normal(size=300)
KERNELS = {
    "linear": kernels.Linear(),
    "polynomial": kernels.Polynomial(3, 0.5, 1.0),
    "rbf": kernels.RBF(0.2),
    "laplacian": kernels.Laplacian(0.2),
    "sigmoid": kernels.Sigmoid(0.1, 0.2),
    "scaled": 2.5 * kernels.RBF(0.1),
    "power": kernels.Polynomial(1, 0.2, 1.0) ** 3,
    "sum": kernels.RBF(0.1) + kernels.Linear() * kernels.Laplacian(0.1) + 0.5,
    "matern": kernels.Matern(2.0),
}


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 5e-6), (np.float64, 1e-13)])
@pytest.mark.parametrize("storage", ["dense", "CSR", "float32"])
@pytest.mark.parametrize("name", KERNELS)
def test_tiles_hold_what_the_block_holds(name, storage, dtype, tolerance):
    kernel, data = KERNELS[name], {"dense": X, "CSR": SPARSE, "float32": X.astype(np.float32)}[storage]
    K = kernel.block(data, data[LEFT])
    scale = np.abs(K).max() * np.abs(COEFFICIENTS).sum()
    panels = Panels(kernel, data, dtype)
    f = np.zeros(len(X))
    panels.expand(LEFT, COEFFICIENTS, f, slice(100, 2200))
    np.testing.assert_allclose(f[100:2200], K[100:2200] @ COEFFICIENTS, atol=tolerance * scale)
    assert not f[:100].any() and not f[2200:].any()
    np.testing.assert_allclose(panels.square(LEFT), K[LEFT], atol=20 * tolerance * np.abs(K).max())
    to = np.array([0, 7, 2299])
    panels.expand(LEFT, COEFFICIENTS, f := np.zeros(len(X)), to)
    np.testing.assert_allclose(f[to], K[to] @ COEFFICIENTS, atol=tolerance * scale)
    panels.rows(LEFT, 100, 2200, rows := np.zeros((301, len(X)), dtype=dtype), 1)
    np.testing.assert_allclose(rows[1:, 100:2200], K[100:2200].T, atol=20 * tolerance * np.abs(K).max())
    chosen = Panels(kernel, data[LEFT], dtype)
    both = np.column_stack([COEFFICIENTS, -2.0 * COEFFICIENTS])
    np.testing.assert_allclose(chosen.apply(data, both), K @ both, atol=2 * tolerance * scale)
    np.testing.assert_allclose(chosen.own(COEFFICIENTS), K[LEFT] @ COEFFICIENTS, atol=tolerance * scale)


def test_own_sums_over_several_blocks_of_rows():
    coefficients = rng.normal(size=len(X))
    expected = KERNELS["rbf"].block(X, X) @ coefficients
    np.testing.assert_allclose(Panels(KERNELS["rbf"], X, np.float64).own(coefficients), expected, atol=1e-11)


def test_a_given_matrix_is_looked_up():
    gram = KERNELS["rbf"].block(X[:50], X[:50])
    panels = Panels(kernels.Precomputed(gram), np.arange(50.0)[:, None], np.float64)
    assert panels.square(np.arange(50)) is gram
    np.testing.assert_array_equal(panels.square(np.array([3, 1])), gram[np.ix_([3, 1], [3, 1])])
    np.testing.assert_allclose(panels.own(np.ones(50)), gram.sum(axis=0), atol=1e-13)


@pytest.mark.parametrize("data", [X, SPARSE], ids=["dense", "CSR"])
def test_the_number_of_threads_changes_no_bit(data):
    results = []
    for threads in (1, 2, 3):
        _native.limit_threads(threads)
        panels = Panels(KERNELS["rbf"], data)
        f = np.zeros(len(X))
        panels.expand(LEFT, COEFFICIENTS, f, slice(None))
        results.append((f, panels.own(np.ones(len(X)))))
    _native.limit_threads(0)
    for one, other in zip(results[0], results[2], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(results[0], results[1], strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.floats(1e-3, 30.0), st.floats(0.1, 1e4), st.booleans())
def test_the_error_of_float32_stays_within_its_bound(seed, gamma, scale, sparse):
    random = np.random.default_rng(seed)
    vectors, Z = random.normal(size=(200, 5)), random.normal(size=(60, 5))
    if sparse:
        vectors, Z = (sp.csr_array(np.where(np.abs(each) > 1.3, each, 0.0)) for each in (vectors, Z))
    coefficients = scale * random.normal(size=(200, 2))
    panels = Panels(kernels.RBF(gamma), vectors)
    assume(panels.has_bounds)
    values, bounds = panels.apply_bounded(Z, coefficients)
    exact = kernels.RBF(gamma).block(Z, vectors) @ coefficients
    assert (np.abs(values - exact) <= bounds).all()
    assert (bounds <= 0.01 * (1 + gamma) * np.abs(coefficients).sum(axis=0)).all()


def test_whole_numbers_have_a_sharp_bound():
    ones = sp.csr_array((rng.random((400, 60)) < 0.2).astype(np.float64))
    weights, kernel = rng.normal(size=(400, 1)), kernels.RBF(0.05)
    exact = kernel.block(ones, ones) @ weights
    values, bounds = Panels(kernel, ones).apply_bounded(ones, weights)
    assert (np.abs(values - exact) <= bounds).all()
    _, others = Panels(kernel, ones * 1.1).apply_bounded(ones * 1.1, weights)
    assert (3 * bounds < others).all()


def test_long_sums_have_a_bound_of_short_ones():
    long = rng.normal(size=(200, 700)) / 20.0
    weights, kernel = rng.normal(size=(200, 1)), kernels.RBF(0.5)
    values, bounds = Panels(kernel, long).apply_bounded(long, weights)
    assert (np.abs(values - kernel.block(long, long) @ weights) <= bounds).all()
    _, short = Panels(kernel, long[:, :200]).apply_bounded(long[:, :200], weights)
    assert np.median(bounds) < 3 * np.median(short)


def test_a_few_rows_far_out_do_not_cost_the_others_the_fast_way():
    X = rng.normal(size=(300, 5))
    X[:3, 4] += 400.0  # a rare category, standardised
    weights, kernel = rng.normal(size=(300, 1)), kernels.RBF(0.02)
    panels = Panels(kernel, X)
    assert panels.has_bounds and not panels.costly
    values, bounds = panels.apply_bounded(X, weights)
    off = np.abs(values - kernel.block(X, X) @ weights)
    assert (off <= bounds).all()
    assert off.max() < 5e-3 * np.abs(weights[:3]).sum() + 1e-4
    assert not Panels(kernel, 3.0 * X).has_bounds


def test_only_kernels_with_relative_errors_have_bounds():
    assert Panels(kernels.RBF(1.0), X).has_bounds and Panels(kernels.RBF(1.0), SPARSE).has_bounds
    assert not any(Panels(KERNELS[name], X).has_bounds for name in ("linear", "polynomial", "sum", "matern"))


def test_an_error_in_one_thread_reaches_the_caller():
    class Broken(kernels.Kernel):
        validity = kernels.Validity.ASSUMED

        def block(self, X, Z):
            raise FloatingPointError("no such entry")

        def diag(self, X):
            return np.ones(len(X))

    with pytest.raises(FloatingPointError, match="no such entry"):
        Panels(Broken(), X).expand(LEFT, COEFFICIENTS, np.zeros(len(X)), slice(None))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, lambda X: sp.csr_array((X > 0).astype(float))])
def test_sums_of_a_linear_kernel_are_those_of_rows(storage, dtype):
    """Σ cᵢ⟨xᵢ, x⟩ is ⟨Σ cᵢxᵢ, x⟩: no entry is computed, and float32 entries cost the sums no digits."""
    rng = np.random.default_rng(2)
    X = storage(rng.normal(size=(700, 40)))
    order = rng.permutation(700)[:600]
    panels = Panels(kernels.Linear(), X, dtype, order)
    left, c = np.sort(rng.permutation(600)[:77]), rng.normal(size=77)
    rows = np.asarray((X.toarray() if sp.issparse(X) else X)[order], dtype=np.float64)
    expected = rows @ (c @ rows[left])
    out = np.ones(600)
    panels.expand(left, c, out, slice(100, 555))
    places = np.arange(555, 600, 3)
    panels.expand(left, c, out, places)
    np.testing.assert_allclose(out[100:555] - 1.0, expected[100:555], atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(out[places] - 1.0, expected[places], atol=1e-12 * np.abs(expected).max())
    others = np.setdiff1d(np.arange(600), [*range(100, 555), *places])
    assert (out[others] == 1.0).all()
