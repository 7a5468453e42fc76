"""The proof: primal value, dual value and their gap, recomputed from scratch and rounded outwards.

Whatever a solver claims, a bound counts only after its point was made feasible here: β is clipped to its box and, with a free intercept,
brought to Σβ = 0; P is taken at the exact best b. Where there is no bound, the value is infinite, never a guess.

The sums are computed by ``native/proof``, which includes nothing of a solver's; kernel entries come from the float64 panels that solvers use too.
``independent.py`` computes the same bounds in plain NumPy.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from functools import singledispatch

import numpy as np

from gapless import _native
from gapless.kernels import Validity
from gapless.kernels.refuted import NOT_VALID
from gapless.kernels.rounding import UNIT
from gapless.losses import DualBox
from gapless.problems.objective import ROUNDING, value_of_decisions
from gapless.problems.problem import Problem
from gapless.problems.tube import is_hard_tube
from gapless.proof.best_b import with_best_b
from gapless.proof.exact_ray import is_exact_ray
from gapless.proof.feasible import best_multiple, feasible
from gapless.proof.hard import hard_offset, hard_primal, scaled_error, separating
from gapless.proof.outward import MORE, ROUNDINGS
from gapless.proof.points import CertifiedPoint, DualPoint, Iterate, Point, PrimalPoint
from gapless.proof.values import Values, values_of_expansion, values_of_model, values_of_weights
from gapless.record import record

_TINY = float(np.finfo(float).tiny)


@record
class Certificate:
    """Two bounds on the optimum: dual ≤ P* ≤ primal. ``inf`` (or ``-inf``) where there is no bound.

    The bounds hold in exact arithmetic, for the numbers as given: both are rounded outwards by more than their sums can have been rounded, and
    ``rounding`` tells how much of the gap this is.

    The bounds are values of the objective as the problem states it. ``scale`` is the factor from ½‖w‖² + Σ cᵢ ℓ to that objective, and ``internal``
    has the bounds for ½‖w‖² + Σ cᵢ ℓ. ``point`` is the point of the certificate, not of the solver: an offered β may have been repaired and replaced
    by its best multiple, and b by the best b for w.

    ``kkt_violation`` is LIBSVM's criterion, the largest violation of the optimality conditions by the dual point. ``offset_intervals`` holds, for
    each group of samples (there is one, except in the ν-forms), every offset that is optimal for the certified w. ``box_violation`` and
    ``sum_violation`` tell how far the offered β was from its box and from its sum before it was repaired. ``refutation`` is a sentence where a kernel
    that was taken to be positive semi-definite, such as a matrix of the user's, is refuted by its own numbers; there is no dual bound then.

    >>> Certificate(primal=2.0, dual=1.5, offset_intervals=((0.0, 0.0),)).relative_gap
    0.25
    """

    primal: float
    dual: float
    offset_intervals: tuple[tuple[float, float], ...]
    kkt_violation: float = math.nan
    box_violation: float = 0.0
    sum_violation: float = 0.0
    n_support: int = 0
    own_weights: bool = False
    curvature: float = 1.0
    rounding: float = 0.0
    weights_error: float = 0.0
    parts: tuple[Certificate, ...] = ()
    scale: float = 1.0
    point: CertifiedPoint | None = field(default=None, repr=False, compare=False)
    refutation: str = ""

    def stated(self, scale: float) -> Certificate:
        """The same bounds in an objective that is ``scale`` times as large, rounded outwards."""
        if scale == 1.0:
            return self
        low, high = self.dual * scale, self.primal * scale
        # The scale (λ, say) and the costs (1/λn) are each rounded twice at most, and these products once: four roundings, counted twice over.
        low, high = low - 8.0 * UNIT * abs(low), high + 8.0 * UNIT * abs(high)
        return replace(
            self,
            primal=math.inf if math.isnan(high) else high,
            dual=-math.inf if math.isnan(low) else low,
            rounding=self.rounding * scale,
            parts=tuple(part.stated(scale) for part in self.parts),
            scale=self.scale * scale,
        )

    @property
    def internal(self) -> Certificate:
        """The same bounds for ½‖w‖² + Σ cᵢ ℓ."""
        return self.stated(1.0 / self.scale)

    @property
    def gap(self) -> float:
        """P − D: a bound on how far the objective of the model is from the optimum."""
        return self.primal - self.dual if -math.inf < self.dual < math.inf else math.inf

    @property
    def relative_gap(self) -> float:
        """(P − D) / |P|, the quantity that ``tol`` bounds."""
        gap = self.gap
        return gap / max(abs(self.primal), _TINY) if gap < math.inf else math.inf

    @property
    def b_interval(self) -> tuple[float, float]:
        """The interval of intercepts that are optimal for the certified w (in a ν-form the mean of the offsets' intervals)."""
        low, high = np.mean(self.offset_intervals, axis=0)
        return float(low), float(high)

    @property
    def distance_bound(self) -> float:
        """A bound on ‖w − w*‖: √gap where the primal point's w is the dual point's own (each side gives ½‖w − w*‖²), else √(2 gap).

        It is infinite where P is not strongly convex (``curvature`` 0): a small gap then says nothing of w.
        """
        if self.curvature == 0:
            return math.inf
        gap = self.gap / self.scale
        return math.sqrt(max(0.0, gap if self.own_weights else 2.0 * gap)) + self.weights_error

    def __str__(self) -> str:
        numbers = f"primal {self.primal:.10g}, dual {self.dual:.10g}, relative gap {self.relative_gap:.2e}"
        return f"{numbers}. {self.refutation}" if self.refutation else numbers


def combine(primal: PrimalPoint, dual: DualPoint) -> Certificate:
    """The certificate of a primal and a dual point, from one iterate or from two.

    A dual value above the primal one is a contradiction (K is not positive semi-definite), and proves nothing.
    """
    return Certificate(
        primal=primal.value,
        dual=dual.value if dual.value <= primal.value else -math.inf,
        offset_intervals=primal.offset_intervals,
        kkt_violation=dual.kkt_violation,
        box_violation=dual.box_violation,
        sum_violation=dual.sum_violation,
        n_support=int(np.count_nonzero(dual.beta if dual.beta.ndim == 1 else dual.beta.any(axis=1))),
        own_weights=primal.own,
        curvature=primal.curvature,
        rounding=primal.rounding + dual.rounding,
        weights_error=primal.weights_error if primal.own else 0.0,
        point=CertifiedPoint(primal.w, primal.expansion, primal.offsets, dual.beta),
        refutation=dual.refutation,
    )


@singledispatch
def evaluate(problem: Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    """The best primal point and the dual point that an iterate proves; the empty ``Point()`` is zero.

    A kind of problem with another primal and dual registers an evaluation of its own (``evaluate.register``).
    """
    if problem.is_linear and point.w is not None and point.b is None and getattr(point, "offsets", None) is None:
        with np.errstate(over="ignore", invalid="ignore"):
            point = with_best_b(problem, point, problem.expand_weights(point.w))
    given = _beta_of_weights(problem, point) if point.beta is None else point.beta
    is_zero = given is None
    if given is None:
        given = beta = np.zeros(problem.n_samples)  # zero is feasible as it stands, and all its products are zero
        values = Values(
            np.zeros(problem.n_features) if problem.is_linear else None, np.zeros(problem.n_samples), problem.y
        )
        box_violation = sum_violation = 0.0
    else:
        beta, box_violation, sum_violation = feasible(problem, given)
        if math.isnan(box_violation):  # a point that is not finite is replaced by zero
            return evaluate(problem, replace(point, beta=np.zeros(problem.n_samples)))
        values = _decision_values(problem, beta)
    w, f, valid = values.w, values.f, is_valid(problem)
    as_given = (
        None if problem.is_linear else beta.copy()
    )  # the coefficients of w; the line below writes the best multiple to beta
    square, scale, value, violation, least, intervals, below, above, *plain, own_intervals = _native.proof_bounds(
        problem.dual, problem.groups, problem.totals, problem.intercept == "free", not is_zero and valid and has_multiples(problem),
        not problem.is_hard, point.w is None, beta, f, values.sizes, values.factor, values.weights, problem.shift,
    )  # fmt: skip
    if math.isnan(square) and given.any():
        return evaluate(problem, replace(point, beta=np.zeros(problem.n_samples)))
    if square < 0.0 and valid and refutes(problem, given, square):
        valid = False
    violation = math.nan if math.isnan(violation) else violation  # one NaN, so that equal certificates compare equal
    if valid and not math.isfinite(value) and given.any() and not (problem.is_hard or problem.is_nu):
        # The squares of a tiny β underflow: the point zero proves more.
        return evaluate(problem, replace(point, beta=np.zeros(problem.n_samples)))
    if value == math.inf and not (problem.is_hard and is_exact_ray(problem, beta)):
        value, below = -math.inf, math.inf  # rounding has made the curvature zero: that is no proof of a ray
    if isinstance(point, Point) and point.offsets is not None:
        dual = DualPoint(
            value if valid else -math.inf, beta, box_violation, sum_violation, violation, below, refutation=problem.refutation
        )  # fmt: skip
        return _as_it_stands(problem, point, point.offsets), dual
    own_dual, own_primal, own_below, own_above = plain
    iterate = Iterate(given, w, as_given, middles(own_intervals), own_primal, own_dual, own_above, own_below)
    off = max(box_violation, sum_violation)
    if off > 0 and not off <= ROUNDING * float(np.abs(given).max()):
        iterate = _unrepaired(problem, iterate, given, point.w is None)

    if problem.is_hard:
        with np.errstate(over="ignore", invalid="ignore"):  # β may have run away along a ray
            iterate = _hard_iterate(problem, iterate, square, f, values, scale)
            own = hard_primal(
                problem, f, scaled_error(values, f, scale), intervals[0][0], values.above(square, scale),
                _times(scale, w), None if problem.is_linear else beta, own=True,
            )  # fmt: skip
    else:
        expansion = None if problem.is_linear else beta
        own = PrimalPoint(
            least, _times(scale, w), expansion, middles(intervals), intervals,
            own=True, rounding=above, weights_error=scale * values.weights_error,
        )  # fmt: skip
        # Below that a stretch would change the last digits of a model and prove nothing more.
        if value > 0 and least > (1.0 + ROUNDING) * value:
            own = separating(problem, own, beta, f, values, square, scale)
    primal = own
    if point.w is not None or point.expansion is not None:
        for other, stands in _other_primals(problem, point, beta, iterate):
            primal, iterate = min(primal, other, key=lambda candidate: candidate.value), stands
    dual = DualPoint(
        value if valid else -math.inf, beta, box_violation, sum_violation, violation, below, iterate, problem.refutation
    )
    return primal, dual


@np.errstate(over="ignore", invalid="ignore")
def _unrepaired(problem: Problem, iterate: Iterate, given: np.ndarray, has_primal: bool) -> Iterate:
    """The iterate of a β that is outside of the feasible set by more than rounding: D is −∞, and P that of β itself where w is Σ βᵢφ(xᵢ).

    ``has_primal`` says that w is this sum; else the iterate has a w of its own.
    """
    iterate = replace(iterate, dual=-math.inf, above=math.inf, below=-math.inf)
    if not has_primal:
        return iterate
    f = problem.expand(given)
    offsets = np.array([problem.shift * float(given.sum())])
    if problem.intercept == "free" and not problem.is_hard:
        offsets = middles(best_offsets(problem, f))
    value = value_of_decisions(problem, float(given @ f), f, offsets)
    w, expansion = (problem.weights(given), None) if problem.is_linear else (None, given)
    return replace(iterate, w=w, expansion=expansion, offsets=offsets, primal=value)


def _hard_iterate(
    problem: Problem, iterate: Iterate, square: float, f: np.ndarray, values: Values, scale: float
) -> Iterate:
    """The iterate of a problem with a hard margin, where f has been multiplied by ``scale``.

    P is infinite where the iterate misses the margin; the number that P is not above is that of the iterate stretched to the margin.
    """
    used, above = problem.cost > 0, math.inf
    f, offsets = f / scale if scale > 0 else problem.expand(iterate.beta), iterate.offsets
    if scale > 0:
        error = values.error + 4.0 * UNIT * np.abs(f)
        most = values.above(square, scale) / scale**2 * (1.0 + 8.0 * UNIT)
        above = hard_primal(problem, f, error, float(offsets[0]), most, iterate.w, iterate.expansion, own=True).value
    if problem.intercept == "free":
        offsets = np.array([hard_offset(problem, f[used], problem.y[used])])
    if problem.intercept == "regularized":
        square -= float(offsets[0]) ** 2 / problem.shift  # βᵀKβ contains this term, and value_of_decisions adds it
    value = value_of_decisions(problem, square, f, offsets)
    return replace(iterate, offsets=offsets, primal=value, above=_hard_above(above, value))


@np.errstate(over="ignore", invalid="ignore")  # a value that overflows is infinite, and proves nothing
def _other_primals(
    problem: Problem, point: Point, beta: np.ndarray, iterate: Iterate
) -> list[tuple[PrimalPoint, Iterate]]:
    """P at the weights, or at the expansion, that a point offers beside β, each with the iterate that has them."""
    found = []
    if problem.is_linear and point.w is not None:
        b = 0.0 if point.b is None or problem.intercept == "none" else float(point.b)
        values = values_of_weights(problem, point.w)
        best, plain = _primal(problem, values, b, point.w, None)
        offsets, plain, above = _unstretched(problem, values, best, plain, b)
        if problem.intercept == "free" and point.b is not None and not problem.is_nu:
            offsets = np.array([b])
            plain, above = _at(problem, values, offsets)
        found.append((best, replace(iterate, w=point.w, offsets=offsets, primal=plain, above=above)))
    if point.expansion is not None and not np.array_equal(point.expansion, beta):
        values = _decision_values(problem, point.expansion)
        b = problem.shift * float(point.expansion.sum())
        best, plain = _primal(problem, values, b, values.w, point.expansion)
        offsets, plain, above = _unstretched(problem, values, best, plain, b)
        found.append((best, replace(iterate, expansion=point.expansion, offsets=offsets, primal=plain, above=above)))
    return found


def _unstretched(
    problem: Problem, values: Values, best: PrimalPoint, plain: float, b: float
) -> tuple[np.ndarray, float, float]:
    """(offsets, P, what P is not above) of a w as it stands; under a hard margin the best point that it makes is a multiple of it."""
    if not problem.is_hard:
        return best.offsets, plain, best.value
    used = problem.cost > 0
    if problem.intercept == "free":
        b = hard_offset(problem, values.f[used], problem.y[used])
    plain = value_of_decisions(problem, values.square, values.f, np.array([b]))
    return np.array([b]), plain, _hard_above(best.value, plain)


def _hard_above(stretched: float, plain: float) -> float:
    """What P of a model under a hard margin is not above: where it holds the margin as it stands, that is its own P, and not that of less of it."""
    return max(stretched, plain * (1.0 + 16.0 * UNIT)) if math.isfinite(plain) else stretched


def _decision_values(problem: Problem, beta: np.ndarray) -> Values:
    """Kβ with a bound on its error: of a kernel first in float32 where βᵢ = 0, and in float64 wherever the error matters to P."""
    if problem.is_linear:
        return values_of_weights(problem, problem.weights(beta), beta)
    # Under a hard margin w is divided by the smallest margin, which any sample may have: all values are needed in float64.
    f, rough = (problem.expand(beta), None) if problem.is_hard else problem.expand_bounded(beta)
    values = values_of_expansion(problem, beta, f)
    if rough is not None:
        _decide(problem, beta, values, rough)
        values.sizes += rough
    return values


@np.errstate(over="ignore", invalid="ignore")
def _decide(problem: Problem, beta: np.ndarray, given: Values, rough: np.ndarray) -> None:
    """Compute f in float64 wherever its error leaves open whether the sample's loss, at the best multiple of β, is zero; writes f and ``rough``.

    ``rough`` bounds the errors of float32, and those of ``given`` are float64's. A convex loss that is zero at both ends of f ± error, as the bounds
    will count it, is zero between them, so that the error of such an f does not matter.
    """
    f, box, b = given.f, problem.dual, problem.shift * float(beta.sum())
    square, scale = float(beta @ f) + b * float(beta.sum()), 1.0  # f is float64's where β is not zero
    if isinstance(box, DualBox) and has_multiples(problem):
        scale, _ = best_multiple(box, beta, square)
    while True:
        values = scale * f
        offsets = middles(best_offsets(problem, values)) if problem.intercept == "free" else np.array([scale * b])
        values += offsets[problem.groups]
        reach = scaled_error(replace(given, sizes=given.sizes + rough), values, scale)
        below, above = (_native.proof_losses(box, values + side * reach) for side in (-1.0, 1.0))
        open_ = np.flatnonzero((rough > 0) & ((below > 0) | (above > 0)))
        if not len(open_):
            return
        f[open_] = problem.expand(beta, problem.X[open_])
        rough[open_] = 0.0


@np.errstate(over="ignore", invalid="ignore")
def _as_it_stands(problem: Problem, point: Point, offsets: np.ndarray) -> PrimalPoint:
    """P at a model's own w and offsets; infinite where the model misses a hard margin."""
    if point.w is not None:
        values, expansion = values_of_weights(problem, point.w), None
    else:
        expansion = np.zeros(problem.n_samples) if point.beta is None else point.beta
        values = values_of_model(problem, expansion)
    value, above = _regulariser(problem, values, float(offsets[0]))
    if problem.is_hard:
        with np.errstate(invalid="ignore"):
            loss = problem.cost * problem.loss.value(problem.y, values.f + offsets[problem.groups])
        losses = most = float(np.where(np.isnan(loss), 0.0, loss).sum())
    else:
        most, rounded, _ = _native.proof_loss_bounds(
            problem.dual, problem.groups, offsets, values.f, values.sizes, values.factor
        )
        losses = most - rounded
    value, above = value + losses, above + most
    intervals = tuple((float(offset), float(offset)) for offset in offsets)
    raised, rounding = _rounded_up(problem, value, above, offsets)
    expansion = None if problem.is_linear else expansion
    return PrimalPoint(raised, point.w, expansion, offsets, intervals, own=False, rounding=rounding)


def _beta_of_weights(problem: Problem, point: Point) -> np.ndarray | None:
    """β = −c ℓ′(y, f), the dual point that a primal one suggests; without w it is zero, which is None where zero is feasible."""
    if point.w is None or not problem.is_linear or problem.is_hard:
        return np.zeros(problem.n_samples) if problem.is_nu else None
    with np.errstate(over="ignore", invalid="ignore"):
        f = problem.expand_weights(point.w) + (0.0 if point.b is None else point.b)
        return -problem.cost * problem.loss.derivative(problem.y, f)


def refutes(problem: Problem, beta: np.ndarray, square: float) -> bool:
    """Whether a negative ``square`` = βᵀKβ (with a regularised intercept's part, which is not negative) shows that the kernel is not valid.

    It does where it is below what the rounding of the entries explains; the problem then remembers it.
    """
    kernel = problem.kernel
    if kernel is None or problem.validity is not Validity.ASSUMED:
        return False
    g, r = problem.magnitudes
    size = np.abs(beta)
    reach, rough = float(g @ size), float(np.where(size > 0, r, 0.0) @ size)
    error = MORE * UNIT * (2.0 * (np.count_nonzero(beta) + ROUNDINGS) * reach + 2.0 * rough) * reach
    if not square < -(kernel.entry_rounding * problem.largest**2 * float(size.sum()) ** 2 + error):
        return False
    problem.refute(f"{NOT_VALID}: βᵀKβ = {square:g} is negative.")
    return True


def is_valid(problem: Problem) -> bool:
    """Whether weak duality holds: it needs a positive semi-definite K."""
    return problem.validity is not Validity.NOT_VALID


def has_multiples(problem: Problem) -> bool:
    """Whether the best multiple of β is looked for: not for the entropy, nor in the ν-forms, whose totals are fixed, nor for an invalid kernel.

    Nor is it for a hard tube: f may hold the tube at β, and at no multiple of β.
    """
    return isinstance(problem.dual, DualBox) and not (problem.is_nu or is_hard_tube(problem)) and is_valid(problem)


def _times(scale: float, w: np.ndarray | None) -> np.ndarray | None:
    return w if w is None or scale == 1.0 else scale * w


def _primal(
    problem: Problem, values: Values, b: float, w: np.ndarray | None, expansion: np.ndarray | None
) -> tuple[PrimalPoint, float]:
    """(the primal point of decision values, with the exact best b where it is free; its P as computed, not rounded outwards)."""
    expansion = None if problem.is_linear else expansion
    value, above = _regulariser(problem, values, b)
    if not (math.isfinite(above) and math.isfinite(b) and _is_finite(values.f)):
        return PrimalPoint(math.inf, w, expansion, np.array([b]), ((b, b),), own=False), math.inf
    if problem.is_hard:
        found = hard_primal(problem, values.f, values.error, b, 2.0 * above, w, expansion, own=False)
        return found, value_of_decisions(problem, values.square, values.f, np.array([b]))
    intervals: tuple[tuple[float, float], ...] = ((b, b),)
    if problem.intercept == "free":
        intervals = best_offsets(problem, values.f)
    offsets = middles(intervals)
    most, rounded, plain = _native.proof_loss_bounds(
        problem.dual, problem.groups, offsets, values.f, values.sizes, values.factor
    )
    raised, rounding = _rounded_up(problem, value + most - rounded, above + most, offsets)
    point = PrimalPoint(raised, w, expansion, offsets, intervals, own=False, rounding=rounding)
    return point, value + plain + float(problem.totals @ offsets)


def _at(problem: Problem, values: Values, offsets: np.ndarray) -> tuple[float, float]:
    """(P at decision values and offsets as computed, a number that P is not above)."""
    if problem.is_hard:
        return value_of_decisions(problem, values.square, values.f, offsets), math.inf
    value, above = _regulariser(problem, values, float(offsets[0]))
    most, _, plain = _native.proof_loss_bounds(
        problem.dual, problem.groups, offsets, values.f, values.sizes, values.factor
    )
    value += plain
    return value + float(problem.totals @ offsets), _rounded_up(problem, value, above + most, offsets)[0]


def _regulariser(problem: Problem, values: Values, b: float) -> tuple[float, float]:
    """(½‖w‖², plus ½b²/s² of a regularised intercept, as computed; a number that the exact value is not above)."""
    square = values.square
    intercept = b * b / problem.shift if problem.intercept == "regularized" else 0.0
    return 0.5 * (square + intercept), 0.5 * (values.above(square) + intercept * (1.0 + 8.0 * UNIT))


def _rounded_up(problem: Problem, value: float, above: float, offsets: np.ndarray) -> tuple[float, float]:
    """(P rounded upwards, how much of it is rounding), from P without the price of the offsets, as computed and as bounded from ``above``."""
    price, prices = float(problem.totals @ offsets), float(np.abs(problem.totals) @ np.abs(offsets))
    raised = above + price + 8.0 * UNIT * (abs(above) + prices)
    return (raised, max(0.0, raised - value - price)) if math.isfinite(raised) else (math.inf, 0.0)


def _is_finite(values: np.ndarray) -> bool:
    """Whether all values are finite; the sum of their squares tells in one pass, unless it overflows."""
    return math.isfinite(values @ values) or bool(np.isfinite(values).all())


def best_offsets(problem: Problem, f: np.ndarray) -> tuple[tuple[float, float], ...]:
    """The interval of best offsets of each group, for decision values f that have none added."""
    return _native.proof_best_offsets(problem.dual, problem.groups, problem.totals, f)


def middles(intervals: tuple[tuple[float, float], ...]) -> np.ndarray:
    """The offset in the middle of each interval."""
    if len(intervals) == 1:
        ((low, high),) = intervals
        return np.array([0.5 * (low + high)])
    return np.array([0.5 * (low + high) for low, high in intervals])
