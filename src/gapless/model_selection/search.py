"""GridSearchCV and RandomizedSearchCV: scikit-learn's searches, with an engine that fits all candidates of a fold."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import sklearn.model_selection
from sklearn.base import _fit_context, clone, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import indexable
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_method_params

from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators.documented import documented
from gapless.model_selection import engine
from gapless.model_selection.course import Course
from gapless.model_selection.evaluation import Evaluation
from gapless.model_selection.explained import ATTRIBUTES, PARAMETERS
from gapless.model_selection.fold import Candidate, fit_in_place
from gapless.model_selection.interrupted import OF_LAST_FIT, OF_SEARCH, SearchInterrupted, forget, only
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.scoring import FoldScoring
from gapless.model_selection.selection import Selection, select

# What the parameters may be that scikit-learn's searches do not have.
_OWN_CONSTRAINTS: dict[str, list[Any]] = {
    "racing": ["boolean"],
    "resume": [str, os.PathLike, None],
    "prove": [StrOptions({"bounded", "full"})],
}


class _Search(BaseSearchCV):
    """Fits all candidates by one engine; what comes before the fits and after them is scikit-learn's."""

    racing: bool
    resume: Any
    prove: str
    # In the unit of work.py, on all folds together: what the fits of each candidate may take, where that is bounded, and what they have taken.
    most_work: np.ndarray | None = None
    _fit_work: np.ndarray = np.zeros(0)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all candidates on all folds, and the best one on all of the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Targets.
        **params : dict
            Parameters of the estimator's ``fit``, of the scorer and of the splitter: ``sample_weight``, ``groups``. An array with an entry for each
            sample is split with X.

        Returns
        -------
        self : object
            The fitted search.
        """
        self.selection_: Selection | None = None
        if not engine.is_ours(self.estimator) and self.resume is None:
            return super().fit(X, y, **params)
        if _has_callbacks(self):
            if self.resume is not None:
                raise InvalidInputError(
                    f"resume={str(self.resume)!r} does not go with callbacks, which are to be told of every fit; take off one of the two."
                )
            if self.verbose > 0:
                print("Callbacks are set, which are told of every fit: the candidates are fitted one by one.")
            return super().fit(X, y, **params)
        return self._fit_by_engine(X, y, **params)

    @_fit_context(prefer_skip_nested_validation=False)
    def _fit_by_engine(self, X: Any, y: Any = None, **params: Any) -> Any:
        scorer, metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        fit_params, split_params = routed.estimator.fit, routed.splitter.split
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = splitter.get_n_splits(X, y, **split_params)

        estimator = clone(self.estimator)
        fits = engine.engine_for(estimator, X, y, fit_params, self.n_jobs)
        scoring = FoldScoring(X, y, scorer, routed.scorer.score, self.return_train_score, self.error_score)
        # A function that is given as refit does not choose by the score alone.
        decisive = metric if isinstance(metric, str) and not callable(self.refit) else None
        course, alone = Course(self, X, y, params, metric), OneByOne(estimator, X, y, fit_params)
        evaluation = Evaluation(self, estimator, fits, scoring, decisive, course, alone)
        self.scorer_ = scorer._scorers if isinstance(scorer, _MultimetricScorer) else scorer
        results: dict[str, Any] = {}

        def evaluate_candidates(
            candidates: Iterable[Candidate], cv: Any = None, more_results: Any = None, callback_ctx: Any = None
        ) -> dict[str, Any]:
            nonlocal results
            folds = list((cv or splitter).split(X, y, **split_params))
            if len(folds) != self.n_splits_:
                raise ValueError(
                    "cv.split and cv.get_n_splits return inconsistent results."
                    f" Expected {self.n_splits_} splits, got {len(folds)}"
                )
            evaluation.add(list(candidates), folds, more_results or {})
            results, self._fit_work = evaluation.results(), evaluation.work
            return results

        stop = None
        try:
            takes_context = "callback_ctx" in inspect.signature(self._run_search).parameters
            if takes_context and hasattr(self, "_init_callback_context"):
                # No callbacks are set here, but scikit-learn from 1.9 on expects a context to tell them of its tasks.
                self._run_search(evaluate_candidates, callback_ctx=self._init_callback_context(max_subtasks=None))
            else:
                self._run_search(evaluate_candidates)
        except SearchInterrupted as interruption:
            stop = interruption
            forget(self, (*OF_SEARCH, *OF_LAST_FIT))
            if evaluation.is_empty:
                raise
            results = evaluation.results()

        self.cv_results_ = results
        if stop is None or evaluation.complete:
            self._choose_best(results, evaluation.first_scores, metric, None if stop is None else evaluation.complete)
            if decisive is not None and (self.refit or not self.multimetric_):
                self.selection_ = select(self.best_index_, results, decisive)
        if stop is not None:
            raise stop
        if self.refit:
            self._refit_best(estimator, X, y, fit_params)
        return self

    def _choose_best(self, results: dict[str, Any], first: Any, metric: Any, among: list[int] | None) -> None:
        """Set ``best_index_`` and what follows from it; ``first`` has the test scores of some fit, and ``metric`` is the one that decides.

        ``among`` are the candidates to choose from; None is all.
        """
        self.multimetric_ = isinstance(first, dict)
        if callable(self.scoring) and self.multimetric_:
            # Which metrics a function returns is known only now.
            self._check_refit_for_multimetric(first)
            metric = self.refit
        if self.refit or not self.multimetric_:
            if among is None:
                self.best_index_ = self._select_best_index(self.refit, metric, results)
            else:
                self.best_index_ = among[self._select_best_index(self.refit, metric, only(results, among))]
            self.best_params_ = results["params"][self.best_index_]
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]

    def _refit_best(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        """Fit the best candidate on all of the data."""
        self.best_estimator_ = clone(estimator).set_params(**clone(self.best_params_, safe=False))
        start = time.perf_counter()
        try:
            fit_in_place(self.best_estimator_, X, y, fit_params)
        except KeyboardInterrupt as stop:
            if not isinstance(stop, Interrupted):  # which leaves an estimator that is fitted as far as it came
                forget(self, OF_LAST_FIT)
            raise
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _has_callbacks(search: Any) -> bool:
    """Whether scikit-learn's callbacks (from its version 1.9 on) are set on the search or on an estimator inside."""
    return any(getattr(value, "_skl_callbacks", None) for value in [search, *search.get_params(deep=True).values()])


@documented(
    " ".join(ATTRIBUTES),
    param_grid=(
        "dict or list of dict",
        "The values to try, by parameter; of several grids all are searched. Parameters inside others are reached with two underscores: "
        "``svc__C`` of a Pipeline's step, ``kernel__left__gamma`` of a composed kernel.",
    ),
    **PARAMETERS,
    **ATTRIBUTES,
)
class GridSearchCV(_Search, sklearn.model_selection.GridSearchCV):
    """Tunes an estimator over a grid of parameters by cross-validation: a drop-in for :class:`sklearn.model_selection.GridSearchCV`.

    The candidates of an estimator of Gapless are handed to one engine a fold. In a Pipeline that ends in such an estimator the steps before it are
    fitted once a fold for all candidates that do not change them. Scores, ranks and the choice are scikit-learn's.

    Examples
    --------
    >>> from gapless import SVC
    >>> from gapless.model_selection import GridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}).fit(*load_iris(return_X_y=True))
    >>> search.best_params_
    {'C': 1, 'gamma': 0.1}
    >>> search.best_estimator_.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.model_selection.GridSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        racing: bool = False,
        resume: Any = None,
        prove: str = "bounded",
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.racing, self.resume, self.prove = racing, resume, prove


@documented(
    " ".join(ATTRIBUTES),
    param_distributions=(
        "dict or list of dict",
        "The distributions to draw from, by parameter: an object with a method ``rvs`` (those of ``scipy.stats``), or a list, whose entries are "
        "equally likely.",
    ),
    n_iter=("int", "The number of candidates that are drawn."),
    random_state=("int or RandomState", "The seed of the draws; None draws differently each time."),
    **PARAMETERS,
    **ATTRIBUTES,
)
class RandomizedSearchCV(_Search, sklearn.model_selection.RandomizedSearchCV):
    """Tunes an estimator over random draws of parameters by cross-validation: a drop-in for :class:`sklearn.model_selection.RandomizedSearchCV`.

    It fits as :class:`GridSearchCV` does; only the candidates come from distributions.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from gapless import LinearSVC
    >>> from gapless.model_selection import RandomizedSearchCV
    >>> from sklearn.datasets import load_iris
    >>> drawn = {"C": loguniform(1e-3, 1e3), "loss": ["hinge", "squared_hinge"]}
    >>> search = RandomizedSearchCV(LinearSVC(), drawn, n_iter=8, random_state=0).fit(*load_iris(return_X_y=True))
    >>> len(search.cv_results_["params"]), bool(search.best_score_ > 0.95)
    (8, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.model_selection.RandomizedSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        racing: bool = False,
        resume: Any = None,
        prove: str = "bounded",
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.racing, self.resume, self.prove = racing, resume, prove
