"""The samples that the textbooks' statements are tried on, and what several of the tests compute with them."""

from __future__ import annotations

import numpy as np

import gapless as gl
from gapless.solvers.textbook.sampling import Order

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.7 * RNG.normal(size=40) > 0, 1.0, -1.0)
APART = X + 2.0 * y[:, None]  # separable
N, C, SEED = len(y), 0.7, 5


def run(
    problem: gl.Problem, solver: gl.solvers.Solver, iterations: float, check_every: float | None = None
) -> gl.Result:
    """What a user gets after some iterations."""
    return gl.solve(problem, solver, tol=0, max_iter=iterations, check_every=check_every, random_state=SEED)


def visits(epochs: int, sampling: str = "epochs") -> list[int]:
    """The samples that a stochastic solver visits from this seed."""
    order = Order(N, sampling, np.random.default_rng(SEED))
    return [int(i) for _ in range(epochs) for i in order.next(N)]


def hinge_sum(w: np.ndarray, b: float = 0.0) -> float:
    return float(np.maximum(0, 1 - y * (X @ w + b)).sum())
