"""What the hand computes with: problems in all five conventions, orders and steps; and the library's iterates, seen from outside.

A statement is the objective ½ a ‖w‖² + c Σ ℓ as a text prints it, and every naive algorithm beside is written for that: with its α in [0, c],
w = (1/a) Σ αᵢyᵢxᵢ and D(α) = Σα − (1/2a) αᵀQα. No naive algorithm knows how the library scales inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import gapless as gl
from gapless.solvers.base import Budget, Targets
from tests.textbook.samples import N, X, visits, y

EXACT = {"rtol": 1e-12, "atol": 1e-12}


@dataclass(frozen=True)
class Statement:
    """½ a ‖w‖² + c Σ ℓ."""

    convention: str
    value: float
    a: float
    c: float

    def problem(self, X: Any = X, y: Any = y, **options: Any) -> gl.Problem:
        return gl.Problem(X, y, **{self.convention: self.value}, **options)


STATEMENTS = [
    Statement("C", 0.7, 1.0, 0.7),
    Statement("C_mean", 30.0, 1.0, 30.0 / N),
    Statement("lam_mean", 0.05, 0.05, 1.0 / N),
    Statement("lam_mean_full", 0.04, 2 * 0.04, 1.0 / N),
    Statement("lam_sum", 3.0, 3.0, 1.0),
]
# ℓ and ℓ′ as functions of the margin m = y f.
LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "hinge": (lambda m: np.maximum(0.0, 1 - m), lambda m: -1.0 * (m < 1)),
    "squared_hinge": (lambda m: np.maximum(0.0, 1 - m) ** 2, lambda m: -2 * np.maximum(0.0, 1 - m)),
    "logistic": (lambda m: np.log1p(np.exp(-m)), lambda m: -1 / (1 + np.exp(m))),
}
GIVEN = (3, 11, 3, 0, 39, 20, 8)  # an order of one's own


def order(sampling: Any, count: int) -> list[int]:
    """The samples of the first steps."""
    if sampling == "cyclic":
        return [k % N for k in range(count)]
    if not isinstance(sampling, str):
        return [sampling[k % len(sampling)] for k in range(count)]
    return visits(-(-count // N), sampling)[:count]


@dataclass(frozen=True)
class Seen:
    """What a user sees of an iterate."""

    w: np.ndarray
    b: float
    beta: np.ndarray | None


def walk(problem: gl.Problem, solver: gl.solvers.Solver, count: int, start: Any = None) -> Iterator[Seen]:
    """The iterates of a run in its smallest steps, the start included."""
    engine = solver.init(problem, start, np.random.default_rng(5))
    yield _seen(problem, engine.point())
    for _ in range(count):
        engine.step(Budget(iterations=engine.grain), Targets())
        yield _seen(problem, engine.point())


def _seen(problem: gl.Problem, point: Any) -> Seen:
    w = problem.weights(point.beta) if point.w is None and problem.is_linear else point.w
    b = problem.shift * float(point.beta.sum()) if point.b is None else point.b
    return Seen(w, b, point.beta)


def assert_same_weights(seen: Iterator[Seen], expected: list[tuple[np.ndarray, float]]) -> None:
    """(w, b) of each iterate."""
    found = [(each.w, each.b) for each in seen]
    assert len(found) == len(expected)
    for (w, b), (own_w, own_b) in zip(expected, found, strict=True):
        assert_allclose(own_w, w, **EXACT)
        assert_allclose(own_b, b, **EXACT)


def assert_same_alpha(problem: gl.Problem, seen: Iterator[Seen], expected: list[np.ndarray]) -> None:
    """α of each iterate, as the dual of the stated problem has it."""
    found = [problem.scale * problem.y * each.beta for each in seen]
    assert len(found) == len(expected)
    for alpha, own in zip(expected, found, strict=True):
        assert_allclose(own, alpha, **EXACT)


def augmented(intercept: str, s: float) -> np.ndarray:
    """x̃ = (x, s) for a regularised intercept, whose b is s times the last weight; (x, 0) otherwise."""
    return np.hstack([X, np.full((N, 1), s if intercept == "regularized" else 0.0)])
