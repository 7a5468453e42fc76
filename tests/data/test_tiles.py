from __future__ import annotations

import numpy as np
import pytest

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


def test_bits_do_not_depend_on_cores():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 1100))
    limit, found = _native.thread_limit(), []
    try:
        _native.limit_threads(0)
        for cores in (1, 4):
            _native.pretend_cores(cores)
            found.append(tiles.gram(A))
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)
    np.testing.assert_array_equal(found[0], found[1])
