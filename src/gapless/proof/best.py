"""The best bounds of a solve so far: the least primal and the greatest dual value, from whichever iterates, proven as precisely as ``tol`` asks."""

from __future__ import annotations

import math
from dataclasses import replace

from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate, DualPoint, Iterate, Point, PrimalPoint, combine, evaluate, is_valid
from gapless.proof.feasible import first_point
from gapless.proof.twofold import refine
from gapless.proof.zero import counts_as_zero, zero_level

Points = tuple[PrimalPoint, DualPoint]

# The share of what ``tol`` allows below which no other point is looked for: rounding then takes up nine tenths, and the rest is hard to meet.
_LITTLE = 0.1


def prove(problem: Problem, point: Point, tol: float) -> Points:
    """The primal and the dual point that a point proves, with twice the digits where only float64's rounding keeps the gap above ``tol``."""
    return sharpened(problem, evaluate(problem, point), tol)


def sharpened(problem: Problem, points: Points, tol: float, seconds: float = math.inf) -> Points:
    """The same points, proven with twice the digits where only rounding keeps the gap above ``tol``, and where that takes at most ``seconds``."""
    if not _is_hidden(problem, points, tol):
        return points
    refined = refine(problem, *points, seconds)
    return points if refined is None else (refined[0], replace(refined[1], iterate=points[1].iterate))


def _without_bound(points: Points, sentence: str) -> Points:
    """The same points, where the dual value bounds nothing, as the sentence tells."""
    primal, dual = points
    known = dual.value == -math.inf and dual.refutation == sentence
    return points if known else (primal, replace(dual, value=-math.inf, refutation=sentence))


def iterate_of(points: Points) -> Iterate:
    """The offered point as it stands; the proven point where the evaluation of this kind of problem keeps no iterate."""
    primal, dual = points
    if dual.iterate is not None:
        return dual.iterate
    bounds = primal.value, dual.value
    return Iterate(dual.beta, primal.w, primal.expansion, primal.offsets, *bounds, *bounds)


def hides(points: Points, tol: float, level: float = 0.0) -> bool:
    """Whether rounding alone keeps the proven gap above ``tol``, and above ``level``, an absolute gap that counts as zero."""
    primal, dual = points
    gap, goal = primal.value - dual.value, max(tol * abs(primal.value), level)
    if 0 <= gap <= goal and math.isfinite(gap):
        return False
    rounding = primal.rounding + dual.rounding
    return math.isinf(rounding) or gap - rounding <= goal


def leaves_room(points: Points, tol: float, level: float = 0.0) -> bool:
    """Whether another point with as much rounding could have a proven gap of at most ``tol``, or ``level``, where rounding hides that of these."""
    primal, dual = points
    goal, rounding = max(tol * abs(primal.value), level), primal.rounding + dual.rounding
    return rounding < goal and primal.value - dual.value - rounding > _LITTLE * goal


def _is_hidden(problem: Problem, points: Points, tol: float) -> bool:
    """Whether rounding alone keeps the gap above ``tol``, or above what counts as zero where the optimum may be zero."""
    if not problem.is_nu:
        return hides(points, tol)
    primal, dual = points
    gap = primal.value - dual.value
    if 0 <= gap <= tol * abs(primal.value):
        return False
    if gap >= 0 and counts_as_zero(problem, gap, dual.value, tol):
        return False
    return hides(points, tol) or hides(points, tol, zero_level(problem, tol))


class Best:
    """Bounds on the optimum of a problem that are to differ by at most ``tol``, relative to P.

    ``one_point`` is for a model that is kept as β: both bounds are those of one β, and of a linear problem only w = Σ βᵢxᵢ counts. ``start`` is the
    point that a solve begins with, where it has one, and ``seconds`` what its proof may take for twice the digits.
    """

    def __init__(
        self, problem: Problem, tol: float, one_point: bool, start: Point | None = None, seconds: float = math.inf
    ) -> None:
        self.problem, self.tol, self.one_point = problem, tol, one_point
        # The point zero takes no time to prove, so that even an immediate interruption leaves a certified result.
        # In a ν-form, where zero is not feasible and any other point takes a proof, it is the point that the solve begins with.
        self.begins = problem.is_nu and start is not None and start.beta is not None
        if self.begins:
            assert start is not None
            self.zero = self._one(start, seconds) if one_point else self._prove(start, seconds)
        else:
            self.zero = evaluate(problem, Point(beta=first_point(problem)) if problem.is_nu else Point())
        self.points = self.zero
        self._combined: tuple[Points, Certificate] | None = None

    @property
    def certificate(self) -> Certificate:
        """The certificate of the best points, in the convention that the problem was stated in."""
        if self._combined is None or self._combined[0] is not self.points:
            self._combined = self.points, combine(*self.points).stated(self.problem.scale)
        return self._combined[1]

    def keep(self, point: Point, seconds: float = math.inf) -> Points:
        """The points that a point proves, with twice the digits where that takes at most ``seconds``; on either side the better value is kept."""
        if point.beta is None and point.w is None and point.expansion is None:
            return self.zero
        found = self._one(point, seconds) if self.one_point else self._prove(point, seconds)
        if not is_valid(
            self.problem
        ):  # this very point may have shown it, and no dual value that was found before counts any more
            sentence = self.problem.refutation
            self.points, self.zero = _without_bound(self.points, sentence), _without_bound(self.zero, sentence)
        better = self._better(found)
        self.points = better if better is found else sharpened(self.problem, better, self.tol, seconds)
        return found

    def _prove(self, point: Point, seconds: float) -> Points:
        return sharpened(self.problem, evaluate(self.problem, point), self.tol, seconds)

    def _one(self, point: Point, seconds: float) -> Points:
        """The points that β alone proves, with w = Σ βᵢxᵢ; of a point without β, those of the β that its w suggests."""
        if point.beta is not None:
            return self._prove(Point(beta=point.beta), seconds)
        found = self._prove(point, seconds)
        return found if found[0].own else self._prove(Point(beta=found[1].beta), seconds)

    def _better(self, found: Points) -> Points:
        if self.one_point:
            gap = combine(*found).stated(self.problem.scale).gap
            return found if gap <= self.certificate.gap else self.points
        primal, dual = found
        best_primal, best_dual = self.points
        # At an equal value the newest point wins: one iterate for both sides gives the tighter distance bound.
        better_primal, better_dual = primal.value <= best_primal.value, dual.value >= best_dual.value
        if better_primal and better_dual:
            return found
        if better_primal:
            return replace(primal, own=False), best_dual
        if better_dual:
            return replace(best_primal, own=False), dual
        return self.points

    @property
    def is_hidden(self) -> bool:
        """Whether rounding alone keeps the best points from ``tol``."""
        return math.isfinite(self.certificate.gap) and _is_hidden(self.problem, self.points, self.tol)

    @property
    def leaves_room(self) -> bool:
        """Whether rounding takes less than ``tol`` allows, so that a better point could prove a gap within it."""
        level = zero_level(self.problem, self.tol) if self.problem.is_nu else 0.0
        return leaves_room(self.points, self.tol, level)
