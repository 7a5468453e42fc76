"""The fits of SVC and SVR that share no table: those that differ in C alone begin where the one with the next smaller C ended.

The problem is stated once, and kernel entries that a solver keeps stay for the next C (``estimators/chain.py``). What is out of the ordinary is
fitted by itself, and so is again whatever fails, or ends early: the estimator by itself then says what is wrong.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sklearn.utils.metaestimators import _safe_split

from gapless.estimators.chain import Chain
from gapless.model_selection.fold import (
    Candidate,
    FittedCandidate,
    Fold,
    Wishes,
    fit_in_place,
    fold_params,
    with_parameters,
)
from gapless.model_selection.one_by_one import OneByOne, decided, fit_within, jobs_of
from gapless.model_selection.side_by_side import side_by_side


class CChains(OneByOne):
    """Fits the candidates that differ in C alone as chains, where ``is_ordinary`` says that an estimator may be a member of one."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        fit_params: dict[str, Any],
        n_jobs: int | None,
        is_ordinary: Callable[[Any], bool],
    ) -> None:
        super().__init__(estimator, X, y, fit_params, n_jobs)
        self._is_ordinary = is_ordinary

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, chain by chain; in a race, which goes by what is promising, candidate by candidate."""
        chains = [] if wishes.races else self._chains(candidates, wishes, len(folds))
        if not any(len(chain) > 1 for chain in chains):
            yield from super().fit_all(candidates, folds, wishes)
            return

        def stream(k: int) -> Iterator[FittedCandidate]:
            fold, places = k % len(folds), chains[k // len(folds)]
            params, chain = fold_params(self.X, self.fit_params, folds[fold][0]), Chain()
            for place in places:
                if wishes.begin(place, fold):
                    at = place, fold
                    own = (
                        self._next(candidates[place], chain, params, folds[fold], at, wishes)
                        if len(places) > 1
                        else None
                    )
                    yield own or self.fit_one(candidates[place], params, folds[fold], at, wishes)

        yield from side_by_side(stream, len(chains) * len(folds), jobs_of(self.n_jobs, self.estimator, self.X, wishes))

    def _chains(self, candidates: list[Candidate], wishes: Wishes, n_folds: int) -> list[list[int]]:
        """The places of the candidates that are wanted: of those that differ in C alone together, by C, and of others by themselves."""
        chains: dict[Any, list[tuple[float, int]]] = defaultdict(list)
        for place, candidate in enumerate(candidates):
            if not any(wishes.wanted(place, fold) for fold in range(n_folds)):
                continue
            estimator = with_parameters(self.estimator, candidate)
            if (
                self.fit_params
                or not self._is_ordinary(estimator)
                or getattr(estimator, "class_weight", None) is not None
            ):
                chains[place].append((0.0, place))
                continue
            params = estimator.get_params(deep=False)
            chains[repr([params[name] for name in sorted(params) if name != "C"])].append((estimator.C, place))
        return [[place for _, place in sorted(chain)] for chain in chains.values()]

    def _next(
        self,
        candidate: Candidate,
        chain: Chain,
        params: dict[str, Any],
        rows: Fold,
        place: tuple[int, int],
        wishes: Wishes,
    ) -> FittedCandidate | None:
        """The fit of the next candidate of a chain; None where it fails or ends early."""
        estimator = with_parameters(self.estimator, candidate)
        start = time.perf_counter()
        X, y = _safe_split(estimator, self.X, self.y, rows[0])
        estimator._chain, estimator._quiet = chain, True
        fitted = fit_within(estimator, X, y, params, start, place, wishes)
        del estimator._chain
        if fitted.error is not None or not (fitted.stopped or all(each.proven for each in estimator._solved)):
            return None
        estimator.__dict__.pop("_quiet", None)
        return decided(fitted, partial(fit_in_place, estimator, X, y, params), self.X, rows, wishes)
