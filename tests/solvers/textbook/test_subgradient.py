from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.solvers import Subgradient
from tests.sample_problems import CATALOGUE
from tests.solvers.driving import drive


@pytest.mark.parametrize("step_rule", ["decay", "constant"])
@pytest.mark.parametrize(
    "name",
    ["hinge_none_C_mean", "hinge_regularized_lam_mean", "tube_regularized_lam_sum", "hinge_free_C", "weights_of_zero"],
)
def test_the_steps_of_the_textbook(name, step_rule):
    """v = w − Σ over {i: yᵢ f(xᵢ) < 1} of cᵢyᵢxᵢ, w ← w − ηₜv; b of an intercept is a weight of x̃ = (x, 1), if free without a penalty."""
    reference, problem = CATALOGUE[name].reference(), CATALOGUE[name].problem()
    y, cost = reference.y, reference.cost
    X = np.hstack([reference.X, np.full((len(y), 1), float(reference.intercept != "none"))])
    penalty = np.append(np.ones(X.shape[1] - 1), float(reference.intercept == "regularized"))
    solver = Subgradient(step_rule=step_rule, eta=0.05 / problem.scale, t0=2.0)
    states = drive(solver, problem, 30)
    next(states)
    w = np.zeros(X.shape[1])
    for t, state in enumerate(states, start=1):
        f = X @ w
        outside = np.where(np.abs(y - f) > reference.parameter, np.sign(y - f), 0.0)
        g = np.where(y * f < 1, y, 0.0) if reference.loss == "hinge" else outside
        w = w - (0.05 if step_rule == "constant" else 0.05 / (t + 2.0)) * (penalty * w - X.T @ (cost * g))
        point = state.point()
        np.testing.assert_allclose(np.append(point.w, point.b), w, atol=1e-12)
        np.testing.assert_allclose(reference.X.T @ point.beta, point.w, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["hinge_free_C", "tube_free", "squared_hinge_free_lam_sum", "one_sample_of_a_class_logistic"]
)
def test_by_default_no_step_moves_a_free_intercept_far(name):
    """|Σgᵢ| ≤ Σcᵢ for the losses that grow linearly; a squared loss is tamed by its curvature."""
    bs = [state.b for state in drive(Subgradient(), CATALOGUE[name].problem(), 50)]
    assert np.any(np.diff(bs) != 0) and (np.abs(np.diff(bs)) <= 1.0).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_steps_that_run_away_end_at_a_number(intercept, loss):
    problem = gl.Problem(CATALOGUE["hinge_free_C"].X, CATALOGUE["hinge_free_C"].y, loss=loss, intercept=intercept)
    result = gl.solve(problem, Subgradient("constant", eta=5.0), max_iter=500)
    assert result.status is gl.Status.STALLED and result.iterations < 200
    assert np.isfinite(result.certificate.primal) and np.isfinite(result.w).all()


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
def test_it_is_no_descent_method_but_answers_with_the_best(name):
    problem, reference = CATALOGUE[name].problem(), CATALOGUE[name].reference()
    solver, values = Subgradient(step_rule="constant", eta=0.2 / problem.scale), []
    for state in drive(solver, problem, 80):
        point, answer = state.point(), state.answer()
        values.append(reference.primal(point.w, None, point.b))
        assert reference.primal(answer.w, None, answer.b) == min(values)
    assert (np.diff(values) > 0).any() and values[-1] > min(values)
    result = gl.solve(problem, solver, max_iter=80, check_every=1)
    assert (np.diff(result.trace.best_primal) <= 0).all()


def test_the_start_is_one_of_the_visited():
    problem = CATALOGUE["hinge_free_C"].problem()
    best = gl.solve(problem, "smo", tol=1e-12)
    start = gl.Point(w=best.w, b=best.b)
    *_, state = drive(Subgradient("constant", eta=0.5), problem, 5, start=start)
    np.testing.assert_array_equal(state.answer().w, best.w)
    assert state.answer().b == best.b and not np.array_equal(state.point().w, best.w)


@pytest.mark.parametrize("eta", [None, 3.0])
def test_the_search_takes_the_best_of_its_trials(eta):
    problem = CATALOGUE["tube_regularized_lam_sum"].problem()
    state = next(drive(Subgradient(step_rule="search", eta=eta), problem, 0))
    best, largest = {}, 1 / problem.scale if eta is None else eta
    for k in range(13):
        *_, trial = drive(Subgradient(eta=largest * 2.0**-k), problem, 10)
        best[largest * 2.0**-k] = trial.best[0]
    assert best[state.steps.eta] == min(best.values())
    assert gl.solve(problem, Subgradient(step_rule="search"), max_iter=200).certificate.relative_gap < 0.5


def test_options_that_it_refuses():
    for options, message in {
        ("step_rule", "armijo"): "step_rule must be one of constant, decay, search, or a function of t; got 'armijo'.",
        ("eta", -2): "eta must be a positive number; got -2.",
        ("t0", -0.5): "t0 must be zero or a positive number; got -0.5.",
    }.items():
        with pytest.raises(InvalidInputError) as caught:
            Subgradient(**dict([options]))
        assert str(caught.value) == message
