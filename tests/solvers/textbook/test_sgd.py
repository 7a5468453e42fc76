from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.solvers import SGD
from tests.sample_problems import CATALOGUE
from tests.solvers.driving import drive, visits

C, SCALE, N, D = 0.2, 2.0, 15, 3


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(N) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(N, D)) + 0.5 * y[:, None], y


def textbook(
    X: np.ndarray, y: np.ndarray, intercept: str, sampling: str, eta_of: object, count: int
) -> list[np.ndarray]:
    """(w, b) after each step for the hinge: shrink w by (1 − ηₜ); where y f < 1 add ηₜ n C y x to w and, b free, ηₜ n C y to b."""
    w, b, iterates = np.zeros(D), 0.0, []
    for t, i in enumerate(visits(N, sampling, count), start=1):
        eta, wrong = eta_of(t), y[i] * (w @ X[i] + b) < 1
        w = (1 - eta) * w
        if (
            intercept == "regularized"
        ):  # b is a weight like any other, on the feature s: b = s w₀, w₀ ← (1 − ηₜ)w₀ + ηₜ n C y s
            b = (1 - eta) * b
        if wrong:
            w = w + eta * N * C * y[i] * X[i]
            b += {"free": 1.0, "regularized": SCALE**2, "none": 0.0}[intercept] * eta * N * C * y[i]
        iterates.append(np.append(w, b))
    return iterates


@pytest.mark.parametrize("sampling", ["epochs", "uniform"])
@pytest.mark.parametrize("step_rule", ["decay", "constant"])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_the_steps_of_the_textbook(intercept, step_rule, sampling):
    X, y = data()
    rule = {"eta": 0.5, "t0": 4.0} if step_rule == "decay" else {"eta": 0.05}
    solver = SGD(step_rule=step_rule, averaging="none", sampling=sampling, **rule)
    expected = textbook(X, y, intercept, sampling, lambda t: 0.5 / (t + 4.0) if step_rule == "decay" else 0.05, 60)
    problem = gl.Problem(X, y, C=C, intercept=intercept, intercept_scale=SCALE)
    states = drive(solver, problem, 60)
    next(states)
    for iterate, state in zip(expected, states, strict=True):
        point = state.point()
        np.testing.assert_allclose(np.append(point.w, point.b), iterate, atol=1e-12)


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_the_average_starts_anew_at_each_power_of_two(intercept):
    X, y = data()
    solver, count = SGD(t0=0.0, eta=1.0), 7 * N  # the first step is ηₜ = 1, which erases w
    expected = np.array(textbook(X, y, intercept, "epochs", lambda t: 1.0 / t, count))
    problem = gl.Problem(X, y, C=C, intercept=intercept, intercept_scale=SCALE)
    states = drive(solver, problem, count)
    next(states)
    for t, state in enumerate(states, start=1):
        began = max((N * 2**k for k in range(4) if N * 2**k < t), default=0)
        point = state.point()
        np.testing.assert_allclose(np.append(point.w, point.b), expected[began:t].mean(axis=0), atol=1e-12)


def test_a_vanishing_scale_is_folded_in_time():
    """A constant step near one shrinks w by 1e-2 a step: a·v with an a of 1e-200 must still be the textbook's w."""
    X, y = data()
    solver = SGD(step_rule="constant", eta=0.99, averaging="none")
    expected = textbook(X, y, "none", "epochs", lambda t: 0.99, 200)
    problem = gl.Problem(X, y, C=C, intercept="none")
    *_, state = drive(solver, problem, 200)
    np.testing.assert_allclose(state.point().w, expected[-1][:D], rtol=1e-9)


@pytest.mark.parametrize("eta", [1.0, 1.5, 2.0, 2.5])
def test_a_step_of_one_or_more_is_taken_as_it_is(eta):
    """1 − ηₜ is zero, negative, or beyond one in size: a changes its sign, and grows."""
    X, y = data()
    expected = np.array(textbook(X, y, "regularized", "epochs", lambda t: eta, 60))
    problem = gl.Problem(X, y, C=C, intercept="regularized", intercept_scale=SCALE)
    for averaging in ("none", 0):
        *_, state = drive(SGD("constant", eta=eta, averaging=averaging), problem, 60)
        point = state.point()
        mean = expected[-1] if averaging == "none" else expected.mean(axis=0)
        np.testing.assert_allclose(np.append(point.w, point.b), mean, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_steps_that_run_away_end_at_a_number(intercept, loss):
    X, y = data()
    problem = gl.Problem(X, y, loss=loss, intercept=intercept)
    result = gl.solve(problem, SGD("constant", eta=5.0), max_iter=500)
    assert result.status is gl.Status.STALLED and result.iterations < 100
    assert np.isfinite(result.certificate.primal) and np.isfinite(result.w).all()


def test_a_start_goes_on_from_its_own_w_and_averages_from_there():
    X, y = data()
    problem, solver = gl.Problem(X, y, C=C), SGD("constant", eta=0.05, averaging=0, sampling="cyclic")
    start = gl.Point(w=np.array([1.0, -2.0, 0.5]), b=0.3)  # which no β comes with
    w, b, iterates = start.w, start.b, []
    for i in range(N):
        wrong = y[i] * (w @ X[i] + b) < 1
        w, b = 0.95 * w + 0.05 * N * C * wrong * y[i] * X[i], b + 0.05 * N * C * wrong * y[i]
        iterates.append(np.append(w, b))
    states = list(drive(solver, problem, N, start=start))
    np.testing.assert_allclose(
        np.append(states[-1].point().w, states[-1].point().b), np.mean(iterates, axis=0), atol=1e-12
    )


def test_the_average_survives_the_folding():
    X, y = data()
    solver = SGD(step_rule="constant", eta=0.9)
    expected = np.array(textbook(X, y, "regularized", "epochs", lambda t: 0.9, 4 * N))
    problem = gl.Problem(X, y, C=C, intercept="regularized", intercept_scale=SCALE)
    *_, state = drive(solver, problem, 4 * N)
    point = state.point()
    np.testing.assert_allclose(np.append(point.w, point.b), expected[2 * N :].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("name", ["hinge_free_C", "hinge_none_C_mean", "tube_free", "tube_regularized_lam_sum"])
def test_the_average_of_the_tail_calms_a_constant_step(name):
    problem = CATALOGUE[name].problem()
    options = {"step_rule": "constant", "eta": 1e-2, "sampling": "uniform"}
    tail, last = (
        gl.solve(problem, SGD(averaging=averaging, **options), tol=0, max_iter=64, check_every=64)
        for averaging in ("tail", "none")
    )
    assert tail.certificate.primal < last.certificate.primal


def test_a_constant_step_reaches_only_a_neighbourhood():
    problem = CATALOGUE["hinge_none_C_mean"].problem()
    decay, constant = (
        gl.solve(problem, SGD(step_rule=rule, eta=eta, averaging="none"), max_iter=300)
        for rule, eta in (("decay", 1.0), ("constant", 0.1))
    )
    assert decay.certificate.gap < 0.2 * constant.certificate.gap


def test_options_that_it_refuses():
    for options, message in {
        ("step_rule", "search"): "step_rule must be one of constant, decay, or a function of t; got 'search'.",
        ("averaging", True): "averaging must be one of tail, none, or a number of steps; got True.",
        ("averaging", -1): "averaging must be one of tail, none, or a number of steps; got -1.",
        ("sampling", "all"): "sampling must be one of epochs, uniform, cyclic, or indices of samples; got 'all'.",
        ("eta", 0): "eta must be a positive number; got 0.",
        ("eta", "1"): "eta must be a positive number; got '1'.",
        ("t0", -1.0): "t0 must be zero or a positive number; got -1.0.",
        ("t0", np.inf): "t0 must be zero or a positive number; got inf.",
    }.items():
        with pytest.raises(InvalidInputError) as caught:
            SGD(**dict([options]))
        assert str(caught.value) == message
    with pytest.raises(InvalidInputError) as caught:
        SGD(step_rule=lambda t: 1 / t, eta=2.0)
    assert str(caught.value) == "step_rule is a function of t, which tells the whole step; leave out eta and t0."


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1", None, 1j])
def test_a_function_that_returns_no_step_is_refused(value):
    X, y = data()
    with pytest.raises(InvalidInputError) as caught:
        gl.solve(gl.Problem(X, y), SGD(step_rule=lambda t: 0.1 if t < 3 else value))
    assert str(caught.value) == f"step_rule must return a positive number; at t = 3 it returned {value!r}."
