"""The numbers of proven models that the bounds between them are made of, rounded outwards."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gapless.kernels.rounding import UNIT
from gapless.path.segment import Node, Segment
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate
from gapless.proof.outward import ROUNDINGS, share, weight_errors
from gapless.proof.points import CertifiedPoint, PrimalPoint
from gapless.proof.values import values_of_expansion
from gapless.result import Result

# Costs are rounded: cᵢ = C sᵢ (1 + η) with |η| ≤ 4u. P with costs off by the factor 1 + η is off by that factor at most, as its losses are not
# negative. On the dual side (1 − 4u)β is feasible where β is with costs off by η, and D((1 − 4u)β) ≥ (1 − 4u) D(β) as ℓ*(0) = 0 and D is concave. The
# costs of a model and those at the C that is asked for are rounded both: 8u, and as much again for the roundings of the formulas below.
_COST = 16.0 * UNIT


def node_of(result: Result) -> Node:
    """What the certificate of a result proves of all C."""
    C, certificate = result.problem.regularization, result.certificate
    assert certificate.point is not None
    primal = Fraction(certificate.primal) * Fraction(1.0 + _COST)
    # Zero is feasible with the value zero, so that no bound needs to be negative.
    dual = Fraction(max(certificate.dual, 0.0)) * Fraction(1.0 - _COST)
    low, high = _regulariser(result.problem, certificate.point)
    return Node(C, primal, dual, (primal - Fraction(low)) / Fraction(C), (primal - Fraction(high)) / Fraction(C))


def zero_node(problem: Problem, zero: PrimalPoint) -> Node:
    """What w = 0 with its best intercept proves: P_C = C L, and at C = 0 it is optimal."""
    slope = Fraction(zero.value) * Fraction(1.0 + _COST) / Fraction(problem.regularization)
    return Node(0.0, Fraction(0), Fraction(0), slope, slope)


def segment_of(left: Result | None, right: Result, nodes: tuple[Node, Node]) -> Segment:
    """The bounds between two results, or between zero and the first result."""
    problem, points = right.problem, [None if result is None else result.certificate for result in (left, right)]
    primal, dual = _primal_square(problem, *points), None
    if all(each is None or each.own_weights for each in points) and not problem.is_linear:
        dual = primal  # with a kernel both sides are then one and the same β
    dual = _dual_square(problem, *points) if dual is None else dual
    return Segment(*nodes, *(Fraction(max(0.0, square)) * Fraction(1.0 - _COST) for square in (primal, dual)))


def _regulariser(problem: Problem, point: CertifiedPoint) -> tuple[float, float]:
    """(a number that ½‖w‖² is not below, one that it is not above), the ½b²/s² of a regularised intercept included."""
    low, high = _square(problem, point.w, point.expansion)
    if problem.intercept == "regularized":
        # P may have been proven for the exact s² Σβ, from which the offset, as float64 holds it, is off by ``lost``.
        b = float(point.offsets[0])
        lost = share(problem.n_samples + ROUNDINGS) * problem.shift * float(np.abs(point.beta).sum())
        if point.expansion is not None:
            lost = max(
                lost, share(problem.n_samples + ROUNDINGS) * problem.shift * float(np.abs(point.expansion).sum())
            )
        near, far = max(0.0, abs(b) - lost), abs(b) + lost
        low, high = low + near * near / problem.shift, high + far * far / problem.shift
    return 0.5 * max(0.0, low) * (1.0 - _COST), 0.5 * high * (1.0 + _COST)


def _square(problem: Problem, w: np.ndarray | None, expansion: np.ndarray | None) -> tuple[float, float]:
    """Bounds on ‖w‖² of weights, or of the coefficients of w in the samples."""
    if w is not None:
        square = float(w @ w)
        error = share(len(w) + ROUNDINGS) * square
        return square - error, square + error
    assert expansion is not None
    values = values_of_expansion(problem, expansion, problem.expand(expansion))
    square = values.square
    high = values.above(square)
    return 2.0 * square - high, high


def _primal_square(problem: Problem, left: Certificate | None, right: Certificate | None) -> float:
    """A number that ‖w₁ − w₂‖² is not below, with (b₁ − b₂)²/s² of a regularised intercept."""
    assert right is not None and right.point is not None
    one, two = None if left is None else left.point, right.point
    w = two.w if one is None or two.w is None or one.w is None else two.w - one.w
    expansion = two.expansion
    if one is not None and expansion is not None and one.expansion is not None:
        expansion = expansion - one.expansion
    square, _ = _square(problem, w, expansion)
    if problem.intercept == "regularized":
        size = float(np.abs(two.beta).sum()) + (0.0 if one is None else float(np.abs(one.beta).sum()))
        lost = share(problem.n_samples + ROUNDINGS) * problem.shift * size
        apart = abs(two.b - (0.0 if one is None else one.b))
        square += max(0.0, apart - lost) ** 2 / problem.shift
    return square


def _dual_square(problem: Problem, left: Certificate | None, right: Certificate | None) -> float:
    """A number that ‖v₁ − v₂‖² is not below, v = Σ βᵢφ(xᵢ), with s² (Σβ₁ − Σβ₂)² of a regularised intercept."""
    assert right is not None and right.point is not None
    beta = right.point.beta if left is None or left.point is None else right.point.beta - left.point.beta
    shifted = 0.0
    if problem.shift:
        total = abs(math.fsum(beta.tolist())) - share(4) * float(np.abs(beta).sum())
        shifted = problem.shift * max(0.0, total) ** 2
    if not problem.is_linear:
        return _square(problem, None, beta)[0] + shifted
    w, error = problem.weights(beta), weight_errors(problem, beta, by_entries=False)
    length = math.sqrt(float(w @ w)) * (1.0 - share(len(w) + ROUNDINGS))
    lost = math.sqrt(float(error @ error)) * (1.0 + share(len(w) + ROUNDINGS))
    return max(0.0, length - lost) ** 2 + shifted
