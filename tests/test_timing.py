"""Seconds without the surprises of a first run; no test here depends on how fast the machine is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import gapless as gl
from gapless import timing
from gapless.compare import ComparisonInterrupted
from gapless.solvers import SOLVERS
from gapless.timing import few_rows, fresh_solve, warm_up

_rng = np.random.default_rng(0)
X = _rng.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * _rng.normal(size=60) > 0, "up", "down")


@pytest.fixture
def problem():
    return gl.Problem(X, Y, lam_mean=0.1, intercept="regularized")


@pytest.fixture
def solved(monkeypatch):
    """Every call of solve that timing makes: (samples of the problem, solver's name, what the problem had kept)."""
    calls = []

    def spy(given, solver, **options):
        calls.append((given.n_samples, solver.name, set(vars(given))))
        return gl.solve(given, solver, **options)

    monkeypatch.setattr(timing, "solve", spy)
    return calls


@pytest.fixture
def clock(monkeypatch):
    """Let each timed solve of a solver take the next of its seconds; the list of who ran is what it returns."""

    def of(**seconds):
        left, ran = {name: iter(each) for name, each in seconds.items()}, []

        def spy(given, solver, **options):
            result = gl.solve(given, solver, **options)
            if given.n_samples < 60:  # warming up
                return result
            ran.append(solver.name)
            return replace(result, seconds=next(left[solver.name]))

        monkeypatch.setattr(timing, "solve", spy)
        return ran

    return of


def test_every_solver_is_warm_before_the_first_is_timed(problem, solved):
    names = ["sdca", "qp", "smo"]
    gl.compare(problem, names)
    sizes = [size for size, _, _ in solved]
    assert [name for _, name, _ in solved[:3]] == names
    assert sizes[:3] == [16, 16, 16] and set(sizes[3:]) == {60}


# In a process of its own, where nothing has been loaded yet: which modules does a timed solve load?
_LOADED = """
import sys
import numpy as np
import gapless as gl
from gapless import timing
from gapless.compare import ComparisonInterrupted

def spy(problem, solver, **options):
    before = set(sys.modules)
    result = gl.solve(problem, solver, **options)
    if problem.n_samples == 60:
        print(solver.name, sorted(set(sys.modules) - before))
    return result

timing.solve = spy
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] + 0.3 * rng.normal(size=60)
for loss, intercept in (("hinge", "regularized"), ("squared_hinge", "free"), ("logistic", "none")):
    for kernel in (None, gl.kernels.RBF(0.5)):
        gl.compare(gl.Problem(X, y > 0, loss=loss, kernel=kernel, intercept=intercept), max_iter=30)
"""


def test_a_timed_solve_loads_no_module():
    done = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert {line.split()[0] for line in lines} == set(SOLVERS)
    assert [line for line in lines if not line.endswith("[]")] == []


def test_warming_up_loads_what_a_solver_needs():
    code = (
        "import sys, gapless as gl\nfrom gapless.timing import warm_up\nassert 'qpsolvers' not in sys.modules\n"
        "warm_up(gl.Problem([[0.0], [1.0]], [0, 1]), [gl.solvers.QP()])\nassert 'qpsolvers' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.5)])
def test_no_solver_finds_what_another_has_computed(solved, kernel):
    problem = gl.Problem(X, Y, kernel=kernel, intercept="regularized")
    gl.solve(problem, "coordinate_ascent")
    kept = {"dual", "diagonal", "magnitudes"} & set(vars(problem))
    assert kept  # so that there is something to find
    result = fresh_solve(problem, gl.solvers.CoordinateAscent())
    assert solved and not any(kept & found for _, _, found in solved)
    assert result.problem is problem and kept <= set(vars(problem))


def test_the_few_rows_are_the_same_kind_of_problem():
    weight = np.where(np.arange(60) < 20, 0.0, 2.0)
    whole = gl.Problem(
        X, Y, loss="squared_hinge", kernel=gl.kernels.RBF(2.0), lam_mean=0.1,
        intercept="regularized", intercept_scale=3.0, sample_weight=weight,
    )  # fmt: skip
    few = few_rows(whole)
    assert (few.loss, few.kernel, few.intercept, few.shift) == (whole.loss, whole.kernel, "regularized", 9.0)
    assert few.unit_cost == whole.unit_cost and (few.y > 0).sum() == (few.y < 0).sum() == 8
    assert all(any(np.array_equal(row, other) for other in X[20:]) for row in few.X)
    regression = gl.Problem(X, X[:, 0], loss="epsilon_insensitive", C=1.0)
    assert few_rows(regression).loss == regression.loss


def test_what_cannot_be_warmed_up_is_left_alone(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "qpsolvers", None)
    warm_up(problem, [gl.solvers.QP(), gl.solvers.Newton()])  # a missing package, and a loss that it does not cover
    comparison = gl.compare(problem, ["qp", "newton", "smo"])
    assert list(comparison.results) == ["smo"] and set(comparison.refused) == {"qp", "newton"}


def test_of_short_solves_the_fastest_run_counts(problem, clock):
    ran = clock(smo=[0.009, 0.004, 0.001, 0.002, 0.003, 0.005, 0.006], sdca=[0.15, 0.16], qp=[3.0])
    results = gl.compare(problem, ["smo", "sdca", "qp"]).results
    assert {name: result.seconds for name, result in results.items()} == {"smo": 0.001, "sdca": 0.15, "qp": 3.0}
    assert ran == ["smo", "sdca", "qp", "smo", "sdca", "smo", "smo", "smo", "smo", "smo"]  # in turns
    assert np.array_equal(results["smo"].beta, gl.solve(problem, "smo").beta)
    assert all(result.problem is problem for result in results.values())


def test_a_solve_that_was_ended_is_not_repeated(problem, clock):
    ran = clock(sdca=[0.001], smo=[0.001])
    ended = gl.compare(problem, ["sdca"], tol=0.0, progress=lambda label, state: state.iterations > 0)
    assert ended.results["sdca"].status is gl.Status.CALLBACK
    late = gl.compare(problem, ["smo"], tol=0.0, max_time=1e-9)
    assert late.results["smo"].status is gl.Status.MAX_TIME
    assert ran == ["sdca", "smo"]


def test_progress_is_told_of_the_first_run_alone(problem, clock):
    clock(sdca=[0.001] * 7)
    told = []
    comparison = gl.compare(problem, ["sdca"], progress=lambda label, state: told.append(state.iterations))
    assert told == comparison.results["sdca"].trace.iterations[:-1]  # the last check ends the solve


def test_ctrl_c_during_a_repetition_keeps_the_finished_runs(problem, monkeypatch):
    ran = []

    def spy(given, solver, **options):
        result = replace(gl.solve(given, solver, **options), seconds=0.001)
        ran.append(given.n_samples)
        if ran.count(60) == 3:
            raise gl.Interrupted(replace(result, status=gl.Status.INTERRUPTED))
        return result

    monkeypatch.setattr(timing, "solve", spy)
    with pytest.raises(ComparisonInterrupted) as caught:
        gl.compare(problem, ["smo", "sdca"])
    kept = caught.value.comparison.results
    assert [result.status.name for result in kept.values()] == ["CONVERGED", "CONVERGED"]
    assert all(result.problem is problem for result in (*kept.values(), caught.value.result))


def test_ctrl_c_while_warming_up_carries_no_model_of_a_few_rows(problem, monkeypatch):
    def interrupted(few, solver, **options):
        raise gl.Interrupted(gl.solve(few, solver, **options))

    monkeypatch.setattr(timing, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        gl.compare(problem, ["smo"])
    assert type(caught.value) is KeyboardInterrupt
