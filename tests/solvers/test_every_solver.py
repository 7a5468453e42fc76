"""What all solvers share: warm starts, seeds, zero rows, memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import gapless as gl
from gapless.solvers import SMO, SOLVERS
from tests.sample_problems import CATALOGUE

# Easy problems, of which each solver covers at least one.
SAMPLE = (
    "hinge_free_C",
    "hinge_none_C_mean",
    "squared_tube_regularized",
    "rbf_regularized_squared_hinge",
    "logistic_none_C_mean",
)
STOCHASTIC = ("sgd", "pegasos", "sdca", "coordinate_ascent")
# These keep β and nothing else between steps: from an optimal β there is nothing left to do.
RESUMING = ("sdca", "coordinate_ascent", "projected_gradient", "smo")


def covered(name: str) -> list[gl.Problem]:
    problems = [CATALOGUE[entry].problem() for entry in SAMPLE]
    chosen = [problem for problem in problems if SOLVERS[name]().unsupported(problem) is None]
    assert chosen
    return chosen


@pytest.mark.parametrize("name", list(SOLVERS))
def test_a_warm_start_is_never_lost(name):
    for problem in covered(name):
        first = gl.solve(problem, name, tol=0, max_iter=5 if SOLVERS[name].unit == "epochs" else 1)
        best = first.certified
        for start in (first, best.beta, gl.Point(beta=best.beta, w=best.w, b=best.b, expansion=best.expansion)):
            again = gl.solve(problem, name, tol=0, max_iter=1, start=start)
            rounding = 1e-12 * abs(first.certificate.primal)
            assert again.certificate.dual >= first.certificate.dual - rounding
            if start is not best.beta:  # β alone does not tell the primal side of a sub-gradient method
                assert again.certificate.primal <= first.certificate.primal + rounding


@pytest.mark.parametrize("name", RESUMING)
def test_a_warm_start_goes_on_where_the_last_solve_ended(name):
    for problem in covered(name):
        cold = gl.solve(problem, name, tol=1e-3, check_every=1)
        assert cold.status is gl.Status.CONVERGED and cold.iterations > 1
        assert gl.solve(problem, name, tol=1e-3, start=cold).iterations == 0
        # The dual point alone: the best primal value may have come from another iterate.
        assert gl.solve(problem, name, tol=1e-3, start=cold.beta, check_every=1).iterations < cold.iterations
        further = gl.solve(problem, name, tol=1e-4, start=cold, check_every=1)
        fresh = gl.solve(problem, name, tol=1e-4, check_every=1)
        assert further.status is gl.Status.CONVERGED
        assert further.iterations < fresh.iterations


@pytest.mark.parametrize("name", list(SOLVERS))
def test_a_start_from_another_C_is_made_feasible(name):
    for problem in covered(name):
        C = 10.0 * problem.unit_cost
        y = problem.y if problem.classes is None else problem.classes[(problem.y > 0).astype(int)]
        other = gl.Problem(problem.X, y, loss=problem.loss, kernel=problem.kernel, C=C, intercept=problem.intercept)
        bounds = {"max_iter": 20 if SOLVERS[name].unit == "epochs" else 200}
        result = gl.solve(problem, name, start=gl.solve(other, name, **bounds), **bounds)
        assert (
            np.abs(result.certified.beta)
            <= np.where(np.isfinite(problem.dual.upper - problem.dual.lower), problem.cost, np.inf)
        ).all()
        assert -1e-12 <= result.certificate.relative_gap < 1.0


@pytest.mark.parametrize("name", list(SOLVERS))
def test_a_start_of_another_size_is_refused(name):
    problem = covered(name)[0]
    with pytest.raises(
        gl.errors.InvalidInputError, match=r"^start must have one entry for each of the 60 samples; got 3\.$"
    ):
        gl.solve(problem, name, start=np.zeros(3))
    with pytest.raises(
        gl.errors.InvalidInputError, match=r"^start must belong to a problem of 60 samples and 4 features\.$"
    ):
        gl.solve(problem, name, start=gl.Point(beta=np.zeros(3)))


@pytest.mark.parametrize("name", list(SOLVERS))
def test_the_same_seed_gives_the_same_model_to_the_bit(name):
    for problem in covered(name):
        a, b, c = (gl.solve(problem, name, tol=0, max_iter=7, random_state=seed) for seed in (3, 3, 4))
        assert np.array_equal(a.beta, b.beta) and a.b == b.b and a.certificate == b.certificate
        assert (a.w is None and b.w is None) or np.array_equal(a.w, b.w)
        if name in STOCHASTIC:
            assert not np.array_equal(a.beta, c.beta)
        else:
            assert np.array_equal(a.beta, c.beta)


@pytest.mark.parametrize("name", ["sdca", "coordinate_ascent", "projected_gradient", "smo", "qp"])
def test_a_row_of_zeros_sends_alpha_to_its_bound(name):
    """Nothing can be learned from x = 0 without an intercept: its hinge is paid in full."""
    result = gl.solve(CATALOGUE["zero_rows"].problem(), name, tol=1e-4)
    assert (result.alpha()[::4] == 1.0).all()


@pytest.mark.parametrize("name", ["subgradient", "sgd", "pegasos", "projected_gradient", "sdca", "smo"])
def test_no_matrix_of_n_by_n_is_allocated(name):
    n = 20_000  # of which an n×n matrix would take 3.2 GB, and a single row of it 160 kB
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    kernel = gl.kernels.RBF() if name == "smo" else None
    problem = gl.Problem(X, X[:, 0] > 0, kernel=kernel, intercept="none" if name != "smo" else "free")
    solver = SMO(cache_mb=1.0) if name == "smo" else SOLVERS[name]()
    tracemalloc.start()
    try:
        result = gl.solve(problem, solver, max_iter=20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.certificate.primal < np.inf
    assert peak < 150e6


def test_an_unknown_solver_is_named():
    with pytest.raises(gl.errors.InvalidInputError) as caught:
        gl.solve(covered("smo")[0], "newton-raphson")
    assert str(caught.value) == (f"solver must be a Solver or one of auto, {', '.join(SOLVERS)}; got 'newton-raphson'.")


def test_auto_takes_the_solver_of_its_rule():
    chosen = {entry: gl.solve(CATALOGUE[entry].problem(), max_iter=1).solver for entry in SAMPLE}
    assert chosen == {
        "hinge_free_C": "sdca", "hinge_none_C_mean": "sdca", "squared_tube_regularized": "newton",
        "rbf_regularized_squared_hinge": "smo", "logistic_none_C_mean": "sdca",
    }  # fmt: skip
