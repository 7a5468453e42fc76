"""Samples that contradict themselves (`same` of `_native.SharedFits`): their β grow with C and cancel, which is to leave no rounding in a proof."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native
from tests.native.test_shared_fits import AIM

N, TWINS = 60, 8


def fits_of(same, dtype=np.float64):
    """N points that are far from each other, half of each label, and as many points as ``TWINS`` that have both labels."""
    features = np.concatenate([np.arange(N), N + np.repeat(np.arange(TWINS), 2)])
    K = (features[:, None] == features).astype(dtype)
    p = np.where(np.arange(len(features)) % 2, 1.0, -1.0)
    n = len(p)
    given = np.unique(features, return_index=True)[1][features] if same else None
    native = _native.SharedFits(
        K, np.ones(n), np.ones(n), np.zeros(n), np.arange(n), np.array([0, n]), p, True, np.ones((1, n)), np.zeros(1), given
    )  # fmt: skip
    return native, p


def solved(same, C):
    native, p = fits_of(same)
    for cost in np.geomspace(1.0, C, 7):
        native.advance(np.array([cost]), np.array([1e-3]), **AIM)
    for _ in range(4):
        native.tighten(np.array([1e-15]), **AIM)
    rows = np.arange(N)
    f, low, high = np.empty((3, N, 1))
    native.values(0, rows, np.array([0]), False, f, low, high, np.empty(1))
    return native, p[:N], low[:, 0], high[:, 0]


@pytest.mark.parametrize("C", [1e2, 1e4, 1e6, 1e8])
def test_what_cancels_leaves_no_rounding(C):
    # By symmetry b = 0, and K is the identity but for the twins, which cancel: the optimum's value at each other point is its label.
    widths = {}
    for same in (True, False):
        native, labels, low, high = solved(same, C)
        assert native.done.all()
        assert (low <= labels).all() and (labels <= high).all()
        widths[same] = (high - low).max()
    assert widths[True] <= widths[False]
    if C >= 1e6:
        assert widths[True] < 0.1 * widths[False]


def test_both_labels_are_at_their_bounds():
    native, _, _, _ = solved(True, 1e4)
    beta = np.empty(N + 2 * TWINS)
    native.beta(0, beta)
    np.testing.assert_array_equal(np.abs(beta[N:]), 1e4)
    np.testing.assert_allclose(np.abs(beta[:N]), 1.0, atol=1e-5)


def test_samples_that_are_there_more_than_twice_are_left_alone():
    # Of a regression several targets of one sample may be rows of the table.
    rng = np.random.default_rng(0)
    features = rng.integers(0, 12, size=40)
    K = np.exp(-0.1 * (features[:, None] - features) ** 2.0)
    y = np.sin(features) + rng.normal(size=40)
    found = []
    for given in (None, np.unique(features, return_index=True)[1][np.unique(features, return_inverse=True)[1]]):
        native = _native.SharedFits(
            K, np.ones(40), np.ones(40), np.zeros(40), np.arange(40), np.array([0, 40]), y, False, np.ones((1, 40)), np.full(1, 0.1), given
        )  # fmt: skip
        for C in (1.0, 100.0):
            native.advance(np.array([C]), np.array([1e-3]), **AIM)
        assert native.done.all()
        found.append((native.dual[0], native.primal[0]))
    assert max(dual for dual, _ in found) <= min(primal for _, primal in found)
