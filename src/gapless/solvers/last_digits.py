"""The last digits of the dual point of a linear problem, where float64 has none left for them.

Where features are of scales that are far apart, or C is large, the terms of w = Σ βᵢxᵢ cancel: f of a sample on the margin is off by more than the
KKT violation that is asked for, and no method that sees w in float64 finds a better point. With w summed in twice the digits f is right. What is left
to do is small: the samples near the margin are a problem of their own, in which f moves by K δ alone, and a walk over its faces
(native/smo/face_walk.hpp) solves it. Since δ is small, so is what it is rounded by; what is left of the violation then is found from f once more
(iterative refinement, Wilkinson 1963).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.kernels.rounding import UNIT
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.kkt import at_bounds
from gapless.proof.twofold import is_affordable, linear_values, slope_violation

_ROUNDS = 4
_FREE, _NEAR = (
    500,
    250,
)  # the most samples between their bounds, and how many others near the margin take part: a walk then takes a moment
_WORK = 3e8  # of a walk, in entries touched: some tenths of a second
_SEEN = 0.01  # of the target: terms go through many roundings, and half of them hide what the other half does
_SHARE = 0.5  # of the target: what is proven afterwards is rounded once more


def is_blurred(problem: Problem, beta: np.ndarray, target: float) -> bool:
    """Whether the terms of w are so large that a rounding of each may be seen in a KKT violation of ``target``."""
    if not problem.is_linear:
        return False
    lengths, _ = problem.magnitudes
    return UNIT * float(lengths @ np.abs(beta)) * problem.largest >= _SEEN * target


def refined(problem: Problem, beta: np.ndarray, target: float, seconds: float = math.inf) -> np.ndarray | None:
    """A β with a KKT violation of at most ``target``, or at least a smaller one than ``beta`` has; None where none is found.

    Nothing is tried where there is a kernel, where more than a few hundred samples are between their bounds, or where it would take more than a
    second or two, or than ``seconds``.
    """
    box = problem.dual
    if not (problem.is_linear and isinstance(box, DualBox) and not problem.is_hard):
        return None
    if not is_affordable(problem, 3.0 * _ROUNDS, seconds):
        return None
    best, least = None, math.inf
    for k in range(_ROUNDS + 1):
        f = linear_values(problem, beta)
        violation = slope_violation(problem, beta, f)
        if violation < least:
            least = violation
            best = beta if k or violation <= target else None
        if least <= _SHARE * target or k == _ROUNDS:
            break
        near = _near_the_margin(problem, beta, f)
        if near is None:
            break
        beta = _walked(problem, box, beta, f, near, _SHARE * target)
    return best


def _near_the_margin(problem: Problem, beta: np.ndarray, f: np.ndarray) -> np.ndarray | None:
    """The places of the samples between their bounds and of those that are nearest to leaving theirs; None where the former are too many, or none."""
    at_lower, at_upper = at_bounds(problem, beta)
    rise, fall = (slope - f for slope in problem.loss.dual_slopes(problem.y, problem.cost, beta))
    free = ~(at_lower | at_upper) & (rise == fall)
    if not 0 < np.count_nonzero(free) <= _FREE:
        return None
    level = np.zeros(len(problem.totals))
    if problem.intercept == "free":
        for g in range(len(level)):
            mine = free & (problem.groups == g)
            level[g] = float(np.median(rise[mine])) if mine.any() else 0.0
    own = level[problem.groups]
    apart = np.minimum(np.where(at_upper, np.inf, np.abs(rise - own)), np.where(at_lower, np.inf, np.abs(fall - own)))
    with np.errstate(over="ignore"):  # the f of a sample of length zero does not move: it is infinitely far
        apart /= np.sqrt(problem.diagonal) + np.finfo(float).tiny  # a long sample's f moves far
    apart[free] = -1.0
    most = min(problem.n_samples, int(np.count_nonzero(free)) + _NEAR)
    return np.sort(np.argpartition(apart, most - 1)[:most])


def _walked(
    problem: Problem, box: DualBox, beta: np.ndarray, f: np.ndarray, near: np.ndarray, target: float
) -> np.ndarray:
    """β with the samples ``near`` at the optimum of their own problem, to ``target``, the others being as they are."""
    at_lower, at_upper = at_bounds(problem, beta)
    beta = np.where(at_lower, box.lower, np.where(at_upper, box.upper, beta))
    others = np.ones(len(beta), dtype=bool)
    others[near] = False
    totals = np.array([t - math.fsum(beta[others & (problem.groups == g)]) for g, t in enumerate(problem.totals)])
    rows = problem.X[near].astype(np.float64)
    products = rows @ rows.T
    K = np.ascontiguousarray(products.toarray() if sp.issparse(products) else products) + problem.shift
    part, part_f = beta[near], f[near]
    _native.smo_walk(
        DualBox(*(np.ascontiguousarray(each[near]) for each in box)), K.diagonal().copy(), K, np.ascontiguousarray(problem.groups[near]), totals,
        problem.intercept == "free", target, _WORK, part, part_f,
    )  # fmt: skip
    beta[near] = part
    return beta
