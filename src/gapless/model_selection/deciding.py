"""Training on until the scores of a fit are decided: a fit goes on from where it ended, at an ever smaller tol."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from gapless.errors import UnsupportedError
from gapless.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from gapless.model_selection.fold import Answers
from gapless.model_selection.intervals import last_step

_OWN = (SVC, NuSVC, SVR, NuSVR, LinearSVC, LinearSVR)

AT = 1e-9
"""By hand: β that are so close to their bound, as a share of it, are at the bound."""
_LEAST_TOL = 1e-14  # float64 proves no smaller relative gap
_STEP = 1e-2  # what tol is multiplied by from one fit to the next: intervals, which shrink as its root, become ten times narrower
_LARGEST_STEP = 1e-6  # the same where the intervals tell that a smaller step would not do
_HIDDEN = 8.0  # by hand: a gap of so many times its rounding is proven without numbers of twice the digits, which take a thousand times as long


def answers_of(estimator: Any, X: Any) -> Answers | None:
    """What a fitted estimator, or a Pipeline that ends in one, answers for these rows; None where it has no intervals."""
    last, rows = last_step(estimator), X
    if not hasattr(last, "decision_interval"):
        return None
    if last is not estimator:
        for _, _, step in estimator._iter(with_final=False):
            rows = step.transform(rows)
    try:
        if type(last) in _OWN:
            low, high, predictions = last._answer(rows)
        else:  # a class of a user's, which may predict in its own way
            (low, high), predictions = last.decision_interval(rows), last.predict(rows)
    except UnsupportedError:  # a kernel that is given as a matrix
        return None
    return Answers(None, *around_middle(last, low, high), predictions, getattr(last, "classes_", None))


def around_middle(last: Any, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decision intervals of the optimum whose offset is in the middle, from those of all optima, where several offsets b are optimal.

    With a small C all α may be at their bound, and then an interval of b is optimal; estimators take its middle, as LIBSVM does. Both ends of that
    interval fall where decision values without b rise, and move with them where all move by the same amount: they move by no more than the largest
    change of a decision value, and so does the middle. Hence the half width of the interval, which ``decision_interval`` adds on both sides, is not
    needed for the optimum with the middle b, however many optima there are. In a ν-SVR b is the mean of two offsets, each with such an interval.

    All this holds where the costs on both sides are equal as they are stored. Where they differ by a rounding error, one end of the interval alone is
    optimal, and no proof tells which: then the intervals stay as wide as they are.
    """
    if all(begin == end for each in last.certificates_ for begin, end in each.offset_intervals):
        return low, high  # one offset is optimal, the usual case
    intervals = np.array([each.offset_intervals for each in last.certificates_])  # (subproblems, offsets of each, 2)
    if intervals.ndim != 3 or (intervals.shape[1] > 1 and not is_regressor(last)):
        return low, high  # no offsets, or those of several classes, of which a classifier makes other use
    half = 0.5 * (intervals[:, :, 1] - intervals[:, :, 0]).mean(axis=1)
    half[~np.isfinite(half)] = 0.0
    for k in np.flatnonzero(half).tolist():
        if not _is_balanced(last, k):
            half[k] = 0.0
    return low + half, high - half


def _is_balanced(last: Any, k: int) -> bool:
    """Whether the costs of the samples of subproblem k that are at their bounds are equal on both sides, to the last bit."""
    weights = getattr(last, "class_weight", None)
    if weights is None and not isinstance(last, SVC | SVR):
        return True  # a ν-form, or a linear machine, whose costs are all the same
    if isinstance(last, SVC):
        first, second = list(combinations(range(len(last.classes_)), 2))[k]
        cost = float(last.C) * last.class_weight_[[first, second]]
    elif isinstance(last, SVR):
        cost = np.full(2, float(last.C))
    else:
        return False
    beta = last._solved[k].beta
    # With weights of samples no bound is known here; then β say nothing of it, since they are made to cancel.
    bound = np.where(beta < 0, cost[0], cost[1])
    at = np.abs(beta) >= (1.0 - AT) * bound
    return bool((np.abs(beta) <= (1.0 + AT) * bound).all()) and is_balanced(beta[at], bound[at])


def is_balanced(beta: np.ndarray, cost: np.ndarray) -> bool:
    """Whether the costs of β below zero and those of β above zero have the same sum, to the last bit; those of others do not count."""
    return math.fsum(np.sign(beta) * cost) == 0.0


def decide(
    estimator: Any,
    fit: Callable[[], Any],
    X: Any,
    open_rows: Callable[[np.ndarray, np.ndarray], np.ndarray | None],
) -> Answers | None:
    """Train on until no test row is open, or until intervals no longer shrink; return what the estimator answers then for the test rows X.

    ``fit`` fits the estimator again, in place. It keeps its parameters.
    """
    answers, last = answers_of(estimator, X), last_step(estimator)
    tol = getattr(last, "tol", 0.0)
    while answers is not None:
        rows = open_rows(answers.low, answers.high)
        if rows is None or not rows.any() or tol <= _LEAST_TOL:
            break
        tol, before = next_tol(last, answers, rows, tol), answers
        with going_on(last, tol):
            fit()
        answers = answers_of(estimator, X)
        if answers is None or not have_shrunk(last, before, answers, rows):
            break
    return answers


def next_tol(last: Any, answers: Answers, rows: np.ndarray, tol: float) -> float:
    """The tol that a fit is to go on to which has met ``tol``, where these test rows are open."""
    # A fit may have come closer than its tol, and a tol that it meets already would not make it go on.
    reached = min(tol, last.certificate_.relative_gap)
    crossing = _crossing(last, answers, rows)
    step = _step(answers.low[crossing], answers.high[crossing]) if is_classifier(last) else _STEP
    return max(_LEAST_TOL, reached * step)


def least_tol(last: Any) -> float:
    """The least tol that float64 proves of the problems of a fitted estimator as far as its proofs tell, which count their rounding."""
    shares = [each.rounding / abs(each.primal) for each in last.certificates_ if each.primal]
    return max(_LEAST_TOL, _HIDDEN * max(shares, default=0.0))


def have_shrunk(last: Any, before: Answers, after: Answers, rows: np.ndarray) -> bool:
    """Whether intervals of rows that were open are half as wide as before, some of them at least: others will not shrink any more."""
    crossing = _crossing(last, before, rows)
    return bool(((after.high - after.low)[crossing] < 0.5 * (before.high - before.low)[crossing]).any())


class Few:
    """A callback that ends a fit after some checks: where proofs do not agree with what a solver thinks, each check costs as much as the solver."""

    eager = False  # whether checks are to be made for the callback's sake

    def __init__(self, checks: int) -> None:
        self._left = checks

    def __call__(self, progress: Any) -> bool:
        """Whether the fit is to end."""
        self._left -= 1
        return self._left <= 0


@contextmanager
def going_on(last: Any, tol: float, steps: float = math.inf, checks: int | None = None) -> Iterator[None]:
    """A fit goes on from the last one, to a smaller tol, and says nothing where it does not reach it; by so many steps and checks at most."""
    before = {name: getattr(last, name) for name in ("tol", "warm_start", "max_iter", "callback")}
    last.tol, last.warm_start, last._quiet, last._asked_tol = tol, True, True, last.tol
    if steps < math.inf and not 0 <= last.max_iter <= steps:
        last.max_iter = max(1, int(steps))
    if checks is not None and last.callback is None:
        last.callback = Few(checks)
    try:
        yield
    finally:
        vars(last).update(before)
        del last._quiet, last._asked_tol


def _crossing(last: Any, answers: Answers, rows: np.ndarray) -> np.ndarray:
    """The decision values of open rows; of a classifier those whose sign is open, unless the signs decide nothing."""
    if not is_classifier(last):
        return rows
    zero = (answers.low <= 0) & (answers.high >= 0)
    zero[~rows] = False
    if not zero.any():
        zero[rows] = True
    return zero


def _step(low: np.ndarray, high: np.ndarray) -> float:
    """What to multiply tol by: the square of what intervals have to shrink by until the value closest to zero is decided, within bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.nanmin(np.abs(low + high) / (high - low), initial=1.0)
    return float(np.clip((0.5 * needed) ** 2, _LARGEST_STEP, _STEP))
