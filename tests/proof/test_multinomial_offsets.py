"""The offsets of multinomial regression that are best for given values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from gapless.proof.multinomial import best_offsets


@pytest.mark.parametrize("spread", [1.0, 30.0, 1e3, 1e5])
def test_the_best_offsets_balance_the_classes_however_far_apart_values_are(spread):
    rng = np.random.default_rng(0)
    F, y, cost = spread * rng.normal(size=(200, 8)), rng.integers(8, size=200), rng.uniform(0.5, 2.0, size=200)
    targets = np.bincount(y, weights=cost, minlength=8)
    b = best_offsets(F, targets, cost)
    np.testing.assert_allclose(cost @ softmax(F + b, axis=1), targets, rtol=1e-9)
