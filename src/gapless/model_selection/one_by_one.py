"""The engine that fits each candidate by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from gapless.machine import thread_count
from gapless.model_selection.deciding import decide, going_on
from gapless.model_selection.fold import (
    Candidate,
    FittedCandidate,
    Fold,
    Wishes,
    counted,
    fit_in_place,
    fit_timed,
    fold_params,
    with_parameters,
)
from gapless.model_selection.intervals import last_step
from gapless.model_selection.side_by_side import side_by_side
from gapless.model_selection.work import features_of, steps_within
from gapless.result import Status
from gapless.solvers import SMO

# Both by hand: samples from which on a fit with a kernel takes several times as long as its objects and checks, which hold the interpreter's lock;
# and entries of X from which on a pass over them, of which a linear machine makes some ten between its checks, is longer than the wait for that lock.
_LONG, _MANY = 2000, 1e6


class OneByOne:
    """Fits each candidate by itself, which is all that scikit-learn does; ``n_jobs`` folds are worked on side by side."""

    def __init__(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None = None) -> None:
        self.estimator, self.X, self.y, self.fit_params, self.n_jobs = estimator, X, y, fit_params, n_jobs

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, fold by fold."""

        def fit_fold(fold: int, places: list[int]) -> Iterator[FittedCandidate]:
            params = fold_params(self.X, self.fit_params, folds[fold][0])
            for place in places:
                if wishes.begin(place, fold):
                    yield self.fit_one(candidates[place], params, folds[fold], (place, fold), wishes)

        own = all(isinstance(candidate.get("kernel", ""), str) for candidate in candidates)
        jobs = jobs_of(self.n_jobs, self.estimator, self.X, wishes) if own else self.n_jobs
        parts = len(candidates) if jobs != self.n_jobs else 1
        return by_folds(fit_fold, (len(candidates), len(folds)), wishes, jobs, parts)

    def fit_one(
        self, candidate: Candidate, params: dict[str, Any], rows: Fold, place: tuple[int, int], wishes: Wishes
    ) -> FittedCandidate:
        """One fit; ``params`` are the parameters of ``fit`` for the training rows of the fold, and ``place`` is (candidate, fold)."""
        estimator = with_parameters(self.estimator, candidate)
        start = time.perf_counter()
        X, y = _safe_split(estimator, self.X, self.y, rows[0])
        fitted = fit_within(estimator, X, y, params, start, place, wishes)
        return decided(fitted, partial(fit_in_place, estimator, X, y, params), self.X, rows, wishes)

    def go_on(
        self, candidate: Candidate, rows: Fold, place: tuple[int, int], start: Any, tol: float, **bounds: Any
    ) -> FittedCandidate:
        """A fit that goes on from where it ended, to a smaller tol; ``bounds`` are those of :func:`~gapless.model_selection.deciding.going_on`."""
        estimator = with_parameters(self.estimator, candidate)
        began = time.perf_counter()
        last = last_step(estimator)
        last._solved = start
        with going_on(last, tol, **bounds):
            X, y = _safe_split(estimator, self.X, self.y, rows[0])
            return fit_timed(estimator, X, y, fold_params(self.X, self.fit_params, rows[0]), began, place)

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared: nothing."""
        verb = "is" if len(candidates) == 1 else "are"
        return f"{type(self.estimator).__name__}: {counted(candidates)} {verb} fitted one by one."


def fit_within(
    estimator: Any, X: Any, y: Any, params: dict[str, Any], start: float, place: tuple[int, int], wishes: Wishes
) -> FittedCandidate:
    """Fit the estimator in place, within the work that is allowed for it; ``start`` is when that began, and ``place`` its (candidate, fold)."""
    last = last_step(estimator)
    with _at_most(last, wishes.most_work(place[0]), _num_samples(X)) as is_bounded:
        fitted = fit_timed(estimator, X, y, params, start, place)
    if not is_bounded or fitted.error is not None:
        return fitted
    return replace(fitted, stopped=any(each.status is Status.MAX_ITER for each in last._solved))


@contextmanager
def _at_most(last: Any, most: float, samples: int) -> Iterator[bool]:
    """A fit ends, without a word, where it has taken so much work; whether this is less than what it would end at anyway.

    The rows that a linear machine reads are bounded by its own ``max_iter``.
    """
    before = getattr(last, "max_iter", None)
    steps = max(1, int(min(steps_within(most, samples), SMO.max_iter)))
    is_bounded = most < np.inf and hasattr(last, "kernel") and before is not None and not 0 <= before <= steps
    if is_bounded:
        last.max_iter, last._quiet = steps, True
    try:
        yield is_bounded
    finally:
        if is_bounded:
            last.max_iter = before
            del last._quiet


def decided(
    fitted: FittedCandidate, fit_again: Callable[[], Any], X: Any, rows: Fold, wishes: Wishes, X_test: Any = None
) -> FittedCandidate:
    """The fit, trained on until its scores are decided, with its answers for the test rows, which are cut from X unless they are given."""
    train, test = rows
    if fitted.error is not None or fitted.stopped or not wishes.decides or not len(test):
        return fitted
    start, error, answers = time.perf_counter(), None, None
    try:
        if X_test is None:
            X_test, _ = _safe_split(fitted.estimator, X, None, test, train)
        open_rows = partial(wishes.open_rows, fitted.candidate, fitted.fold)
        answers = decide(fitted.estimator, fit_again, X_test, open_rows)
    except Exception as raised:
        error = raised
    return replace(fitted, answers=answers, error=error, fit_time=fitted.fit_time + time.perf_counter() - start)


def by_folds(
    fit_fold: Callable[[int, list[int]], Iterator[FittedCandidate]],
    shape: tuple[int, int],
    wishes: Wishes,
    n_jobs: int | None,
    parts: int = 1,
) -> Iterator[FittedCandidate]:
    """The fits of all folds, ``n_jobs`` folds side by side; ``fit_fold(fold, places)`` fits candidates on a fold, and ``shape`` counts both.

    In a race the first fold shows which candidate is good; that one runs through all folds, and then the others have to keep up with it. Without one
    the candidates of a fold may be in several ``parts``, which have nothing in common.
    """
    n_candidates, n_folds = shape
    every = list(range(n_candidates))
    if not wishes.races or n_folds < 2:
        parts = max(1, min(parts, n_candidates))
        yield from side_by_side(lambda k: fit_fold(k % n_folds, every[k // n_folds :: parts]), n_folds * parts, n_jobs)
        return
    yield from fit_fold(0, every)
    leader = wishes.by_promise()[:1]
    yield from side_by_side(lambda fold: fit_fold(fold + 1, leader), n_folds - 1, n_jobs)
    yield from side_by_side(lambda fold: fit_fold(fold + 1, wishes.by_promise()), n_folds - 1, n_jobs)


def jobs_of(n_jobs: int | None, estimator: Any, X: Any, wishes: Wishes) -> int | None:
    """How many folds are worked on side by side: ``n_jobs``; where that is None and fits are long, as many as one fit would use threads.

    A fit by itself keeps several threads busy for a part of its time only. What a user has written, such as a kernel or a callback, is called from
    one thread unless more are asked for, and a race does not depend on time.
    """
    last = last_step(estimator)
    if n_jobs is not None or wishes.races or effective_n_jobs(n_jobs) > 1 or last is not estimator:
        return n_jobs
    ours = (
        type(last).__module__.partition(".")[0] == "gapless"
        and isinstance(getattr(last, "kernel", ""), str)
        and all(getattr(last, name, None) is None for name in ("callback", "approximation", "max_time"))
    )
    n = _num_samples(X)
    is_long = n >= _LONG if hasattr(last, "kernel") else n * features_of(X) >= _MANY
    return thread_count() if ours and is_long else n_jobs
