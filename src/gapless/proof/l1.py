"""The bounds that a point proves for an ℓ₁ penalty: P at its weights as they stand, and D at the best feasible multiple tβ of a dual point.

Both are rounded outwards (``outward.py``). t is chosen by an upper bound on ‖Σ βᵢxᵢ‖∞, so that the dual point is feasible in exact arithmetic. The
dual point is the exact product tβ, which ``DualPoint.beta`` holds rounded. Where samples of large features cancel in Σ βᵢxᵢ, the bound is far above
the sum itself, and the sum is taken exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.kernels.rounding import UNIT
from gapless.problems.l1 import L1Problem
from gapless.problems.problem import Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate
from gapless.proof.outward import LEAST, NOTICEABLE, product_errors, share, sum_above, sum_below, weight_errors
from gapless.proof.twofold import refine

_AFFORDABLE, _SPEED = (
    2e6,
    1e7,
)  # entries of X whose products are summed exactly, some tenths of a second; and how many in a second, at least
_SPLITTER = 2.0**27 + 1.0  # halves the digits of a float64 (Veltkamp)


@evaluate.register
@np.errstate(over="ignore", invalid="ignore")  # a value that overflows is infinite, and proves nothing
def _(problem: L1Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    w, b = weights_of(problem, point)
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
    if not dual.beta.any() or problem.n_samples * problem.entry_work > min(_AFFORDABLE, _SPEED * seconds):
        return None
    found = _scaled_dual(problem, dual.beta, exactly=True)
    return primal, found if found.value > dual.value else dual


@np.errstate(over="ignore", invalid="ignore")
def _scaled_dual(problem: Problem, beta: np.ndarray, exactly: bool = False) -> DualPoint:
    """The best feasible multiple tβ, with D(tβ) = t Σα − t² Σα²/(4c) and t ≤ 1/‖Σ βᵢx̃ᵢ‖∞, where x̃ = (x, s) with a regularised intercept."""
    beta = np.where(problem.cost > 0, beta, 0.0)
    alpha = np.abs(beta)
    reach, most = _reach(problem, beta, exactly)
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


def _reach(problem: Problem, beta: np.ndarray, exactly: bool) -> tuple[float, float]:
    """(‖Σ βᵢx̃ᵢ‖∞ as computed, a number that the exact norm is not above)."""
    if exactly:
        reach = float(np.abs(_exact_weights(problem.X, beta)).max())
        most = reach * (1.0 + share(4)) + LEAST
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


def _exact_weights(X: Any, beta: np.ndarray) -> np.ndarray:
    """Σ βᵢxᵢ, each entry rounded once: products as the sum of two floats (Dekker 1971), and Shewchuk's sum of all of them."""
    columns: Any = X.tocsc() if sp.issparse(X) else X
    out = np.zeros(X.shape[1])
    for j in range(len(out)):
        if sp.issparse(X):
            part = slice(columns.indptr[j], columns.indptr[j + 1])
            x, factor = columns.data[part].astype(np.float64), beta[columns.indices[part]]
        else:
            x, factor = columns[:, j].astype(np.float64), beta
        product = x * factor
        (x_high, x_low), (f_high, f_low) = _halves(x), _halves(factor)
        rest = ((x_high * f_high - product) + x_high * f_low + x_low * f_high) + x_low * f_low
        terms = np.append(product, rest)
        out[j] = math.fsum(terms.tolist()) if np.isfinite(terms).all() else math.inf
    return out


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as sums of two of half the digits."""
    high = _SPLITTER * values
    high = high - (high - values)
    return high, values - high
