"""The engine that fits each candidate by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.utils.metaestimators import _safe_split

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

        return by_folds(fit_fold, (len(candidates), len(folds)), wishes, self.n_jobs)

    def fit_one(
        self, candidate: Candidate, params: dict[str, Any], rows: Fold, place: tuple[int, int], wishes: Wishes
    ) -> FittedCandidate:
        """One fit; ``params`` are the parameters of ``fit`` for the training rows of the fold, and ``place`` is (candidate, fold)."""
        estimator = with_parameters(self.estimator, candidate)
        start = time.perf_counter()
        X, y = _safe_split(estimator, self.X, self.y, rows[0])
        fitted = fit_timed(estimator, X, y, params, start, place)
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


def decided(
    fitted: FittedCandidate, fit_again: Callable[[], Any], X: Any, rows: Fold, wishes: Wishes, X_test: Any = None
) -> FittedCandidate:
    """The fit, trained on until its scores are decided, with its answers for the test rows, which are cut from X unless they are given."""
    train, test = rows
    if fitted.error is not None or not wishes.decides or not len(test):
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
) -> Iterator[FittedCandidate]:
    """The fits of all folds, ``n_jobs`` folds side by side; ``fit_fold(fold, places)`` fits candidates on a fold, and ``shape`` counts both.

    In a race the first fold shows which candidate is good; that one runs through all folds, and then the others have to keep up with it.
    """
    n_candidates, n_folds = shape
    every = list(range(n_candidates))
    if not wishes.races or n_folds < 2:
        yield from side_by_side(lambda fold: fit_fold(fold, every), n_folds, n_jobs)
        return
    yield from fit_fold(0, every)
    leader = wishes.by_promise()[:1]
    yield from side_by_side(lambda fold: fit_fold(fold + 1, leader), n_folds - 1, n_jobs)
    yield from side_by_side(lambda fold: fit_fold(fold + 1, wishes.by_promise()), n_folds - 1, n_jobs)
