"""The proof: primal value, dual value and their gap, recomputed from scratch in float64 by code that no solver shares.

Whatever a solver claims, a bound counts only after its point was made feasible here: β is clipped to its box and, with a free intercept,
brought to Σβ = 0; the primal takes the exact best b. Where there is no bound, the value is infinite, never a guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gapless.kernels import Validity
from gapless.losses import DualBox
from gapless.problem import Problem


@dataclass(frozen=True)
class Point:
    """What a solver offers: dual variables, or primal weights, or both. ``expansion`` is w of a kernel problem where it is not β itself."""

    beta: np.ndarray | None = None
    w: np.ndarray | None = None
    b: float | None = None
    expansion: np.ndarray | None = None


@dataclass(frozen=True)
class PrimalPoint:
    """A primal feasible point with its value. ``own`` says that w is the dual point's own Σ βᵢφ(xᵢ)."""

    value: float
    w: np.ndarray | None
    expansion: np.ndarray | None
    b: float
    b_interval: tuple[float, float]
    own: bool


@dataclass(frozen=True)
class DualPoint:
    """A dual feasible point with its value, and how far the offered one was from the box and from Σβ = 0."""

    value: float
    beta: np.ndarray
    box_violation: float
    sum_violation: float
    kkt_violation: float


@dataclass(frozen=True)
class Certificate:
    """Two bounds on the optimum: dual ≤ P* ≤ primal. ``inf`` (or ``-inf``) where there is no bound.

    ``kkt_violation`` is LIBSVM's criterion, the largest violation of the optimality conditions by the dual point. ``b_interval`` holds every
    intercept that is optimal for the certified w. ``box_violation`` and ``sum_violation`` tell what was repaired before the dual value was taken.

    >>> Certificate(primal=2.0, dual=1.5, b_interval=(0.0, 0.0)).relative_gap
    0.25
    """

    primal: float
    dual: float
    b_interval: tuple[float, float]
    kkt_violation: float = math.nan
    box_violation: float = 0.0
    sum_violation: float = 0.0
    n_support: int = 0
    own_weights: bool = False

    @property
    def gap(self) -> float:
        """P − D: how far, at most, the model is from the optimum. Rounding may make it negative at the level of 1e-16 P."""
        return self.primal - self.dual if math.isfinite(self.dual) else math.inf

    @property
    def relative_gap(self) -> float:
        """(P − D) / |P|, the quantity that ``tol`` bounds."""
        if not math.isfinite(self.gap):
            return math.inf
        return self.gap / max(abs(self.primal), np.finfo(float).tiny)

    @property
    def distance_bound(self) -> float:
        """A bound on ‖w − w*‖: √gap where the primal point's w is the dual point's own (each side gives ½‖w − w*‖²), else √(2 gap)."""
        return math.sqrt(max(0.0, self.gap if self.own_weights else 2.0 * self.gap))

    def __str__(self) -> str:
        return f"primal {self.primal:.10g}, dual {self.dual:.10g}, relative gap {self.relative_gap:.2e}"


def certify(problem: Problem, point: Point) -> Certificate:
    """Recompute both bounds for a point (or a :class:`~gapless.result.Result`) of a problem.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], C=1.0)
    >>> print(gl.certify(problem, gl.solve(problem)))
    primal 0.5, dual 0.5, relative gap 0.00e+00
    """
    primal, dual = evaluate(problem, point)
    return combine(primal, dual)


def combine(primal: PrimalPoint, dual: DualPoint) -> Certificate:
    """The certificate of a primal and a dual point, from one iterate or from two."""
    return Certificate(
        primal=primal.value,
        dual=dual.value,
        b_interval=primal.b_interval,
        kkt_violation=dual.kkt_violation,
        box_violation=dual.box_violation,
        sum_violation=dual.sum_violation,
        n_support=int(np.count_nonzero(dual.beta)),
        own_weights=primal.own,
    )


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing, and says so by an infinite value
def evaluate(problem: Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    """The best primal and the dual point that an iterate proves."""
    beta = point.beta
    if beta is None:
        beta = _beta_of_weights(problem, point)
    if not np.isfinite(beta).all():
        beta = np.zeros(problem.n_samples)
    beta, box_violation, sum_violation = feasible(problem, beta)
    w = problem.weights(beta) if problem.is_linear else None
    f = problem.expand(beta)
    shift_b = problem.shift * float(beta.sum())
    square = float(w @ w if w is not None else beta @ f) + shift_b * float(beta.sum())
    if not (math.isfinite(square) and np.isfinite(f).all()):
        return evaluate(problem, replace(point, beta=np.zeros(problem.n_samples)))
    scale, value = _best_scale(problem, beta, square)
    beta = np.clip(scale * beta, problem.dual.lower, problem.dual.upper)  # scaling may round past a bound
    f, square, shift_b = scale * f, scale**2 * square, scale * shift_b
    dual = DualPoint(value, beta, box_violation, sum_violation, _kkt_violation(problem, beta, f + shift_b))

    candidates = [_primal(problem, f, shift_b, square, None if w is None else scale * w, beta, own=True)]
    if problem.is_linear and point.w is not None:
        b = 0.0 if point.b is None or problem.intercept == "none" else float(point.b)
        norm = float(point.w @ point.w) + (b**2 / problem.shift if problem.intercept == "regularized" else 0.0)
        candidates.append(_primal(problem, problem.expand_weights(point.w), b, norm, point.w, None, own=False))
    if point.expansion is not None and not np.array_equal(point.expansion, beta):
        e, g = point.expansion, problem.expand(point.expansion)
        b = problem.shift * float(e.sum())
        w = problem.weights(e) if problem.is_linear else None
        candidates.append(_primal(problem, g, b, float(e @ g) + b * float(e.sum()), w, e, own=False))
    return min(candidates, key=lambda candidate: candidate.value), dual


def at_bounds(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which βᵢ are at their lower, and which at their upper bound, to the rounding of a repaired sum."""
    dual = problem.dual
    width = dual.upper - dual.lower
    slack = 1e-12 * np.where(np.isfinite(width), width, np.abs(beta).max(initial=0.0))
    return beta <= dual.lower + slack, beta >= dual.upper - slack


def ray_norm(problem: Problem, ray: np.ndarray) -> float:
    """How far apart the hulls that ``ray`` weighs are, relative to the data's radius: ‖Σ βᵢφ(xᵢ)‖ / Σ |βᵢ| √k(xᵢ,xᵢ).

    Zero (to rounding) proves that no hard margin exists: D(tβ) grows without bound in t.
    """
    ray, _, _ = feasible(problem, ray)
    square = float(ray @ problem.expand(ray)) + problem.shift * float(ray.sum()) ** 2
    reach = float(np.abs(ray) @ np.sqrt(problem.diagonal))
    return math.sqrt(max(0.0, square)) / reach if reach > 0 else 0.0


def _beta_of_weights(problem: Problem, point: Point) -> np.ndarray:
    """β = −c ℓ′(y, f): the dual point that a primal one suggests."""
    if point.w is None or not problem.is_linear or problem.is_hard:
        return np.zeros(problem.n_samples)
    f = problem.expand_weights(point.w) + (0.0 if point.b is None else point.b)
    return -problem.cost * problem.loss.derivative(problem.y, f)


def feasible(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(feasible β, how far the given one was from the box, and from Σβ = 0).

    β is clipped to its box; with a free intercept its heavier side is then scaled down until Σβ = 0, so that zeros stay zeros.
    """
    clipped = np.clip(beta, problem.dual.lower, problem.dual.upper)
    box_violation = float(np.abs(beta - clipped).max())
    if problem.intercept != "free":
        return clipped, box_violation, 0.0
    positive = float(clipped[clipped > 0].sum())
    negative = -float(clipped[clipped < 0].sum())
    lighter = min(positive, negative)
    if positive > lighter:
        clipped = np.where(clipped > 0, clipped * (lighter / positive), clipped)
    elif negative > lighter:
        clipped = np.where(clipped < 0, clipped * (lighter / negative), clipped)
    return clipped, box_violation, abs(positive - negative)


def _best_scale(problem: Problem, beta: np.ndarray, square: float) -> tuple[float, float]:
    """(s, D(sβ)) for the best s that stays in the box; the entropy's dual is taken as it is."""
    if problem.kernel is not None and problem.kernel.validity is Validity.NOT_VALID:
        return 1.0, -math.inf  # weak duality needs a positive semi-definite K
    if not isinstance(problem.dual, DualBox):
        return 1.0, float(problem.loss.dual_value(problem.y, problem.cost, beta).sum()) - 0.5 * square
    linear = float((problem.dual.p * beta - problem.dual.epsilon * np.abs(beta)).sum())
    curvature = square + float((problem.dual.d * beta**2).sum())
    bound = np.where(beta > 0, problem.dual.upper, problem.dual.lower)
    largest = float(np.divide(bound, beta, out=np.full_like(beta, np.inf), where=beta != 0).min())
    if linear <= 0:
        return 0.0, 0.0
    if curvature <= 0:
        return (1.0, math.inf) if largest == math.inf else (largest, largest * linear)
    scale = min(linear / curvature, largest)
    if abs(scale - 1.0) < 1e-9:  # the gain is of second order, and variables at their bound stay there exactly
        scale = 1.0
    return scale, scale * linear - 0.5 * scale**2 * curvature


def _kkt_violation(problem: Problem, beta: np.ndarray, f: np.ndarray) -> float:
    """LIBSVM's m(α) − M(α); NaN for the entropy, whose slopes are infinite at its ends."""
    if not isinstance(problem.dual, DualBox):
        return math.nan
    rise, fall = problem.loss.dual_slopes(problem.y, problem.cost, beta)
    at_lower, at_upper = at_bounds(problem, beta)
    rise = np.where(at_upper, -np.inf, rise - f).max()
    fall = np.where(at_lower, np.inf, fall - f).min()
    if problem.intercept == "free":
        return max(0.0, float(rise - fall))
    return max(0.0, float(rise), float(-fall))


def _primal(
    problem: Problem,
    f: np.ndarray,
    b: float,
    square: float,
    w: np.ndarray | None,
    expansion: np.ndarray | None,
    own: bool,
) -> PrimalPoint:
    """P at the decision values f + b, where ``square`` is twice the regulariser; with a free intercept b is chosen here, exactly."""
    expansion = None if problem.is_linear else expansion
    if not (math.isfinite(square) and math.isfinite(b) and np.isfinite(f).all()):
        return PrimalPoint(math.inf, w, expansion, b, (b, b), own)
    if problem.is_hard:
        return _hard_primal(problem, f, b, square, w, expansion, own)
    interval = (b, b)
    if problem.intercept == "free":
        used = problem.cost > 0
        interval = problem.loss.best_intercept(problem.y[used], f[used], problem.cost[used])
        b = 0.5 * (interval[0] + interval[1])
    value = 0.5 * square + float((problem.cost * problem.loss.value(problem.y, f + b)).sum())
    return PrimalPoint(value if math.isfinite(value) else math.inf, w, expansion, b, interval, own)


def _hard_primal(
    problem: Problem,
    f: np.ndarray,
    b: float,
    square: float,
    w: np.ndarray | None,
    expansion: np.ndarray | None,
    own: bool,
) -> PrimalPoint:
    """½‖w‖² where all constraints hold: a separating w is first stretched to a smallest margin of one; a tube must hold as it is, to rounding."""
    used = problem.cost > 0
    y, f = problem.y[used], f[used]
    nowhere = PrimalPoint(math.inf, w, expansion, b, (b, b), own)
    if problem.loss.task == "regression":
        epsilon = float(problem.dual.epsilon[0])  # type: ignore[union-attr]
        low, high = float((y - f).max()) - epsilon, float((y - f).min()) + epsilon
        slack = 1e-12 * max(1.0, float(np.abs(y).max()))
        if problem.intercept == "free":
            interval = (min(low, high), max(low, high))
            fits = low <= high + slack
            return PrimalPoint(0.5 * square, w, expansion, 0.5 * (low + high), interval, own) if fits else nowhere
        fits = low - slack <= b <= high + slack
        return PrimalPoint(0.5 * square, w, expansion, b, (b, b), own) if fits else nowhere
    if problem.intercept == "free":
        top, bottom = float(f[y > 0].min()), float(f[y < 0].max())
        margin, b = 0.5 * (top - bottom), -0.5 * (top + bottom)
    else:
        margin = float((y * (f + b)).min())
    if not margin > 0:
        return nowhere
    w = None if w is None else w / margin
    expansion = None if expansion is None else expansion / margin
    return PrimalPoint(0.5 * square / margin**2, w, expansion, b / margin, (b / margin, b / margin), own=False)
