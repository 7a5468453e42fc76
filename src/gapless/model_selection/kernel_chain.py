"""The fits of ν-forms that share their work: the rows of a fold are cut and checked once, and each ν begins where the last one ended.

Candidates that differ in ν alone (of a NuSVR in C as well) have their kernel in common, so that small ones also share its entries. They are a chain:
each begins from the solution of the one before (``estimators/kernel_fold.py``), in the order of ν, of which a small one has few support vectors and
takes the least. What is out of the ordinary is fitted one by one.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.utils._array_api import get_namespace
from sklearn.utils.metaestimators import _safe_split

from gapless.estimators.kernel_fold import KernelFold
from gapless.estimators.parameters import check_parameters
from gapless.model_selection.deciding import answers_of
from gapless.model_selection.fold import (
    Candidate,
    FittedCandidate,
    Fold,
    Wishes,
    counted,
    fit_in_place,
    fold_params,
    with_parameters,
)
from gapless.model_selection.one_by_one import OneByOne, by_folds, decided, fit_within, jobs_of
from gapless.model_selection.side_by_side import side_by_side


class KernelChains:
    """Fits candidates of NuSVC, NuSVR or OneClassSVM; ``n_jobs`` folds are worked on side by side."""

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
            f"{name}: candidates share the checked rows of a fold, and those with one kernel go on from a smaller nu to a larger one."
            f"{f' {counted(rest)} not among them.' if rest else ''}"
        )

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, fold by fold: in a fold chain by chain, then those that share nothing."""
        chains = self._chains(candidates)
        if not chains:
            yield from self._alone.fit_all(candidates, folds, wishes)
            return
        chained = {place for chain in chains for place in chain}

        def fit_fold(fold: int, places: list[int]) -> Iterator[FittedCandidate]:
            start, among = time.perf_counter(), set(places)
            params = fold_params(self.X, self.fit_params, folds[fold][0])
            rows = self._rows(folds[fold], wishes) if chained & among else None
            part = (time.perf_counter() - start) / max(1, len(chained & among))
            for chain in chains:
                if rows is not None:
                    rows.begin_chain()
                for place in chain:
                    if place in among and wishes.begin(place, fold):
                        at = place, fold
                        if rows is None:
                            yield self._alone.fit_one(candidates[place], params, folds[fold], at, wishes)
                        else:
                            yield self._next(candidates[place], params, rows, folds[fold], at, wishes, part)
            for place in places:
                if place not in chained and wishes.begin(place, fold):
                    yield self._alone.fit_one(candidates[place], params, folds[fold], (place, fold), wishes)

        shape, jobs = (len(candidates), len(folds)), jobs_of(self.n_jobs, self.estimator, self.X, wishes)
        if wishes.races or jobs == self.n_jobs:
            yield from by_folds(fit_fold, shape, wishes, jobs)
            return
        # Chains have nothing in common, so that the threads are kept busy to the end.
        parts = [*chains, *([place] for place in range(len(candidates)) if place not in chained)]
        yield from side_by_side(
            lambda k: fit_fold(k % len(folds), parts[k // len(folds)]), len(folds) * len(parts), jobs
        )

    def _chains(self, candidates: list[Candidate]) -> list[list[int]]:
        """The places of candidates that differ in ν alone, in its order; of those that differ in C alone, in the order of C."""
        if self.fit_params.keys() - {"sample_weight"} or get_namespace(self.X, self.y)[1]:
            return []
        chains: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
        kernels: dict[str, set[float]] = defaultdict(set)
        ordinary: list[tuple[str, str, tuple[float, float, int]]] = []
        for place, candidate in enumerate(candidates):
            estimator = with_parameters(self.estimator, candidate)
            if _is_ordinary(estimator):
                params = estimator.get_params(deep=False)
                kernel = repr([params[name] for name in sorted(params) if name not in ("nu", "C")])
                at = float(params.get("C", 1.0)), float(params["nu"]), place
                kernels[kernel].add(at[1])
                ordinary.append((kernel, f"{kernel} {at[0]!r}", at))
        for kernel, own, at in ordinary:
            chains[own if len(kernels[kernel]) > 1 else kernel].append(at)
        return [[place for _, _, place in sorted(chain)] for chain in chains.values()]

    def _rows(self, rows: Fold, wishes: Wishes) -> KernelFold | None:
        """The rows of a fold, checked; None where they do not pass, as each fit then says."""
        train, test = rows
        try:
            X, y = _safe_split(self.estimator, self.X, self.y, train)
            fold = KernelFold(type(self.estimator)(), X, y)
            if wishes.needs_intervals and len(test):
                fold.take_test(_safe_split(self.estimator, self.X, None, test, train)[0])
        except Exception:
            return None
        return fold

    def _next(
        self,
        candidate: Candidate,
        params: dict[str, Any],
        rows: KernelFold,
        fold: Fold,
        place: tuple[int, int],
        wishes: Wishes,
        part: float,
    ) -> FittedCandidate:
        """The fit of the next candidate of a chain; ``part`` is its share of the seconds that the preparation of the rows took."""
        estimator = with_parameters(self.estimator, candidate)
        estimator._fold = rows
        try:
            fitted = fit_within(estimator, rows.X, rows.y, params, time.perf_counter() - part, place, wishes)
            if fitted.error is None and not fitted.stopped:
                rows.end_fit(estimator._solved)
                if wishes.decides:
                    again = partial(fit_in_place, estimator, rows.X, rows.y, params)
                    fitted = decided(fitted, again, self.X, fold, wishes, rows.test)
                elif rows.test is not None:
                    fitted = replace(fitted, answers=answers_of(estimator, rows.test))
        finally:
            del estimator._fold
        return fitted


def _is_ordinary(estimator: Any) -> bool:
    """Whether a fit with these parameters may begin from another one, without anybody watching."""
    try:
        check_parameters(estimator, estimator._rules)
    except ValueError:  # which the fits tell of
        return False
    return (
        isinstance(estimator.kernel, str)
        and estimator.kernel != "precomputed"
        and estimator.solver == "auto"
        and getattr(estimator, "probability", False) in (False, "deprecated")
        and estimator.max_iter == -1
        and estimator.max_time is None
        and estimator.callback is None
        and not estimator.verbose
        and not estimator.warm_start
    )
