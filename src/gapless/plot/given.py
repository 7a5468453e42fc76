"""The argument that a display was given: the fitted model inside of it, and words for what the argument is."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapless.errors import InvalidInputError
from gapless.result import Result


def describe(value: Any) -> str:
    """What a value is, for the end of an error message, with a hint what to use instead where there is one.

    >>> describe([1.0, 2.0]), describe(None)
    ('a value of type list', 'None')
    >>> from gapless import SVC
    >>> describe(SVC())
    'an estimator, SVC: use from_estimator'
    """
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, Result):
        return "a Result: use from_result or from_results"
    if isinstance(value, type):
        return f"the class {value.__name__} instead of an object of it"
    if isinstance(value, BaseEstimator):
        return f"an estimator, {name}: use from_estimator"
    if hasattr(value, "results"):
        return f"a {name}: give its results"
    return f"a value of type {name}"


def innermost(estimator: Any, *, fitted: bool = False) -> Any:
    """The model itself: the last step of a pipeline, the best estimator of a search. With ``fitted`` an unfitted estimator is refused."""
    if isinstance(estimator, type) or not isinstance(estimator, BaseEstimator):
        raise InvalidInputError(f"from_estimator takes a fitted estimator; got {describe(estimator)}.")
    if fitted:
        check_is_fitted(estimator)
    if isinstance(estimator, Pipeline):
        return innermost(estimator[-1], fitted=fitted)
    best = getattr(estimator, "best_estimator_", None)
    return estimator if best is None else innermost(best, fitted=fitted)
