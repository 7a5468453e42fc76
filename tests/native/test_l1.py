"""The descent of the ℓ₁ penalty beside the same written with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native
from tests.native.storages import STORAGES, stored


def descend(A, cost, squares, order, w, short):
    """(entries read, the largest violation met), writing w and short."""
    work, worst = 0.0, 0.0
    for j in order:
        entries, active = 2.0 * np.count_nonzero(A[j]), short > 0
        slope, bend = -2.0 * (cost * A[j] * short)[active].sum(), 2.0 * (cost * A[j] ** 2)[active].sum()
        old = w[j]
        violation = abs(slope + np.sign(old)) if old else max(0.0, abs(slope) - 1.0)
        work, worst = work + entries + 1.0, max(worst, violation)
        if violation == 0:
            continue
        step = -old
        if slope + 1 <= bend * old:
            step = -(slope + 1) / bend
        elif slope - 1 >= bend * old:
            step = -(slope - 1) / bend
        for _ in range(20):
            penalty = abs(old + step) - abs(old)
            enough = 0.01 * (slope * step + penalty)
            if penalty + slope * step + squares[j] * step**2 <= enough:
                break
            work += entries / 2
            change = cost @ (np.maximum(0, short - step * A[j]) ** 2 - np.maximum(0, short) ** 2)
            if penalty + change <= enough:
                break
            step /= 2
        w[j] = old + step
        short -= step * A[j]
    return work, worst


@pytest.mark.parametrize("storage", STORAGES)
def test_a_pass_is_the_twins(storage):
    columns, A = stored(storage, 9, 40)
    rng = np.random.default_rng(0)
    cost, w = rng.random(40) * (rng.random(40) < 0.9), rng.normal(size=9) * (rng.random(9) < 0.6)
    short, squares, order = 1 - A.T @ w, A**2 @ cost, rng.permutation(9)
    twin_w, twin_short = w.copy(), short.copy()
    position, work, violation, moved = _native.descend_l1(columns, cost, squares, order, 0, np.inf, w, short)
    twin_work, twin_violation = descend(A, cost, squares, order, twin_w, twin_short)
    assert position == 9 and moved and violation == pytest.approx(twin_violation)
    if not storage.startswith("dense"):  # where zeros are not read
        assert work == twin_work
    np.testing.assert_allclose(w, twin_w, atol=1e-12)
    np.testing.assert_allclose(short, twin_short, atol=1e-12)


def test_a_budget_ends_a_pass_after_one_weight_at_least():
    columns, A = stored("csr float64", 9, 40)
    cost, w, short = np.ones(40), np.zeros(9), np.ones(40)
    position, work, *_ = _native.descend_l1(columns, cost, A**2 @ cost, np.arange(9), 2, 0.0, w, short)
    assert position == 3 and work >= 1
    assert _native.descend_l1(columns, cost, A**2 @ cost, np.arange(9), 9, 1e9, w, short) == (9, 0.0, 0.0, False)
