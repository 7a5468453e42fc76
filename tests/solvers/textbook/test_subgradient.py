from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.solvers import Subgradient
from tests.sample_problems import CATALOGUE
from tests.solvers.driving import drive


@pytest.mark.parametrize("step_rule", ["decay", "constant"])
@pytest.mark.parametrize("name", ["hinge_none_C_mean", "hinge_regularized_lam_mean", "tube_regularized_lam_sum"])
def test_the_steps_of_the_textbook(name, step_rule):
    """v = w − Σ over {i: yᵢ f(xᵢ) < 1} of cᵢyᵢxᵢ, w ← w − ηₜv, as long as w stays in the ball that holds the optimum."""
    reference = CATALOGUE[name].reference()
    y, cost = reference.y, reference.cost
    s = 1.0 if reference.intercept == "regularized" else 0.0
    X = np.hstack([reference.X, np.full((len(y), 1), s)])
    solver = Subgradient(step_rule=step_rule, eta=0.05, t0=2.0)
    states = drive(solver, CATALOGUE[name].problem(), 30)
    next(states)
    w = np.zeros(X.shape[1])
    for t, state in enumerate(states):
        f = X @ w
        outside = np.where(np.abs(y - f) > reference.parameter, np.sign(y - f), 0.0)
        g = np.where(y * f < 1, y, 0.0) if reference.loss == "hinge" else outside
        w = w - (0.05 if step_rule == "constant" else 0.05 / (t + 2.0)) * (w - X.T @ (cost * g))
        np.testing.assert_allclose(np.append(state.w, state.b), w, atol=1e-12)


def test_iterates_stay_in_the_ball_that_holds_the_optimum():
    entry = CATALOGUE["squared_hinge_none"]
    least = np.inf
    for state in drive(Subgradient(step_rule="constant", eta=0.9), entry.problem(), 20):
        if np.isfinite(least):
            assert 0.5 * state.w @ state.w <= least * (1 + 1e-12)
        least = min(least, entry.reference().primal(state.w, None, 0.0))


@pytest.mark.parametrize("name", ["hinge_free_C", "tube_free", "duplicates", "weights_of_zero"])
def test_a_free_intercept_leaves_a_balanced_sub_gradient(name):
    """The dual point that follows w has Σβ = 0, so that nothing is lost when it is made feasible."""
    for state in list(drive(Subgradient(), CATALOGUE[name].problem(), 50))[1:]:
        assert abs(state.beta.sum()) <= 1e-9 * np.abs(state.beta).sum()


def test_a_constant_step_reaches_only_a_neighbourhood():
    problem = CATALOGUE["hinge_none_C_mean"].problem()
    gaps = {}
    for iterations in (100, 1600):
        constant = gl.solve(problem, Subgradient(step_rule="constant", eta=0.3), max_iter=iterations)
        gaps[iterations] = constant.certificate.gap
    decay = gl.solve(problem, Subgradient(), max_iter=1600)
    assert gaps[1600] > 0.5 * gaps[100]
    assert decay.certificate.gap < 0.2 * gaps[1600]


@pytest.mark.parametrize("name", ["hinge_free_C", "tube_regularized_lam_sum"])
def test_it_is_no_descent_method_but_keeps_the_best(name):
    problem = CATALOGUE[name].problem()
    solver, values, best = Subgradient(step_rule="constant", eta=0.2), [], []
    reference = CATALOGUE[name].reference()
    for state in drive(solver, problem, 80):
        point = state.point()
        values.append(gl.certify(problem, gl.Point(w=state.w, b=state.b)).primal)
        best.append(reference.primal(point.w, None, point.b))
    assert (np.diff(values) > 0).any()
    assert (np.diff(best[1:]) <= 1e-12).all()
    assert best[-1] <= min(values[:-1]) * (1 + 1e-9)
    result = gl.solve(problem, solver, max_iter=80, check_every=1)
    assert (np.diff(result.trace.best_primal) <= 0).all()
    assert result.certificate.primal == min(result.trace.primal)


def test_the_search_takes_the_best_of_its_trials():
    problem = CATALOGUE["tube_regularized_lam_sum"].problem()
    state = next(drive(Subgradient(step_rule="search"), problem, 0))
    best = {}
    for k in range(13):
        solver = Subgradient(eta=2.0**-k)
        *_, trial = drive(solver, problem, 10)
        best[2.0**-k] = trial.best[0]
    assert best[state.eta] <= min(best.values()) * (1 + 1e-9)
    assert gl.solve(problem, Subgradient(step_rule="search"), max_iter=200).certificate.relative_gap < 0.5


def test_options_that_it_refuses():
    for options, message in {
        ("step_rule", "armijo"): "step_rule must be one of constant, decay, search; got 'armijo'.",
        ("eta", -2): "eta must be a positive number; got -2.",
        ("t0", 0.0): "t0 must be a positive number; got 0.0.",
    }.items():
        with pytest.raises(InvalidInputError) as caught:
            Subgradient(**dict([options]))
        assert str(caught.value) == message
