"""Sums of rows of a table (`native/core/row_sums.hpp`) against long double, through the decision values of shared fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from gapless import _native
from tests.native.test_shared_fits import AIM


# 37 columns are two chunks and a rest, 600 are more than one piece; with all of 600 rows taken there are more than one wide group of them.
@pytest.mark.usefixtures("every_level")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [5, 37, 600])
@pytest.mark.parametrize("members", [1, 2, 3, 4, 5, 6, 7, 13])
def test_sums_are_those_of_long_double(members, n, dtype):
    rng = np.random.default_rng(members)
    X = rng.normal(size=(n, 3))
    p = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    p[:2] = 1.0, -1.0
    K = rbf_kernel(X, gamma=0.4).astype(dtype)
    weights = rng.uniform(0.5, 2.0, size=(members, n))
    native = _native.SharedFits(
        K, np.ones(n), np.ones(n), np.ones(n), np.arange(n), np.array([0, n]), p, True, weights, np.zeros(members)
    )
    native.advance(np.full(members, 0.3), np.full(members, 1e-2), **AIM)
    for member in range(members):
        beta, out, longest = np.empty(n), np.empty((3, n, 1)), np.empty(1)
        native.beta(member, beta)
        native.values(member, np.arange(n), np.array([0]), False, *out, longest)
        f = K.astype(np.longdouble) @ beta.astype(np.longdouble)
        middle = 0.5 * (native.low[member] + native.high[member])
        assert np.count_nonzero(beta) > n // 3
        assert np.abs(out[0][:, 0] - middle - f).max() <= 60 * 2.0**-53 * np.abs(beta).sum()
