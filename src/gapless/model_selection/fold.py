"""The fits of a search: what the search asks an engine for, and what the engine asks in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_method_params

from gapless.model_selection.work import Work

Candidate = dict[str, Any]
"""Parameters by name, as ``set_params`` takes them: one point of the grid."""

Fold = tuple[Any, Any]
"""The rows of a fold: those that are trained on, and those that are scored, which may be none."""


@dataclass(frozen=True)
class Answers:
    """What a fitted clone answers for the test rows of its fold, where the engine knows it without asking the clone.

    Attributes
    ----------
    decision : array or None
        What ``decision_function`` gives, or ``predict`` of a regressor; for more than two classes in the shape ``"ovo"``, whatever the clone's
        ``decision_function_shape`` is. None where only the clone knows.
    low, high : array
        What ``decision_interval`` gives.
    predictions : array
        What ``predict`` gives.
    classes : array or None
        ``classes_`` of the clone; None of a regressor.
    """

    decision: np.ndarray | None
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
    work : Work or None
        What the fit took, where it is not to be read off the clone, which is then made only when somebody asks.
    final : bool
        Whether the engine has proven of the score what it can: the clone would not prove more by going on.
    stopped : bool
        Whether the fit was ended because it would take more work than the search allows.
    """

    candidate: int
    fold: int
    make: Callable[[], Any]
    fit_time: float
    error: Exception | None = None
    answers: Answers | None = None
    work: Work | None = None
    final: bool = False
    stopped: bool = False

    @cached_property
    def estimator(self) -> Any:
        """The clone."""
        return self.make()


class Wishes(Protocol):
    """What a search wants of an engine, which asks while it works, maybe from several threads."""

    @property
    def needs_intervals(self) -> bool:
        """Whether some score has intervals, so that ``low`` and ``high`` of ``Answers`` are of use."""
        ...

    @property
    def decides(self) -> bool:
        """Whether each fit is to be trained on until its scores are decided, whatever work that takes."""
        ...

    @property
    def races(self) -> bool:
        """Whether candidates may be dropped, so that ``by_promise`` is worth asking."""
        ...

    def most_work(self, candidate: int) -> float:
        """What a fit of this candidate may take, in the unit of :mod:`gapless.model_selection.work`; infinite where it may take what it takes."""
        ...

    def wanted(self, candidate: int, fold: int) -> bool:
        """Whether this fit is wanted as far as is known now: False where its scores are known, or where the candidate is out of the race."""
        ...

    def begin(self, candidate: int, fold: int) -> bool:
        """Whether this fit is still wanted, to be asked right before its work begins, which the user is told of."""
        ...

    def open_rows(self, candidate: int, fold: int, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """Which test rows of the fold have a part in the score that intervals of their decision values, as ``Answers`` has them, do not fix.

        None says that the fit need not be decided any further: no score of the search has intervals, or the candidate cannot win any more.
        """
        ...

    def by_promise(self) -> list[int]:
        """The candidates that may still win, those first that have scored best so far.

        Where one good candidate is through all folds, others are dropped after few.
        """
        ...

    def has_finisher(self) -> bool:
        """Whether some candidate is through all folds."""
        ...

    def next_folds(self, candidates: list[int], begin: int, at_once: int) -> range:
        """The folds from ``begin`` on after which those of the candidates that are out are to be dropped, of which ``at_once`` run side by side."""
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


def fit_in_place(estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit the estimator in place; y is None where there are no targets."""
    return estimator.fit(X, **params) if y is None else estimator.fit(X, y, **params)


def fit_timed(
    estimator: Any, X: Any, y: Any, params: dict[str, Any], start: float, place: tuple[int, int]
) -> FittedCandidate:
    """Fit the estimator in place; ``start`` is when the work on it began, by ``time.perf_counter``, and ``place`` its (candidate, fold)."""
    error = None
    try:
        fit_in_place(estimator, X, y, params)
    except Exception as raised:
        error = raised
    return FittedCandidate(*place, lambda: estimator, time.perf_counter() - start, error)


def counted(candidates: list[Candidate]) -> str:
    """How many candidates there are, in words for the user."""
    return "1 candidate" if len(candidates) == 1 else f"{len(candidates)} candidates"
