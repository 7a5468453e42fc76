"""The fits of LinearSVC and LinearSVR that share their work: the rows of a fold are cut and checked once, and each C begins where the last one ended.

Candidates that differ in C alone are a chain: their problems are the same but for the costs, and are solved in the order of C, each from the solution
of the one before (``estimators/linear_fold.py``). What is out of the ordinary is fitted one by one, and so is again whatever fails in a chain, or
ends early: the estimator by itself then says what is wrong.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils._array_api import get_namespace
from sklearn.utils.metaestimators import _safe_split

from gapless.estimators.linear_fold import LinearFold
from gapless.model_selection.deciding import answers_of
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
from gapless.model_selection.one_by_one import OneByOne, by_folds, decided, jobs_of


class LinearChains:
    """Fits candidates of :class:`gapless.LinearSVC` or :class:`gapless.LinearSVR`; ``n_jobs`` folds are worked on side by side."""

    def __init__(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None = None) -> None:
        self.estimator, self.X, self.y, self.fit_params, self.n_jobs = estimator, X, y, fit_params, n_jobs
        self._alone = OneByOne(estimator, X, y, fit_params, n_jobs)

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared, and on what is not."""
        shared = sum(map(len, self._chains(candidates)))
        if not shared:
            return self._alone.explain(candidates)
        name, rest = type(self.estimator).__name__, candidates[shared:]  # of which only the number counts
        return (
            f"{name}: candidates share the checked rows of a fold, and those that differ in C alone go on from a smaller C to a larger one."
            f"{f' {counted(rest)} not among them.' if rest else ''}"
        )

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, fold by fold: in a fold chain by chain, then those that share nothing."""
        chains = self._chains(candidates)
        chained = {place for chain in chains for place in chain}

        def fit_fold(fold: int, places: list[int]) -> Iterator[FittedCandidate]:
            start, among = time.perf_counter(), set(places)
            params = fold_params(self.X, self.fit_params, folds[fold][0])
            rows = self._rows(params, folds[fold], wishes) if chained & among else None
            part = (time.perf_counter() - start) / max(1, len(chained & among))
            for chain in chains:
                if rows is not None:
                    rows.begin_chain()
                for place in chain:
                    if place in among and wishes.begin(place, fold):
                        at = place, fold
                        own = (
                            None if rows is None else self._next(candidates[place], rows, folds[fold], at, wishes, part)
                        )
                        yield own or self._alone.fit_one(candidates[place], params, folds[fold], at, wishes)
            for place in places:
                if place not in chained and wishes.begin(place, fold):
                    yield self._alone.fit_one(candidates[place], params, folds[fold], (place, fold), wishes)

        jobs = jobs_of(self.n_jobs, self.estimator, self.X, wishes)
        return by_folds(fit_fold, (len(candidates), len(folds)), wishes, jobs)

    def _chains(self, candidates: list[Candidate]) -> list[list[int]]:
        """The places of candidates that differ in C alone, by C."""
        if self.fit_params.keys() - {"sample_weight"} or self.y is None or get_namespace(self.X, self.y)[1]:
            return []
        chains: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for place, candidate in enumerate(candidates):
            estimator = with_parameters(self.estimator, candidate)
            if _is_ordinary(estimator):
                params = estimator.get_params(deep=False)
                chains[repr([params[name] for name in sorted(params) if name != "C"])].append((estimator.C, place))
        return [[place for _, place in sorted(chain)] for chain in chains.values()]

    def _rows(self, params: dict[str, Any], rows: Fold, wishes: Wishes) -> LinearFold | None:
        """The rows of a fold, checked; None where they do not pass, as each fit then says."""
        train, test = rows
        try:
            fold = LinearFold(type(self.estimator)(), *_safe_split(self.estimator, self.X, self.y, train), **params)
            if wishes.needs_intervals and len(test):
                fold.take_test(_safe_split(self.estimator, self.X, None, test, train)[0])
        except Exception:
            return None
        return fold

    def _next(
        self, candidate: Candidate, rows: LinearFold, fold: Fold, place: tuple[int, int], wishes: Wishes, part: float
    ) -> FittedCandidate | None:
        """The fit of the next candidate of a chain; None where it fails or ends early.

        ``part`` is its share of the seconds that the preparation of the rows took.
        """
        estimator = with_parameters(self.estimator, candidate)
        estimator._fold, estimator._quiet = rows, True
        fitted = fit_timed(estimator, rows.X, rows.y, {}, time.perf_counter() - part, place)
        if fitted.error is not None or not all(solved.proven for solved in estimator._solved):
            return None
        del estimator._quiet
        if wishes.decides:
            again = partial(fit_in_place, estimator, rows.X, rows.y, {})
            fitted = decided(fitted, again, self.X, fold, wishes, rows.test)
        elif rows.test is not None:
            fitted = replace(fitted, answers=answers_of(estimator, rows.test))
        rows.end_fit(estimator.C, estimator._solved)
        del estimator._fold
        return fitted


def _is_ordinary(estimator: Any) -> bool:
    """Whether a fit with these parameters may begin from another one, without anybody watching."""
    finite = isinstance(estimator.C, (int, float, np.integer, np.floating)) and 0 < float(estimator.C) < np.inf
    sparse = getattr(estimator, "penalty", "l2") == "l1" and estimator.multi_class == "ovr"
    return (
        finite
        and not sparse
        and isinstance(estimator.solver, str)
        and estimator.solver == "auto"
        and estimator.max_time is None
        and estimator.callback is None
        and not estimator.verbose
        and not estimator.warm_start
    )
