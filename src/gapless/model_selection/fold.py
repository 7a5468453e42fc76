"""The fits of one fold: what a search asks an engine for, and the engine that fits each candidate by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

Candidate = dict[str, Any]
"""Parameters by name, as ``set_params`` takes them: one point of the grid."""


@dataclass(frozen=True)
class FittedCandidate:
    """A clone of the estimator with a candidate's parameters, after its fit.

    Attributes
    ----------
    estimator : estimator
        The clone; fitted unless ``error`` is set.
    fit_time : float
        Seconds that the fit took. Where candidates share work, each has an equal part of the time of that work, so that the sum over candidates is
        the time that was spent.
    error : Exception or None
        What the fit raised.
    """

    estimator: Any
    fit_time: float
    error: Exception | None = None


class FoldFits(Protocol):
    """An engine: it fits all candidates of a search on the training rows of one fold after the other.

    An engine is made once a search, from the estimator, X, y and the parameters of ``fit`` (by :func:`gapless.model_selection.engine.engine_for`).
    Making it costs nothing: work begins with ``fit_all``, which may be called from several threads at once, one fold in each, so that what a
    fold needs lives in the call.
    """

    def fit_all(self, candidates: list[Candidate], train: np.ndarray, test: np.ndarray) -> Iterator[FittedCandidate]:
        """A fitted clone for each candidate, in the candidates' order.

        An exception that a fit raises is kept in its ``FittedCandidate``; one that setting the parameters raises (a name that the estimator does not
        have) ends the search, as in scikit-learn. ``test`` holds the rows that the fitted clones are scored on; it may be empty.
        """
        ...

    def prepare(self, candidates: list[Candidate], folds: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Do what all these folds (train, test) have in common before ``fit_all`` is called for each of them."""
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


def fit_timed(estimator: Any, X: Any, y: Any, params: dict[str, Any], start: float) -> FittedCandidate:
    """Fit the estimator in place; ``start`` is when the work on this candidate began, by ``time.perf_counter``."""
    error = None
    try:
        if y is None:
            estimator.fit(X, **params)
        else:
            estimator.fit(X, y, **params)
    except Exception as raised:
        error = raised
    return FittedCandidate(estimator, time.perf_counter() - start, error)


class OneByOne:
    """Fits each candidate by itself, which is all that scikit-learn does."""

    def __init__(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        self.estimator, self.X, self.y, self.fit_params = estimator, X, y, fit_params

    def fit_all(self, candidates: list[Candidate], train: np.ndarray, test: np.ndarray) -> Iterator[FittedCandidate]:
        """A fitted clone for each candidate, in the candidates' order."""
        params = fold_params(self.X, self.fit_params, train)
        for candidate in candidates:
            estimator = with_parameters(self.estimator, candidate)
            start = time.perf_counter()
            X, y = _safe_split(estimator, self.X, self.y, train)
            yield fit_timed(estimator, X, y, params, start)

    def prepare(self, candidates: list[Candidate], folds: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Nothing is in common."""

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared: nothing."""
        verb = "is" if len(candidates) == 1 else "are"
        return f"{type(self.estimator).__name__}: {counted(candidates)} {verb} fitted one by one."


def counted(candidates: list[Candidate]) -> str:
    """How many candidates there are, in words for the user."""
    return "1 candidate" if len(candidates) == 1 else f"{len(candidates)} candidates"
