"""The two special cases of the ν-forms: an optimum that leaves a choice, and one that is zero."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gapless.losses import Shortfall
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate, Point, evaluate
from gapless.result import Result

# A w whose length is at most this share of the longest that the data allows counts as zero. The square of the share, 1e-12, is well above what the
# rounding of Kβ leaves of an optimum of zero (1e-16 times the square root of the number of samples), and well below what any tol distinguishes.
_NO_LENGTH = 1e-6


def favour_other_class(result: Result) -> Result:
    """The result of a ν-SVC, where one class has all its dual variables at their bounds, with the optimal offsets that favour the other class.

    ν then asks for more than the weights of the class allow: all samples of the class are margin errors, so that its offset may go down, and ρ up,
    without a cost. The offset goes down until the outermost sample of the class is on the decision boundary. The primal value changes by rounding
    alone, which is counted.
    """
    problem, offsets = result.problem, result.offsets.copy()
    groups = [problem.groups == g for g in (0, 1)]
    room = [float(problem.cost[group].sum()) - abs(total) for group, total in zip(groups, problem.totals, strict=True)]
    full = [left <= 1e-12 * float(np.abs(problem.totals).max()) for left in room]
    if full[0] == full[1]:
        return result
    g = full.index(True)
    sign = 1.0 if g == 0 else -1.0
    f = problem.expand(result.beta if result.expansion is None else result.expansion)
    outermost = sign * float((sign * f[groups[g]]).max())
    lower = -2.0 * outermost - offsets[1 - g]
    if sign * (offsets[g] - lower) <= 0:
        return result
    offsets[g] = lower
    intervals = tuple(
        (float(b), float(b)) if k == g else ends
        for k, (b, ends) in enumerate(zip(offsets, result.certificate.offset_intervals, strict=True))
    )
    beta = result.beta if result.expansion is None else result.expansion
    primal, _ = evaluate(problem, Point(beta=beta, offsets=offsets))
    certificate = replace(
        result.certificate, primal=max(result.certificate.primal, primal.value), offset_intervals=intervals
    )
    return replace(result, offsets=offsets, certificate=certificate)


def vanishes(problem: Problem, certificate: Certificate, tol: float) -> bool:
    """Whether the optimum of a one-class machine or of a ν-SVC is proven to be zero: neither P − D nor −D is above ½ (1e-6·S·R)², and the KKT
    violation is within ``tol``.

    The optimum is −½‖w*‖², zero where the origin lies within the data (one-class), or where the reduced hulls of the classes meet (ν-SVC); no gap is
    small relative to that. w* is a sum of samples whose coefficients add up to S = Σ|totals|, so that ‖w*‖ ≤ S·R, where R is the largest distance
    of a sample from the origin or, in a ν-SVC, which does not depend on where the origin is, from the samples' mean. Within the bound neither w nor
    w* is longer than a few millionths of the longest that they could be. An optimum that −D leaves away from zero has a relative gap, which counts.
    """  # fmt: skip
    if not problem.is_nu or certificate.kkt_violation > tol or not math.isfinite(certificate.gap):
        return False
    # The optimum of a ν-SVR is of the size of its targets, and has a relative gap.
    if not isinstance(problem.loss, Shortfall) or problem.loss.target.any():
        return False
    size = _NO_LENGTH * float(np.abs(problem.totals).sum())
    used = problem.cost > 0
    squares = problem.diagonal[used]
    most = max(certificate.gap, -certificate.dual)
    if most > 2.0 * size**2 * float(squares.max()):  # no distance from the mean is above twice the longest sample
        return False
    if len(problem.totals) > 1:
        share = used / used.sum()
        f = problem.expand(share)
        squares = np.maximum(0.0, squares - 2.0 * f[used] + float(share @ f))
    return most <= 0.5 * size**2 * float(squares.max())
