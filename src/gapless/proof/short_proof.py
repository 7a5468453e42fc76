"""The certificate of a short kernel problem with the hinge loss and a free intercept, in one compiled pass from f on.

It proves what ``evaluate`` proves, step by step the same: a model of many classes is made of many such problems, and NumPy's
calls on short vectors would take longer than solving them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from gapless.kernels import Validity
from gapless.kernels.tiles import picked_products
from gapless.losses import Hinge
from gapless.losses.margin import hinge_intercept, hinge_total
from gapless.problems.problem import Problem
from gapless.proof.feasible import best_multiple_of, feasible, feasible_of
from gapless.proof.kkt_violation import largest_violation

_SHORT = 1000  # samples


def is_short(problem: Problem) -> bool:
    """Whether :func:`bounds` knows the problem."""
    return (
        problem.n_samples <= _SHORT
        and type(problem.loss) is Hinge
        and problem.intercept == "free"
        and problem.kernel is not None
        and not problem.is_hard
        and problem.kernel.validity is not Validity.NOT_VALID
    )


def bounds(problem: Problem, beta: np.ndarray) -> tuple[Any, ...] | None:
    """(β, how far it was from its box, and from Σβ = 0, D, KKT violation, P, ends of the best intercepts) of a β that is repaired and scaled first.

    None where something is not finite.
    """
    y, cost, box, groups = problem.y, problem.cost, problem.dual, problem.groups
    beta = np.ascontiguousarray(beta, dtype=np.float64)
    if problem.table is not None:
        found = _from_table(*problem.table, y, cost, box, groups, problem.totals, beta)
    else:
        repaired = feasible(problem, beta)
        found = repaired + _bounds(y, cost, box, groups, repaired[0], problem.expand(repaired[0]))
    return found if math.isfinite(found[3]) and math.isfinite(found[5]) else None


@njit(cache=True, nogil=True, error_model="numpy")
def _from_table(gram, places, y, cost, box, groups, totals, beta):
    """``bounds`` where the entries are in a matrix."""
    repaired = feasible_of(box.lower, box.upper, groups, totals, True, beta)
    support = np.flatnonzero(repaired[0])
    f = picked_products(gram, places, places[support], repaired[0][support].reshape(-1, 1))
    return repaired + _bounds(y, cost, box, groups, repaired[0], f.reshape(-1))


@njit(cache=True, nogil=True, error_model="numpy")
def _bounds(y, cost, box, groups, beta, f):
    """(D, KKT violation, P, low, high) of the best multiple of a feasible β, with f = Kβ; writes both."""
    square, (p, epsilon, d, lower, upper) = 0.0, box
    for k in range(len(f)):
        square += beta[k] * f[k]
        if not math.isfinite(f[k]):
            square = np.nan
    if not math.isfinite(square):
        return np.nan, np.nan, np.nan, np.nan, np.nan
    scale, dual = best_multiple_of(p, epsilon, d, lower, upper, beta, square)
    if scale != 1.0:
        for k in range(len(f)):
            beta[k] = min(max(scale * beta[k], lower[k]), upper[k])  # scaling may round past a bound
            f[k] *= scale
        square *= scale * scale
    kkt = largest_violation(p, epsilon, d, lower, upper, beta, f, groups, 1, True)
    low, high = hinge_intercept(y, f, cost, 0.0)
    primal = 0.5 * square + hinge_total(y, f + 0.5 * (low + high), cost)
    return dual, kkt, primal, low, high
