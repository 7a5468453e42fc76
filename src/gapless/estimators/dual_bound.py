"""A dual point for a model that comes without a good one, without computing the kernel of all pairs of samples.

A dual point of some of the samples becomes a dual point of all samples, of the same value, by zeros for the others. Hence D of a given β needs the
kernel among the support vectors of β alone; and where its value is poor, the optimum of a few samples, solved exactly, is the better bound.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from gapless.errors import Interrupted
from gapless.estimators.deadline import Deadline
from gapless.kernels import Linear, Panels
from gapless.problems.problem import Problem
from gapless.proof.certificate import DualPoint, Point, evaluate
from gapless.proof.feasible import best_multiple, feasible
from gapless.solve import solve
from gapless.solvers.newton.row_sampling import box_of

# All by hand; they decide between bounds that are all valid.
_FEW, _SHARE = 4096, 8  # so many samples are solved exactly, but at most one of eight
_CLOSE = 1e-2  # the relative gap to which they are solved
_LOOK = 128  # from so many support vectors βᵀKβ is estimated
_MORE = 2.0  # D of many support vectors is computed where its estimate is this many times what the few prove


def dual_bound(problem: Problem, beta: np.ndarray, deadline: Deadline | None = None) -> DualPoint:
    """The better of two dual points: the optimum of a few samples, and the best multiple of β.

    Where β has many support vectors, its D is computed only if it is expected to prove much more, and to take no longer than the ``deadline`` leaves.
    After the deadline the dual point is zero.
    """
    deadline = Deadline(None) if deadline is None else deadline
    if deadline.is_over:
        return evaluate(problem, Point())[1]
    beta, box_violation, sum_violation = feasible(problem, beta)
    few = _few(problem, deadline.next_share())
    support = np.flatnonzero(beta)
    if len(support) > 2 * _FEW:
        began = perf_counter()
        expected = _expected(problem, beta)
        takes, left = (perf_counter() - began) * len(support) / _LOOK, deadline.next_share()
        if expected < _MORE * few.value or (left is not None and takes > left):
            return few
    part = None if deadline.is_over else sub_problem(problem, support)
    if part is None:
        return few
    point = evaluate(part, Point(beta=beta[support]))[1]
    point = replace(point, box_violation=box_violation, sum_violation=sum_violation, kkt_violation=np.nan)
    return max(few, _among(problem, support, point), key=lambda each: each.value)


def _few(problem: Problem, max_time: float | None) -> DualPoint:
    """The optimum of a few samples, as a dual point of all samples; zero where the few are of one class."""
    used = np.flatnonzero(problem.cost > 0)
    few = np.random.default_rng(0).permutation(used)[: min(_FEW, len(used) // _SHARE)]
    part = sub_problem(problem, few)
    if part is None:
        return evaluate(problem, Point())[1]
    try:
        found = solve(part, "smo", tol=_CLOSE, max_time=max_time).certified
    except Interrupted:  # the result that Interrupted carries is one of a few samples alone
        raise KeyboardInterrupt from None
    return _among(problem, few, DualPoint(found.certificate.dual, found.beta, 0.0, 0.0, np.nan))


def sub_problem(problem: Problem, rows: np.ndarray) -> Problem | None:
    """The problem of some samples alone; None where these samples are of one class."""
    y = problem.y[rows]
    if not len(rows) or (problem.loss.task == "classification" and abs(y.sum()) == len(rows)):
        return None
    return Problem(
        problem.X[rows],
        y,
        loss=problem.loss,
        kernel=problem.kernel,
        C=1.0,
        sample_weight=problem.cost[rows],
        intercept=problem.intercept,
        intercept_scale=problem.intercept_scale,
    )


def _expected(problem: Problem, beta: np.ndarray) -> float:
    """An estimate of D of the best multiple of β, from some of the terms of βᵀKβ."""
    support = np.flatnonzero(beta)
    if not len(support):
        return 0.0
    some = np.random.default_rng(0).permutation(support)[:_LOOK]
    f = Panels(problem.kernel or Linear(), problem.X, rows=support).apply(problem.X[some], beta[support])
    square = float(beta[some] @ f) * len(support) / len(some) + problem.shift * float(beta.sum()) ** 2
    return best_multiple(box_of(problem), beta, square)[1]


def _among(problem: Problem, rows: np.ndarray, point: DualPoint) -> DualPoint:
    """A dual point of some samples as a dual point of all samples."""
    beta = np.zeros(problem.n_samples)
    beta[rows] = point.beta
    return replace(point, beta=beta)
