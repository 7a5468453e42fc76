"""Training on until the scores of a fit are decided: a fit goes on from where it ended, at an ever smaller tol."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from gapless.errors import UnsupportedError
from gapless.model_selection.fold import Answers
from gapless.model_selection.intervals import last_step

_LEAST_TOL = 1e-14  # float64 proves no smaller relative gap
_STEP = 1e-2  # what tol is multiplied by from one fit to the next: intervals, which shrink as its root, become ten times narrower
_LARGEST_STEP = 1e-6  # the same where the intervals tell that a smaller step would not do


def answers_of(estimator: Any, X: Any) -> Answers | None:
    """What a fitted estimator, or a Pipeline that ends in one, answers for these rows; None where it has no intervals."""
    ends = _intervals_of(estimator, X)
    return None if ends is None else _answers(estimator, X, *ends)


def _answers(estimator: Any, X: Any, low: np.ndarray, high: np.ndarray) -> Answers:
    return Answers(None, low, high, estimator.predict(X), getattr(estimator, "classes_", None))


def _intervals_of(estimator: Any, X: Any) -> tuple[np.ndarray, np.ndarray] | None:
    last = last_step(estimator)
    if not hasattr(last, "decision_interval"):
        return None
    if last is not estimator:
        for _, _, step in estimator._iter(with_final=False):
            X = step.transform(X)
    try:
        return around_middle(last, *last.decision_interval(X))
    except UnsupportedError:  # a kernel that is given as a matrix
        return None


def around_middle(last: Any, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decision intervals of the optimum whose offset is in the middle, from those of all optima, where several offsets b are optimal.

    With a small C all α may be at their bound, and then an interval of b is optimal; estimators take its middle, as LIBSVM does. Both ends of that
    interval fall where decision values without b rise, and move with them where all move by the same amount: they move by no more than the largest
    change of a decision value, and so does the middle. Hence the half width of the interval, which ``decision_interval`` adds on both sides, is not
    needed for the optimum with the middle b, however many optima there are. In a ν-SVR b is the mean of two offsets, each with such an interval.
    """
    intervals = np.array([each.offset_intervals for each in last.certificates_])  # (subproblems, offsets of each, 2)
    if intervals.ndim != 3 or (intervals.shape[1] > 1 and not is_regressor(last)):
        return low, high  # no offsets, or those of several classes, of which a classifier makes other use
    half = 0.5 * (intervals[:, :, 1] - intervals[:, :, 0]).mean(axis=1)
    half[~np.isfinite(half)] = 0.0
    return low + half, high - half


def decide(
    estimator: Any,
    fit: Callable[[], Any],
    X: Any,
    open_rows: Callable[[np.ndarray, np.ndarray], np.ndarray | None],
) -> Answers | None:
    """Train on until no test row is open, or until intervals no longer shrink; return what the estimator answers then for the test rows X.

    ``fit`` fits the estimator again, in place. It keeps its parameters.
    """
    ends = _intervals_of(estimator, X)
    last = last_step(estimator)
    tol = getattr(last, "tol", 0.0)
    while ends is not None:
        low, high = ends
        rows = open_rows(low, high)
        if rows is None or not rows.any():
            break
        crossing = _crossing(low, high, rows) if is_classifier(last) else rows
        if tol <= _LEAST_TOL:
            break
        # A fit may have come closer than its tol, and a tol that it meets already would not make it go on.
        reached = min(tol, last.certificate_.relative_gap)
        tol = max(_LEAST_TOL, reached * (_step(low[crossing], high[crossing]) if is_classifier(last) else _STEP))
        with _going_on(last, tol):
            fit()
        ends = _intervals_of(estimator, X)
        if ends is None or not ((ends[1] - ends[0])[crossing] < 0.5 * (high - low)[crossing]).any():
            break
    return None if ends is None else _answers(estimator, X, *ends)


@contextmanager
def _going_on(last: Any, tol: float) -> Any:
    """A fit goes on from the last one, to a smaller tol, and says nothing where it does not reach it."""
    before = last.tol, last.warm_start
    last.tol, last.warm_start, last._quiet, last._asked_tol = tol, True, True, before[0]
    try:
        yield
    finally:
        last.tol, last.warm_start = before
        del last._quiet, last._asked_tol


def _crossing(low: np.ndarray, high: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The decision values of open rows whose sign is open; all decision values of these rows where the signs decide nothing."""
    zero = (low <= 0) & (high >= 0)
    zero[~rows] = False
    if not zero.any():
        zero[rows] = True
    return zero


def _step(low: np.ndarray, high: np.ndarray) -> float:
    """What to multiply tol by: the square of what intervals have to shrink by until the value closest to zero is decided, within bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.nanmin(np.abs(low + high) / (high - low), initial=1.0)
    return float(np.clip((0.5 * needed) ** 2, _LARGEST_STEP, _STEP))
