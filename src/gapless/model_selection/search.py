"""GridSearchCV and RandomizedSearchCV: scikit-learn's searches, with an engine that fits all candidates of a fold."""

from __future__ import annotations

import inspect
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
from sklearn.utils.validation import _check_method_params

from gapless.estimators.documented import documented
from gapless.model_selection import engine
from gapless.model_selection.evaluation import Evaluation
from gapless.model_selection.explained import ATTRIBUTES, PARAMETERS
from gapless.model_selection.fold import Candidate
from gapless.model_selection.scoring import FoldScoring
from gapless.model_selection.selection import Selection, select


class _Search(BaseSearchCV):
    """Fits all candidates by one engine; what comes before the fits and after them is scikit-learn's."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSearchCV._parameter_constraints,
        "racing": ["boolean"],
    }
    racing: bool

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
        if not engine.is_ours(self.estimator):
            return super().fit(X, y, **params)
        if _has_callbacks(self):
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
        evaluation = Evaluation(self, estimator, fits, scoring, decisive)
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
            results = evaluation.results()
            return results

        if "callback_ctx" in inspect.signature(self._run_search).parameters:
            # No callbacks are set here, but scikit-learn from 1.9 on expects a context to tell them of its tasks.
            self._run_search(evaluate_candidates, callback_ctx=self._init_callback_context(max_subtasks=None))
        else:
            self._run_search(evaluate_candidates)

        self._choose_best(results, evaluation.first_scores, metric)
        if decisive is not None and (self.refit or not self.multimetric_):
            self.selection_ = select(self.best_index_, results, decisive)
        if self.refit:
            self._refit_best(estimator, X, y, fit_params)
        self.scorer_ = scorer._scorers if isinstance(scorer, _MultimetricScorer) else scorer
        self.cv_results_ = results
        return self

    def _choose_best(self, results: dict[str, Any], first: Any, metric: Any) -> None:
        """Set ``best_index_`` and what follows from it; ``first`` has the test scores of some fit, and ``metric`` is the one that decides."""
        self.multimetric_ = isinstance(first, dict)
        if callable(self.scoring) and self.multimetric_:
            # Which metrics a function returns is known only now.
            self._check_refit_for_multimetric(first)
            metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, metric, results)
            self.best_params_ = results["params"][self.best_index_]
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]

    def _refit_best(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        """Fit the best candidate on all of the data."""
        self.best_estimator_ = clone(estimator).set_params(**clone(self.best_params_, safe=False))
        start = time.perf_counter()
        if y is None:
            self.best_estimator_.fit(X, **fit_params)
        else:
            self.best_estimator_.fit(X, y, **fit_params)
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
        self.racing = racing


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
        self.racing = racing
