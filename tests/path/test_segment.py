"""The bounds between two models, on numbers that are known by hand: everything is exact, in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless.path.segment import Node, Segment, rounded


def two_samples(C: Fraction) -> Node:
    """The optimum of x = ±1 without intercept at C ≤ ½: w = 2C, P = D = 2C − 2C², R = 2C², L = 2 (1 − 2C)."""
    value, slope = 2 * C - 2 * C * C, 2 - 4 * C
    return Node(float(C), value, value, slope, slope)


@pytest.mark.parametrize("C", [0.125, 0.1875, 0.25, 0.4375, 0.5])
def test_a_mixture_is_optimal_where_the_path_is_linear(C):
    left, right = two_samples(Fraction(1, 8)), two_samples(Fraction(1, 2))
    square = Fraction(3, 4) ** 2  # (2 · ½ − 2 · ⅛)²
    segment = Segment(left, right, square, square)
    exact = 2 * Fraction(C) - 2 * Fraction(C) ** 2
    assert segment.exact_bounds(C) == (exact, exact)
    assert segment.worst_gap(0.125, 0.5) <= 2.0**-59


numbers = st.fractions(0, 4, max_denominator=64)


@given(numbers, numbers, numbers, numbers, numbers, numbers, numbers, numbers, st.floats(1.0, 1.9))
def test_no_gap_is_above_the_worst_one(p1, p2, d1, d2, rise, fall, square, other, low):
    one = Node(1.0, p1 + d1 + 5, d1, rise, rise)
    two = Node(2.0, p2 + d2 + 5, d2, fall, fall)
    segment = Segment(one, two, square, other)
    worst = segment.worst_gap(low, 2.0)
    gaps = [segment.relative_gap(low + (2.0 - low) * k / 64) for k in range(65)]
    assert max(gaps) <= worst
    assert worst - max(gaps) <= 0.05


def test_rounding_goes_outwards():
    third = Fraction(1, 3)
    assert Fraction(rounded(third, -math.inf)) < third < Fraction(rounded(third, math.inf))
    assert rounded(Fraction(1, 4), math.inf) == 0.25
