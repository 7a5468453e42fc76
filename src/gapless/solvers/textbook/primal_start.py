"""The starting point of the methods that move w."""

from __future__ import annotations

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Point


def primal_start(problem: Problem, start: Point | None) -> tuple[np.ndarray, float, np.ndarray]:
    """(w, b, β): exactly the w and b of the start, or those of its β, or zero.

    β is kept beside w for the dual bound. It is not clipped: steps with ηₜ > 1 lead out of the box, and w = Σ βᵢxᵢ must hold from step to step.
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
