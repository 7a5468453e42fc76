"""The clock of a solve: one slow moment of the machine does not end it."""

from __future__ import annotations

import numpy as np

import gapless as gl
from gapless.proof.certificate import Point
from gapless.proof.clock import Clock


def clock_that_measures(monkeypatch, *seconds: float) -> tuple[Clock, Point]:
    """A clock of 100 s whose measurements of an entry are these, one after the other, and a point of 50 support vectors among 100 samples."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    problem = gl.Problem(X, X[:, 0] > 0, kernel=gl.kernels.RBF(1.0))
    clock = Clock(problem, 100.0)
    measured = iter(seconds)
    monkeypatch.setattr(clock, "_measured", lambda beta, columns: next(measured))
    return clock, Point(beta=np.where(np.arange(100) < 50, 1.0, 0.0))


def test_one_slow_measurement_is_repeated(monkeypatch):
    clock, point = clock_that_measures(monkeypatch, 1.0, 1e-6)
    assert not clock.is_late(point)
    assert clock.proof_seconds(point) == 1e-6 * 100 * 50


def test_a_slow_kernel_ends_the_solve_in_time(monkeypatch):
    clock, point = clock_that_measures(monkeypatch, 0.021, 0.02, 0.022, 0.03, 0.03, 0.03)
    assert clock.is_late(point)
    assert clock.proof_seconds(point) == 0.02 * 100 * 50


def test_no_bound_is_never_late():
    X = np.array([[0.0], [1.0]])
    clock = Clock(gl.Problem(X, [0, 1], kernel=gl.kernels.RBF(1.0)), None)
    assert clock.left() == np.inf and not clock.is_late(Point(beta=np.array([1.0, -1.0])))
