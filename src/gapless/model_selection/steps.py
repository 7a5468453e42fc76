"""The fits of a Pipeline on one fold: the steps before the last are fitted once for all candidates that leave them alike."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import _safe_split

from gapless.model_selection.fold import (
    Candidate,
    FittedCandidate,
    FoldFits,
    OneByOne,
    counted,
    fold_params,
    with_parameters,
)


class PipelineFits:
    """Fits the steps before the last once for each of their settings, and leaves the last step to an engine of its own.

    ``last_step`` makes that engine, from the last step, the transformed rows of the fold, y and the parameters of the last step's ``fit``.
    """

    def __init__(
        self, pipeline: Any, X: Any, y: Any, fit_params: dict[str, Any], last_step: Callable[..., FoldFits]
    ) -> None:
        self.pipeline, self.X, self.y, self.fit_params = pipeline, X, y, fit_params
        self.last_step = last_step
        self._alone = OneByOne(pipeline, X, y, fit_params)
        self.name, self.last = pipeline.steps[-1]

    def fit_all(self, candidates: list[Candidate], train: np.ndarray, test: np.ndarray) -> Iterator[FittedCandidate]:
        """A fitted clone of the pipeline for each candidate, in the candidates' order."""
        if _replaces_steps(candidates):
            yield from self._alone.fit_all(candidates, train, test)
            return
        pipelines = [with_parameters(self.pipeline, candidate) for candidate in candidates]
        keys = [self._key(pipeline, candidate) for pipeline, candidate in zip(pipelines, candidates, strict=True)]

        def fit_group(members: list[int]) -> Iterator[FittedCandidate]:
            return self._fit_group([pipelines[k] for k in members], [candidates[k] for k in members], train)

        yield from in_order(keys, fit_group)

    def prepare(self, candidates: list[Candidate], folds: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Folds have no data in common: the steps before the last are fitted on each."""

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

    def _fit_group(
        self, pipelines: list[Any], candidates: list[Candidate], train: np.ndarray
    ) -> Iterator[FittedCandidate]:
        """Fit the pipelines, which have the steps before the last in common."""
        start = time.perf_counter()
        X, y = _safe_split(pipelines[0], self.X, self.y, train)
        last = candidates[0].get(self.name, self.last)
        error = None
        try:
            steps, received = fit_before_last(
                with_parameters(self.pipeline, candidates[0]), last, X, y, fold_params(self.X, self.fit_params, train)
            )
        except Exception as raised:
            error = raised
        part = (time.perf_counter() - start) / len(pipelines)
        if error is not None:
            for pipeline in pipelines:
                yield FittedCandidate(pipeline, part, error)
            return

        def fit_last(members: list[int]) -> Iterator[FittedCandidate]:
            last = candidates[members[0]].get(self.name, self.last)
            return _fit_last(self.last_step, last, received, [self._of_last(candidates[k]) for k in members])

        # A candidate may replace the last step by another estimator, which needs an engine of its own.
        replaced = [id(candidate[self.name]) if self.name in candidate else None for candidate in candidates]
        for pipeline, fitted in zip(pipelines, in_order(replaced, fit_last), strict=True):
            pipeline.steps = [*steps, (self.name, fitted.estimator)]
            yield FittedCandidate(pipeline, part + fitted.fit_time, fitted.error)


def in_order(keys: list[Any], start: Callable[[list[int]], Iterator[FittedCandidate]]) -> Iterator[FittedCandidate]:
    """Fit groups of candidates, and yield in the order of the candidates: ``start`` fits the candidates of one key, given by their places.

    A group is begun when its first candidate is due, and dropped after its last.
    """
    left = Counter(keys)
    groups: dict[Any, Iterator[FittedCandidate]] = {}
    for place, key in enumerate(keys):
        if key not in groups:
            groups[key] = start([k for k in range(place, len(keys)) if keys[k] == key])
        yield next(groups[key])
        left[key] -= 1
        if not left[key]:
            del groups[key]


def fit_before_last(
    pipeline: Any, last: Any, X: Any, y: Any, params: dict[str, Any]
) -> tuple[list[tuple[str, Any]], tuple[Any, Any, dict[str, Any]]]:
    """Fit all steps but the last, in place; return them, and the (X, y, parameters) that the ``fit`` of ``last`` would be called with.

    The pipeline's own ``fit`` runs, with a receiver in the place of the last step, so that routing, caching and the rest are the pipeline's own.
    """
    receiver = _Receiver(last)
    pipeline.steps = [*pipeline.steps[:-1], (pipeline.steps[-1][0], receiver)]
    pipeline.fit(X, y, **params)
    X, y, params = receiver.received
    X, y = indexable(X, y)
    return pipeline.steps[:-1], (X, y, params)


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


def _fit_last(
    last_step: Callable[..., FoldFits], last: Any, received: tuple[Any, Any, Any], candidates: list[Candidate]
) -> Iterator[FittedCandidate]:
    if _is_passthrough(last):
        return iter([FittedCandidate(last, 0.0)] * len(candidates))
    X, y, params = received
    rows = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
    return last_step(last, X, y, params).fit_all(candidates, rows, rows[:0])


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
