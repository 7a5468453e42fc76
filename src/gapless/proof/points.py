"""Points: what a solver offers to the proof, the iterate with its plain values, and the primal and the dual point that the proof makes of it."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Any

import numpy as np

from gapless.data.validate import check_shape
from gapless.problems.problem import Problem
from gapless.record import record


@record
class Point:
    """What a solver offers: dual variables, or primal weights, or both. ``expansion`` holds the coefficients of w where they are not β itself.

    Of a w without ``b`` the proof takes the best b for this w, also for the dual point that w suggests where there is no β (−c ℓ′ at w and b). A
    point with ``offsets`` is a model to be judged as it stands: the proof takes these offsets, and does not look for better ones.
    """

    beta: np.ndarray | None = None
    w: np.ndarray | None = None
    b: float | None = None
    expansion: np.ndarray | None = None
    offsets: np.ndarray | None = None


@record
class Iterate:
    """A point as its algorithm left it, with P and D of ½‖w‖² + Σ cᵢ ℓ there: plain numbers, neither improved nor rounded outwards.

    For a method without dual variables ``beta`` is −c ℓ′, the dual point that w suggests. D is −∞ where β is not feasible. Where β misses its box or
    its sum by rounding alone, ``expansion`` is β without this rounding.

    In exact arithmetic P is not above ``above`` (of a hard margin: after a stretch to it), and D not below ``below``; both are infinite where this
    was not proven.
    """

    beta: np.ndarray
    w: np.ndarray | None
    expansion: np.ndarray | None
    offsets: np.ndarray
    primal: float
    dual: float
    above: float = math.inf
    below: float = -math.inf

    def is_within(self, tol: float) -> bool:
        """Whether P − D is proven to be at most tol·|P|."""
        gap = self.above - self.below
        return math.isfinite(gap) and gap <= tol * abs(self.above)


@record
class PrimalPoint:
    """A primal feasible point with its value. ``own`` says that w is Σ βᵢφ(xᵢ) of the dual point.

    ``curvature`` is the modulus of P's strong convexity in w: 1 for ½‖w‖², 0 where the penalty has none. The value is rounded upwards, by
    ``rounding``; where ``own`` holds, ``weights_error`` bounds the distance of w, as float64 holds it, from Σ βᵢφ(xᵢ).
    """

    value: float
    w: np.ndarray | None
    expansion: np.ndarray | None
    offsets: np.ndarray
    offset_intervals: tuple[tuple[float, float], ...]
    own: bool
    curvature: float = 1.0
    rounding: float = 0.0
    weights_error: float = 0.0

    @property
    def b(self) -> float:
        """The intercept: the offset, or the mean of the two offsets of a ν-form."""
        return float(np.mean(self.offsets))


@record
class CertifiedPoint:
    """The points whose values a certificate proves: w (or its expansion in the samples) with its offsets, and β."""

    w: np.ndarray | None
    expansion: np.ndarray | None
    offsets: np.ndarray
    beta: np.ndarray

    @property
    def b(self) -> float:
        """The intercept: the offset, or the mean of the offsets."""
        return float(np.mean(self.offsets))


@record
class DualPoint:
    """A dual feasible point with its value, rounded downwards by ``rounding``.

    The violations tell how far the offered point was from the box and from Σβ = 0; ``iterate`` is the offered point as it stands. ``refutation``
    tells, in a sentence, why no dual value counts where a kernel that was assumed to be valid is not.
    """

    value: float
    beta: np.ndarray
    box_violation: float
    sum_violation: float
    kkt_violation: float
    rounding: float = 0.0
    iterate: Iterate | None = field(default=None, repr=False, compare=False)
    refutation: str = ""


def check_point(problem: Problem, given: Any) -> Any:
    """The point (or result), whose arrays must have the shapes of the problem; those of a point are converted to float64, as the proof takes them."""
    n, d = problem.X.shape
    classes = getattr(problem, "n_classes", None)  # problems of several classes have a column for each
    columns = () if classes is None else (classes,)
    shapes = {
        "beta": (n, *columns),
        "expansion": (n, *columns),
        "w": (d, *columns),
        "offsets": (classes or len(problem.totals),),
    }
    arrays: dict[str, Any] = {}
    for name, shape in shapes.items():
        value = getattr(given, name)
        if value is not None:
            arrays[name] = check_shape(value, name, shape)
    return replace(given, **arrays) if isinstance(given, Point) else given
