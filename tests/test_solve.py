from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gapless as gl
from gapless import kernels
from gapless.errors import Interrupted, InvalidInputError, UnsupportedError
from gapless.solvers import SOLVERS

SMO, SGD = gl.solvers.SMO, gl.solvers.SGD


def make(n: int = 60, **options) -> gl.Problem:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return gl.Problem(rng.normal(size=(n, 4)) + 0.4 * y[:, None], y, **options)


def refusal(*arguments, error=InvalidInputError, **named) -> str:
    with pytest.raises(error) as caught:
        gl.solve(*arguments, **named)
    return str(caught.value)


# --- why it stops


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-10])
def test_it_stops_when_the_gap_is_proven(tol):
    result = gl.solve(make(), "smo", tol=tol)
    assert result.status is gl.Status.CONVERGED
    assert result.certificate.relative_gap <= tol
    again = gl.certify(result.problem, result)
    assert again.relative_gap <= tol


def test_a_smaller_tol_takes_more_iterations():
    loose, tight = (gl.solve(make(), "smo", tol=tol, check_every=1).iterations for tol in (1e-2, 1e-8))
    assert loose < tight


@pytest.mark.parametrize("solver", ["smo", "sdca", "sgd", "subgradient"])
def test_max_iter_is_met_exactly(solver):
    intercept = "none" if solver == "sdca" else "free"
    result = gl.solve(make(intercept=intercept), solver, tol=1e-15, max_iter=3)
    assert result.status is gl.Status.MAX_ITER
    assert result.iterations == pytest.approx(3.0)
    assert result.certificate.gap >= 0 and math.isfinite(result.certificate.gap)


class Clock:
    """Stands in for ``time``: each look at it takes a second."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("seconds, works", [(0.5, False), (1.5, True)])
def test_max_time_is_over_before_a_set_up_or_after_the_first_piece_of_work(monkeypatch, seconds, works):
    monkeypatch.setattr(sys.modules["gapless.proof.clock"], "time", Clock())
    result = gl.solve(make(), "smo", tol=0.0, max_time=seconds)
    assert result.status is gl.Status.MAX_TIME
    assert (result.iterations > 0) == works and result.beta.any() == works
    assert math.isfinite(result.certificate.gap)


def test_both_criteria_speak_of_the_certificate_that_is_returned():
    """The gap was that of the best bounds of two iterates, and the certificate returned that of one of them."""
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(40, 3))
        problem = gl.Problem(X, np.arange(40) % 2, C=100.0, kernel=kernels.RBF(0.3))
        result = gl.solve(problem, "smo", tol=1e-3, kkt_tol=0.5, check_every=1)
        assert result.status is gl.Status.CONVERGED
        assert result.certificate.relative_gap <= 1e-3 and result.certificate.kkt_violation <= 0.5


def test_a_solver_that_can_do_no_more_says_so():
    result = gl.solve(make(), "smo", tol=0.0)
    assert result.status in (gl.Status.STALLED, gl.Status.ROUNDING)
    assert result.certificate.relative_gap <= 1e-12


def test_a_loose_tol_is_met_by_the_zero_point():
    result = gl.solve(make(), "smo", tol=1.0)
    assert result.status is gl.Status.CONVERGED
    assert result.iterations == 0.0 and not result.beta.any()


@pytest.mark.parametrize("intercept", ["free", "none"])
def test_a_kernel_that_is_not_valid_ends_at_a_stationary_point(intercept):
    result = gl.solve(make(kernel=kernels.Sigmoid(0.5, -0.5), intercept=intercept), "smo", tol=1e-4)
    assert result.status is gl.Status.STATIONARY
    assert result.certificate.dual == -math.inf and result.certificate.gap == math.inf
    assert result.certificate.kkt_violation <= 1e-4
    assert result.beta.any() and math.isfinite(result.certificate.primal)


def test_a_hard_margin_that_does_not_exist_is_proven_away():
    result = gl.solve(make(C=np.inf), "smo")
    assert result.status is gl.Status.NOT_SEPARABLE
    assert result.certificate.primal == math.inf == result.certificate.dual
    assert np.abs(result.ray).sum() == pytest.approx(1.0)
    assert_array_equal(result.ray * result.problem.y >= 0, True)
    assert np.abs(result.problem.X.T @ result.ray).max() <= 1e-9 and abs(result.ray.sum()) <= 1e-9


# --- callbacks


def test_the_callback_sees_every_check_and_stops_by_returning_true():
    seen = []

    def watch(progress: gl.Progress) -> bool:
        seen.append(progress)
        return len(seen) == 4

    result = gl.solve(make(), "smo", tol=1e-9, callback=watch, check_every=2)
    assert result.status is gl.Status.CALLBACK
    assert len(seen) == 4 == len(result.trace)
    assert [progress.iterations for progress in seen] == [0.0, 2.0, 4.0, 6.0]
    assert {progress.solver for progress in seen} == {"smo"} and {progress.tol for progress in seen} == {1e-9}
    assert [progress.seconds for progress in seen] == result.trace.seconds
    gaps = [progress.certificate.relative_gap for progress in seen]
    assert gaps == sorted(gaps, reverse=True)
    assert_array_equal(gaps, result.trace.relative_gap)
    assert seen[-1].certificate == result.certificate


def test_a_callback_that_returns_nothing_stops_nothing():
    calls = []
    result = gl.solve(make(), "smo", callback=calls.append, check_every=1)
    assert result.status is gl.Status.CONVERGED
    assert len(calls) == len(result.trace) - 1  # the check that converged needs no decision


def test_an_interruption_carries_the_best_result():
    seen = []

    def interrupt(progress: gl.Progress) -> None:
        seen.append(progress)
        if len(seen) == 5:
            raise KeyboardInterrupt

    problem = make()
    with pytest.raises(Interrupted) as caught:
        gl.solve(problem, "smo", tol=1e-10, callback=interrupt, check_every=3)
    result = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt)
    assert str(caught.value) == str(gl.Status.INTERRUPTED)
    assert result.status is gl.Status.INTERRUPTED
    assert result.certificate == seen[-1].certificate
    assert result.iterations == 12.0
    resumed = gl.solve(problem, "smo", tol=1e-10, start=result)
    assert resumed.status is gl.Status.CONVERGED
    assert resumed.trace.primal[0] <= result.certificate.primal * (1 + 1e-14)


def test_an_interruption_before_the_first_step_leaves_the_zero_point():
    def interrupt(progress: gl.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        gl.solve(make(), "smo", callback=interrupt)
    assert caught.value.result.iterations == 0.0
    assert caught.value.result.certificate.dual >= 0.0


def test_any_other_error_of_a_callback_passes_through():
    def fail(progress: gl.Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gl.solve(make(), "smo", callback=fail)


# --- checks, starts, seeds


def test_check_every_sets_the_iterations_between_certificates():
    trace = gl.solve(make(), "smo", tol=1e-12, max_iter=25, check_every=10).trace
    assert trace.iterations == [0.0, 10.0, 20.0, 25.0]
    epochs = gl.solve(make(intercept="none"), "sdca", tol=1e-15, max_iter=2, check_every=0.5).trace
    assert epochs.iterations == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])


def test_checks_do_not_change_the_path():
    """The certificate belongs to nobody's solver: looking more often leaves the iterates as they are."""
    seldom, often = (gl.solve(make(), "smo", tol=1e-15, max_iter=50, check_every=every) for every in (50, 1))
    assert often.trace.dual[-1] == seldom.trace.dual[-1]


@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
def test_a_solve_goes_on_from_its_start(kernel):
    problem = make(kernel=kernel)
    first = gl.solve(problem, "smo", tol=1e-3)
    point = gl.Point(beta=first.beta, w=first.w, b=first.b, expansion=first.expansion)
    for start in (first, point, first.beta, first.beta.tolist()):
        second = gl.solve(problem, "smo", tol=1e-8, start=start)
        assert second.status is gl.Status.CONVERGED
        assert second.trace.relative_gap[0] <= 1e-3 * (1 + 1e-9)
    finished = gl.solve(problem, "smo", tol=1e-3, start=first)
    assert finished.iterations == 0.0 and finished.certificate.relative_gap <= 1e-3


def test_a_start_is_certified_once_as_it_was_proven_and_once_as_it_was_left(monkeypatch):
    module = sys.modules["gapless.proof.best"]
    problem = make(kernel=gl.kernels.RBF(gamma=0.5))
    first = gl.solve(problem, "smo", tol=1e-6)
    genuine, seen = module.evaluate, []
    monkeypatch.setattr(module, "evaluate", lambda problem, point: seen.append(point) or genuine(problem, point))
    assert gl.solve(problem, "smo", tol=1e-3, start=first).iterations == 0
    assert sum(point.beta is not None for point in seen) == 2


@pytest.mark.parametrize("loss, solver", [("squared_hinge", "newton"), ("hinge", "sdca"), ("hinge", "smoothed_newton")])
def test_a_start_that_is_not_to_be_proven_is_where_the_solver_begins(loss, solver):
    problem, other = (make(loss=loss, C=C, intercept="regularized") for C in (1.0, 3.0))
    found = gl.solve(other, solver, tol=1e-6)
    start = gl.Point(beta=np.clip(found.beta, -1.0, 1.0), w=found.w, b=found.b)
    result = gl.solve(problem, solver, tol=1e-6, start=start, prove_start=False)
    assert result.status is gl.Status.CONVERGED and result.certificate.relative_gap <= 1e-6
    assert result.trace.iterations[0] > 0
    proven = gl.solve(problem, solver, tol=1e-6, start=start)
    assert proven.trace.iterations[0] == 0
    # A callback is told of each point, the first one too.
    seen = []
    gl.solve(problem, solver, tol=1e-6, start=start, prove_start=False, callback=lambda p: seen.append(p.iterations))
    assert seen[0] == 0


def test_a_start_outside_the_box_is_repaired():
    result = gl.solve(make(), "smo", start=np.full(60, 5.0))
    assert result.status is gl.Status.CONVERGED


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (np.zeros(59), "start must have one entry for each of the 60 samples; got 59."),
        (np.full(60, np.nan), "start must be finite; entry 0 is nan."),
        (gl.Point(beta=np.zeros((60, 2))), r"beta must have the shape (60,); got (60, 2)."),
        ("warm", "start must be a vector with one entry a sample; got the shape ()."),
        (["a"] * 60, "start must be a Result, a Point or numbers; got the type <U1."),
        (gl.Point(beta=np.zeros(59)), "start must belong to a problem of 60 samples and 4 features."),
        (gl.Point(w=np.zeros(3)), "start must belong to a problem of 60 samples and 4 features."),
        (gl.Point(expansion=np.zeros(3)), "start must belong to a problem of 60 samples and 4 features."),
    ],
)
def test_a_start_of_another_problem_is_refused(start, message):
    assert refusal(make(), "smo", start=start) == message


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "qp"])
def test_the_same_seed_gives_the_same_model(name):
    problem = make(intercept="none", loss="squared_hinge" if name == "newton" else "hinge")
    runs = [gl.solve(problem, name, tol=1e-12, max_iter=7, random_state=seed) for seed in (3, 3)]
    assert_array_equal(runs[0].beta, runs[1].beta)
    assert_array_equal(runs[0].w, runs[1].w)
    assert runs[0].trace.primal == runs[1].trace.primal and runs[0].trace.dual == runs[1].trace.dual


def test_another_seed_gives_another_path():
    runs = [gl.solve(make(), SGD(), tol=1e-12, max_iter=3, random_state=seed) for seed in (3, 4)]
    assert runs[0].trace.primal[-1] != runs[1].trace.primal[-1]


# --- which solver


def test_a_solver_is_a_name_or_an_object():
    problem = make()
    by_name, by_object = gl.solve(problem, "smo"), gl.solve(problem, SMO())
    assert by_name.solver == by_object.solver == "smo"
    assert_array_equal(by_name.beta, by_object.beta)
    assert gl.solve(problem, SMO(pairs="maximal_violation")).status is gl.Status.CONVERGED


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "sdca"),
        ({"kernel": kernels.RBF()}, "smo"),
        ({"intercept": "none"}, "sdca"),
        ({"intercept": "regularized"}, "sdca"),
        ({"intercept": "none", "kernel": kernels.RBF()}, "smo"),
    ],
)
def test_auto_picks_by_the_problem(options, name):
    assert gl.solve(make(**options), tol=1e-2).solver == name
    assert gl.solve(make(**options), "auto", tol=1e-2).solver == name


@pytest.mark.parametrize("wrong", ["newton_raphson", "", 3, None, ["smo"]])
def test_an_unknown_solver_is_refused(wrong):
    names = ", ".join(SOLVERS)
    assert refusal(make(), wrong) == f"solver must be a Solver or one of auto, {names}; got {wrong!r}."


def test_a_problem_outside_the_theory_is_refused_with_its_reason():
    assert refusal(make(), "projected_gradient", error=UnsupportedError) == (
        "projected_gradient moves dual variables one by one or all at once inside a box, but a free intercept couples them by Σβ = 0; "
        "use solver='smo', or intercept='regularized' or 'none'."
    )


# --- bounds


@pytest.mark.parametrize("tol", [-1e-9, np.nan, "a"])
def test_tol_must_not_be_negative(tol):
    assert refusal(make(), tol=tol) == f"tol must be a number of at least 0; got {tol!r}."


@pytest.mark.parametrize("name", ["max_iter", "max_time", "check_every"])
@pytest.mark.parametrize("value", [0, -1, np.nan, "a"])
def test_other_bounds_must_be_positive(name, value):
    assert refusal(make(), **{name: value}) == f"{name} must be positive or None; got {value!r}."


# --- the best of both sides


def test_a_bouncing_solver_keeps_the_best_of_both_sides():
    result = gl.solve(make(), "sgd", tol=1e-12, max_iter=30, check_every=1)
    trace = result.trace
    assert min(trace.primal) < trace.primal[-1] or max(trace.dual) > trace.dual[-1]  # it does bounce
    assert result.certificate.primal == trace.best_primal[-1] <= min(trace.primal) * (1 + 1e-12)
    assert result.certificate.dual == trace.best_dual[-1] >= max(trace.dual) - 1e-12
    again = gl.certify(result.problem, result)
    assert again.primal == pytest.approx(result.certificate.primal, rel=1e-14)
    assert again.dual == pytest.approx(result.certificate.dual, rel=1e-14)
    assert_array_equal(np.diff(trace.relative_gap) <= 0, True)


@pytest.mark.parametrize("max_iter", range(1, 12))
def test_weights_are_called_the_dual_points_own_only_where_they_are(max_iter):
    """The tighter distance bound needs w = Σ βᵢxᵢ, which two different iterates do not give."""
    problem = make(intercept="none", C=10.0)
    result = gl.solve(problem, "sdca", tol=1e-12, max_iter=max_iter, check_every=0.25)
    own = bool(np.allclose(result.w, problem.weights(result.beta), rtol=1e-12))
    assert own or not result.certificate.own_weights
    best = gl.solve(problem, "smo", tol=1e-12)
    assert np.linalg.norm(result.w - best.w) <= result.certificate.distance_bound + best.certificate.distance_bound
