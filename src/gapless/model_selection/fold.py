"""The fits of a search: what the search asks an engine for, what the engine asks in turn, and the engine that fits each candidate by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from gapless.model_selection.side_by_side import side_by_side

Candidate = dict[str, Any]
"""Parameters by name, as ``set_params`` takes them: one point of the grid."""

Fold = tuple[Any, Any]
"""The rows of a fold: those that are trained on, and those that are scored, which may be none."""


@dataclass(frozen=True)
class Answers:
    """What a fitted clone answers for the test rows of its fold, where the engine knows it without asking the clone.

    Attributes
    ----------
    decision : array
        What ``decision_function`` gives, or ``predict`` of a regressor; for more than two classes in the shape ``"ovo"``, whatever the clone's
        ``decision_function_shape`` is.
    low, high : array
        What ``decision_interval`` gives.
    predictions : array
        What ``predict`` gives.
    classes : array or None
        ``classes_`` of the clone; None of a regressor.
    """

    decision: np.ndarray
    low: np.ndarray
    high: np.ndarray
    predictions: np.ndarray
    classes: np.ndarray | None = None


@dataclass(frozen=True)
class FittedCandidate:
    """One fit: a clone of the estimator with a candidate's parameters, fitted on the training rows of a fold.

    Attributes
    ----------
    candidate, fold : int
        The places of the candidate and of the fold in the lists that the engine was given.
    make : callable
        Returns the clone, fitted unless ``error`` is set; ``estimator`` calls it once, when somebody asks, since scores often come from ``answers``.
    fit_time : float
        Seconds that the fit took. Where candidates share work, each has an equal part of the time of that work, so that the sum over candidates is
        the time that was spent.
    error : Exception or None
        What the fit raised.
    answers : Answers or None
        What the clone answers for the test rows of the fold, where the engine knows it.
    """

    candidate: int
    fold: int
    make: Callable[[], Any]
    fit_time: float
    error: Exception | None = None
    answers: Answers | None = None

    @cached_property
    def estimator(self) -> Any:
        """The clone."""
        return self.make()


class Wishes(Protocol):
    """What a search wants of an engine, which asks while it works; both methods may be called from several threads."""

    def wanted(self, candidate: int, fold: int) -> bool:
        """Whether this fit is still wanted, to be asked right before its work begins: False where its scores are known, or where the candidate is out
        of the race.
        """
        ...

    def open_rows(self, candidate: int, fold: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """Which test rows of the fold have a part in the score that intervals of their decision values, as ``Answers`` has them, do not fix.

        None says that the fit need not be decided any further: no score of the search has intervals, or the candidate cannot win any more.
        """
        ...


class FoldFits(Protocol):
    """An engine: it fits all candidates of a search on the training rows of all folds.

    An engine is made once a search, from the estimator, X, y, the parameters of ``fit`` and ``n_jobs`` (by
    :func:`gapless.model_selection.engine.engine_for`). Making it costs nothing: work begins with ``fit_all``.
    """

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, once, in the engine's own order and as soon as it is done.

        An exception that a fit raises is kept in its ``FittedCandidate``; one that setting the parameters raises (a name that the estimator does not
        have) ends the search, as in scikit-learn.
        """
        ...

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence for the user, printed under ``verbose``: what these candidates share, and what is fitted one by one."""
        ...


def with_parameters(estimator: Any, candidate: Candidate) -> Any:
    """A clone of the estimator with the candidate's parameters, which are cloned too, since they may be estimators themselves."""
    return clone(estimator).set_params(**clone(candidate, safe=False))


def fold_params(X: Any, fit_params: dict[str, Any], rows: Any) -> dict[str, Any]:
    """The parameters of ``fit`` for these rows of X: an array with an entry for each sample (``sample_weight``) is cut to the rows."""
    return _check_method_params(X, params=fit_params, indices=rows)


def fit_timed(
    estimator: Any, X: Any, y: Any, params: dict[str, Any], start: float, place: tuple[int, int]
) -> FittedCandidate:
    """Fit the estimator in place; ``start`` is when the work on it began, by ``time.perf_counter``, and ``place`` its (candidate, fold)."""
    error = None
    try:
        if y is None:
            estimator.fit(X, **params)
        else:
            estimator.fit(X, y, **params)
    except Exception as raised:
        error = raised
    return FittedCandidate(*place, lambda: estimator, time.perf_counter() - start, error)


class OneByOne:
    """Fits each candidate by itself, which is all that scikit-learn does; ``n_jobs`` folds are worked on side by side."""

    def __init__(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None = None) -> None:
        self.estimator, self.X, self.y, self.fit_params, self.n_jobs = estimator, X, y, fit_params, n_jobs

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted, fold by fold."""

        def fit_fold(fold: int) -> Iterator[FittedCandidate]:
            train, _ = folds[fold]
            params = fold_params(self.X, self.fit_params, train)
            for place, candidate in enumerate(candidates):
                if wishes.wanted(place, fold):
                    estimator = with_parameters(self.estimator, candidate)
                    start = time.perf_counter()
                    X, y = _safe_split(estimator, self.X, self.y, train)
                    yield fit_timed(estimator, X, y, params, start, (place, fold))

        return side_by_side(fit_fold, len(folds), self.n_jobs)

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared: nothing."""
        verb = "is" if len(candidates) == 1 else "are"
        return f"{type(self.estimator).__name__}: {counted(candidates)} {verb} fitted one by one."


def counted(candidates: list[Candidate]) -> str:
    """How many candidates there are, in words for the user."""
    return "1 candidate" if len(candidates) == 1 else f"{len(candidates)} candidates"
