"""Tiles of every kernel, storage, precision and instruction set against plain loops over pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gapless import _native, kernels
from gapless.kernels import Panels
from tests.kernels import reference

KERNELS = {
    "linear": kernels.Linear(),
    "polynomial": kernels.Polynomial(5, 0.3, 1.0),
    "rbf": kernels.RBF(0.3),
    "rbf of one": kernels.RBF(0.0),
    "laplacian": kernels.Laplacian(0.2),
    "sigmoid": kernels.Sigmoid(0.4, -0.1),
    "scaled": 2.5 * kernels.RBF(0.1),
    "power": (kernels.Linear() + 1.0) ** 7,
    "sum and product": kernels.RBF(0.1) + kernels.Linear() * kernels.Laplacian(0.1) + 0.5,
    "in Python": kernels.Matern(2.0, 1.5) + kernels.Linear(),
}
STORAGES = ["dense", "dense float32", "CSR", "CSR float32", "ones", "wide CSR", "mostly full CSR"]
PRECISIONS = {np.float32: 4e-6, np.float64: 2e-14}
WIDE = 5000  # features, more than a block holds by themselves


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request):
    """Each instruction set that the machine has."""
    before = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(before)


def samples(storage: str, n: int, d: int, seed: int = 0) -> tuple[object, np.ndarray]:
    """(X as it is stored, the same numbers as a dense float64 array)."""
    rng = np.random.default_rng(seed)
    dense = np.round(rng.normal(size=(n, d)), 2)
    if "CSR" in storage and "full" not in storage:
        dense[np.abs(dense) < 1.3] = 0.0
    if storage == "ones":
        dense = (rng.random((n, d)) < 0.15).astype(np.float64)
    if "float32" in storage:
        dense = dense.astype(np.float32).astype(np.float64)
    if storage == "wide CSR":
        places = np.sort(rng.choice(WIDE, d, replace=False))
        spread = np.zeros((n, WIDE))
        spread[:, places] = dense
        return sp.csr_array(spread), dense
    values = dense.astype(np.float32) if "float32" in storage else dense
    return (values if storage.startswith("dense") else sp.csr_array(values)), dense


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", KERNELS)
def test_every_kind_of_work(name, storage, dtype):
    kernel, tolerance = KERNELS[name], PRECISIONS[dtype]
    if storage == "wide CSR" and "aplacian" in repr(kernel):
        kernel = kernels.RBF(0.2) * kernels.Linear()
    X, dense = samples(storage, 41, 7)
    K = reference.gram(kernel, dense)
    panels = Panels(kernel, X, dtype)
    rng = np.random.default_rng(1)
    left, c = rng.permutation(41)[:19], rng.normal(size=19)
    panels.expand(left, c, f := np.zeros(41), slice(3, 38))
    close(f[3:38], K[3:38, left] @ c, 4 * tolerance)
    assert not f[:3].any() and not f[38:].any()
    to = np.array([0, 5, 40])
    panels.expand(left, c, f := np.ones(41), to)
    close(f[to], 1.0 + K[np.ix_(to, left)] @ c, 4 * tolerance)
    close(panels.square(left), K[np.ix_(left, left)], tolerance)
    panels.rows(left, 4, 33, out := np.full((20, 41), 7.0, dtype=dtype), 1)
    close(out[1:, 4:33], K[left, 4:33], tolerance)
    assert (out[:, :4] == 7).all() and (out[:, 33:] == 7).all() and (out[0] == 7).all()
    close(panels.own(coefficients := rng.normal(size=41)), K @ coefficients, 4 * tolerance)
    close(panels.cross(X[2:9]), K[2:9], tolerance)
    chosen = Panels(kernel, X, dtype, left)
    columns = rng.normal(size=(19, 17))
    close(chosen.apply(X, columns), K[:, left] @ columns, 4 * tolerance)
    close(chosen.apply(X, columns[:, 0]), K[:, left] @ columns[:, 0], 4 * tolerance)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("storage", ["dense", "CSR", "ones"])
@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 13, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257])
def test_edges_of_tiles(n, storage, dtype):
    kernel, tolerance = kernels.RBF(0.3), PRECISIONS[dtype]
    X, dense = samples(storage, n, 3)
    K = kernel.block(dense, dense)
    panels = Panels(kernel, X, dtype)
    c = np.random.default_rng(1).normal(size=n)
    everything = np.arange(n)
    scale = np.abs(K).max() * np.abs(c).sum()
    panels.expand(everything, c, f := np.zeros(n), slice(None))
    np.testing.assert_allclose(f, K @ c, atol=tolerance * scale)
    np.testing.assert_allclose(panels.own(c), K @ c, atol=tolerance * scale)
    np.testing.assert_allclose(panels.apply(X, np.column_stack([c] * 15))[:, 14], K @ c, atol=tolerance * scale)
    gram = panels.square(everything)
    np.testing.assert_allclose(gram, K, atol=tolerance)
    np.testing.assert_array_equal(gram, gram.T)
    known = n // 3
    grown = np.full((n + 1, n + 2), -1.0, dtype=dtype)
    panels.extend(everything[:known], 0, grown, 0.5)
    panels.extend(everything, known, grown, 0.5)
    np.testing.assert_allclose(grown[:n, :n], K + 0.5, atol=tolerance)
    np.testing.assert_array_equal(grown[:n, :n], grown[:n, :n].T)
    assert (grown[n:] == -1).all() and (grown[:, n:] == -1).all()
    panels.rows(everything[:known], min(2, n), n, rows := np.zeros((known, n), dtype=dtype), 0)
    np.testing.assert_allclose(rows[:, 2:], K[:known, 2:], atol=tolerance)


@pytest.mark.parametrize("d", [1, 2, 127, 128, 129, 255, 256, 257, 400])
@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian"])
def test_lengths_of_rows(d, name):
    X = np.random.default_rng(0).normal(size=(40, d)) / np.sqrt(d)
    K = KERNELS[name].block(X, X)
    for dtype, tolerance in PRECISIONS.items():
        np.testing.assert_allclose(Panels(KERNELS[name], X, dtype).square(np.arange(40)), K, atol=3 * tolerance)


@pytest.mark.parametrize("dtype, error", [(np.float32, 1.2e-7), (np.float64, 3e-16)])
def test_the_exponential_over_its_range(dtype, error):
    # One feature at a distance of x from the origin, and gamma 1: the kernel is exp(−x) but for the rounding of the exponent.
    x = np.concatenate([np.linspace(0.0, 80.0, 3001), [1e-9, 1e-4]]).astype(dtype)
    values = Panels(kernels.Laplacian(1.0), np.concatenate([[0.0], x])[:, None].astype(dtype), dtype).square(
        np.arange(len(x) + 1)
    )[0, 1:]
    rounding = np.finfo(dtype).eps * np.abs(x.astype(np.float64))
    assert (np.abs(values / np.exp(-x.astype(np.longdouble)) - 1) <= error + rounding).all()


@pytest.mark.parametrize("storage", ["dense", "CSR"])
def test_what_underflows_and_what_overflows(storage):
    far = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 90.0]])
    X = far if storage == "dense" else sp.csr_array(far)
    for dtype, least in ((np.float32, 1.2e-38), (np.float64, 2.3e-308)):
        gram = Panels(kernels.RBF(1.0), X, dtype).square(np.arange(3))
        np.testing.assert_allclose(
            np.diag(gram), 1.0, rtol=8100 * np.finfo(dtype).eps
        )  # the largest exponent's rounding
        assert (gram[np.triu_indices(3, 1)] >= 0).all() and (gram[np.triu_indices(3, 1)] <= least).all()
    huge = np.array([[1e30, 1.0], [1e30, 2.0], [0.0, 1.0]])
    X = huge if storage == "dense" else sp.csr_array(huge)
    gram = Panels(kernels.Polynomial(3), X, np.float32).square(np.arange(3))
    assert not np.isfinite(gram[:2, :2]).any() and np.isfinite(gram[2, 2])
    tangent = Panels(kernels.Sigmoid(1.0), X, np.float32).square(np.arange(3))
    np.testing.assert_allclose(tangent, np.tanh(np.minimum(huge @ huge.T + 1.0, 50.0)), rtol=1e-6)


@pytest.mark.parametrize("kernel", [kernels.RBF(1.0), kernels.Linear(), kernels.Sigmoid(1.0)], ids=repr)
def test_not_a_number_stays_that(kernel):
    Z = np.array([[1.0, np.nan], [1.0, 2.0]])
    for dtype in PRECISIONS:
        values = Panels(kernel, np.array([[1.0, 2.0], [3.0, 1.0], [0.5, 0.5]]), dtype).cross(Z)
        assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()


@pytest.mark.parametrize("storage", ["dense", "CSR", "ones", "wide CSR"])
def test_threads_change_no_bit(storage):
    X, _ = samples(storage, 900, 6)
    rng = np.random.default_rng(1)
    c, columns = rng.normal(size=900), rng.normal(size=(900, 3))
    results = []
    for threads in (1, 2):
        _native.limit_threads(threads)
        try:
            panels = Panels(kernels.RBF(0.2), X)
            panels.expand(np.arange(0, 900, 2), c[::2], f := np.zeros(900), slice(None))
            results.append([f, panels.own(c), panels.apply(X, columns), panels.square(np.arange(900))])
            results[-1].extend(panels.apply_bounded(X, c[:, None]))
        finally:
            _native.limit_threads(0)
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("order", ["C", "F", "read-only", "float32"])
def test_a_given_matrix_of_any_layout(order, dtype):
    rng = np.random.default_rng(0)
    gram = (lambda A: A @ A.T)(rng.normal(size=(30, 30)))
    given = {"F": np.asfortranarray, "float32": np.float32}.get(order, np.copy)(gram)
    given.setflags(write=order != "read-only")
    X = rng.permutation(30)[:20].astype(np.float64)[:, None]
    places = X[:, 0].astype(int)
    panels = Panels(kernels.Precomputed(given), X, dtype)
    c = rng.normal(size=20)
    tolerance = 1e-5 if dtype == np.float32 or order == "float32" else 1e-13
    np.testing.assert_allclose(panels.square(np.arange(20)), gram[np.ix_(places, places)], atol=10 * tolerance)
    np.testing.assert_allclose(panels.own(c), gram[np.ix_(places, places)] @ c, atol=100 * tolerance)
    np.testing.assert_allclose(panels.apply(np.arange(30.0)[:, None], c), gram[:, places] @ c, atol=100 * tolerance)


def test_models_of_few_samples_each():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    coefficients = np.zeros((700, 21))
    for model in range(20):  # the last has none at all
        coefficients[30 * model : 30 * model + 80, model] = rng.normal(size=80)
    values = Panels(kernels.RBF(0.2), X, np.float64).apply(X[:50], coefficients)
    np.testing.assert_allclose(values, kernels.RBF(0.2).block(X[:50], X) @ coefficients, atol=1e-12)
    assert not values[:, 20].any()


def test_other_rows_may_be_stored_in_another_way():
    X, dense = samples("ones", 50, 9)
    Z = np.round(np.random.default_rng(2).normal(size=(11, 9)), 1)
    K = kernels.RBF(0.2).block(Z, dense)
    c = np.random.default_rng(3).normal(size=50)
    for other in (Z, sp.csr_array(Z), Z.astype(np.float32)):
        np.testing.assert_allclose(Panels(kernels.RBF(0.2), X, np.float64).apply(other, c), K @ c, atol=1e-5)
    Z = (Z > 0).astype(np.float64)
    np.testing.assert_allclose(
        Panels(kernels.RBF(0.2), X, np.float64).apply(sp.csr_array(Z), c),
        kernels.RBF(0.2).block(Z, dense) @ c,
        atol=1e-12,
    )


def test_rows_with_more_ones_than_a_byte_counts():
    dense = np.zeros((20, 3000))
    dense[:, :280] = 1.0
    dense[np.arange(20), 300 + np.arange(20)] = 1.0
    gram = Panels(kernels.Linear(), sp.csr_array(dense), np.float64).square(np.arange(20))
    np.testing.assert_array_equal(gram, dense @ dense.T)


def test_few_samples_and_none():
    panels = Panels(kernels.RBF(1.0), np.zeros((3, 2)), np.float64)
    panels.expand(np.array([], dtype=np.int64), np.array([]), f := np.zeros(3), slice(None))
    panels.expand(np.array([1]), np.array([2.0]), f, slice(2, 2))
    assert not f.any() and panels.entries == 0
    assert panels.square(np.array([], dtype=np.int64)).shape == (0, 0)
    assert panels.apply(np.zeros((0, 2)), np.ones(3)).shape == (0,)
