"""The blocks of Crammer and Singer's machine beside the same written with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native
from tests.native.storages import STORAGES, stored

N, D, K, SHIFT = 30, 7, 4, 0.5


def block(g, a, old, bound):
    """argmin of ½a‖β‖² + ⟨g − a·old, β⟩ over Σβ = 0, β ≤ bound, by bisection on the level."""
    low, high = (g - a * old).min() - a * np.abs(bound).sum() - 1, (g - a * old + a * bound).max() + 1

    def at(level):
        return np.minimum(bound, (level - g) / a + old)

    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle).sum() < 0 else (low, middle)
    return at(high)


def weights(storage, X, beta):
    """W as the core has it: a row for each class where X is dense, else for each feature."""
    W = X.T @ beta
    return np.ascontiguousarray(W.T if storage.startswith("dense") else W)


def dual(X, codes, beta):
    """D by its formula."""
    W, b = X.T @ beta, SHIFT * beta.sum(axis=0)
    return beta[np.arange(len(beta)), codes].sum() - 0.5 * ((W**2).sum() + (b**2).sum() / SHIFT)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
def test_a_pass_is_the_twins(storage, whole):
    rows, X = stored(storage, N, D)
    rng = np.random.default_rng(0)
    codes, cost = rng.integers(0, K, size=N), rng.random(N) + 0.1
    a = (X**2).sum(axis=1) + SHIFT
    beta = np.zeros((N, K))
    if not whole:  # some classes share in their blocks
        for i in range(N):
            beta[i, codes[i]] = 0.5 * cost[i]
            beta[i, (codes[i] + 1 + i % 2) % K] -= 0.5 * cost[i]
    W, b = weights(storage, X, beta), SHIFT * beta.sum(axis=0)
    twin_beta, moved = beta.copy(), np.zeros(N, dtype=bool)
    before = dual(X, codes, beta)
    order = np.concatenate([rng.permutation(N), rng.permutation(N)])
    position, work, gap, gain = _native.ascend_blocks(
        rows, codes, cost, a, SHIFT, 3.0, order, 0, np.inf, whole, beta, W, b, moved
    )  # fmt: skip
    assert position == 2 * N and work > 0 and moved.any()
    lacking = 0.0
    for i in order:
        bound = np.where(np.arange(K) == codes[i], cost[i], 0.0)
        into = np.ones(K, dtype=bool) if whole else (twin_beta[i] != 0) | (np.arange(K) == codes[i])
        g = X[i] @ (X.T @ twin_beta) + SHIFT * twin_beta.sum(axis=0) + (np.arange(K) != codes[i])
        lacking += cost[i] * (g.max() - g[codes[i]]) + twin_beta[i] @ g
        twin_beta[i, into] = block(g[into], a[i], twin_beta[i, into], bound[into])
        twin_beta[i, np.abs(twin_beta[i]) < 1e-13] = 0.0
    np.testing.assert_allclose(beta, twin_beta, atol=1e-9)
    assert gain == pytest.approx(dual(X, codes, beta) - before, rel=1e-9)
    assert gap == (pytest.approx(lacking, rel=1e-9) if whole else 0.0)
    np.testing.assert_allclose(W, weights(storage, X, beta), atol=1e-12)
    np.testing.assert_allclose(b, SHIFT * beta.sum(axis=0), atol=1e-12)
    assert np.abs(beta.sum(axis=1)).max() < 1e-12


def test_a_budget_ends_a_pass_after_one_block_at_least():
    rows, X = stored("csr float64", N, D)
    codes, cost, a = np.zeros(N, dtype=np.int64), np.ones(N), (X**2).sum(axis=1) + SHIFT
    beta, W, b, moved = np.zeros((N, K)), np.zeros((D, K)), np.zeros(K), np.zeros(N, dtype=bool)
    position, work, *_ = _native.ascend_blocks(
        rows, codes, cost, a, SHIFT, 3.0, np.arange(N), 4, 0.0, True, beta, W, b, moved
    )  # fmt: skip
    assert position == 5 and work >= K * 3.0
    assert np.flatnonzero(moved).tolist() == [4]


@pytest.mark.parametrize("storage", STORAGES)
def test_passes_go_on_until_one_gains_little(storage):
    """The classes whose β is zero stay out, samples without another class stay as they are, and a budget cuts the passes into pieces."""
    rows, X = stored(storage, N, D)
    rng = np.random.default_rng(1)
    codes, cost = rng.integers(0, K, size=N), rng.random(N) + 0.1
    a = (X**2).sum(axis=1) + SHIFT
    beta = np.zeros((N, K))
    for i in range(1, N):
        beta[i, codes[i]], beta[i, codes[i] - 1] = 0.5 * cost[i], -0.5 * cost[i]
    W, b, moved, order = weights(storage, X, beta), SHIFT * beta.sum(axis=0), np.zeros(N, dtype=bool), np.arange(N)
    start, before, position, gain, passes, ended, calls = beta.copy(), dual(X, codes, beta), 0, 0.0, 0, False, 0
    while not ended:
        position, gain, passes, work, ended = _native.ascend_again(
            rows, codes, cost, a, SHIFT, 3.0, order, position, gain, passes, 1e-12, 10_000, 10.0, 5 + calls, beta, W, b, moved
        )  # fmt: skip
        assert work > 0
        calls += 1
    assert passes > 1 and calls > passes
    assert sorted(order) == list(range(N))
    assert dual(X, codes, beta) > before
    assert not beta[start == 0].any() and not moved[0]
    np.testing.assert_allclose(W, weights(storage, X, beta), atol=1e-12)
    for i in np.flatnonzero(beta.min(axis=1) < -1e-9):  # every block that still has two classes is at its best
        two = [codes[i], (codes[i] - 1) % K]
        g = (X[i] @ (X.T @ beta) + b + (np.arange(K) != codes[i]))[two]
        new = block(g, a[i], beta[i, two], np.array([cost[i], 0.0]))
        np.testing.assert_allclose(new, beta[i, two], atol=1e-4)
