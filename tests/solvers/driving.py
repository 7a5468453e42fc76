"""Solvers taken step by step, as the loop does, but in the smallest steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import gapless as gl
from gapless.solvers.textbook.sampling import Order


def drive(
    solver: gl.solvers.Solver, problem: gl.Problem, steps: int, seed: int = 0, start: Any = None
) -> Iterator[Any]:
    """The state after init and after each of some steps, each as small as the solver can."""
    state = solver.init(problem, start, np.random.default_rng(seed))
    yield state
    for _ in range(steps):
        state.quantum = 1.0
        solver.step(problem, state)
        yield state


def visits(n: int, sampling: str, count: int, seed: int = 0) -> list[int]:
    """The samples that a solver with this seed visits."""
    order = Order.start(n, sampling, np.random.default_rng(seed))
    return [int(order.next(1)[0]) for _ in range(count)]


def assert_rises(values: list[float]) -> None:
    """No value is below the one before, to rounding, and the last is well above the first."""
    values = np.array(values)
    assert (np.diff(values) >= -1e-12 * np.abs(values).max()).all()
    assert values[-1] > values[0] + 1e-3 * np.abs(values).max()
