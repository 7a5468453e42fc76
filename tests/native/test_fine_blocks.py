"""Blocks in float32 resolve violations far below the rounding of their slopes, whose common part, the offset, is of size one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import gapless as gl
from gapless import _native
from gapless.kernels.rounding import UNIT
from gapless.losses import Hinge

N, C = 1500, 1.0
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = np.where(X[:, 0] + 0.8 * RNG.normal(size=N) > -1.2, 1.0, -1.0)
K = rbf_kernel(X, gamma=0.2)
DUAL = Hinge().dual_box(Y, np.full(N, C))


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request):
    """Every test runs at each instruction set that this machine has."""
    before = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(before)


def violation(dual, beta, f):
    """The largest KKT violation, where β within rounding of a bound is at it; and the offset in the middle of the slopes that make it."""
    slope = dual.p - f
    rise = slope[beta < dual.upper - 1e-9 * C].max()
    fall = slope[beta > dual.lower + 1e-9 * C].min()
    return rise - fall, 0.5 * (rise + fall)


def solved(table, target):
    beta, f = np.zeros(N), np.zeros(N)
    _native.smo_blocks(
        DUAL, np.ones(N), table, np.zeros(N, dtype=np.int64), 1, True, True, 512, target, 0.1, 10**6, beta, f
    )
    return beta, f


def test_blocks_of_a_table():
    beta, f = solved(K, 1e-10)
    np.testing.assert_allclose(f, K @ beta, atol=1e-12)
    worst, offset = violation(DUAL, beta, f)
    assert worst <= 1.01e-10 and abs(offset) > 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_block_whose_slopes_are_near_the_offset(dtype):
    beta, f = solved(K, 1e-5)
    free = np.flatnonzero((beta > DUAL.lower + 1e-3) & (beta < DUAL.upper - 1e-3))
    dual = Hinge().dual_box(Y[free], np.full(len(free), C))
    start, slopes = beta[free].copy(), f[free].copy()
    before, offset = violation(dual, start, slopes)
    assert before > 1e-6 and abs(offset) > 0.5 and len(free) > 50
    block = np.ascontiguousarray(K[np.ix_(free, free)])
    moved = start.copy()
    steps = _native.smo_pairs(
        dual, np.ones(len(free)), block.astype(dtype), np.array([0, len(free)]), True, True, 1e-10, 10**6, moved, slopes
    )
    # The steps are as long as float32 has them, and what is left of them is resolved to the target, not to the 3e-8 that slopes of size one round by.
    assert 0 < steps < 10**6 and violation(dual, moved, slopes)[0] <= 1.01e-10
    assert violation(dual, moved, f[free] + block @ (moved - start))[0] <= 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_on_a_table(dtype):
    table = K.astype(dtype)
    r = np.full(N, 0.5 * (1 + 1e-6) * 2.0**-24 / UNIT if dtype == np.float32 else 0.0)
    native = _native.SharedFits(
        table, np.ones(N), np.ones(N), r, np.arange(N), np.array([0, N]), Y, True, np.ones((1, N)), np.zeros(1)
    )
    native.advance(np.array([C]), np.array([1e-3]), kkt=1e-9, ahead=0.8, stricter=0.3, turns=2000.0)
    beta = np.empty(N)
    native.beta(0, beta)
    assert native.done.all() and native.violation[0] <= 1e-9
    assert violation(DUAL, beta, table.astype(np.float64) @ beta)[0] <= 1e-9


def test_a_fit_with_a_given_matrix():
    certificate = gl.SVC(C=C, kernel="precomputed", tol=1e-12).fit(K, Y).certificate_
    assert certificate.kkt_violation <= 1e-12 and certificate.relative_gap <= 1e-12
