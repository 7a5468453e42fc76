"""The two special cases of the ν-forms: an optimum that leaves a choice, and one that is zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate
from gapless.result import Result


def favour_other_class(result: Result) -> Result:
    """A ν-SVC where one class carries all that it can, with the optimal offsets that favour the other class.

    All samples of such a class are margin errors, so that its offset may go down for nothing, and ρ up: ν asks for more than the class is weighted
    to carry. It goes until the class's outermost sample is on the decision boundary. The primal value, and so the certificate, stay as they are.
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
    return replace(result, offsets=offsets, certificate=replace(result.certificate, offset_intervals=intervals))


def vanishes(problem: Problem, certificate: Certificate, tol: float) -> bool:
    """Whether the optimum of a ν-form is zero to ``tol``, so that no relative gap can say how close to it a point is.

    It is so where the origin lies within the data (one-class), or where the reduced hulls of the classes meet (ν-SVC): w* = 0. Both values are
    then small against tol·Σ|totals|, which is what LIBSVM's KKT criterion allows them to differ by.
    """
    if not problem.is_nu or certificate.kkt_violation > tol:
        return False
    return max(abs(certificate.primal), abs(certificate.dual)) <= tol * float(np.abs(problem.totals).sum())
