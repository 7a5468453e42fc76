"""Solvers that creep hand over to the interior-point method."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import gapless as gl
from gapless.proof.certificate import Point
from gapless.solvers import SDCA, Newton, SmoothedNewton
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Targets
from gapless.solvers.interior_point.relay import Relay, relayed
from gapless.solvers.interior_point.solver import InteriorPointEngine, bounded_box, expected_work
from tests.solvers.driving import begun

X_DIGITS, Y_DIGITS = load_digits(return_X_y=True)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 4)), RNG.random(50) < 0.5


class Idle(Engine):
    """An engine that says what it is told to, and stays where it is."""

    def __init__(self, problem: gl.Problem, outcome: Outcome = Outcome.RUNNING, work: float = 1.0) -> None:
        self.problem, self.advance = problem, Advance(1.0, work, outcome)

    def step(self, budget: Budget, targets: Targets) -> Advance:
        return self.advance

    def point(self) -> Point:
        return Point(beta=np.zeros(self.problem.n_samples))


def second(relay: Engine) -> bool:
    assert isinstance(relay, Relay)
    return isinstance(relay.engine, InteriorPointEngine)


def test_one_that_is_stuck_hands_over_at_once():
    problem = gl.Problem(X, Y)
    relay = relayed(problem, Idle(problem, Outcome.STALLED))
    assert relay.step(Budget(), Targets(1e-6)).outcome is Outcome.RUNNING
    assert second(relay)
    outcome = Outcome.RUNNING
    while outcome is Outcome.RUNNING:
        outcome = relay.step(Budget(), Targets(1e-6)).outcome
    assert gl.certify(problem, relay.point()).relative_gap <= 1e-6


def test_one_that_creeps_hands_over_when_it_has_cost_thrice_as_much():
    problem = gl.Problem(X, Y)
    work = expected_work(problem)
    assert work is not None
    relay = relayed(problem, Idle(problem, work=0.3 * work), price=0.2 * work)
    steps = 0
    while not second(relay):
        relay.step(Budget(), Targets(1e-6))
        steps += 1
    assert steps == 6


def test_one_whose_steps_cost_little_has_a_bound_on_them_too():
    problem = gl.Problem(X, Y)
    relay = relayed(problem, Idle(problem, work=1e-3))
    for _ in range(500):
        assert not second(relay)
        relay.step(Budget(), Targets(1e-6))
    assert second(relay)


def test_one_that_believes_itself_done_again_and_again_hands_over_too():
    """Where it is asked to go on, no proof agreed: sdca once spent all of its 10,000 epochs so."""
    problem = gl.Problem(X, Y)
    work = expected_work(problem)
    relay = relayed(problem, Idle(problem, Outcome.READY, work=work))
    for _ in range(2):
        assert relay.step(Budget(), Targets(1e-6)).outcome is Outcome.READY and not second(relay)
    relay.step(Budget(), Targets(1e-6))
    assert second(relay)
    first_time = relayed(problem, Idle(problem, Outcome.READY, work=10 * work))
    assert first_time.step(Budget(), Targets(1e-6)).outcome is Outcome.READY and not second(first_time)


def test_at_rounding_level_no_other_method_helps():
    problem = gl.Problem(X, Y)
    relay = relayed(problem, Idle(problem, Outcome.STALLED))
    assert relay.step(Budget(), Targets(0.0)).outcome is Outcome.STALLED
    assert not second(relay)


def test_steps_are_counted_in_epochs_where_the_first_solver_does():
    problem = gl.Problem(X, Y)
    relay = relayed(problem, Idle(problem, Outcome.STALLED), epoch=200.0)
    relay.step(Budget(), Targets(1e-6))
    advance = relay.step(Budget(work=1.0), Targets(1e-6))
    assert advance.iterations == pytest.approx(advance.work / 200.0)


def test_textbook_methods_and_large_matrices_stay_alone():
    problem = gl.Problem(X, Y, intercept="none")
    rng = np.random.default_rng(0)
    assert isinstance(SDCA().init(problem, None, rng), Relay)
    for alone in (SDCA(second_order=False), SDCA(sampling="cyclic")):
        assert not isinstance(alone.init(problem, None, rng), Relay)
    squared = gl.Problem(X, Y, loss="squared_hinge")
    assert isinstance(Newton().init(squared, None, rng), Relay)
    assert not isinstance(Newton("dense").init(squared, None, rng), Relay)
    assert isinstance(begun(SmoothedNewton(), problem), Engine)
    wide = gl.Problem(np.zeros((2500, 2500), dtype=np.float32), np.arange(2500) % 2)
    assert expected_work(wide) is None
    logistic = gl.Problem(X, Y, loss="logistic")
    engine = Idle(logistic)
    assert relayed(logistic, engine) is engine


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
def test_no_optimum_reaches_the_bounds_of_a_squared_loss(loss, intercept, C):
    y = Y if loss == "squared_hinge" else 10 * RNG.normal(size=50)
    weight = np.arange(50) % 3
    problem = gl.Problem(X, y, loss=loss, C=C, intercept=intercept, sample_weight=weight)
    box = bounded_box(problem)
    assert np.isfinite(box.upper - box.lower).all()
    beta = gl.solve(problem, "newton", tol=1e-9).beta
    used = weight > 0
    assert (np.abs(beta)[used] < 0.6 * np.maximum(box.upper, -box.lower)[used]).all()


@pytest.mark.parametrize("C", [1e4, 1e6])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_margins_that_are_almost_hard(loss, C):
    """Digits as they are, with columns of zeros: where P is a millionth of C, Newton's method alone is stuck at a gap of one."""
    for digit in (0, 2, 4):
        problem = gl.Problem(X_DIGITS, digit == Y_DIGITS, loss=loss, C=C, intercept="regularized")
        result = gl.solve(problem, tol=1e-4, max_iter=1000)
        assert result.status is gl.Status.CONVERGED
        other = gl.solve(problem, "interior_point", tol=1e-4)
        assert other.status is gl.Status.CONVERGED
        assert result.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-4)
