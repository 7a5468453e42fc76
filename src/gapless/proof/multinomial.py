"""What a point proves for multinomial regression: its blocks made probabilities whose columns balance, and the P of their functions."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg as la
from scipy.special import logsumexp, softmax, xlogy

from gapless.errors import InvalidInputError
from gapless.problems.multinomial import MultinomialProblem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate

_TINY = 1e-300
_BALANCED = 1e-13  # columns of β sum to zero where they do to this share of all costs
_UNBALANCED = 1e-9  # beyond this share a dual point is given up for the class frequencies


@evaluate.register
def _(problem: MultinomialProblem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    shape = (problem.n_samples, problem.n_classes)
    given = point.beta if point.beta is not None and np.isfinite(point.beta).all() else None
    if given is not None and given.shape != shape:
        raise InvalidInputError(f"beta must have the shape {shape}; got {given.shape}.")
    if given is None and point.expansion is None:
        # β = 0 has p on the classes themselves, D = 0 and no products with the kernel matrix: the point that any solve begins with costs nothing.
        zero = np.zeros(shape)
        return _primal(problem, zero, zero, own=True), DualPoint(0.0, zero, 0.0, 0.0, math.nan)
    p, box_violation, sum_violation = _feasible(problem, given)
    beta = problem.cost[:, None] * (_indicator(problem) - p)
    expansion = np.zeros(shape) if point.beta is None and point.expansion is None else point.expansion
    models = [beta] if expansion is None or not np.isfinite(expansion).all() else [beta, expansion]
    F = problem.expand(np.hstack(models))
    own, *others = (F[:, k : k + shape[1]] for k in range(0, F.shape[1], shape[1]))
    entropy = -float((problem.cost[:, None] * xlogy(p, p)).sum())
    dual = DualPoint(entropy - 0.5 * float(np.vdot(beta, own)), beta, box_violation, sum_violation, math.nan)
    candidates = [_primal(problem, beta, own, own=True)]
    candidates += [_primal(problem, models[1], f, own=False) for f in others]
    return min(candidates, key=lambda candidate: candidate.value), dual


def _indicator(problem: MultinomialProblem) -> np.ndarray:
    return np.eye(problem.n_classes)[problem.y]


def _feasible(problem: MultinomialProblem, beta: np.ndarray | None) -> tuple[np.ndarray, float, float]:
    """(p in the simplex, its columns balanced where offsets are free; how far β's was from the simplex, and from balance)."""
    targets, total = problem.targets, float(problem.cost.sum())
    row = targets / total if problem.intercept == "free" else np.full(problem.n_classes, 1.0 / problem.n_classes)
    neutral = np.tile(row, (problem.n_samples, 1))
    if beta is None:
        return neutral, 0.0, 0.0
    used = problem.cost > 0
    share = np.divide(beta, problem.cost[:, None], out=np.zeros_like(beta), where=used[:, None])
    raw = np.where(used[:, None], _indicator(problem) - share, neutral)
    p = np.clip(raw, 0.0, 1.0)
    p = p / np.maximum(p.sum(axis=1), _TINY)[:, None]
    box_violation = float((problem.cost[:, None] * np.abs(raw - p)).max())
    if problem.intercept != "free":
        return p, box_violation, 0.0
    sum_violation = float(np.abs(problem.cost @ p - targets).max())
    if sum_violation > _BALANCED * total:
        logs = np.log(np.maximum(p, _TINY))
        p = softmax(logs + best_offsets(logs, targets, np.asarray(problem.cost)), axis=1)
        if float(np.abs(problem.cost @ p - targets).max()) > _UNBALANCED * total:
            return neutral, box_violation, sum_violation
    return p, box_violation, sum_violation


def _primal(problem: MultinomialProblem, expansion: np.ndarray, F: np.ndarray, own: bool) -> PrimalPoint:
    b = np.zeros(problem.n_classes)
    if problem.intercept == "free" and np.isfinite(F).all():
        b = best_offsets(F, problem.targets, np.asarray(problem.cost))
    scores = F + b
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), problem.y]
    value = 0.5 * float(np.vdot(expansion, F)) + float((problem.cost * losses).sum())
    intervals = tuple((float(offset), float(offset)) for offset in b)
    return PrimalPoint(value if math.isfinite(value) else math.inf, None, expansion, b, intervals, own)


def best_offsets(F: np.ndarray, targets: np.ndarray, cost: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """The b, of sum zero, that minimises Σ cᵢ log Σ exp(F + b) − ⟨targets, b⟩: Newton's method, to rounding.

    >>> import numpy as np
    >>> F, cost = np.array([[0.0, 1.0], [2.0, 0.0]]), np.ones(2)
    >>> b = best_offsets(F, np.array([1.0, 1.0]), cost)
    >>> bool(abs(cost @ softmax(F + b, axis=1) - 1.0).max() < 1e-12)
    True
    """
    total = float(cost.sum())
    b = np.log(np.maximum(targets, _TINY) / total) if start is None else start

    def value(b: np.ndarray) -> float:
        return float(cost @ logsumexp(F + b, axis=1) - targets @ b)

    now = value(b)
    former = math.inf
    for _ in range(200):
        p = softmax(F + b, axis=1)
        sums = cost @ p
        slope = sums - targets
        size = float(np.abs(slope).max())
        if size <= 0.1 * _BALANCED * total or (size >= former and size <= 1e-11 * total):
            break
        former = size
        hessian = np.diag(sums) - p.T @ (cost[:, None] * p)
        # Along (1, …, 1) nothing changes, so that any curvature there will do.
        step = la.solve(hessian + total / len(b) + 1e-15 * total * np.eye(len(b)), -slope, assume_a="sym")
        t = 1.0
        while value(b + t * step) > now + 1e-13 * abs(now) and t > 1e-3:
            t *= 0.5
        if t <= 1e-3:  # far out: one proportional fitting of the columns never goes up
            step, t = np.log(np.maximum(targets, _TINY) / np.maximum(sums, _TINY)), 1.0
        b = b + t * step
        now = value(b)
    return b - b.mean()
