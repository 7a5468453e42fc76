"""What a point proves for Crammer and Singer's machine: its blocks made feasible and scaled as well as they can be, and the P of their weights."""

from __future__ import annotations

import math

import numpy as np

from gapless.errors import InvalidInputError
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate


@evaluate.register
def _(problem: CrammerSingerProblem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    beta = point.beta
    if beta is None or not np.isfinite(beta).all():
        beta = np.zeros((problem.n_samples, problem.n_classes))
    beta, box_violation, sum_violation = feasible_blocks(problem, beta)
    W, b = problem.weights(beta), problem.shift * beta.sum(axis=0)
    square = _square(problem, W, b)
    own = beta[np.arange(len(beta)), problem.y]
    linear = float(own.sum())
    largest = float((problem.cost[own > 0] / own[own > 0]).min(initial=math.inf))
    scale = min(linear / square, largest) if square > 0 else min(1.0, largest)
    dual = DualPoint(scale * linear - 0.5 * scale**2 * square, scale * beta, box_violation, sum_violation, math.nan)

    candidates = [_primal(problem, scale * W, scale * b, own=True)]
    if point.w is not None and np.isfinite(point.w).all():
        offsets = np.zeros(problem.n_classes) if point.offsets is None else np.asarray(point.offsets)
        offsets = offsets if problem.intercept == "regularized" else np.zeros_like(offsets)
        given = _primal(problem, np.asarray(point.w, dtype=np.float64), offsets, own=False)
        # A Point with offsets is a model to be judged as it stands.
        candidates = [given] if isinstance(point, Point) and point.offsets is not None else [*candidates, given]
    return min(candidates, key=lambda candidate: candidate.value), dual


def feasible_blocks(problem: CrammerSingerProblem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(feasible β, how far the given one was from its bounds, and from rows that sum to zero); shares of wrong classes are kept, or scaled down."""
    if beta.shape != (problem.n_samples, problem.n_classes):
        raise InvalidInputError(f"beta must have the shape {(problem.n_samples, problem.n_classes)}; got {beta.shape}.")
    rows = np.arange(len(beta))
    bounds = np.zeros_like(beta)
    bounds[rows, problem.y] = problem.cost
    box_violation = float(np.maximum(0.0, beta - bounds).max())
    sum_violation = float(np.abs(beta.sum(axis=1)).max())
    wrong = np.minimum(beta, 0.0)
    wrong[rows, problem.y] = 0.0
    total = -wrong.sum(axis=1)
    wrong *= np.divide(np.minimum(total, problem.cost), total, out=np.zeros_like(total), where=total > 0)[:, None]
    wrong[rows, problem.y] = -wrong.sum(axis=1)
    return wrong, box_violation, sum_violation


def _square(problem: Problem, W: np.ndarray, b: np.ndarray) -> float:
    """Twice the regulariser."""
    return float((W**2).sum()) + (float((b**2).sum()) / problem.shift if problem.shift else 0.0)


def _primal(problem: CrammerSingerProblem, W: np.ndarray, b: np.ndarray, own: bool) -> PrimalPoint:
    scores = problem.expand_weights(W) + b
    rows = np.arange(len(scores))
    true = scores[rows, problem.y]
    rivals = scores + 1.0
    rivals[rows, problem.y] -= 1.0
    value = 0.5 * _square(problem, W, b) + float((problem.cost * (rivals.max(axis=1) - true)).sum())
    intervals = tuple((float(offset), float(offset)) for offset in b)
    return PrimalPoint(value if math.isfinite(value) else math.inf, W, None, b, intervals, own)
