"""An optimum of a ν-SVC that leaves a choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gapless.proof.certificate import Point, evaluate
from gapless.result import Result


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
