from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la

from gapless import _native
from gapless.data import tiles


@pytest.fixture(params=[1, 3])
def cores(request):
    limit = _native.thread_limit()
    _native.pretend_cores(request.param)
    _native.limit_threads(0)
    yield request.param
    _native.pretend_cores(0)
    _native.limit_threads(limit)


@pytest.mark.parametrize("n", [1, 7, 16, 45])
def test_tiles_are_the_whole(n, cores, monkeypatch):
    monkeypatch.setattr(tiles, "_TILE", 16)
    rng = np.random.default_rng(n)
    A = rng.integers(-8, 9, size=(60, n)).astype(float)
    G = tiles.gram(A)
    np.testing.assert_array_equal(G, A.T @ A)  # whole numbers, so that no order of the sum rounds
    M = G + 60.0 * np.eye(n)
    L = tiles.cholesky(M.copy())
    assert not np.triu(L, 1).any()
    np.testing.assert_allclose(L, la.cholesky(M, lower=True), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(L @ L.T, M, rtol=1e-12, atol=1e-12)


def test_bits_do_not_depend_on_cores():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 1100))
    limit, found = _native.thread_limit(), []
    try:
        _native.limit_threads(0)
        for cores in (1, 4):
            _native.pretend_cores(cores)
            G = tiles.gram(A)
            found.append((G, tiles.cholesky(G + 10.0 * np.eye(1100))))
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("at", [0, 20])
def test_an_indefinite_matrix_is_refused(at, monkeypatch):
    monkeypatch.setattr(tiles, "_TILE", 16)
    A = np.eye(40)
    A[at, at] = -1.0
    with pytest.raises(la.LinAlgError):
        tiles.cholesky(A)
