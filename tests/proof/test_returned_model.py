"""The model that a converged solve returns, as a user reads it, is within tol by itself: judged in exact arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint", reason="the exact referee needs python-flint")

from flint import arb

import gapless as gl
from gapless.kernels import Polynomial
from tests.campaign.referee import Referee, Statement, certainly_less, rational, rationals

INTERCEPTS = ("free", "regularized", "none")


def referee_of(problem: gl.Problem, kernel: list[Any]) -> Referee:
    """The exact values of a problem with the hinge loss."""
    X, y, cost = (np.asarray(each) for each in (problem.X, problem.y, problem.cost))
    return Referee(Statement(X, y, cost, "hinge", 0.0, problem.intercept, 1.0, kernel))


def hold(result: gl.Result, referee: Referee, tol: float) -> None:
    """The exact P of what the result holds is within tol of the certified dual value and of the exact D of its β."""
    weights = result.w if result.expansion is None else result.expansion
    primal = referee.primal(rationals(weights), rationals(result.offsets))
    feasible = referee.feasible(result.beta)
    assert feasible is not None
    for dual in (rational(result.certificate.internal.dual), referee.dual(feasible)):
        assert not certainly_less(rational(tol) * abs(primal), primal - dual), float(
            arb((primal - dual) / primal).mid()
        )


def test_a_constant_that_dwarfs_the_kernel():
    """Entries near 1e12 that differ by 1e3: float64 knows f to a tenth, and b to no digit; with twice the digits tol is met."""
    X, y = np.array([[-0.34], [0.29], [-0.34]]), np.array([0, 1, 0])
    problem = gl.Problem(X, y, C=1000.0, kernel=Polynomial(degree=4, gamma=0.01, coef0=1000.0))
    result = gl.solve(problem, "smo", tol=1e-6)
    assert result.status is gl.Status.CONVERGED
    hold(result, referee_of(problem, ["polynomial", 0.01, 4, 1000.0]), 1e-6)


@pytest.mark.parametrize("solver", ["smo", "qp", "auto"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_kernels_far_from_the_origin(solver: str, intercept: Any):
    rng, converged = np.random.default_rng(0), 0
    for _ in range(12):
        n, d = int(rng.integers(3, 9)), int(rng.integers(1, 3))
        X, coef0 = np.round(rng.normal(size=(n, d)), 2), float(10.0 ** rng.uniform(0, 4))
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        degree, C = int(rng.integers(1, 5)), float(10.0 ** rng.uniform(-3, 4))
        kernel = Polynomial(degree=degree, gamma=0.01, coef0=coef0)
        problem = gl.Problem(X, y, C=C, kernel=kernel, intercept=intercept)
        result = gl.solve(problem, solver, tol=1e-6, max_iter=5000)
        if result.status is gl.Status.CONVERGED:
            converged += 1
            hold(result, referee_of(problem, ["polynomial", 0.01, degree, coef0]), 1e-6)
    assert converged > 6


@pytest.mark.parametrize("solver", ["smo", "sdca", "subgradient", "auto"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [1.0, math.inf])
def test_linear_models_far_from_the_origin(solver: str, intercept: Any, C: float):
    if (solver, intercept) == ("sdca", "free") or (solver == "subgradient" and math.isinf(C)):
        pytest.skip("the solver does not cover the problem")
    rng = np.random.default_rng(1)
    tol = 1e-3 if solver == "subgradient" else 1e-9
    for offset in (0.0, 1e3, 1e5):
        X = np.round(rng.normal(size=(8, 2)) + offset, 2)
        y = (X[:, 0] > np.median(X[:, 0])).astype(int)
        problem = gl.Problem(X, y, C=C, intercept=intercept)
        result = gl.solve(problem, solver, tol=tol, max_iter=20_000)
        if result.status is gl.Status.CONVERGED:
            hold(result, referee_of(problem, ["linear"]), tol)


def test_a_beta_that_misses_its_sum_gives_way_to_the_certified_point():
    """sdca keeps Σβ = 0 by a penalty alone: what its β is worth, and its w, is not what the repaired β is worth."""
    for spread in (1.0, 1e-3, 1e3):
        X, y = spread * np.array([[0.3, -1.2], [0.9, 0.4]]), np.array([0, 1])
        problem = gl.Problem(X, y, C=100.0)
        result = gl.solve(problem, "sdca", tol=1e-9)
        if result.status is gl.Status.CONVERGED:
            hold(result, referee_of(problem, ["linear"]), 1e-9)


def test_the_algorithms_own_point_is_kept_where_it_is_within_tol_itself():
    """Chained by hand elsewhere (tests/textbook): here the certificate's point is a multiple of β, and β is returned as it was."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    result = gl.solve(gl.Problem(X, y, intercept="none"), "coordinate_ascent", tol=1e-2)
    assert result.status is gl.Status.CONVERGED
    np.testing.assert_array_equal(result.beta, result.last.beta)


@pytest.mark.parametrize("solver", ["smo", "qp"])
def test_a_hard_margin_far_from_the_origin(solver: str):
    """The offset of the certified multiple stood beside the w of the iterate, whose margins it missed by 3e-4."""
    X = np.array([[9883.5, 9886.97, 9885.9], [9886.66, 9885.9, 9886.5], [9884.71, 9886.6, 9886.13]])
    problem = gl.Problem(X, [0, 1, 0], loss="squared_hinge", C=math.inf)
    result = gl.solve(problem, solver, tol=1e-9)
    assert result.status is gl.Status.CONVERGED
    referee = Referee(
        Statement(X, np.asarray(problem.y), np.asarray(problem.cost), "squared_hinge", 0.0, "free", 1.0, ["linear"])
    )
    hold(result, referee, 1e-9)
