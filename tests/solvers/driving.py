"""Solvers taken step by step, as the loop does, but in the smallest steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import gapless as gl
from gapless.solvers.base import Budget, Targets
from gapless.solvers.interior_point.relay import Relay
from gapless.solvers.textbook.sampling import Order

NO_TARGETS = Targets()


def begun(solver: gl.solvers.Solver, problem: gl.Problem, seed: int = 0, start: Any = None) -> Any:
    """The solver's own engine, without the interior-point method that may stand behind it."""
    engine = solver.init(problem, start, np.random.default_rng(seed))
    return engine.engine if isinstance(engine, Relay) else engine


def drive(
    solver: gl.solvers.Solver, problem: gl.Problem, steps: int, seed: int = 0, start: Any = None
) -> Iterator[Any]:
    """The engine after init and after each of some steps, each as small as the engine can."""
    engine = begun(solver, problem, seed, start)
    yield engine
    for _ in range(steps):
        engine.step(Budget(work=1.0), NO_TARGETS)
        yield engine


def run(
    solver: gl.solvers.Solver, problem: gl.Problem, iterations: float, seed: int = 0, targets: Targets = NO_TARGETS
) -> Any:
    """The engine after so many iterations of its own, without the loop."""
    engine, made = begun(solver, problem, seed), 0.0
    while made < iterations - 1e-9:
        made += engine.step(Budget(iterations=iterations - made), targets).iterations
    return engine


def visits(n: int, sampling: str, count: int, seed: int = 0) -> list[int]:
    """The samples that a solver with this seed visits."""
    order = Order(n, sampling, np.random.default_rng(seed))
    return [int(order.next(1)[0]) for _ in range(count)]


def assert_rises(values: list[float]) -> None:
    """No value is below the one before, to rounding, and the last is well above the first."""
    values = np.array(values)
    assert (np.diff(values) >= -1e-12 * np.abs(values).max()).all()
    assert values[-1] > values[0] + 1e-3 * np.abs(values).max()
