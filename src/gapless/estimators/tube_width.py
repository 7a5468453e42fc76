"""Where the pairs of a linear ν-SVR begin: at the ε-insensitive regression whose tube has the width that ν asks for.

The ν-SVR is the ε-insensitive regression at one width ε of the tube, at which Σ|β| = Cνn. Σ|β| falls as ε grows, and methods for linear models solve
each width in a moment, where pairs take thousands of steps for a digit. The widths are searched by false position. The solutions of the two widths
next to the right one have one mean with exactly the right Σ|β|.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.errors import GaplessError, Interrupted
from gapless.estimators.stages import BEGUN, going_on_from, least_work_of_pairs, rest
from gapless.losses import EpsilonInsensitive, Shortfall
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers import Solver
from gapless.solvers.choose import expected_costs

_CLOSE = 1e-3  # a share of Cνn: where Σ|β| of both widths is so near to it, pairs have hardly anything left to do
_WIDTHS = 16  # the most widths; false position mostly takes six
_INNER = 0.05  # a width keeps at least this share of its bracket's length from both ends
_STRICTER = 0.1  # times tol: the gap to which a width is solved


def solve_by_width(problem: Problem, pairs: Solver, **options: Any) -> Result:
    """Solve a linear ν-SVR by pairs that begin at the right width; ``options`` are those of :func:`gapless.solve`.

    Where samples are dense and wide, so that pairs may be done before two widths are (``stages.py``), a few pairs for each sample are tried first.
    """
    assert isinstance(problem.loss, Shortfall)
    n, began = problem.n_samples // 2, time.perf_counter()
    X = problem.X[:n]
    width = _first_width(problem.loss.target[:n])
    one = _at_width(problem, n, width)
    first = None
    if not sp.issparse(X) and least_work_of_pairs(X) <= min(expected_costs(one, options["tol"]).values()):
        first = solve(problem, pairs, **{**options, "max_iter": BEGUN * n})
        if first.status is not Status.MAX_ITER:
            return first
    point = begin_at_width(problem, options["tol"], rest(options, began)["max_time"])
    if first is None:
        return solve(problem, pairs, **{**options, "start": point, **rest(options, began)})
    return going_on_from(first, problem, pairs, began, options, start=first if point is None else point)


def begin_at_width(problem: Problem, tol: float, max_time: float | None) -> Point | None:
    """The point at which pairs begin; None where no width could be solved in time."""
    assert isinstance(problem.loss, Shortfall)
    n = problem.n_samples // 2
    y = problem.loss.target[:n]
    goal, ends = float(problem.totals[0] - problem.totals[1]), time.perf_counter() + (max_time or np.inf)
    above = below = None  # β at the widest tube that has too much weight, and at the narrowest one that has too little
    low, high = 0.0, float(np.ptp(y))
    surplus, lack = 0.0, goal
    width, start = _first_width(y), None
    for _ in range(_WIDTHS):
        left = ends - time.perf_counter()
        if left <= 0 or not 0 < width < high:
            break
        stated = _at_width(problem, n, width)
        try:
            result = solve(
                stated, tol=_STRICTER * tol, start=start, in_samples=True, max_time=None if left == np.inf else left
            )
        except Interrupted:  # the result that Interrupted carries is one of another problem
            raise KeyboardInterrupt from None
        except GaplessError:  # a system may hold numbers that are too large; pairs do not need one
            break
        start, beta = result, result.certified.beta
        off = float(np.abs(beta).sum()) - goal
        if off >= 0:
            low, surplus, above = width, off, beta
        else:
            high, lack, below = width, -off, beta
        if off == 0 or (above is not None and below is not None and max(surplus, lack) <= _CLOSE * goal):
            break
        share = 0.5 if above is None else min(max(surplus / (surplus + lack), _INNER), 1.0 - _INNER)
        width = low + share * (high - low)
    found = [
        np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)]) for beta in (above, below) if beta is not None
    ]
    if len(found) == 2:
        return Point(beta=(lack * found[0] + surplus * found[1]) / (lack + surplus))
    return Point(beta=found[0]) if found else None


def _first_width(y: np.ndarray) -> float:
    return 0.5 * float(np.abs(y - np.median(y)).mean())


def _at_width(problem: Problem, n: int, width: float) -> Problem:
    """The ε-insensitive regression at a width."""
    assert isinstance(problem.loss, Shortfall)
    y, loss = problem.loss.target[:n], EpsilonInsensitive(width)
    return Problem(problem.X[:n], y, loss=loss, C=1.0, sample_weight=problem.cost[:n])
