"""``gapless.steps``: the same iterates as a solve, one by one, computed when they are asked for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gapless as gl
from gapless.errors import UnsupportedError
from gapless.solvers import SOLVERS


def make(**options) -> gl.Problem:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1, -1)
    return gl.Problem(X, y, **{"lam_mean": 0.05, "intercept": "none", **options})


def covered() -> list[str]:
    return [name for name, solver in SOLVERS.items() if solver().unsupported(make()) is None]


@pytest.mark.parametrize("name", covered())
def test_steps_are_the_iterates_of_a_solve(name):
    problem = make()
    seen = list(itertools.islice(gl.steps(problem, name), 200))
    assert [step.t for step in seen] == list(range(len(seen)))
    assert seen[0].iterations == 0 and len(seen[0].moved) == 0
    last = next(step for step in reversed(seen) if abs(step.iterations - round(step.iterations)) < 1e-9)
    result = gl.solve(problem, name, tol=0, max_iter=max(1, round(last.iterations)))
    assert_allclose(last.beta, result.last.beta if result.last.beta is not None else last.beta, rtol=1e-9, atol=1e-12)
    assert last.primal == pytest.approx(result.trace.primal[-1], rel=1e-9)
    assert last.dual == pytest.approx(result.trace.dual[-1], rel=1e-9)
    for before, step in itertools.pairwise(seen):
        assert_array_equal(step.moved, np.flatnonzero(step.beta != before.beta))
        assert step.gap == step.primal - step.dual


@pytest.mark.parametrize(("name", "most"), [("coordinate_ascent", 1), ("sdca", 1), ("smo", 2)])
def test_a_step_of_a_coordinate_method_moves_one_coordinate_or_a_pair(name, most):
    for problem in (make(), make(intercept="free") if name == "smo" else make(intercept="regularized")):
        cost = problem.scale * problem.cost
        seen = list(gl.steps(problem, name, max_steps=40))
        assert len(seen) > 10
        for step in seen[1:]:
            assert len(step.moved) <= most and set(step.moved) <= set(step.visited)
            for i, bound in step.clipped.items():
                assert i in step.visited
                assert step.alpha[i] == (0.0 if bound == "lower" else pytest.approx(cost[i], rel=1e-12))
        assert any(step.clipped for step in seen)


@pytest.mark.parametrize("solver", [gl.solvers.CoordinateAscent, gl.solvers.SDCA, gl.solvers.SGD, gl.solvers.Pegasos])
def test_the_samples_that_are_visited_are_those_of_the_order(solver):
    for sampling, expected in (("cyclic", [0, 1, 2, 3]), ((7, 3), [7, 3, 7, 3])):
        seen = list(gl.steps(make(), solver(sampling=sampling), max_steps=4))[1:]
        assert [step.visited.tolist() for step in seen] == [[i] for i in expected]


def test_what_a_method_without_dual_variables_moves_is_what_its_loss_suggests():
    for before, step in itertools.pairwise(gl.steps(make(loss="squared_hinge"), "subgradient", max_steps=4)):
        assert_array_equal(step.moved, np.flatnonzero(step.beta != before.beta))


def test_steps_begin_where_they_are_told_and_end_when_they_are_told():
    problem = make()
    first = gl.solve(problem, "projected_gradient", tol=0, max_iter=3)
    seen = list(gl.steps(problem, "projected_gradient", start=first, max_steps=2))
    assert len(seen) == 3
    assert_array_equal(seen[0].beta, first.beta)
    assert_allclose(seen[-1].beta, gl.solve(problem, "projected_gradient", tol=0, max_iter=5).beta, rtol=1e-12)


def test_a_solver_that_does_not_cover_the_problem_says_so():
    with pytest.raises(UnsupportedError, match="couples them"):
        next(iter(gl.steps(make(intercept="free"), "coordinate_ascent")))


def test_a_regression_and_a_kernel_have_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    problem = gl.Problem(X, X[:, 0], loss="epsilon_insensitive", kernel=gl.kernels.RBF(1.0), C=2.0)
    *_, step = gl.steps(problem, "smo", max_steps=25)
    assert step.w is None and isinstance(step.b, float)
    assert_array_equal(step.alpha, step.beta)
    assert step.dual <= step.primal
