"""What a point proves for an ℓ₁ penalty: its P as it stands, and the best multiple of a dual point that is feasible."""

from __future__ import annotations

import math

import numpy as np

from gapless.problems.l1 import L1Problem
from gapless.problems.problem import Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate


@evaluate.register
def _(problem: L1Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    w, b = weights_of(problem, point)
    f = problem.expand_weights(w) + b
    short = np.maximum(0.0, 1.0 - problem.y * f)
    value = float(np.abs(w).sum() + abs(b) / problem.intercept_scale + (problem.cost * short**2).sum())
    primal = PrimalPoint(value, w, None, np.array([b]), ((b, b),), own=False, curvature=0.0)
    candidates = [2.0 * problem.cost * problem.y * short]
    if point.beta is not None and np.isfinite(point.beta).all():
        candidates.append(np.clip(point.beta, problem.dual.lower, problem.dual.upper))
    return primal, max((_scaled_dual(problem, beta) for beta in candidates), key=lambda dual: dual.value)


def weights_of(problem: Problem, point: Point | None) -> tuple[np.ndarray, float]:
    """(w, b) of a point, zero where it has none; offsets of a model to be judged as it stands are its b."""
    if point is None or point.w is None or not np.isfinite(point.w).all():
        return np.zeros(problem.n_features), 0.0
    offsets = point.offsets
    b = (point.b if offsets is None else float(offsets[0])) if problem.intercept == "regularized" else 0.0
    return np.asarray(point.w, dtype=np.float64), 0.0 if b is None else b


def _scaled_dual(problem: Problem, beta: np.ndarray) -> DualPoint:
    """The best multiple of β that is feasible: D(tβ) = t Σα − t² Σα²/(4c), t ≤ 1/‖Σ βᵢx̃ᵢ‖∞."""
    reach = float(np.abs(problem.weights(beta)).max())
    if problem.intercept == "regularized":
        reach = max(reach, problem.intercept_scale * abs(float(beta.sum())))
    linear = float((problem.y * beta).sum())
    used = beta != 0
    square = float((beta[used] ** 2 / (4.0 * problem.cost[used])).sum())
    scale = min(0.5 * linear / square, 1.0 / reach if reach > 0 else math.inf) if square > 0 else 0.0
    value = scale * linear - scale**2 * square
    return DualPoint(value, scale * beta, max(0.0, reach - 1.0), 0.0, math.nan)
