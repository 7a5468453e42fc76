"""Five runs of one step from each other's points are one run of five steps, for the methods without a hidden schedule."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gapless as gl
from gapless.solvers import SDCA, SGD, SMO, CoordinateAscent, ProjectedGradient, Subgradient
from tests.textbook.by_hand import EXACT, STATEMENTS, walk
from tests.textbook.samples import N

PRIMAL = {
    "subgradient": lambda t: Subgradient("constant", eta=0.01),
    # The order goes on where the last run ended.
    "sgd": lambda t: SGD("constant", eta=0.01, averaging="none", sampling=np.roll(np.arange(N), -t)),
}
DUAL = {
    "projected_gradient": lambda t: ProjectedGradient(),
    "projected_gradient with ε": lambda t: ProjectedGradient(eta=1e-3),
    "coordinate_ascent": lambda t: CoordinateAscent(sampling=np.roll(np.arange(N), -t)),
    "sdca": lambda t: SDCA(sampling=np.roll(np.arange(N), -t)),
}


def assert_chained(problem: gl.Problem, solver_at: object, steps: int = 5) -> None:
    once = list(walk(problem, solver_at(0), steps))
    start = None
    for t in range(steps):
        point = list(walk(problem, solver_at(t), 1, start=start))[-1]
        for name in ("w", "b", "beta"):
            found, expected = getattr(point, name), getattr(once[t + 1], name)
            assert (found is None) == (expected is None)
            if found is not None:
                assert_allclose(found, expected, **EXACT)
        start = gl.Point(beta=point.beta, w=point.w, b=point.b)


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


@pytest.mark.parametrize("pairs", ["second_order", "maximal_violation"])
@pytest.mark.parametrize("intercept", ["free", "regularized"])
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_pairs(at, intercept, pairs):
    assert_chained(at.problem(intercept=intercept, kernel=gl.kernels.RBF(0.5)), lambda t: SMO(pairs=pairs), 15)
