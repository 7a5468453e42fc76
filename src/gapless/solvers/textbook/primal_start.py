"""Where the methods that follow w begin."""

from __future__ import annotations

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Point


def primal_start(problem: Problem, start: Point | None) -> tuple[np.ndarray, float, np.ndarray]:
    """(w, b, β): the start's own w and b to the digit, or those of its β, or zero.

    β stands beside w for the dual bound and is not clipped: steps of more than one lead out of the box, and w = Σ βᵢxᵢ must go on to hold.
    """
    if start is None:
        return np.zeros(problem.n_features), 0.0, np.zeros(problem.n_samples)
    beta = np.zeros(problem.n_samples) if start.beta is None else start.beta.astype(np.float64)
    w = problem.weights(beta) if start.w is None else start.w.astype(np.float64)
    b = 0.0
    if start.b is not None and problem.intercept != "none":
        b = float(start.b)
    elif start.w is None:
        b = problem.shift * float(beta.sum())
    return w, b, beta
