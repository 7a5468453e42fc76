"""The bounds that a point proves for Crammer and Singer's machine: D at its blocks, made feasible and scaled best, and P at their weights.

Both are rounded outwards (``outward.py``). The dual point has the entries of the wrong classes as float64 holds them; the entry of the true class is
minus their exact sum, which ``DualPoint.beta`` holds rounded, so that each block sums to zero in exact arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from gapless.errors import InvalidInputError
from gapless.kernels.rounding import UNIT
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate
from gapless.proof.outward import (
    LEAST,
    MORE,
    NOTICEABLE,
    ROUNDINGS,
    product_errors,
    reach_of,
    share,
    sum_above,
    sum_below,
)


@evaluate.register
@np.errstate(over="ignore", invalid="ignore")  # a value that overflows is infinite, and proves nothing
def _(problem: CrammerSingerProblem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    shape = (problem.n_samples, problem.n_classes)
    beta = point.beta
    if beta is None or not np.isfinite(beta).all():
        beta = np.zeros(shape)
    beta, box_violation, sum_violation = feasible_blocks(problem, beta)
    W, sums = problem.weights(beta), beta.sum(axis=0)
    # The rounding of W, of the sums and that of the true classes' entries are all bounded by a share of Σ |βᵢ| ‖x̃ᵢ‖.
    true = beta[np.arange(len(beta)), problem.y]  # zero where the whole block is
    operations = share(int(np.count_nonzero(true)) + problem.n_classes + ROUNDINGS)
    errors = operations * reach_of(problem, beta) + LEAST
    lengths = np.array([math.sqrt(sum_above(column**2 * (1.0 + share(2))) + LEAST) for column in W.T])
    offsets = np.abs(sums) + operations * np.abs(beta).sum(axis=0)
    square = sum_above(np.append((lengths + errors) ** 2, problem.shift * offsets**2) * (1.0 + share(8)))
    linear = sum_below(true * (1.0 - share(problem.n_classes)))
    room = true * (1.0 + share(problem.n_classes + 4))
    largest = float((problem.cost[true > 0] / room[true > 0]).min(initial=math.inf))
    dual, scale = DualPoint(0.0, np.zeros(shape), box_violation, sum_violation, math.nan), 0.0
    if linear > 0 and math.isfinite(square):
        scale = min(linear / square if square > 0 else math.inf, largest) * (1.0 - share(4))
        value = scale * linear - 0.5 * scale**2 * square
        value -= share(8) * (scale * linear + 0.5 * scale**2 * square) + LEAST
        plain = scale * float(true.sum()) - 0.5 * scale**2 * float((W**2).sum() + problem.shift * (sums**2).sum())
        if value > 0:  # otherwise β = 0, which is feasible too, proves more
            rounding = max(0.0, plain - value)
            dual = DualPoint(value, scale * beta, box_violation, sum_violation, math.nan, rounding)
        else:
            scale = 0.0

    lost = scale * math.sqrt(float((errors**2).sum() + problem.shift * ((offsets - np.abs(sums)) ** 2).sum()))
    lost += share(8) * scale * math.sqrt(square) if scale > 0 else 0.0
    candidates = [_primal(problem, scale * W, scale * problem.shift * sums, own=True, weights_error=MORE * lost)]
    if point.w is not None and np.isfinite(point.w).all():
        offsets = np.zeros(problem.n_classes) if point.offsets is None else np.asarray(point.offsets)
        offsets = offsets if problem.intercept == "regularized" else np.zeros_like(offsets)
        given = _primal(problem, np.asarray(point.w, dtype=np.float64), offsets, own=False)
        # A Point with offsets is a model to be judged as it stands.
        candidates = [given] if isinstance(point, Point) and point.offsets is not None else [*candidates, given]
    return min(candidates, key=lambda candidate: candidate.value), dual


def feasible_blocks(problem: CrammerSingerProblem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(a feasible β, how far the given β was from its bounds, how far its rows were from a sum of zero).

    The entries of the wrong classes are kept, or scaled down together where their sum exceeds the cost; the entry of the true class is minus the sum.
    """
    if beta.shape != (problem.n_samples, problem.n_classes):
        raise InvalidInputError(f"beta must have the shape {(problem.n_samples, problem.n_classes)}; got {beta.shape}.")
    rows, ones = np.arange(len(beta)), np.ones(problem.n_classes)
    room = -beta
    room[rows, problem.y] += problem.cost
    box_violation = max(0.0, -float(room.min()))
    sum_violation = float(np.abs(beta @ ones).max())
    wrong = np.minimum(beta, 0.0)
    wrong[rows, problem.y] = 0.0
    total = -(wrong @ ones)
    wrong *= np.divide(np.minimum(total, problem.cost), total, out=np.zeros_like(total), where=total > 0)[:, None]
    wrong[rows, problem.y] = -(wrong @ ones)
    return wrong, box_violation, sum_violation


def _primal(
    problem: CrammerSingerProblem, W: np.ndarray, b: np.ndarray, own: bool, weights_error: float = 0.0
) -> PrimalPoint:
    F = problem.expand_weights(W)
    found = _primal_of(problem, W, b, F, own, weights_error, by_entries=False)
    if found.rounding > NOTICEABLE * found.value or found.value == math.inf:
        closer = _primal_of(problem, W, b, F, own, weights_error, by_entries=True)
        found = min(found, closer, key=lambda each: each.value)
    return found


def _primal_of(
    problem: CrammerSingerProblem,
    W: np.ndarray,
    b: np.ndarray,
    F: np.ndarray,
    own: bool,
    weights_error: float,
    by_entries: bool,
) -> PrimalPoint:
    """P at W and b, where F = X W; ``by_entries`` chooses how the error of F is bounded (``product_errors``)."""
    true = problem.y, np.arange(problem.n_samples)
    # With a row for each class: the largest of some long rows takes less time than that of many short ones.
    F, offsets = F.T, b[:, None]
    scores = np.add(F, offsets, order="C")
    sizes = np.abs(F) + np.abs(offsets) + 1.0
    errors = np.add(product_errors(problem, W, by_entries).T, 8.0 * UNIT * sizes, order="C")
    rivals = scores - scores[true] + 1.0
    rivals[true] = 0.0
    most = rivals + errors + errors[true]
    most[true] = 0.0  # the true class has no error against itself
    half = 0.5 * (W**2).ravel()
    if problem.shift:
        half = np.append(half, 0.5 * b**2 / problem.shift)
    losses = problem.cost * most.max(axis=0)
    value = sum_above(np.append(half * (1.0 + share(8)), losses * (1.0 + share(4)) + LEAST))
    plain = float(half.sum() + (problem.cost * rivals.max(axis=0)).sum())
    intervals = tuple((float(offset), float(offset)) for offset in b)
    rounding = max(0.0, value - plain) if math.isfinite(value) else 0.0
    return PrimalPoint(value, W, None, b, intervals, own, rounding=rounding, weights_error=weights_error)
