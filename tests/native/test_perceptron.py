"""The perceptron's compiled walk against the textbook's loop."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native


def walk(K, signs, order, first, present, admitted):
    """The textbook's loop: (position, seen, mistakes, β, Σ t Δβ, F), up to a mistake of a sample without a row."""
    functions, n = signs.shape
    beta, delayed, F = np.zeros((2, first + n)), np.zeros((2, first + n)), np.zeros((functions, n))
    mistakes, seen = [], 0
    for position, i in enumerate(order):
        wrong = np.flatnonzero(signs[:, i] * F[:, i] <= 0)
        if len(wrong) and not (present[first + i] and admitted[first + i]):
            return position, seen, mistakes, beta, delayed, F
        for m in wrong:
            beta[m, first + i] += signs[m, i]
            delayed[m, first + i] += signs[m, i] * seen
            F[m] += signs[m, i] * K[first + i, first:]
            mistakes.append((first + i, m, signs[m, i], seen))
        seen += 1
    return len(order), seen, mistakes, beta, delayed, F


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.7])
def test_the_walk_is_the_textbooks(first, seed, share):
    rng = np.random.default_rng(seed)
    n = 40
    X = rng.normal(size=(first + n, 3))
    K, signs = X @ X.T + 1.0, rng.choice([-1.0, 1.0], (2, n))
    order, present = rng.permutation(n), rng.random(first + n) <= share
    admitted = rng.random(first + n) <= np.sqrt(share)
    slots = np.where(present, np.cumsum(present) - 1, -1)
    beta, delayed, F = np.zeros((2, first + n)), np.zeros((2, first + n)), np.zeros((2, n))
    position, seen, mistakes = _native.walk_perceptron(
        order, 0, signs, first, np.ascontiguousarray(K[present]), slots, admitted, 0, beta, delayed, F
    )
    expected = walk(K, signs, order, first, present, admitted)
    assert (position, seen, mistakes) == expected[:3]
    for found, wanted in zip((beta, delayed, F), expected[3:], strict=True):
        np.testing.assert_array_equal(found, wanted)
