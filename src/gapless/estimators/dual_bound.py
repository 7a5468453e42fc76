"""A dual point for a model that comes without a good one, at a price that does not depend on all pairs of samples.

A dual point of some of the samples is one of all, with zeros elsewhere and of the same value. So D of a given β needs the kernel among its support
vectors alone; and where that value is poor, the optimum of a few samples, solved exactly, is the better bound.
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

_FEW, _SHARE = 4096, 8  # samples that are solved exactly: so many, or one of so many
_CLOSE = 1e-2  # relative gap to which they are
_LOOK = 128  # support vectors whose values tell βᵀKβ roughly
_MORE = 2.0  # times what few samples prove, for many support vectors to be worth their own proof


def dual_bound(problem: Problem, beta: np.ndarray, deadline: Deadline | None = None) -> DualPoint:
    """The better of the optimum of a few samples and the best multiple of β; of many support vectors only where it is expected to prove much more.

    After the ``deadline`` zero has to do, and support vectors count only where their part is expected to take no longer than what is left.
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
    """The optimum of a few samples, and zero where they are of one class."""
    used = np.flatnonzero(problem.cost > 0)
    few = np.random.default_rng(0).permutation(used)[: min(_FEW, len(used) // _SHARE)]
    part = sub_problem(problem, few)
    if part is None:
        return evaluate(problem, Point())[1]
    try:
        found = solve(part, "smo", tol=_CLOSE, max_time=max_time).certified
    except Interrupted:  # its result is none of the whole problem
        raise KeyboardInterrupt from None
    return _among(problem, few, DualPoint(found.certificate.dual, found.beta, 0.0, 0.0, np.nan))


def sub_problem(problem: Problem, rows: np.ndarray) -> Problem | None:
    """The problem of some samples alone; None where they are of one class."""
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
    """D of the best multiple of β, roughly: βᵀKβ by some of its terms."""
    support = np.flatnonzero(beta)
    if not len(support):
        return 0.0
    some = np.random.default_rng(0).permutation(support)[:_LOOK]
    f = Panels(problem.kernel or Linear(), problem.X, rows=support).apply(problem.X[some], beta[support])
    square = float(beta[some] @ f) * len(support) / len(some) + problem.shift * float(beta.sum()) ** 2
    return best_multiple(box_of(problem), beta, square)[1]


def _among(problem: Problem, rows: np.ndarray, point: DualPoint) -> DualPoint:
    """A dual point of some samples as one of all."""
    beta = np.zeros(problem.n_samples)
    beta[rows] = point.beta
    return replace(point, beta=beta)
