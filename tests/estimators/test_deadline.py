"""``max_time`` is for the whole fit: its set-up, all its subproblems and their certificates. No test depends on the speed of the machine."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import gapless as gl
from gapless.estimators import deadline as deadlines
from gapless.estimators import dual_bound, one_vs_one, solving, stages
from gapless.estimators.deadline import Deadline
from gapless.result import Status
from gapless.solvers.choose import choose, expected_costs
from tests.estimators.data import cancer, iris


class Clock:
    """Goes on by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(deadlines, "perf_counter", clock)
    return clock


def test_no_bound_is_none(clock):
    deadline = Deadline(None)
    clock.now = 1e9
    assert deadline.next_share() is None and not deadline.is_over


def test_what_is_left_is_shared_and_what_is_not_needed_goes_to_the_others(clock):
    deadline = Deadline(10.0)
    clock.now = 1.0  # set-up
    deadline.expect(3, 1)
    assert deadline.next_share() == pytest.approx(3.0)
    clock.now = 2.0  # of three seconds one was needed
    assert deadline.next_share() == pytest.approx(4.0)
    clock.now = 9.5
    assert deadline.next_share() == pytest.approx(0.5)
    assert not deadline.is_over
    clock.now = 11.0
    assert deadline.is_over and 0 < deadline.next_share() < 1e-6


def test_jobs_work_at_the_same_time(clock):
    deadline = Deadline(12.0)
    deadline.expect(6, 2)
    assert deadline.next_share() == deadline.next_share() + 0.0 == pytest.approx(4.0)


@pytest.mark.parametrize("estimator", [gl.SVC(), gl.NuSVC(nu=0.2), gl.LinearSVC()], ids=str)
def test_three_subproblems_have_one_max_time_between_them(estimator, clock, monkeypatch):
    """Each had all of it: a fit of 45 subproblems took 45 times as long as it was given."""
    given, original = [], solving.solve

    def solve(*arguments, **options):
        given.append(options["max_time"])
        clock.now += options["max_time"]  # all that it is given
        return original(*arguments, **{**options, "max_time": None})

    for module in (solving, stages):
        monkeypatch.setattr(module, "solve", solve)
    monkeypatch.setattr(one_vs_one, "every_pair", lambda *_: None)  # one subproblem after the other
    estimator.set_params(max_time=6.0).fit(*iris())
    assert given == pytest.approx([2.0, 2.0, 2.0])


def test_set_up_counts(clock, monkeypatch):
    given, original, samples = [], solving.solve, gl.SVC._samples

    def slow_samples(self, *arguments):
        clock.now += 4.0
        return samples(self, *arguments)

    def solve(*arguments, **options):
        given.append(options["max_time"])
        return original(*arguments, **{**options, "max_time": None})

    monkeypatch.setattr(gl.SVC, "_samples", slow_samples)
    for module in (solving, stages):
        monkeypatch.setattr(module, "solve", solve)
    gl.SVC(max_time=5.0).fit(*cancer())
    assert given == pytest.approx([1.0])


def test_a_gram_matrix_that_takes_too_long_is_given_up(clock, monkeypatch):
    from gapless.estimators import kernel_logistic

    seen, original = [], kernel_logistic.blocks

    def blocks(*arguments, **options):
        for part in original(*arguments, max_bytes=8 * 200 * 10):
            seen.append(part[0])
            clock.now += 1.0
            yield part

    monkeypatch.setattr(kernel_logistic, "blocks", blocks)
    X, y = cancer()
    with pytest.warns(ConvergenceWarning, match="Stopped at max_time before tol was reached"):
        model = gl.KernelLogisticRegression(max_time=2.5).fit(X, y)
    assert len(seen) == 3  # of twenty
    assert model._solved[0].status is Status.MAX_TIME and np.isfinite(model.certificate_.gap)
    assert model.predict_proba(X).shape == (200, 2)


def test_the_test_for_separability_ends_with_the_clock(monkeypatch):
    """A linear program of 14 seconds was waited for where there was one second."""

    returned, overslept = threading.Event(), []

    def find_ray(problem, seconds):
        overslept.append(not returned.wait(60.0))

    monkeypatch.setattr(sys.modules["gapless.solve"], "find_ray", find_ray)
    X = np.random.default_rng(0).normal(size=(60, 2))
    result = gl.solve(gl.Problem(X, np.arange(60) % 2, C=np.inf), "smo", max_time=0.3, max_iter=10**9)
    assert not overslept  # the solve came back while the program was still at work
    returned.set()
    assert result.status is Status.MAX_TIME


def test_a_quadratic_program_ends_with_the_clock():
    """It has 1500² entries and takes a process of its own, whose start alone takes longer."""
    pytest.importorskip("qpsolvers")
    X = np.random.default_rng(0).normal(size=(1500, 5))
    result = gl.solve(gl.Problem(X, np.arange(1500) % 2, kernel=gl.kernels.RBF(1.0)), "qp", max_time=0.05)
    assert result.status is Status.MAX_TIME and result.certificate.dual == 0.0


def test_the_last_certificate_is_within_the_time(monkeypatch):
    """A solve with a kernel stopped at max_time, and then proved for as long again."""
    module = sys.modules["gapless.proof.clock"]
    clock = Clock()
    monkeypatch.setattr(module, "time", type("Time", (), {"perf_counter": staticmethod(clock)}))
    best = sys.modules["gapless.proof.best"]
    original = best.evaluate
    proofs = []

    def evaluate(problem, point):
        if point.beta is not None:
            proofs.append(np.count_nonzero(point.beta))
            clock.now += 0.01 * proofs[-1]  # seconds, as many as there are support vectors
        return original(problem, point)

    expand = gl.Problem.expand

    def slow_expand(self, beta, X=None):
        if X is not None:
            clock.now += 0.01 * np.count_nonzero(beta) * len(X) / self.n_samples
        return expand(self, beta, X)

    def step(self, budget, targets):
        clock.now += 0.05
        return original_step(self, budget._replace(iterations=1), targets)

    engine = type(gl.solvers.SMO().init(gl.Problem([[0.0], [1.0]], [0, 1], kernel=gl.kernels.RBF()), None, None))
    original_step = engine.step
    monkeypatch.setattr(engine, "step", step)
    monkeypatch.setattr(best, "evaluate", evaluate)
    monkeypatch.setattr(gl.Problem, "expand", slow_expand)
    X = np.random.default_rng(0).normal(size=(1000, 5))
    problem = gl.Problem(X, np.arange(1000) % 2, kernel=gl.kernels.RBF(1.0))
    result = gl.solve(problem, "smo", tol=1e-9, max_time=2.0)
    assert result.status is Status.MAX_TIME and result.iterations > 5
    assert len(proofs) >= 1 and result.certificate.dual > 0
    assert clock.now <= 2.0 * 1.1


def test_auto_takes_short_steps_where_no_solver_ends_in_time():
    X = np.random.default_rng(0).normal(size=(20_000, 30))
    problem = gl.Problem(X, np.arange(20_000) % 2, intercept="regularized")
    costs = expected_costs(problem, 1e-6)
    best = min(costs, key=costs.__getitem__)
    assert best != "sdca"
    assert choose(problem, 1e-6) == choose(problem, 1e-6, 2e-9 * costs[best]) == best
    assert choose(problem, 1e-6, 0.5e-9 * costs[best]) == "sdca"


def test_an_approximation_is_proven_by_zero_after_the_deadline(clock, monkeypatch):
    solved = []
    monkeypatch.setattr(dual_bound, "solve", lambda *arguments, **options: solved.append(options))
    X, y = cancer()
    problem = gl.Problem(X, y, kernel=gl.kernels.RBF(0.1))
    deadline = Deadline(1.0)
    clock.now = 2.0
    bound = dual_bound.dual_bound(problem, np.where(y > 0, 0.1, -0.1), deadline)
    assert bound.value == 0.0 and not solved
