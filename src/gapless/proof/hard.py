"""P without slack: of a hard margin, where w may be stretched until it holds, of a soft margin without losses, and of a hard tube as it is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gapless.kernels.rounding import UNIT
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.points import CertifiedPoint, PrimalPoint
from gapless.proof.values import Values

_SAME = 1e-9  # the largest difference, relative to w, of two vectors that are multiples of each other but for rounding


def hard_primal(
    problem: Problem,
    f: np.ndarray,
    error: np.ndarray,
    b: float,
    square: float,
    w: np.ndarray | None,
    expansion: np.ndarray | None,
    own: bool,
) -> PrimalPoint:
    """The primal point with the value ½‖w‖² where all constraints hold in exact arithmetic, and an infinite value elsewhere.

    A separating w is first stretched to a smallest margin of one; a tube must hold as it is. ``square`` is a number that ‖w‖² is not above. The
    stretch takes every margin less its error, so that all constraints hold in exact arithmetic. An infinite ``rounding`` says that the constraints
    may hold, and that only rounding is in the way of a proof.
    """
    used, y = problem.cost > 0, problem.y
    if not used.all():
        y, f, error = y[used], f[used], error[used]
    nowhere = PrimalPoint(math.inf, w, expansion, np.array([b]), ((b, b),), own)
    if problem.loss.task == "regression":
        epsilon = float(problem.dual.epsilon[0])  # type: ignore[union-attr]
        apart = y - f
        low, high = float(apart.max()) - epsilon, float(apart.min()) + epsilon  # every b between them holds the tube
        interval = (b, b)
        if problem.intercept == "free":
            b, interval = hard_offset(problem, f, y), (min(low, high), max(low, high))
        room = epsilon - np.abs(apart - b)
        doubt = error + 4.0 * UNIT * (np.abs(y) + np.abs(f) + abs(b) + epsilon)
        found = PrimalPoint(0.5 * square, w, expansion, np.array([b]), (interval,), own)
        if not float((room - doubt).min()) >= 0:
            return replace(found, value=math.inf, rounding=math.inf if float((room + doubt).min()) >= 0 else 0.0)
        return found
    if problem.intercept == "free":
        b = hard_offset(problem, f, y)
    values = f + b
    plain = float((y * values).min())
    # The division of w (or β) and b by the margin rounds too: by a share of the error, which 1.1 covers, and of the values themselves.
    doubt = 1.1 * error + 8.0 * UNIT * (np.abs(f) + abs(b))
    margin = float((y * values - doubt).min())
    if not margin > 0:  # rounding may be all that is in the way
        return replace(nowhere, rounding=math.inf) if float((y * values + doubt).min()) > 0 else nowhere
    w = None if w is None else w / margin
    expansion = None if expansion is None else expansion / margin
    value, raised = 0.5 * square / plain**2, 0.5 * square / margin**2 * (1.0 + 16.0 * UNIT)
    b /= margin
    return PrimalPoint(raised, w, expansion, np.array([b]), ((b, b),), own=False, rounding=raised - value)


def hard_offset(problem: Problem, f: np.ndarray, y: np.ndarray) -> float:
    """The free offset in the middle: between the nearest samples of the two classes, or between the offsets that just hold a tube."""
    if problem.loss.task == "regression":
        apart = y - f
        return 0.5 * (float(apart.max()) + float(apart.min()))
    return -0.5 * (float(f[y > 0].min()) + float(f[y < 0].max()))


def may_separate(problem: Problem) -> bool:
    """Whether a model without any loss may be the optimum of a soft margin: of the losses that a hard margin is a limit of."""
    return problem.loss.task == "classification" and problem.loss.has_hard_limit and not problem.is_nu


def separating(
    problem: Problem, own: PrimalPoint, beta: np.ndarray, f: np.ndarray, values: Values, square: float, scale: float
) -> PrimalPoint:
    """The primal point as under a hard margin, stretched to a smallest margin of one, where a margin loss may end without any loss.

    A sample that misses its margin by rounding alone costs C times as much, which may be far more than ½‖w‖². Where the stretched β would leave its
    box, the optimum has losses. The point is returned as it is where that tells, where it is the better one, and of another kind of loss.
    """
    box = problem.dual
    if not (isinstance(box, DualBox) and may_separate(problem)) or _errs(problem, f, own.offset_intervals[0][0]):
        return own
    size, reach = np.abs(beta), box.upper - box.lower
    if bool(((size >= reach) & (size > 0)).any()):
        return own
    above = values.above(square, scale)
    found = hard_primal(
        problem, f, scaled_error(values, f, scale), own.offset_intervals[0][0], above, own.w, own.expansion, own=True
    )
    if not found.value < own.value:
        return own
    stretch = math.sqrt(2.0 * found.value / above)
    return found if bool((stretch * size <= reach).all()) else own


def _errs(problem: Problem, f: np.ndarray, b: float) -> bool:
    """Whether some sample is on the wrong side by far, so that no stretch of the model separates: the usual case, which one product tells.

    With a free intercept another b may do, and nothing is told.
    """
    if problem.intercept == "free":
        return False
    margins = f + b
    margins *= problem.y
    margins *= problem.cost  # samples of weight zero may be on any side
    return bool(margins.min() < 0)


def scaled_error(values: Values, f: np.ndarray, scale: float) -> np.ndarray:
    """The errors of f, the values of which were multiplied by ``scale``, as native/proof/bounds.cpp scales them."""
    return 1.07 * scale * values.error + 2.0 * UNIT * np.abs(f)


def beta_of_model(problem: Problem, point: CertifiedPoint) -> np.ndarray:
    """β of the certified model: where w is Σ βᵢφ(xᵢ) stretched to a smallest margin of one, β stretched likewise; else the β of the dual point.

    The stretched β is feasible too, and its D less by the square of what was stretched.
    """
    beta = point.beta
    if problem.is_hard or problem.is_nu or beta.ndim > 1 or not beta.any():
        return beta
    own = beta if point.w is None else problem.weights(beta)
    model = point.expansion if point.w is None else point.w
    if model is None or not own.any():
        return beta
    stretch = float(model @ own) / float(own @ own)
    same = np.abs(model - stretch * own).max() <= _SAME * np.abs(model).max()
    stretched = stretch * beta
    inside = bool(((problem.dual.lower <= stretched) & (stretched <= problem.dual.upper)).all())
    return stretched if same and inside else beta
