"""Exact linear algebra: vectors that a matrix of whole numbers takes to zero, and non-negative ones, against python-flint."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz, fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from gapless.proof import null_vector as module
from gapless.proof.exact_program import exact_solution
from gapless.proof.null_vector import null_vector


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    rows, columns, rank = draw(st.integers(1, 6)), draw(st.integers(1, 7)), draw(st.integers(0, 5))
    size = draw(st.sampled_from([3, 10**6, 2**200]))
    left, right = (
        np.array(draw(st.lists(st.integers(-size, size), min_size=a * b, max_size=a * b)), dtype=object).reshape(a, b)
        for a, b in ((rows, rank), (rank, columns))
    )
    return left @ right if rank else np.full((rows, columns), 0, dtype=object)


def rank(M: np.ndarray) -> int:
    return fmpz_mat(*M.shape, [int(each) for each in M.ravel()]).rank()


def test_the_prime_is_one():
    assert fmpz(module._PRIME).is_prime()


@given(matrices())
def test_a_null_vector_is_found_exactly_where_the_columns_depend(M: np.ndarray):
    z = null_vector(M, [Fraction(1, i + 1) for i in range(M.shape[1])])
    assert (z is None) == (rank(M) == M.shape[1])
    if z is not None:
        assert any(z) and not (M @ np.array(z, dtype=object)).any()


@pytest.mark.parametrize("n", [1, 2, 40, 120])
def test_long_solutions(n: int):
    rng = np.random.default_rng(0)
    M = np.array([[int(each) for each in row] for row in rng.integers(-(2**60), 2**60, size=(n, n + 1))], dtype=object)
    z = null_vector(M, [Fraction(1)] * (n + 1))
    assert z is not None and not (M @ np.array(z, dtype=object)).any()
    assert max(map(abs, z)).bit_length() > 55 * n


def test_of_many_null_vectors_one_near_the_guess():
    M = np.array([[1, 1, -1, -1, 0]], dtype=object)
    z = np.array(null_vector(M, [Fraction(each) for each in (0.31, 0.19, 0.3, 0.2, 0.1)]), dtype=float)
    np.testing.assert_allclose(z / z[0], np.array([0.31, 0.19, 0.3, 0.2, 0.1]) / 0.31, rtol=1e-6)


@given(matrices())
def test_a_non_negative_solution_is_exact(M: np.ndarray):
    gain = np.array([1] * M.shape[1], dtype=object)
    x = exact_solution(M, gain)
    if x is not None:
        assert min(x) >= 0 and any(x) and not (M @ np.array(x, dtype=object)).any()
    y = exact_solution(np.hstack([M, -M]), np.append(gain, gain))  # which always has one, such as two equal entries
    assert y is not None and min(y) >= 0 and any(y)


def test_no_non_negative_solution():
    M = np.array([[1, 2, 0], [0, -1, 1]], dtype=object)  # x₁ = −2 x₂
    assert exact_solution(M, np.array([1, 1, 1], dtype=object)) is None
    M[0, 0] = -1
    assert exact_solution(M, np.array([1, 1, 1], dtype=object)) == [2, 1, 1]
    assert exact_solution(M, np.array([-1, 1, 0], dtype=object)) is None  # whose gain is negative


def test_what_is_too_large_is_left_alone():
    wide = np.full((1, 5000), 1, dtype=object)
    assert null_vector(wide, [Fraction(1)] * 5000) is None
    assert exact_solution(np.full((300, 5000), 1, dtype=object), wide[0]) is None


def test_a_clock_that_is_over():
    M = np.array([[1, 1]], dtype=object)
    over = time.monotonic() - 1.0
    for work in (lambda: null_vector(M, [Fraction(1)] * 2, over), lambda: exact_solution(M, M[0], over)):
        with pytest.raises(TimeoutError, match=r"^the exact arithmetic took longer than it was given"):
            work()
