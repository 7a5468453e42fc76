"""Seconds without the surprises of a first run; no test here depends on how fast the machine is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import gapless as gl
from gapless import timing
from gapless.solvers import SOLVERS
from gapless.timing import few_rows, timed_solve, warm_up

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


def a_clock_of(monkeypatch, seconds):
    """Let each solve take the next of these seconds."""
    left = iter(seconds)

    def spy(*arguments, **options):
        return replace(gl.solve(*arguments, **options), seconds=next(left))

    monkeypatch.setattr(timing, "solve", spy)


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
    result = timed_solve(problem, gl.solvers.CoordinateAscent())
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


def test_a_short_solve_counts_by_its_median(problem, monkeypatch):
    a_clock_of(monkeypatch, [0.009, 0.001, 0.004, 0.002, 0.003])
    result = timed_solve(problem, gl.solvers.SMO(), tol=1e-6)
    assert result.seconds == 0.003
    assert np.array_equal(result.beta, gl.solve(problem, "smo").beta)


def test_a_long_solve_runs_once(problem, monkeypatch):
    a_clock_of(monkeypatch, [2.0])
    assert timed_solve(problem, gl.solvers.SMO()).seconds == 2.0


def test_a_solve_in_between_is_repeated_until_that_is_enough(problem, monkeypatch):
    a_clock_of(monkeypatch, [0.06, 0.05])
    assert timed_solve(problem, gl.solvers.SMO()).seconds == 0.05


def test_a_solve_that_was_ended_is_not_repeated(problem, solved):
    told = []
    result = timed_solve(
        problem, gl.solvers.SDCA(), tol=0.0, callback=lambda state: told.append(state) or len(told) == 3
    )
    assert result.status is gl.Status.CALLBACK and len(solved) == 1 and len(told) == 3
    assert timed_solve(problem, gl.solvers.SDCA(), tol=0.0, max_time=1e-9).status is gl.Status.MAX_TIME
    assert len(solved) == 2


def test_a_callback_looks_on_once_and_changes_no_run(problem, monkeypatch):
    a_clock_of(monkeypatch, [0.001] * 5)
    told = []
    result = timed_solve(problem, gl.solvers.SDCA(), tol=1e-6, callback=lambda state: told.append(state.iterations))
    assert told == result.trace.iterations[:-1]  # the last check ends the solve


def test_an_interrupted_repetition_keeps_the_finished_run(problem, monkeypatch):
    runs = []

    def spy(*arguments, **options):
        result = replace(gl.solve(*arguments, **options), seconds=0.001)
        runs.append(result)
        if len(runs) == 2:
            raise gl.Interrupted(replace(result, status=gl.Status.INTERRUPTED))
        return result

    monkeypatch.setattr(timing, "solve", spy)
    with pytest.raises(gl.Interrupted) as caught:
        timed_solve(problem, gl.solvers.SMO())
    assert caught.value.result.status is gl.Status.CONVERGED and caught.value.result.problem is problem


def test_ctrl_c_while_warming_up_carries_no_model_of_a_few_rows(problem, monkeypatch):
    def interrupted(few, solver, **options):
        raise gl.Interrupted(gl.solve(few, solver, **options))

    monkeypatch.setattr(timing, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        gl.compare(problem, ["smo"])
    assert type(caught.value) is KeyboardInterrupt
