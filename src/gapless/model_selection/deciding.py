"""Training on until the scores of a fit are decided: a fit goes on from where it ended, at an ever smaller tol."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gapless.errors import UnsupportedError
from gapless.model_selection.fold import Answers
from gapless.model_selection.intervals import last_step

_LEAST_TOL = 1e-14  # float64 proves no smaller relative gap
_STEP = 1e-2  # what tol is multiplied by from one fit to the next: intervals, which shrink as its root, become ten times narrower
_LARGEST_STEP = 1e-6  # the same where the intervals tell that a smaller step would not do


def answers_of(estimator: Any, X: Any) -> Answers | None:
    """What a fitted estimator, or a Pipeline that ends in one, answers for these rows; None where it has no intervals."""
    last = last_step(estimator)
    if not hasattr(last, "decision_interval"):
        return None
    if last is not estimator:
        for _, _, step in estimator._iter(with_final=False):
            X = step.transform(X)
    try:
        low, high = last.decision_interval(X)
    except UnsupportedError:  # a kernel that is given as a matrix
        return None
    return Answers(None, low, high, last.predict(X), getattr(last, "classes_", None))


def decide(
    estimator: Any,
    fit: Callable[[], Any],
    X: Any,
    open_rows: Callable[[np.ndarray, np.ndarray], np.ndarray | None],
) -> Answers | None:
    """Train on until no test row is open, or until intervals no longer shrink; return what the estimator answers then for the test rows X.

    ``fit`` fits the estimator again, in place. It keeps its parameters.
    """
    answers = answers_of(estimator, X)
    last = last_step(estimator)
    tol = getattr(last, "tol", 0.0)
    while answers is not None:
        rows = open_rows(answers.low, answers.high)
        if rows is None or not rows.any():
            break
        crossing = _crossing(answers, rows) if is_classifier(last) else np.s_[rows]
        width = (answers.high - answers.low)[crossing]
        tol *= _step(answers, crossing) if is_classifier(last) else _STEP
        if tol < _LEAST_TOL or not width.size:
            break
        with _going_on(last, tol):
            fit()
        answers = answers_of(estimator, X)
        if answers is None or not ((answers.high - answers.low)[crossing] < 0.5 * width).any():
            break
    return answers


@contextmanager
def _going_on(last: Any, tol: float) -> Any:
    """A fit goes on from the last one, to a smaller tol, and says nothing where it does not reach it."""
    before = last.tol, last.warm_start
    last.tol, last.warm_start, last._quiet = tol, True, True
    try:
        yield
    finally:
        last.tol, last.warm_start = before
        del last._quiet


def _crossing(answers: Answers, rows: np.ndarray) -> np.ndarray:
    """The decision values of open rows whose sign is open; all decision values of these rows where the signs decide nothing."""
    zero = (answers.low <= 0) & (answers.high >= 0)
    zero[~rows] = False
    if not zero.any():
        zero[rows] = True
    return zero


def _step(answers: Answers, crossing: np.ndarray) -> float:
    """What to multiply tol by: the square of what intervals have to shrink by until the value closest to zero is decided, within bounds."""
    low, high = answers.low[crossing], answers.high[crossing]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.nanmin(np.abs(low + high) / (high - low), initial=1.0)
    return float(np.clip((0.5 * needed) ** 2, _LARGEST_STEP, _STEP))
