"""Box-constrained coordinate ascent as the notebook of a computer lab has it: interpreted Python, for the contrast with the compiled solver."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gapless.compare import Row, as_row
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.result import Result
from gapless.solve import solve
from gapless.timing import fastest


def lab_coordinate_ascent(X: np.ndarray, y: np.ndarray, c: float, epochs: int) -> np.ndarray:
    r"""λ after some epochs of λₖ ← clip(−(c + Σ_{i≠k} λᵢQₖᵢ)/Qₖₖ, −1, 0), in the order of the samples.

    The loop maximises −Σλᵢ − (1/2c) λᵀQλ over λ ∈ [−1, 0]ⁿ, Q = diag(y) XXᵀ diag(y), the Fenchel dual of Σ max(0, 1 − yᵢ⟨xᵢ, a⟩) + (c/2)‖a‖². Each
    step masks the k-th entry and multiplies the rest, which is O(n) and makes two copies, for one sample; the lab's two other methods move all
    samples by one product with a matrix.

    >>> lab_coordinate_ascent(np.array([[1.0], [2.0]]), np.array([-1.0, 1.0]), c=3.0, epochs=50).round(6)
    array([-1., -1.])
    """
    Q = (X * y[:, None]) @ (X * y[:, None]).T
    lam = np.zeros(len(y))
    for _ in range(epochs):
        for k in range(len(y)):
            others = np.arange(len(y)) != k
            lam[k] = np.clip(-(c + Q[k][others] @ lam[others]) / Q[k, k], -1.0, 0.0)
    return lam


def lab_row(label: str, problem: Problem, epochs: float) -> Row:
    """The line of the table for so many epochs of the lab's loop, on a problem with a regularised intercept that is stated by ``lam_sum=c``."""
    epochs = math.ceil(epochs)
    X = np.column_stack([problem.X, np.full(problem.n_samples, problem.intercept_scale)])
    lam, seconds = fastest(lambda: lab_coordinate_ascent(X, problem.y, problem.regularization, epochs))
    return replace(as_row(label, _prove(problem, lam)), iterations=epochs, seconds=seconds)


def _prove(problem: Problem, lam: np.ndarray) -> Result:
    """The point λ as a result: a solve that starts at this point and makes no step."""
    start = Point(beta=-lam * problem.y / problem.regularization)
    return solve(problem, "coordinate_ascent", start=start, tol=0.0, callback=lambda progress: True)
