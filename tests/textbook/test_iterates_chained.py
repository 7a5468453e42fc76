"""Five runs of one step from each other's results are one run of five steps, for the methods without a hidden schedule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gapless as gl
from gapless.solvers import SDCA, SGD, SMO, CoordinateAscent, ProjectedGradient, Subgradient
from tests.textbook.by_hand import EXACT, STATEMENTS, walk
from tests.textbook.samples import N

PRIMAL = {
    "subgradient": lambda t: Subgradient("constant", eta=0.002),
    # The order goes on where the last run ended.
    "sgd": lambda t: SGD("constant", eta=0.002, averaging="none", sampling=np.roll(np.arange(N), -t)),
}
DUAL = {
    "projected_gradient": lambda t: ProjectedGradient(),
    "projected_gradient with ε": lambda t: ProjectedGradient(eta=1e-3),
    "coordinate_ascent": lambda t: CoordinateAscent(sampling=np.roll(np.arange(N), -t)),
    "sdca": lambda t: SDCA(sampling=np.roll(np.arange(N), -t)),
}


def assert_chained(problem: gl.Problem, solver_at: Callable[[int], gl.solvers.Solver], steps: int) -> None:
    once, _ = walk(problem, solver_at(0), steps)
    result = None
    for t in range(steps):
        (before, after), result = walk(problem, solver_at(t), 1, start=result)
        for found, expected in ((before, once[t]), (after, once[t + 1])):
            for name in ("w", "b", "beta", "primal", "dual"):
                if getattr(expected, name) is not None:
                    assert_allclose(getattr(found, name), getattr(expected, name), **EXACT)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", PRIMAL)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_steps_on_the_primal(at, name, loss, intercept):
    assert_chained(at.problem(intercept=intercept, loss=loss), PRIMAL[name], 50)


@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("name", DUAL)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_steps_on_the_dual(at, name, loss, intercept):
    assert_chained(at.problem(intercept=intercept, loss=loss), DUAL[name], 50)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_epochs(at, loss, intercept):
    """Also with a free intercept, whose multiplier moves after each epoch."""
    problem, solver = at.problem(intercept=intercept, loss=loss), SDCA(sampling="cyclic")
    result = None
    for epochs in range(1, 6):
        result = gl.solve(problem, solver, tol=0, max_iter=1, start=result)
        once = gl.solve(problem, solver, tol=0, max_iter=epochs)
        assert result.iterations == 1 and once.iterations == epochs
        assert_allclose(result.beta, once.beta, **EXACT)
        assert_allclose(result.w, once.w, **EXACT)
        assert_allclose(result.alpha(), once.alpha(), **EXACT)


@pytest.mark.parametrize("pairs", ["second_order", "maximal_violation"])
@pytest.mark.parametrize("intercept", ["free", "regularized"])
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_pairs(at, intercept, pairs):
    assert_chained(at.problem(intercept=intercept, kernel=gl.kernels.RBF(0.5)), lambda t: SMO(pairs=pairs), 15)
