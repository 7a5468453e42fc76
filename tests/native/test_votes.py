"""The votes of pairs of classes (`_native.winners`, `_native.possible_winners`) against plain loops, at every level."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gapless import _native

CLASSES = [2, 3, 4, 8, 9, 10, 17, 26, 40]


pytestmark = pytest.mark.usefixtures("every_level")


def decisions(classes, rows=150):
    """Values of which some are zero, and some not a number."""
    rng = np.random.default_rng(classes)
    return rng.choice([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, np.nan], size=(rows, classes * (classes - 1) // 2))


@pytest.mark.parametrize("classes", CLASSES)
def test_the_class_with_the_most_votes_wins_and_of_several_the_first(classes):
    values = decisions(classes)
    out = np.full(len(values), -1)
    _native.winners(values, classes, out)
    for row, winner in zip(values, out, strict=True):
        votes = np.zeros(classes)
        for value, (c, d) in zip(row, combinations(range(classes), 2), strict=True):
            votes[c if value > 0 else d] += 1
        assert winner == np.argmax(votes)


@pytest.mark.parametrize("classes", CLASSES)
def test_a_class_may_win_unless_another_is_surely_ahead_of_it(classes):
    middle = decisions(classes)
    width = np.random.default_rng(1).choice([0.0, 0.5, 1.0], size=middle.shape)
    low, high = middle - width, middle + width
    possible = np.zeros((len(low), classes), dtype=bool)
    _native.possible_winners(low, high, classes, possible)
    expected = np.empty_like(possible)
    for i in range(len(low)):
        most, sure = np.zeros(classes), np.zeros(classes)
        for k, (c, d) in enumerate(combinations(range(classes), 2)):
            most[c] += not high[i, k] < 0
            most[d] += not low[i, k] > 0
            sure[c] += low[i, k] > 0
            sure[d] += high[i, k] < 0
        for c in range(classes):
            expected[i, c] = (most[c] > sure[:c]).all() and (most[c] >= sure[c + 1 :]).all()
    assert_array_equal(possible, expected)
