"""Values of a parameter along an axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless.kernels import RBF, Linear
from gapless.plot.cells import round_ticks, rounded
from gapless.plot.values import ABSENT, values_of, written

NUMBERS = st.lists(
    st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-12), min_size=1, max_size=8, unique=True
)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.001, 0.01, 1, 1000], ["0.001", "0.01", "1", "1000"]),
        (np.logspace(-2, 2, 7), ["0.01", "0.0464", "0.215", "1", "4.64", "21.5", "100"]),
        (np.logspace(-5, 0, 6), [f"$10^{{{k}}}$" for k in range(-5, 1)]),
        ([2.0**k for k in (-15, -3, 3)], ["$2^{-15}$", "$2^{-3}$", "$2^{3}$"]),
        ([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"]),
        ([0.1, 0.10001, 0.2], ["0.1", "0.10001", "0.2"]),
        ([-1.5, 0, 1.5e-7], ["−1.5", "0", r"$1.5\cdot10^{-7}$"]),
        (["scale", "auto", 0.1], ["scale", "auto", "0.1"]),
        ([None, "balanced", True, np.mean, ABSENT], ["None", "balanced", "True", "mean", "–"]),
        ([RBF(gamma=0.1), RBF(gamma=0.1) + 0.1 * Linear()], ["RBF(gamma=0.1)", "RBF(gamma=0.1) + 0.1 * …"]),
        (["a$b"], [r"a\$b"]),
    ],
)
def test_values_are_written_shortly(values, texts):
    assert written(values) == texts


@given(NUMBERS)
def test_different_numbers_have_different_texts_and_keep_their_order(numbers):
    found = values_of("C", numbers)
    assert list(found.values) == sorted(numbers)
    assert len(set(found.texts)) == len(numbers)
    assert [found.place(number) for number in sorted(numbers)] == list(range(len(numbers)))


def test_words_come_first_and_in_their_order():
    found = values_of("gamma", [10, "scale", 0.1, "auto", 10.0, "scale"])
    assert found.values == ("scale", "auto", 0.1, 10) and not found.numeric
    assert values_of("flag", [True, 1, False]).values == (True, False, 1)


def test_objects_are_equal_where_they_are_written_alike():
    found = values_of("kernel", [RBF(gamma=0.1), Linear(), RBF(gamma=0.1), {"a": 1}, {"a": 1}])
    assert len(found) == 3 and found.place({"a": 1}) == 2


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((0.1, 1, 10), "log"),
        ((1, 2, 3), "linear"),
        ((0, 0.1, 1, 10), "symlog"),
        ((1, 1000), "linear"),
        ((5,), "linear"),
    ],
)
def test_the_scale_is_that_on_which_steps_are_alike(values, scale):
    assert values_of("C", values).scale == scale


@given(st.floats(-1e3, 1e3), st.integers(0, 6))
def test_ends_of_intervals_are_rounded_outwards(value, digits):
    import math

    below, above = (float(rounded(value, digits, side).replace("−", "-")) for side in (math.floor, math.ceil))
    slack = 1e-9 * max(1.0, abs(value))
    assert below <= value + slack and above >= value - slack
    assert above - below <= 10.0**-digits + slack


def test_round_ticks_lie_between_the_values():
    places, texts = round_ticks(values_of("C", np.linspace(0.0, 7.0, 50)), 8)
    assert texts == [str(k) for k in range(8)]
    np.testing.assert_allclose(places, np.arange(8) * 7.0)
    assert round_ticks(values_of("C", [1.0, 2.0, "x"]), 2) is None
    assert round_ticks(values_of("C", [-1.0, 1.0, 1000.0]), 2) is None
