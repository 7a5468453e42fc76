from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.solvers import Newton
from gapless.solvers.base import Budget, Outcome, Targets
from tests.sample_problems import CATALOGUE
from tests.solvers.interior_point.test_interior_point import INTERCEPTS, many

COVERED = [entry for entry in CATALOGUE.values() if Newton().unsupported(entry.problem()) is None]
LOSSES = ["squared_hinge", "squared_epsilon_insensitive"]


@pytest.mark.parametrize("system", ["dense", "cg"])
@pytest.mark.parametrize("entry", [entry for entry in COVERED if entry.easy], ids=lambda entry: entry.name)
def test_both_systems_end_at_rounding_level(entry, system):
    result = gl.solve(entry.problem(), Newton(system), tol=1e-12)
    assert result.certificate.relative_gap <= 1e-11


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_many_rows(loss, intercept, C):
    X, target = many()
    y = target if loss == "squared_epsilon_insensitive" else target > 0
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    problem = gl.Problem(X, y, loss=loss, C=C, intercept=intercept, sample_weight=weight)
    result = gl.solve(problem, "newton", tol=1e-8)
    assert result.status is gl.Status.CONVERGED
    assert result.iterations <= 30


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_hessian_follows_the_rows_that_enter_and_leave(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    target = X @ rng.normal(size=6) + rng.normal(size=400)
    y = target if loss == "squared_epsilon_insensitive" else target > 0
    problem = gl.Problem(X, y, loss=loss, C=3.0)
    engine = Newton("dense").init(problem, None, np.random.default_rng(0))
    A = np.hstack([X, np.ones((400, 1))])
    seen = set()
    for _ in range(6):
        f, hessian = engine.objective.f, engine.objective.hessian().reshape(7, 7)
        h = 1e-6 * np.maximum(1.0, np.abs(f))
        curvature = (
            problem.cost
            * (problem.loss.derivative(problem.y, f + h) - problem.loss.derivative(problem.y, f - h))
            / (2 * h)
        )
        np.testing.assert_allclose(hessian, (A * curvature[:, None]).T @ A, atol=1e-3 * np.abs(hessian).max())
        seen.add(engine.objective.inside_count)
        engine.step(Budget(), Targets())
    assert len(seen) > 1


def test_the_primal_value_falls_at_every_step():
    for entry in COVERED:
        problem = entry.problem()
        engine = Newton("dense").init(problem, None, np.random.default_rng(0))
        values = []
        for _ in range(8):
            w, b = engine.objective.w[: problem.n_features], engine.objective.w[problem.n_features :].sum()
            penalty = w @ w + (b**2 / problem.shift if problem.shift else 0.0)
            f = problem.expand_weights(w) + b
            values.append(0.5 * penalty + (problem.cost * problem.loss.value(problem.y, f)).sum())
            assert engine.objective.value == pytest.approx(values[-1], rel=1e-10)
            if engine.step(Budget(), Targets()).outcome is Outcome.STALLED:
                break
        assert (np.diff(values) <= 1e-9 * abs(values[0])).all(), entry.name


def test_more_features_than_can_be_factored():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5000), density=0.01, format="csr", rng=rng)
    result = gl.solve(gl.Problem(X, X @ rng.normal(size=5000) > 0, loss="squared_hinge", C=100.0), "newton", tol=1e-8)
    assert result.status is gl.Status.CONVERGED


def test_options_and_problems_that_it_refuses():
    with pytest.raises(InvalidInputError) as wrong:
        Newton(system="sparse")
    assert str(wrong.value) == "system must be one of auto, dense, cg; got 'sparse'."
    for options, reason in (
        ({}, "newton needs a loss that is quadratic where it is not zero; hinge is not; use solver='sdca' or 'smo'."),
        (
            {"loss": "logistic"},
            "newton needs a loss that is quadratic where it is not zero; logistic is not; use solver='sdca' or 'smo'.",
        ),
        (
            {"loss": "squared_hinge", "C": np.inf},
            "newton needs a finite C and one offset without a price; use solver='smo' or 'qp'.",
        ),
    ):
        with pytest.raises(UnsupportedError) as caught:
            gl.solve(gl.Problem(np.eye(2), [0, 1], **options), "newton")
        assert str(caught.value) == reason
