"""The fits of a Pipeline: in each fold the steps before the last are fitted once for all candidates that leave them alike."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from gapless.model_selection.fold import (
    Candidate,
    FittedCandidate,
    Fold,
    FoldFits,
    Wishes,
    counted,
    fold_params,
    with_parameters,
)
from gapless.model_selection.one_by_one import OneByOne, by_folds

EngineMaker = Callable[..., FoldFits]


class PipelineFits:
    """Fits the steps before the last once for each of their settings, and leaves the last step to an engine of its own.

    ``last_step`` makes that engine, from the last step, the transformed rows of one fold, y and the parameters of the last step's ``fit``. ``n_jobs``
    folds are worked on side by side.
    """

    def __init__(
        self, pipeline: Any, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None, last_step: EngineMaker
    ) -> None:
        self.pipeline, self.X, self.y, self.fit_params, self.n_jobs = pipeline, X, y, fit_params, n_jobs
        self.last_step = last_step
        self._alone = OneByOne(pipeline, X, y, fit_params, n_jobs)
        self.name, self.last = pipeline.steps[-1]

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, fold by fold; in a fold candidates that share steps come together."""
        if _replaces_steps(candidates):
            return self._alone.fit_all(candidates, folds, wishes)
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for place, candidate in enumerate(candidates):
            groups[self._key(with_parameters(self.pipeline, candidate), candidate)].append(place)

        def fit_fold(fold: int, places: list[int]) -> Iterator[FittedCandidate]:
            among = set(places)
            for group in groups.values():
                members = [place for place in group if place in among and wishes.wanted(place, fold)]
                if members:
                    yield from self._fit_group(_Group(candidates, members, fold, wishes), folds[fold])

        return by_folds(fit_fold, (len(candidates), len(folds)), wishes, self.n_jobs)

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared: the steps before the last."""
        if _replaces_steps(candidates):
            return "Pipeline: the candidates replace its steps, so that no step is shared. " + self._alone.explain(
                candidates
            )
        keys = {self._key(with_parameters(self.pipeline, candidate), candidate) for candidate in candidates}
        times = "once" if len(keys) == 1 else f"{len(keys)} times"
        sentences = [
            f"Pipeline: the steps before {self.name!r} are fitted {times} a fold for {counted(candidates)}.",
            *(
                self.last_step(last, self.X, self.y, {}).explain([self._of_last(each) for each in of_last])
                for last, of_last in self._by_last(candidates)
                if not _is_passthrough(last)
            ),
        ]
        return " ".join(sentences)

    def _by_last(self, candidates: list[Candidate]) -> list[tuple[Any, list[Candidate]]]:
        """The last steps that the candidates have, each with its candidates."""
        groups: dict[int, tuple[Any, list[Candidate]]] = {}
        for candidate in candidates:
            last = candidate.get(self.name, self.last)
            groups.setdefault(id(last), (last, []))[1].append(candidate)
        return list(groups.values())

    def _key(self, pipeline: Any, candidate: Candidate) -> Hashable:
        """What two candidates must have in common to share the steps before the last."""
        settings = [(key, _identity(value)) for key, value in candidate.items() if key.partition("__")[0] != self.name]
        # Under metadata routing it is the last step that says which parameters of fit it gets.
        routed = get_config()["enable_metadata_routing"] and self.fit_params
        receiver = id(candidate[self.name]) if routed and self.name in candidate else None
        return frozenset(settings), get_tags(pipeline).input_tags.pairwise, receiver

    def _of_last(self, candidate: Candidate) -> Candidate:
        """The candidate's parameters of the last step, by that step's own names."""
        start = f"{self.name}__"
        return {key.removeprefix(start): value for key, value in candidate.items() if key.startswith(start)}

    def _fit_group(self, group: _Group, rows: Fold) -> Iterator[FittedCandidate]:
        """Fit candidates that have the steps before the last in common."""
        start = time.perf_counter()
        first = with_parameters(self.pipeline, group[0])
        X, y = _safe_split(first, self.X, self.y, rows[0])
        last = group[0].get(self.name, self.last)
        error = None
        try:
            steps, received = fit_before_last(first, last, X, y, fold_params(self.X, self.fit_params, rows[0]))
        except Exception as raised:
            error = raised
        else:
            received = received.with_test_rows(first, self.X, self.y, rows)
        part = (time.perf_counter() - start) / len(group)
        if error is not None:
            for k in range(len(group)):
                if group.begin(k, 0):
                    make = partial(with_parameters, self.pipeline, group[k])
                    yield FittedCandidate(*group.place(k), make, part, error)
            return

        # A candidate may replace the last step by another estimator, which needs an engine of its own.
        by_last: dict[Any, list[int]] = defaultdict(list)
        for k in range(len(group)):
            by_last[id(group[k][self.name]) if self.name in group[k] else None].append(k)
        for members in by_last.values():
            of_last = group.part(members)
            for fitted in self._fit_last(of_last, received):
                candidate = of_last[fitted.candidate]
                make = partial(self._assemble, candidate, steps, fitted)
                yield replace(
                    fitted,
                    candidate=of_last.place(fitted.candidate)[0],
                    fold=group.fold,
                    make=make,
                    fit_time=part + fitted.fit_time,
                )

    def _fit_last(self, group: _Group, received: _Received) -> Iterator[FittedCandidate]:
        """Fit the last step of candidates that differ in its parameters alone."""
        last = group[0].get(self.name, self.last)
        if _is_passthrough(last):
            return (FittedCandidate(k, 0, lambda: last, 0.0) for k in range(len(group)) if group.begin(k, 0))
        engine = self.last_step(last, received.X, received.y, received.params)
        return engine.fit_all([self._of_last(group[k]) for k in range(len(group))], [received.fold], group)

    def _assemble(self, candidate: Candidate, steps: list[tuple[str, Any]], fitted: FittedCandidate) -> Any:
        """The pipeline of fitted steps."""
        pipeline = with_parameters(self.pipeline, candidate)
        pipeline.steps = [*steps, (self.name, fitted.estimator)]
        return pipeline


@dataclass(frozen=True)
class _Group:
    """Some candidates on one fold, and the wishes of an engine that is given these alone, and their fold as its only one."""

    candidates: list[Candidate]
    members: list[int]
    fold: int
    wishes: Wishes

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, k: int) -> Candidate:
        return self.candidates[self.members[k]]

    def place(self, k: int) -> tuple[int, int]:
        """The (candidate, fold) of a member."""
        return self.members[k], self.fold

    def part(self, members: list[int]) -> _Group:
        """A part of the group."""
        return replace(self, members=[self.members[k] for k in members])

    def most_work(self, k: int) -> float:
        """As of the wishes."""
        return self.wishes.most_work(self.members[k])

    @property
    def needs_intervals(self) -> bool:
        return self.wishes.needs_intervals

    @property
    def decides(self) -> bool:
        return self.wishes.decides

    @property
    def races(self) -> bool:
        return False  # a race is between folds, and these candidates have one

    def has_finisher(self) -> bool:
        return True

    def next_folds(self, candidates: list[int], begin: int, at_once: int) -> range:
        return range(begin, 1)

    def by_promise(self) -> list[int]:
        return [self.members.index(place) for place in self.wishes.by_promise() if place in self.members]

    def wanted(self, candidate: int, fold: int) -> bool:
        return self.wishes.wanted(*self.place(candidate))

    def begin(self, candidate: int, fold: int) -> bool:
        return self.wishes.begin(*self.place(candidate))

    def open_rows(self, candidate: int, fold: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        return self.wishes.open_rows(*self.place(candidate), low, high)


@dataclass(frozen=True)
class _Received:
    """What the last step of a pipeline is fitted with: transformed rows, of which the first ``n_train`` are trained on and the others are scored."""

    X: Any
    y: Any
    params: dict[str, Any]
    n_train: int

    @property
    def fold(self) -> Fold:
        rows = np.arange(_num_samples(self.X))
        return rows[: self.n_train], rows[self.n_train :]

    def with_test_rows(self, pipeline: Any, X: Any, y: Any, rows: Fold) -> _Received:
        """The same with the test rows of the fold appended, by the fitted steps of the pipeline.

        Where that is not possible there are no test rows, and whoever scores the pipeline transforms them by itself.
        """
        if self.params or not all(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in rows):
            return self
        try:
            of_test, _ = _safe_split(pipeline, X, None, rows[1], rows[0])
            for _, _, step in pipeline._iter(with_final=False):
                of_test = step.transform(of_test)
            stacked = _stacked(self.X, of_test)
        except Exception:  # the scorer tells what is wrong
            return self
        if stacked is None:
            return self
        return replace(self, X=stacked, y=None if y is None else _safe_indexing(y, np.concatenate(rows)))


def _stacked(X: Any, below: Any) -> Any:
    """Rows below each other, in one array of the same kind; None where they are of different kinds, or of one that is not known here."""
    if type(X) is not type(below) or X.shape[1] != below.shape[1]:
        return None
    if sp.issparse(X) and X.dtype == below.dtype:
        return type(X)(sp.vstack([X, below], format=X.format))  # SciPy before 1.12 stacks arrays to a matrix
    if type(X) is np.ndarray and X.dtype == below.dtype:
        return np.concatenate([X, below])
    pandas = sys.modules.get("pandas")  # whose frames nobody has who has not loaded it
    if pandas is not None and isinstance(X, pandas.DataFrame) and (X.dtypes == below.dtypes).all():
        return pandas.concat([X, below], ignore_index=True)
    return None


def fit_before_last(
    pipeline: Any, last: Any, X: Any, y: Any, params: dict[str, Any]
) -> tuple[list[tuple[str, Any]], _Received]:
    """Fit all steps but the last, in place; return them, and what the ``fit`` of ``last`` would be called with.

    The pipeline's own ``fit`` runs, with a receiver in the place of the last step, so that routing, caching and the rest are the pipeline's own.
    """
    receiver = _Receiver(last)
    pipeline.steps = [*pipeline.steps[:-1], (pipeline.steps[-1][0], receiver)]
    pipeline.fit(X, y, **params)
    X, y, params = receiver.received
    X, y = indexable(X, y)
    return pipeline.steps[:-1], _Received(X, y, params, _num_samples(X))


class _Receiver:
    """Stands in for the last step of a pipeline, and keeps what its ``fit`` is called with."""

    def __init__(self, last: Any) -> None:
        self.last = last
        self.received: Any = None

    def fit(self, X: Any, y: Any = None, **params: Any) -> _Receiver:
        self.received = (X, y, params)
        return self

    def get_metadata_routing(self) -> Any:
        return self.last.get_metadata_routing()

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.last)


def _is_passthrough(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _replaces_steps(candidates: list[Candidate]) -> bool:
    return any("steps" in candidate for candidate in candidates)


def _identity(value: Any) -> Hashable:
    """Equal for values that set a parameter alike: plain values compare by type and value, all else by being the same object."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
