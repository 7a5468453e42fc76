"""The bounds that a point proves for an ℓ₁ penalty: P at its weights as they stand, and D at the best feasible multiple tβ of a dual point.

Both are rounded outwards (``outward.py``). t is chosen by an upper bound on ‖Σ βᵢxᵢ‖∞, so that the dual point is feasible in exact arithmetic. The
dual point is the exact product tβ, which ``DualPoint.beta`` holds rounded. Where samples of large features cancel in Σ βᵢxᵢ, the bound is far above
the sum itself, and the sum is taken in numbers of twice the digits.
"""

from __future__ import annotations

import math

import numpy as np

from gapless import _native
from gapless.kernels.formula import TWOFOLD_UNIT
from gapless.kernels.rounding import UNIT
from gapless.problems.l1 import L1Problem
from gapless.problems.problem import Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate
from gapless.proof.outward import LEAST, NOTICEABLE, not_nan, product_errors, share, sum_above, sum_below, weight_errors
from gapless.proof.twofold import is_affordable, refine


@evaluate.register
@np.errstate(over="ignore", invalid="ignore")  # a value that overflows is infinite, and proves nothing
def _(problem: L1Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    w, b = weights_of(problem, point)
    if not any(v is not None and np.isfinite(v).all() for v in (point.w, point.beta)):  # zero, which takes no product
        value = sum_above(problem.cost)
        primal = PrimalPoint(value, w, None, np.zeros(1), ((0.0, 0.0),), own=False, curvature=0.0)
        return primal, DualPoint(0.0, np.zeros(problem.n_samples), 0.0, 0.0, math.nan)
    f = problem.expand_weights(w)
    primal = _primal(problem, w, b, f, by_entries=False)
    if primal.rounding > NOTICEABLE * primal.value or primal.value == math.inf:
        primal = min(primal, _primal(problem, w, b, f, by_entries=True), key=lambda found: found.value)
    short = np.maximum(0.0, 1.0 - problem.y * (f + b))
    candidates = [2.0 * problem.cost * problem.y * short]
    if point.beta is not None:
        candidates.append(np.clip(point.beta, problem.dual.lower, problem.dual.upper))
    finite = [beta for beta in candidates if np.isfinite(beta).all()] or [np.zeros(problem.n_samples)]
    return primal, max((_scaled_dual(problem, beta) for beta in finite), key=lambda dual: dual.value)


def weights_of(problem: Problem, point: Point | None) -> tuple[np.ndarray, float]:
    """(w, b) of a point, zero where it has none; the b of a point with offsets, a model to be judged as it stands, is its offset."""
    if point is None or point.w is None or not np.isfinite(point.w).all():
        return np.zeros(problem.n_features), 0.0
    offsets = point.offsets
    b = (point.b if offsets is None else float(offsets[0])) if problem.intercept == "regularized" else 0.0
    return np.asarray(point.w, dtype=np.float64), 0.0 if b is None else b


def _primal(problem: Problem, w: np.ndarray, b: float, f: np.ndarray, by_entries: bool) -> PrimalPoint:
    """P at w and b, where f = X w; ``by_entries`` chooses how the error of f is bounded (``product_errors``)."""
    error = product_errors(problem, w, by_entries) + 8.0 * UNIT * (np.abs(f) + abs(b) + 1.0)
    short = 1.0 - problem.y * (f + b)
    most = np.maximum(0.0, short + error)
    penalty = np.append(np.abs(w), abs(b) / problem.intercept_scale * (1.0 + share(4)))
    value = sum_above(np.append(penalty, problem.cost * most**2 * (1.0 + share(8)) + LEAST))
    plain = float(penalty.sum() + (problem.cost * np.maximum(0.0, short) ** 2).sum())
    rounding = max(0.0, value - plain) if math.isfinite(value) else 0.0
    return PrimalPoint(value, w, None, np.array([b]), ((b, b),), own=False, curvature=0.0, rounding=rounding)


@refine.register
def _(
    problem: L1Problem, primal: PrimalPoint, dual: DualPoint, seconds: float = math.inf
) -> tuple[PrimalPoint, DualPoint] | None:
    if not dual.beta.any() or not is_affordable(problem, 1.0, seconds):
        return None
    found = _scaled_dual(problem, dual.beta, twofold=True)
    return primal, found if found.value > dual.value else dual


@np.errstate(over="ignore", invalid="ignore")
def _scaled_dual(problem: Problem, beta: np.ndarray, twofold: bool = False) -> DualPoint:
    """The best feasible multiple tβ, with D(tβ) = t Σα − t² Σα²/(4c) and t ≤ 1/‖Σ βᵢx̃ᵢ‖∞, where x̃ = (x, s) with a regularised intercept."""
    beta = np.where(problem.cost > 0, beta, 0.0)
    alpha = np.abs(beta)
    reach, most = _reach(problem, beta, twofold)
    used = alpha > 0
    squares = alpha[used] / (4.0 * problem.cost[used]) * alpha[used]
    linear, square = sum_below(alpha), sum_above(squares * (1.0 + share(4)) + LEAST * (1.0 + alpha[used]))
    if not (linear > 0 and math.isfinite(square) and math.isfinite(most)):
        return DualPoint(0.0, np.zeros_like(beta), max(0.0, reach - 1.0), 0.0, math.nan)
    scale = min(0.5 * linear / square, (1.0 - share(4)) / most if most > 0 else math.inf)
    value = scale * linear - scale**2 * square
    value -= share(8) * (scale * linear + scale**2 * square) + LEAST
    # What rounding takes is not in the sums alone: it shortens the multiple.
    longer = min(0.5 * linear / square, 1.0 / reach if reach > 0 else math.inf)
    plain = longer * float(alpha.sum()) - longer**2 * float(squares.sum())
    if not value > 0:  # β = 0, which is feasible too, proves more
        return DualPoint(0.0, np.zeros_like(beta), max(0.0, reach - 1.0), 0.0, math.nan)
    return DualPoint(value, scale * beta, max(0.0, reach - 1.0), 0.0, math.nan, max(0.0, plain - value))


def _reach(problem: Problem, beta: np.ndarray, twofold: bool) -> tuple[float, float]:
    """(‖Σ βᵢx̃ᵢ‖∞ as computed, a number that the exact norm is not above); ``twofold`` asks for twice the digits."""
    if twofold:
        w, sizes = np.empty((2, problem.n_features)), np.empty(problem.n_features)
        _native.twofold_weights(problem.rows, beta, w, sizes)
        slopes = np.abs(w[0])
        errors = not_nan(np.abs(w[1]) + TWOFOLD_UNIT * (len(beta) + 8) * sizes + LEAST)
        reach, most = float(slopes.max()), float(not_nan(slopes + errors).max()) * (1.0 + share(4))
    else:
        slopes = np.abs(problem.weights(beta))
        reach, most = float(slopes.max()), float((slopes + weight_errors(problem, beta, by_entries=False)).max())
        if most - reach > NOTICEABLE * reach:
            most = min(most, float((slopes + weight_errors(problem, beta, by_entries=True)).max()))
    if problem.intercept == "regularized":
        total = max(abs(sum_above(beta)), abs(sum_below(beta)))
        reach = max(reach, problem.intercept_scale * abs(float(beta.sum())))
        most = max(most, problem.intercept_scale * total * (1.0 + share(4)))
    return reach, most * (1.0 + share(4))
