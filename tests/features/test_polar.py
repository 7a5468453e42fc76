"""Polar: against cmath, at the origin, on the axes, and what it makes of rings."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from gapless.errors import InvalidInputError
from gapless.features import Polar

numbers = st.floats(-1e150, 1e150).map(lambda x: x + 0.0)  # without −0, whose sign cmath sees


@given(x=numbers, y=numbers)
def test_equals_the_complex_number_in_polar_form(x, y):
    radius, angle = Polar().fit_transform([[x, y]])[0]
    assert (radius, angle) == pytest.approx(cmath.polar(complex(x, y)), rel=1e-15, abs=0)


@given(x=st.floats(-1e6, 1e6), y=st.floats(-1e6, 1e6))
def test_the_way_back(x, y):
    radius, angle = Polar().fit_transform([[x, y]])[0]
    assert radius >= 0 and -math.pi <= angle <= math.pi  # −π + tiny rounds to −π
    assert (radius * math.cos(angle), radius * math.sin(angle)) == pytest.approx((x, y), abs=4e-16 * radius)


def test_the_sign_of_a_zero_plays_no_part():
    zeros = [[0.0, 0.0], [-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0]]
    np.testing.assert_array_equal(Polar().fit_transform(zeros), np.zeros((4, 2)))
    np.testing.assert_array_equal(Polar().fit_transform([[-1.0, 0.0], [-1.0, -0.0]])[:, 1], [np.pi, np.pi])


def test_opposite_points_have_opposite_directions():
    angles = Polar().fit_transform([[1.0, 2.0], [-1.0, -2.0]])[:, 1]
    assert angles[0] - angles[1] == pytest.approx(math.pi, rel=1e-15)


def test_other_columns_pass_through_in_their_places():
    X = np.array([[7.0, 4.0, 8.0, 3.0]])
    polar = Polar(columns=(3, 1)).fit(X)
    np.testing.assert_allclose(polar.transform(X), [[7.0, math.atan2(4, 3), 8.0, 5.0]], rtol=1e-15)
    assert polar.columns_ == (3, 1)
    assert polar.get_feature_names_out().tolist() == ["x0", "angle(x3, x1)", "x2", "radius(x3, x1)"]
    assert polar.get_feature_names_out(list("abcd")).tolist() == ["a", "angle(d, b)", "c", "radius(d, b)"]


def test_two_rings_are_separable_by_a_line_in_polar_coordinates_only():
    rng = np.random.default_rng(0)
    inner = np.repeat([True, False], 100)
    angle = rng.uniform(0, 2 * np.pi, 200)
    X = np.where(inner, 1.0, 2.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    model = LogisticRegression(C=100.0)
    assert model.fit(Polar().fit_transform(X), inner).score(Polar().fit_transform(X), inner) == 1.0
    assert model.fit(X, inner).score(X, inner) < 0.7


@pytest.mark.parametrize("columns", [(0, 0), (0,), (0, 1, 2), (-1, 0), (0.0, 1.0), (True, False), "01", 3, None])
def test_columns_must_be_two_different_numbers(columns):
    with pytest.raises(InvalidInputError) as error:
        Polar(columns=columns).fit(np.ones((2, 3)))
    assert str(error.value) == f"columns must be two different column numbers such as (0, 1); got {columns!r}."


def test_columns_must_be_there():
    with pytest.raises(InvalidInputError) as error:
        Polar().fit(np.ones((2, 1)))
    assert str(error.value) == "columns must be columns of X; got (0, 1), but X has 1 feature(s)."
    Polar(columns=np.array([2, 0])).fit(np.ones((2, 3)))


def test_sparse_input_is_refused():
    with pytest.raises(TypeError, match="dense data is required"):
        Polar().fit(sp.csr_array(np.eye(2)))
