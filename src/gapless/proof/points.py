"""What a solver offers to the proof, the same with its own values, and the two points that the proof makes of it."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np

from gapless.data.validate import check_shape
from gapless.problems.problem import Problem
from gapless.record import record


@record
class Point:
    """What a solver offers: dual variables, or primal weights, or both. ``expansion`` is w of a kernel problem where it is not β itself.

    With ``offsets`` the primal side is a model to be judged as it stands, its own offsets included, and nothing is chosen for it.
    """

    beta: np.ndarray | None = None
    w: np.ndarray | None = None
    b: float | None = None
    expansion: np.ndarray | None = None
    offsets: np.ndarray | None = None


@record
class Iterate:
    """A point as its algorithm left it, with P and D there: plain numbers, neither improved nor rounded outwards, of ½‖w‖² + Σ cᵢ ℓ.

    ``beta`` is what the loss suggests, −c ℓ′, where the method has no dual variables. D is −∞ outside its feasible set.
    """

    beta: np.ndarray
    w: np.ndarray | None
    expansion: np.ndarray | None
    offsets: np.ndarray
    primal: float
    dual: float


@record
class PrimalPoint:
    """A primal feasible point with its value. ``own`` says that w is the dual point's own Σ βᵢφ(xᵢ).

    ``curvature`` is the modulus of P's strong convexity in w: 1 for ½‖w‖², 0 where the penalty has none. The value is rounded upwards, by
    ``rounding``; ``weights_error`` bounds how far an own w, as it stands, is from Σ βᵢφ(xᵢ).
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
    """A dual feasible point with its value, rounded downwards by ``rounding``, and how far the offered one was from the box and from Σβ = 0.

    ``iterate`` is the offered one as it stands.
    """

    value: float
    beta: np.ndarray
    box_violation: float
    sum_violation: float
    kkt_violation: float
    rounding: float = 0.0
    iterate: Iterate | None = field(default=None, repr=False, compare=False)


def check_point(problem: Problem, given: Any) -> Any:
    """A point (or a result) whose arrays have the shapes of the problem's, those of a point in float64: what proves trusts them."""
    n, d = problem.X.shape
    classes = getattr(problem, "n_classes", None)  # of problems with a column a class
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
