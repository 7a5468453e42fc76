"""The fits of SVC that share their work: one Gram matrix for all folds, values of C and pairs of classes, and each C begun where the last one ended.

Candidates that differ in C alone have a kernel in common, and so do the folds where the kernel does not depend on the training samples. For each such
kernel the Gram matrix of all samples is computed once, and one native call (``native/smo/every_pair.hpp``) solves and proves all problems on it: for
each pair of classes of each fold a chain of ascending C's, chains side by side on all cores. The samples that a fold leaves out have cost zero there.
What the call has not done, and what is out of the ordinary, the estimator's own ``fit`` does as always: it goes on from where the call ended.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import _safe_split

from gapless import _native
from gapless.background import in_background
from gapless.data.scale import LARGEST
from gapless.errors import GaplessError
from gapless.estimators import SVC
from gapless.estimators.every_pair import EveryPair, Found
from gapless.estimators.kernel_spec import dense_if_small, resolve_kernel
from gapless.estimators.multiclass import ClassPairs, class_weights, encode_labels
from gapless.kernels import Kernel, Panels, Validity
from gapless.kernels.rounding import magnitudes
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
from gapless.model_selection.one_by_one import OneByOne, by_folds, decided
from gapless.model_selection.side_by_side import side_by_side
from gapless.solve import AHEAD, STRICTER

_MOST_BYTES = 2.0**31  # the memory for a Gram matrix; a search over more samples fits one by one
_LARGEST = 4096  # the most samples of two classes: beyond them a fit in float32, by blocks, is the faster one
_TURNS = 2000.0  # the most pairs of variables for each sample: what takes longer is left to the estimator's own stages


class _Fit(NamedTuple):
    """A candidate on a fold, and what its problem depends on besides the kernel."""

    candidate: int
    fold: int
    C: float
    box: np.ndarray  # the weight of each class


class SharedFits:
    """Fits candidates of :class:`gapless.SVC`, with their work shared where they have something in common."""

    def __init__(self, estimator: SVC, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None = None) -> None:
        self.estimator, self.X, self.y, self.fit_params, self.n_jobs = estimator, X, y, fit_params, n_jobs
        self._ready: dict[tuple[int, int], tuple[EveryPair, float]] = {}

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared, and on what is not."""
        alone = [
            each for each in candidates if self.fit_params or not _is_ordinary(with_parameters(self.estimator, each))
        ]
        if len(alone) == len(candidates):
            return OneByOne(self.estimator, self.X, self.y, self.fit_params).explain(candidates)
        name, rest = type(self.estimator).__name__, f" {counted(alone)} not among them." if alone else ""
        return f"{name}: candidates with one kernel share its Gram matrix, and go on from a smaller C to a larger one.{rest}"

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted: those that share a kernel after the work that they share, then the others.

        A race goes by folds, and all shared work comes first.
        """
        made: set[tuple[int, int]] = set()

        def fit_fold(fold: int, places: list[int]) -> Iterator[FittedCandidate]:
            train, _ = folds[fold]
            params = fold_params(self.X, self.fit_params, train)
            for place in places:
                given, part = self._ready.pop((place, fold), (None, 0.0))
                if (place, fold) not in made and wishes.wanted(place, fold):
                    made.add((place, fold))
                    estimator = with_parameters(self.estimator, candidates[place])
                    start = time.perf_counter()
                    X, y = _safe_split(estimator, self.X, self.y, train)
                    estimator._given = given
                    fitted = fit_timed(estimator, X, y, params, start - part, (place, fold))
                    del estimator._given
                    yield decided(fitted, partial(fit_in_place, estimator, X, y, params), self.X, folds[fold], wishes)

        def fit_group(group: list[_Fit]) -> Iterator[FittedCandidate]:
            members = [[fit.candidate for fit in group if fit.fold == fold] for fold in range(len(folds))]
            return side_by_side(lambda fold: fit_fold(fold, members[fold]), len(folds), self.n_jobs)

        for group in self._prepare(candidates, folds, wishes):
            if not wishes.races:
                yield from fit_group(group)
        yield from by_folds(fit_fold, (len(candidates), len(folds)), wishes, self.n_jobs)

    def _prepare(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[list[_Fit]]:
        """Solve what candidates have in common on all folds at once, kernel by kernel; ``fit_all`` then only makes estimators of it."""
        self._ready.clear()
        trains = [np.asarray(train) for train, _ in folds]
        if self.fit_params or any(train.dtype.kind not in "iu" for train in trains):
            return
        estimators = [with_parameters(self.estimator, candidate) for candidate in candidates]
        try:
            X, y = self.estimator.__class__()._take(self.X, self.y)
            X = dense_if_small(X)
            classes, codes = encode_labels(y, np.ones(len(y)), "")
        except (ValueError, TypeError):  # the fits tell what is wrong
            return
        n = len(codes)
        if 8.0 * n * n > _MOST_BYTES or np.sort(np.bincount(codes))[-2:].sum() > _LARGEST:
            return
        shared: dict[Any, list[_Fit]] = defaultdict(list)
        kernels: dict[Any, Kernel] = {}
        for k, estimator in enumerate(estimators):
            if not _is_ordinary(estimator):
                continue
            for j, train in enumerate(trains):
                if len(np.unique(codes[train])) < len(classes) or not wishes.wanted(k, j):
                    continue
                weight = np.ones(len(train))
                try:
                    kernel = resolve_kernel(estimator, X[train], weight).kernel
                    box = class_weights(estimator.class_weight, classes, codes[train], weight)
                except (ValueError, TypeError, GaplessError):
                    continue
                if kernel is None or not _is_told_by_its_name(kernel):
                    continue
                key = repr(kernel), estimator.tol
                kernels[key] = kernel
                shared[key].append(_Fit(k, j, float(estimator.C), box))
        for key, fits in shared.items():
            self._solve(kernels[key], estimators[fits[0].candidate], _Samples(X, codes, len(classes), trains), fits)
            yield fits

    def _solve(self, kernel: Kernel, estimator: SVC, samples: _Samples, fits: list[_Fit]) -> None:
        """Solve and prove fits that have a kernel in common."""
        began = time.perf_counter()
        chains: dict[Any, list[_Fit]] = defaultdict(list)
        for fit in fits:
            chains[fit.fold, tuple(fit.box)].append(fit)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = Panels(kernel, samples.rows, np.float64).square(np.arange(len(samples.rows)))
        if not (np.isfinite(gram).all() and gram.diagonal().max() <= LARGEST**2):
            return  # which the fits refuse in words
        problems, chain_starts = [], [0]
        for members in chains.values():
            in_order = sorted(members, key=lambda fit: fit.C)
            for q in range(len(samples.pairs)):
                problems += [(fit, q) for fit in in_order]
                chain_starts.append(len(problems))
        places = [samples.places[q] for _, q in problems]
        starts = np.concatenate([[0], np.cumsum([len(each) for each in places])])
        by_chain = {key: samples.weights(members[0]) for key, members in chains.items()}
        cost = np.concatenate(
            [fit.C * by_chain[fit.fold, tuple(fit.box)][each] for (fit, _), each in zip(problems, places, strict=True)]
        )
        if not (cost[cost > 0].min() >= 1 / LARGEST and cost.max() <= LARGEST):
            return
        native: Any = _native.EveryPair(
            gram, *magnitudes(kernel, samples.rows), np.concatenate(places), starts, samples.pairs.n_first[[q for _, q in problems]],
            cost, None, np.array(chain_starts),
        )  # fmt: skip
        run = partial(
            native.run, gap=estimator._gap_tol, kkt=estimator._kkt_tol, ahead=AHEAD, stricter=STRICTER, turns=_TURNS, most=np.inf,
            seconds=np.inf, cache_bytes=_MOST_BYTES,
        )  # fmt: skip
        # The call hears Ctrl-C only between two chains, each of which may take seconds. A thread among others is not one that hears it.
        in_background(run) if threading.current_thread() is threading.main_thread() else run()
        found = Found(*(getattr(native, name).copy() for name in Found._fields))
        of_fit: dict[tuple[int, int], list[int]] = defaultdict(list)
        for k, (fit, _) in enumerate(problems):
            of_fit[fit.candidate, fit.fold].append(k)
        part = (time.perf_counter() - began) / len(of_fit)
        length = np.sqrt(np.maximum(0.0, gram.diagonal()))
        for (candidate, fold), own in of_fit.items():
            every = samples.every_pair(fold, found, own, starts, length)
            self._ready[candidate, fold] = every, part


class _Samples:
    """The samples of a search, those of one class side by side, and the pairs of classes among them."""

    def __init__(self, X: Any, codes: np.ndarray, n_classes: int, trains: list[np.ndarray]) -> None:
        self.codes, self.n_classes, self.trains = codes, n_classes, trains
        order = np.argsort(codes, kind="stable")
        self.place = np.empty(len(codes), dtype=np.int64)  # of each sample
        self.place[order] = np.arange(len(codes))
        self.rows, self.row_codes = X[order], codes[order]
        self.pairs = ClassPairs(self.row_codes, n_classes)
        self.places = list(
            self.pairs
        )  # rows are in the order of the classes, so that those of two classes are theirs, too
        self._offsets = np.concatenate([[0], np.cumsum([len(each) for each in self.places])])
        self._folds: dict[int, tuple[ClassPairs, np.ndarray, np.ndarray]] = {}

    def weights(self, fit: _Fit) -> np.ndarray:
        """The weight of each row in a fit: zero where its fold leaves the row out."""
        inside = np.zeros(len(self.codes))
        inside[self.place[self.trains[fit.fold]]] = 1.0
        return inside * fit.box[self.row_codes]

    def every_pair(self, fold: int, found: Found, own: list[int], starts: np.ndarray, length: np.ndarray) -> EveryPair:
        """The pairs of one fit, in the estimator's own order, from the problems ``own`` of all that were found."""
        if fold not in self._folds:
            members = ClassPairs(self.codes[self.trains[fold]], self.n_classes)
            rows = self.place[self.trains[fold][members.samples]]
            parts = [
                begin + np.searchsorted(place, rows[slice(*members.starts[q : q + 2])])
                for q, (begin, place) in enumerate(zip(self._offsets, self.places, strict=False))
            ]
            self._folds[fold] = members, rows, np.concatenate(parts)
        members, rows, local = self._folds[fold]
        beta = np.concatenate([found.beta[starts[k] : starts[k + 1]] for k in own])[local]
        columns = {name: getattr(found, name)[own] for name in Found._fields if name != "beta"}
        longest = np.maximum.reduceat(length[rows], members.starts[:-1])
        return EveryPair.of(members, Found(beta=beta, **columns), longest)


def _is_ordinary(estimator: SVC) -> bool:
    """Whether a fit with these parameters may be solved by pairs of variables on a Gram matrix, without anybody watching."""
    finite = isinstance(estimator.C, (int, float, np.integer, np.floating)) and 0 < estimator.C < np.inf
    return (
        finite
        and estimator.solver == "auto"
        and estimator.approximation is None
        and estimator.max_iter == -1
        and estimator.max_time is None
        and not estimator.warm_start
    )


def _is_told_by_its_name(kernel: Kernel) -> bool:
    """Whether kernels with the same ``repr`` are the same kernel, and valid: none with a function or a feature map inside."""
    inside = kernel.get_params(deep=True).values()
    return kernel.validity is not Validity.NOT_VALID and not any(
        callable(value) or hasattr(value, "transform") or isinstance(value, np.ndarray)
        for value in inside
        if not isinstance(value, Kernel)
    )
