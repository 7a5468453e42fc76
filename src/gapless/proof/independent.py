"""A second opinion: the same two bounds in plain NumPy, block by block, with nothing compiled of ours in them.

This evaluation shares with the proof that every fit carries the statement of the problem (``Loss.value``, ``Kernel.block``) and none of its loops:
no native sums, no panels of kernel entries. It is slower, and holds a block of kernel entries at a time. Offsets are found by bisection of the
slope; sums are those of ``math.fsum``, exact to their last digit. Where X is sparse, its indices were checked and copied by the core when the
problem was stated; what is computed here reads that copy by SciPy.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gapless.kernels import Validity
from gapless.kernels.gram import blocks
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.problems.tube import is_hard_tube
from gapless.proof.best_b import with_best_b
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate, refutes
from gapless.proof.exact_ray import is_exact_ray
from gapless.proof.kkt import slope_violation
from gapless.proof.outward import plain_sums

_ROWS = 8192  # rows of X that are converted to float64 at a time: some 60 MB of a thousand features
_EPS = float(np.finfo(float).eps)
# A multiple of β so near to one counts as one: the gain is about the square of this number, which float64 does not see (``near_one`` in
# native/proof/dual_side.cpp has the same value).
_ONE = 1e-9
_ROUNDING = 1e-12  # how far D may be above P, relative to P, by the rounding of the two sums alone


@np.errstate(over="ignore", invalid="ignore")  # a value that overflows is infinite, and proves nothing
def evaluate_independently(problem: Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    """The points of :func:`~gapless.proof.certificate.evaluate`, computed by other means."""
    if evaluate.dispatch(type(problem)) is not evaluate.dispatch(Problem):
        # The evaluations of special kinds of problems are plain NumPy already, apart from sums and the products with X and K.
        with plain_sums():
            return evaluate(_with_plain_products(problem), point)
    if problem.is_linear and point.w is not None and point.b is None and getattr(point, "offsets", None) is None:
        point = with_best_b(problem, point, products(problem.X, point.w))
    given = _suggested(problem, point) if point.beta is None else np.asarray(point.beta, dtype=np.float64)
    if not np.isfinite(given).all():
        given = np.zeros(problem.n_samples)
    beta, box_violation, sum_violation = _repaired(problem, given)
    f, square, b = _values(problem, beta)
    if not (math.isfinite(square) and np.isfinite(f).all()):
        beta = _repaired(problem, np.zeros(problem.n_samples))[0]
        f, square, b = _values(problem, beta)
    if square < 0.0:
        refutes(problem, beta, square)
        square = 0.0 if problem.validity is not Validity.NOT_VALID else square
    scale, value = _dual_value(problem, beta, square)
    if scale != 1.0:
        beta = np.clip(scale * beta, problem.dual.lower, problem.dual.upper)
        f, square, b = scale * f, scale * scale * square, scale * b
    violation = slope_violation(problem, beta, f + b)
    dual = DualPoint(value, beta, box_violation, sum_violation, violation, refutation=problem.refutation)
    if isinstance(point, Point) and point.offsets is not None:
        return level(problem, _as_it_stands(problem, point, point.offsets), dual)

    w = weights(problem.X, beta) if problem.is_linear else None
    candidates = [_primal(problem, f, b, square, w, beta, own=True)]
    if problem.is_linear and point.w is not None:
        b = 0.0 if point.b is None or problem.intercept == "none" else float(point.b)
        norm = float(point.w @ point.w) + (b**2 / problem.shift if problem.intercept == "regularized" else 0.0)
        candidates.append(_primal(problem, products(problem.X, point.w), b, norm, point.w, None, own=False))
    if point.expansion is not None and not np.array_equal(point.expansion, beta):
        expansion = np.asarray(point.expansion, dtype=np.float64)
        f, square, b = _values(problem, expansion)
        w = weights(problem.X, expansion) if problem.is_linear else None
        candidates.append(_primal(problem, f, b, square, w, expansion, own=False))
    return level(problem, min(candidates, key=lambda candidate: candidate.value), dual)


def level(problem: Problem, primal: PrimalPoint, dual: DualPoint) -> tuple[PrimalPoint, DualPoint]:
    """Both points, with D lowered to P where it is above P by no more than a rounding error: nothing is rounded outwards in this module."""
    size = abs(primal.value) + float(
        np.abs(problem.totals) @ np.abs(primal.offsets)
    )  # the terms of P may cancel in a ν-form
    level = primal.value < dual.value <= primal.value + _ROUNDING * size
    return primal, replace(dual, value=primal.value) if level else dual


# --- products with X and with K


def _parts(X: Any) -> Iterator[tuple[slice, Any]]:
    """The rows of X in float64, ``_ROWS`` of them at a time, each part with its slice."""
    for begin in range(0, X.shape[0], _ROWS):
        part = slice(begin, min(begin + _ROWS, X.shape[0]))
        yield part, X[part].astype(np.float64)


def weights(X: Any, beta: np.ndarray) -> np.ndarray:
    """Xᵀβ."""
    out = np.zeros((X.shape[1], *beta.shape[1:]))
    for part, rows in _parts(X):
        out += rows.T @ beta[part]
    return out


def products(X: Any, w: np.ndarray) -> np.ndarray:
    """X w."""
    out = np.empty((X.shape[0], *w.shape[1:]))
    for part, rows in _parts(X):
        out[part] = rows @ w
    return out


def kernel_products(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """Kβ, without the s² that a regularised intercept adds to K; β may have several columns."""
    support = np.flatnonzero(beta if beta.ndim == 1 else beta.any(axis=1))
    out = np.zeros(beta.shape)
    if not len(support):
        return out
    if problem.kernel is None:
        return products(problem.X, weights(problem.X, beta))
    for part, block in blocks(problem.kernel, problem.X, problem.X[support]):
        out[part] = block @ beta[support]
    return out


class _PlainProducts:
    """The methods of a problem that compute products with X and K, in plain NumPy."""

    def weights(self, beta: np.ndarray) -> np.ndarray:
        return weights(self.X, beta)  # type: ignore[attr-defined]

    def expand_weights(self, w: np.ndarray) -> np.ndarray:
        return products(self.X, w)  # type: ignore[attr-defined]

    def expand(self, beta: np.ndarray, X: Any = None) -> np.ndarray:
        assert X is None
        return kernel_products(self, beta)  # type: ignore[arg-type]


def _with_plain_products(problem: Problem) -> Problem:
    plain = copy.copy(problem)
    object.__setattr__(plain, "__class__", type(type(problem).__name__, (_PlainProducts, type(problem)), {}))
    return plain


def _values(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(Kβ without s², twice the regulariser, the offset b = s² Σβ of a regularised intercept)."""
    f, total = kernel_products(problem, beta), math.fsum(beta) if problem.shift else 0.0
    b = problem.shift * total
    return f, _sum(beta * f) + b * total, b


def _sum(values: np.ndarray) -> float:
    """The sum to its last digit; infinite where a term is not finite."""
    return math.fsum(values) if np.isfinite(values).all() else math.inf


# --- the dual side


def _suggested(problem: Problem, point: Point) -> np.ndarray:
    """β = −c ℓ′(y, f): the dual point that a primal one suggests."""
    if point.w is None or not problem.is_linear or problem.is_hard:
        return np.zeros(problem.n_samples)
    f = products(problem.X, point.w) + (0.0 if point.b is None else point.b)
    return -problem.cost * problem.loss.derivative(problem.y, f)


def _repaired(problem: Problem, given: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(a feasible β, how far the given β was from the box, and its sums from their totals): clip, then mend each sum as ``feasible`` does."""
    lower, upper = problem.dual.lower, problem.dual.upper
    beta = np.clip(given, lower, upper)
    outside, off = float(np.abs(given - beta).max(initial=0.0)), 0.0
    if problem.intercept != "free":
        return beta, outside, off
    for g, total in enumerate(problem.totals):
        mine = problem.groups == g
        excess = math.fsum(beta[mine]) - float(total)
        if excess == 0.0:
            continue
        off = max(off, abs(excess))
        way = (upper if excess < 0 else lower) - beta
        free = mine & (lower < beta) & (beta < upper) & (beta != 0)
        room = math.fsum(np.abs(way[free]))
        if total and abs(excess) <= room:
            beta[free] += way[free] * (abs(excess) / room)
            continue
        if total and abs(excess) <= _EPS * len(beta) * math.fsum(np.abs(beta[mine])):
            continue
        heavy = mine & (beta > 0 if excess > 0 else beta < 0)
        weight = abs(math.fsum(beta[heavy]))
        if weight >= abs(excess):
            beta[heavy] *= 1.0 - abs(excess) / weight
        else:
            room = way[mine].sum()
            beta[mine] += way[mine] * (min(-excess / room, 1.0) if room else 0.0)
    return beta, outside, off


def _dual_value(problem: Problem, beta: np.ndarray, square: float) -> tuple[float, float]:
    """(s, D(sβ)) of the best multiple inside the box, where there are multiples to choose from."""
    if problem.validity is Validity.NOT_VALID:
        return 1.0, -math.inf
    box = problem.dual
    # An entropy, a ν-form and a hard tube have no multiples to choose from (``certificate.has_multiples`` says why).
    if not isinstance(box, DualBox) or problem.is_nu or is_hard_tube(problem):
        return 1.0, _sum(problem.loss.dual_value(problem.y, problem.cost, beta)) - 0.5 * square
    used = beta != 0
    if not used.any():
        return 1.0, 0.0
    linear = _sum((box.p * beta - box.epsilon * np.abs(beta))[used])
    curvature = square + _sum((box.d * beta**2)[used])
    room = float((np.where(beta > 0, box.upper, box.lower)[used] / beta[used]).min())
    if linear <= 0:
        return 0.0, 0.0
    if curvature <= 0:
        if room < math.inf:
            return room, room * linear
        return 1.0, math.inf if is_exact_ray(problem, beta) else -math.inf
    scale = min(linear / curvature, room)
    scale = 1.0 if abs(scale - 1.0) < _ONE else scale
    return scale, scale * linear - 0.5 * scale * scale * curvature


# --- the primal side


def _as_it_stands(problem: Problem, point: Point, offsets: np.ndarray) -> PrimalPoint:
    """P of a model's own w and offsets."""
    if point.w is not None:
        f, square = products(problem.X, point.w), float(point.w @ point.w)
        square += float(offsets[0]) ** 2 / problem.shift if problem.intercept == "regularized" else 0.0
    else:
        f, square, b = _values(problem, np.zeros(problem.n_samples) if point.beta is None else point.beta)
        if problem.intercept == "regularized":  # the model's intercept need not be the s² Σβ that ``square`` contains
            square += (float(offsets[0]) ** 2 - b**2) / problem.shift
    intervals = tuple((float(offset), float(offset)) for offset in offsets)
    expansion = None if problem.is_linear else point.beta
    return PrimalPoint(_value(problem, f, square, offsets), point.w, expansion, offsets, intervals, own=False)


def _value(problem: Problem, f: np.ndarray, square: float, offsets: np.ndarray) -> float:
    """P = ½ square + Σ c ℓ(y, f + offset) + the offsets' prices; infinite where this is not finite."""
    losses = problem.loss.value(problem.y, f + offsets[problem.groups])
    paid = np.multiply(problem.cost, losses, out=np.zeros_like(losses), where=(problem.cost > 0) & (losses != 0))
    value = 0.5 * square + _sum(paid) + float(problem.totals @ offsets)
    return value if math.isfinite(value) else math.inf


def _primal(
    problem: Problem,
    f: np.ndarray,
    b: float,
    square: float,
    w: np.ndarray | None,
    expansion: np.ndarray | None,
    own: bool,
) -> PrimalPoint:
    """The primal point at f + b or, where the intercept is free, at f with the best offsets."""
    expansion = None if problem.is_linear else expansion
    intervals: tuple[tuple[float, float], ...] = ((b, b),)
    if not (math.isfinite(square) and math.isfinite(b) and np.isfinite(f).all()):
        return PrimalPoint(math.inf, w, expansion, np.array([b]), intervals, own)
    if problem.is_hard:
        return _hard(problem, f, b, square, w, expansion, own)
    if problem.intercept == "free":
        intervals = tuple(_best_offset(problem, f, g) for g in range(len(problem.totals)))
    offsets = np.array([0.5 * (low + high) for low, high in intervals])
    return PrimalPoint(_value(problem, f, square, offsets), w, expansion, offsets, intervals, own)


def _best_offset(problem: Problem, f: np.ndarray, g: int) -> tuple[float, float]:
    """The interval of a group's offset on which the slope of P is zero to its own rounding, each end by bisection."""
    mine = (problem.groups == g) & (problem.cost > 0)
    if not mine.any():
        return 0.0, 0.0
    corners = [*problem.loss.kinks(problem.y), *problem.loss.knots(problem.y)]
    ends = np.concatenate([corner[mine] - f[mine] for corner in corners or [problem.y]])
    y, f, cost = problem.y[mine], f[mine], problem.cost[mine]
    loss = problem.loss.taken(mine)
    pull, rounding = float(problem.totals[g]), 4.0 * len(y) * _EPS * float(cost.sum())

    def slope(b: float) -> float:
        return pull + float(cost @ loss.derivative(y, f + b))

    low, high = float(ends.min()), float(ends.max())
    below, above, step = low - 1.0, high + 1.0, 1.0
    if not problem.loss.kinks(problem.y):  # beyond its outermost corner the slope of a smooth loss changes still
        while slope(below) > 0 and step < 1e300:
            below -= (step := 2 * step)
        while slope(above) < 0 and step < 1e300:
            above += (step := 2 * step)
        low, high = below, above
    first = _crossing(lambda b: slope(b) >= -rounding, below, above)
    last = _crossing(lambda b: slope(b) > rounding, below, above)
    return min(max(first, low), high), min(max(last, first, low), high)


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The least b between ``low`` and ``high`` from which on a condition holds, to the last digit; ``high`` where it never does."""
    if holds(low):
        return low
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return high
        if holds(middle):
            high = middle
        else:
            low = middle


def _hard(
    problem: Problem,
    f: np.ndarray,
    b: float,
    square: float,
    w: np.ndarray | None,
    expansion: np.ndarray | None,
    own: bool,
) -> PrimalPoint:
    """The primal point with the value ½‖w‖² where no constraint is missed: w is stretched to a margin of one, a tube must hold to rounding."""
    used = problem.cost > 0
    y, f, free = problem.y[used], f[used], problem.intercept == "free"
    interval, value, stretch = (b, b), math.inf, 1.0
    if problem.loss.task == "regression":
        epsilon = float(problem.loss.epsilon)  # type: ignore[attr-defined]
        slack = 1e-12 * max(1.0, float(np.abs(y).max()))
        low, high = float((y - f).max()) - epsilon, float((y - f).min()) + epsilon
        if (low <= high + slack) if free else (low - slack <= b <= high + slack):
            value = 0.5 * square
            interval = (min(low, high), max(low, high)) if free else interval
    else:
        if free:
            top, bottom = float(f[y > 0].min()), float(f[y < 0].max())
            margin, b = 0.5 * (top - bottom), -0.5 * (top + bottom)
        else:
            margin = float((y * (f + b)).min())
        if margin > 0:
            stretch, own = 1.0 / margin, False
            interval, value = (b / margin, b / margin), 0.5 * square / margin**2
    w, expansion = (None if part is None else stretch * part for part in (w, expansion))
    return PrimalPoint(value, w, expansion, np.array([0.5 * (interval[0] + interval[1])]), (interval,), own)
