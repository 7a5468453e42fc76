from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from gapless.trace import Ascent

values = st.floats(-10, 10, allow_nan=False)


@given(st.lists(st.tuples(values, values), min_size=1, max_size=9))
def test_the_best_values_are_the_proven_bounds(rows):
    trace = gl.Trace()
    for step, (primal, dual) in enumerate(rows):
        trace.append(float(step), 0.1 * step, (np.nan, -np.inf), (primal, dual))
    primal, dual = np.array(rows).T
    assert len(trace) == len(rows)
    assert trace.iterations == list(range(len(rows)))
    for k in range(len(rows)):
        assert (trace.best_primal[k], trace.best_dual[k]) == (primal[k], dual[k])
        with np.errstate(over="ignore"):
            expected = (trace.best_primal[k] - trace.best_dual[k]) / max(
                abs(trace.best_primal[k]), np.finfo(float).tiny
            )
        assert trace.relative_gap[k] == expected


def test_the_gap_is_infinite_until_both_bounds_are_finite():
    trace = gl.Trace()
    for primal, dual in ((np.inf, -np.inf), (np.inf, 1.0), (4.0, -np.inf), (np.inf, np.inf)):
        trace.append(0.0, 0.0, (2.0, 1.0), (primal, dual))
    trace.append(0.0, 0.0, (2.0, 1.0), (4.0, 1.0))
    assert trace.relative_gap.tolist() == [np.inf, np.inf, np.inf, np.inf, 0.75]


def test_an_empty_trace_has_no_rows():
    trace = gl.Trace(unit="pairs")
    assert len(trace) == 0 and trace.unit == "pairs"
    assert trace.relative_gap.shape == trace.best_primal.shape == trace.best_dual.shape == (0,)


@pytest.mark.parametrize("solver", ["smo", "sgd"])
def test_a_solve_leaves_a_growing_history(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=40) > 0
    result = gl.solve(gl.Problem(X, y), solver, tol=1e-9, max_iter=40, check_every=5)
    trace = result.trace
    assert trace.unit == gl.solvers.SOLVERS[solver].unit
    assert len(trace) > 3
    assert trace.iterations[0] == 0.0 and trace.iterations[-1] == result.iterations
    assert (np.diff(trace.iterations) > 0).all() and (np.diff(trace.seconds) >= 0).all()
    assert trace.best_primal[-1] == result.certificate.primal
    assert trace.best_dual[-1] == result.certificate.dual
    assert trace.relative_gap[-1] == result.certificate.relative_gap


def test_progress_is_frozen():
    progress = gl.Progress("smo", 1.0, 0.5, gl.Certificate(2.0, 1.0, (0.0, 0.0)), 1e-3)
    with pytest.raises(AttributeError):
        progress.iterations = 2.0


def test_an_ascent_has_stalled_when_more_work_closes_nothing_of_the_gap():
    ascent = Ascent()
    for check in range(20):
        ascent.see(1.0 - 0.5**check, 0.5**check, 1e8 * check)  # halves the gap each time
        assert not ascent.has_stalled
    for check in range(20, 60):
        ascent.see(1.0, 0.5**19, 1e8 * check)
    assert not ascent.has_stalled  # for its work has not grown fourfold
    for check in range(60, 100):
        ascent.see(1.0, 0.5**19, 1e8 * check)
    assert ascent.has_stalled


def test_an_ascent_of_little_work_has_not_stalled():
    ascent = Ascent()
    for check in range(1000):
        ascent.see(0.0, np.inf, float(check))
    assert not ascent.has_stalled
