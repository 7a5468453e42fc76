"""A problem with another C is the problem stated with that C."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.along_c import first_of_chain, with_c

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.array([0, 1] * 6)
WEIGHTS = np.array([0.0, 1.0, 2.0, 0.5, 1.0, 3.0] * 2)


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ["C", "C_mean"])
def test_costs_and_box_are_those_of_the_stated_problem(name, weight):
    moved = with_c(gl.Problem(X, Y, sample_weight=weight, **{name: 0.3}), 7.0)
    stated = gl.Problem(X, Y, sample_weight=weight, **{name: 7.0})
    assert_allclose(moved.cost, stated.cost, rtol=4 * np.finfo(float).eps, atol=0)
    assert_allclose(moved.dual.upper, stated.dual.upper, rtol=4 * np.finfo(float).eps, atol=0)
    assert (moved.convention, moved.regularization, moved.is_hard) == (name, 7.0, False)


def test_what_does_not_depend_on_c_is_shared_and_the_given_problem_stays():
    problem = gl.Problem(X, Y, kernel=gl.kernels.RBF(0.5), C=2.0)
    diagonal, box = problem.diagonal, problem.dual
    moved = with_c(problem, 4.0)
    assert moved.X is problem.X and moved.diagonal is diagonal
    assert problem.dual is box and problem.regularization == 2.0
    assert_array_equal(moved.cost, np.full(12, 4.0))


def test_the_sums_of_the_last_proof_are_known_on_the_way():
    first = first_of_chain(gl.Problem(X, Y, kernel=gl.kernels.RBF(0.5), C=2.0))
    beta = np.where(np.arange(12) % 3 == 0, Y, 0.0) - 0.25
    f, _ = first.expand_bounded(beta)
    second = with_c(first, 4.0)
    np.testing.assert_allclose(second.known_sums(2.0 * beta), 2.0 * f, rtol=1e-15)
    assert second.known_sums(beta + 1e-6) is None
    assert gl.Problem(X, Y, kernel=gl.kernels.RBF(0.5)).known_sums(beta) is None


def test_a_problem_without_c_is_refused():
    with pytest.raises(UnsupportedError, match="stated by lam_sum"):
        with_c(gl.Problem(X, Y, lam_sum=1.0), 1.0)
    with pytest.raises(InvalidInputError, match="C times sample_weight must be at most"):
        with_c(gl.Problem(X, Y), 1e200)
