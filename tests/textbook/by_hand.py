"""What the hand computes with: problems in all five conventions, orders and steps; and the library's iterates, seen from outside.

A statement is the objective ½ a ‖w‖² + c Σ ℓ as a text prints it, and every naive algorithm beside is written for that: with its α in [0, c],
w = (1/a) Σ αᵢyᵢxᵢ and D(α) = Σα − (1/2a) αᵀQα. No naive algorithm knows how the library scales inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import gapless as gl
from gapless.solvers import SDCA, SGD, CoordinateAscent, Pegasos
from tests.textbook.samples import SEED, N, X, visits, y

EXACT = {"rtol": 1e-12, "atol": 1e-12}
S = 2.0  # the feature whose weight a regularised intercept is
ONE_SAMPLE = (SGD, Pegasos, CoordinateAscent, SDCA)  # a step of these is a sample, of the others an iteration


@dataclass(frozen=True)
class Statement:
    """½ a ‖w‖² + c Σ ℓ."""

    convention: str
    value: float
    a: float
    c: float

    def problem(self, **options: Any) -> gl.Problem:
        return gl.Problem(X, y, **{self.convention: self.value}, intercept_scale=S, **options)

    def primal(self, loss: str, intercept: str, w: np.ndarray, b: float) -> float:
        """The objective."""
        square = w @ w + ((b / S) ** 2 if intercept == "regularized" else 0.0)
        return 0.5 * self.a * square + self.c * LOSSES[loss][0](y * (X @ w + b)).sum()

    def quadratic(self, loss: str, Q: np.ndarray) -> tuple[np.ndarray, float]:
        """(H, upper) of D(α) = Σα − ½ αᵀHα on 0 ≤ α ≤ upper: H = Q/a; for the squared hinge 1/2c more on its diagonal, and no bound."""
        return (Q / self.a, self.c) if loss == "hinge" else (Q / self.a + np.eye(N) / (2 * self.c), np.inf)


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
    """What a user sees of an iterate: by a callback, and in the trace."""

    w: np.ndarray | None
    b: float
    beta: np.ndarray
    primal: float
    dual: float


def walk(problem: gl.Problem, solver: gl.solvers.Solver, count: int, start: Any = None) -> tuple[list[Seen], gl.Result]:
    """The iterates of a run in its smallest steps, the start included, and its result."""
    grain = 1 / N if isinstance(solver, ONE_SAMPLE) else 1.0
    seen: list[Seen] = []

    def look(progress: Any) -> None:
        iterate = progress.iterate
        seen.append(Seen(iterate.w, float(np.mean(iterate.offsets)), iterate.beta, progress.primal, progress.dual))

    result = gl.solve(
        problem, solver, tol=0, max_iter=count * grain, check_every=grain, callback=look, start=start, random_state=SEED
    )
    assert_allclose(result.trace.iterations, grain * np.arange(count + 1), **EXACT)
    assert result.trace.primal == [each.primal for each in seen]
    assert result.trace.dual == [each.dual for each in seen]
    return seen, result


def assert_ends_at(result: gl.Result, last: Seen) -> None:
    """The result is the iterate itself."""
    if last.w is not None:
        assert_allclose(result.w, last.w, rtol=0)
    assert_allclose(result.beta, last.beta, rtol=0)
    assert result.b == last.b


def assert_same_weights(
    seen: list[Seen], expected: list[tuple[np.ndarray, float]], value: Callable[..., float]
) -> None:
    """(w, b) and P of each iterate."""
    assert len(seen) == len(expected)
    for (w, b), own in zip(expected, seen, strict=True):
        assert_allclose(own.w, w, **EXACT)
        assert_allclose(own.b, b, **EXACT)
        assert_allclose(own.primal, value(w, b), **EXACT)


def assert_same_alpha(problem: gl.Problem, seen: list[Seen], expected: list[np.ndarray], H: np.ndarray) -> None:
    """α of each iterate, as the dual of the stated problem has it, and D = Σα − ½ αᵀHα."""
    assert len(seen) == len(expected)
    for alpha, own in zip(expected, seen, strict=True):
        assert_allclose(problem.scale * y * own.beta, alpha, **EXACT)
        terms = alpha.sum(), 0.5 * alpha @ H @ alpha
        assert_allclose(own.dual, terms[0] - terms[1], rtol=0, atol=1e-12 * max(1.0, *terms))


def augmented(intercept: str) -> np.ndarray:
    """x̃ = (x, s) for a regularised intercept, whose b is s times the last weight; (x, 0) otherwise."""
    return np.hstack([X, np.full((N, 1), S if intercept == "regularized" else 0.0)])
