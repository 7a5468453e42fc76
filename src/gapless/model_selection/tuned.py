"""What the estimators share that tune themselves: a search over grids of their own, and then the fit of the best."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from contextlib import nullcontext
from copy import deepcopy
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import sklearn
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from gapless.blas import one_blas_thread
from gapless.errors import InvalidInputError
from gapless.estimators.multiclass import encode_labels
from gapless.estimators.parameters import BOOLEAN, NON_NEGATIVE, POSITIVE, POSITIVE_WHOLE, Rule
from gapless.model_selection.explained import ATTRIBUTES
from gapless.model_selection.explained import PARAMETERS as OF_SEARCHES
from gapless.model_selection.grids import deviation, epsilon_grid
from gapless.model_selection.search import GridSearchCV
from gapless.model_selection.staged import StagedSearch
from gapless.model_selection.stages import FIRST, Stage, stages_of
from gapless.model_selection.widening import Axis

_FOLDS = 5  # as in scikit-learn
# What belongs to a single fit, and is for the last one alone: a candidate that somebody watches could not share its work with others.
_OF_LAST_FIT = ("n_jobs", "verbose", "callback", "warm_start")


def _is_grid(value: Any, each: Rule) -> bool:
    if POSITIVE_WHOLE.holds(value):
        return True
    return isinstance(value, (list, tuple, np.ndarray)) and len(value) > 0 and all(each.holds(one) for one in value)


GRID: Rule = Rule(
    lambda value: _is_grid(value, NON_NEGATIVE), "a positive whole number, or an array of numbers of at least 0"
)
"""The rule of the values of a parameter that may be zero."""
TUNING: dict[str, Rule] = {
    "Cs": Rule(lambda value: _is_grid(value, POSITIVE), "a positive whole number, or an array of positive numbers"),
    "widen": Rule(lambda value: POSITIVE_WHOLE.holds(value) or value == 0, "a whole number of at least 0"),
    "scoring": Rule(
        lambda value: value is None or isinstance(value, str) or callable(value), "None, a name or a function"
    ),
    "refit": BOOLEAN,
    "racing": BOOLEAN,
    "prove": Rule(lambda value: isinstance(value, str) and value in ("bounded", "full"), "'bounded' or 'full'"),
    "staged": BOOLEAN,
}
"""The rules of the parameters that all of these estimators have."""

PARAMETERS = {
    "Cs": (
        "int or array-like",
        "The values of C to try, or how many: a number of values is spread evenly, on a logarithmic scale, from 1e-2 to 1e4 in the unit of the data, "
        "which is one over the variance of the samples in the kernel's feature space (for an error that is not squared, times the mean absolute "
        "deviation of y).",
    ),
    "widen": (
        "int",
        "How often a grid is widened at most where its best value is at one of its ends. Each time it gains two values, and only these are "
        "fitted. A grid that is given as an array stays as it is, and so does that of ε.",
    ),
    "cv": (
        "int, splitter or iterable",
        "The folds: how many (stratified for classifiers), a splitter of scikit-learn's, or pairs of training and test rows. None is five folds, or "
        "as many as the smallest class has samples, but two at least.",
    ),
    "scoring": (
        "str or callable",
        "The metric that decides, by name or as a function of (estimator, X, y), greater being better. None is the estimator's own ``score``: "
        "accuracy, or R².",
    ),
    "refit": (
        "bool",
        "Whether the best candidate is fitted on all of the data at the end, which makes this estimator that model. Otherwise the search alone is "
        "done, and there is nothing to predict with.",
    ),
    "racing": OF_SEARCHES["racing"],
    "prove": OF_SEARCHES["prove"],
    "staged": (
        "bool",
        "Whether the grid is searched in stages, where there are half as many samples again as the first stage has: all candidates on 1,000 of the "
        "samples (of a linear machine on so many as have half a million entries), those that keep up with the best on four times as many, and so "
        "on, and few on all of them. A candidate that is left out has no score on all samples. False fits all of them on all samples, which takes "
        "many times as long.",
    ),
    "n_jobs": (
        "int",
        "How many folds are worked on side by side, in threads, and how many subproblems of the last fit; −1 is all processors. None is one.",
    ),
    "verbose": (
        "int",
        f"{OF_SEARCHES['verbose'][1]} From 1 on a terminal also shows the progress of the last fit.",
    ),
    "callback": (
        "callable",
        "Called with a :class:`~gapless.trace.Progress` after each check of a subproblem of the last fit; returning True stops that subproblem.",
    ),
    "warm_start": (
        "bool",
        "Whether the last fit starts from the solution of an earlier call of ``fit``, where the shapes agree.",
    ),
    "max_time": (
        "float",
        "The most seconds for each fit, of a candidate on a fold as of the best one on all of the data; None sets no bound.",
    ),
    "C_": ("float", "The chosen C."),
    "Cs_": ("array of shape (n_cs,)", "All values of C that were tried, ascending."),
    "scores_": (
        "array of shape (n_folds, ..., n_cs)",
        "The score of each candidate on each fold of all samples, with an axis for each parameter that was searched, in alphabetical order but C "
        "last; NaN where a candidate was left out after an earlier stage, could not win, or was stopped since its fits would take too much work.",
    ),
    "cv_results_": (
        "dict",
        f"{ATTRIBUTES['cv_results_'][1]} A candidate has a row for each stage that it was fitted on: ``stage`` counts them from 0, and ``n_rows`` is "
        "how many samples the stage has, for training and for tests together. The last stage is ranked first, then the one before, and so on.",
    ),
    "best_index_": ("int", "The place of the best candidate in ``cv_results_``: its row of the last stage."),
    "best_params_": ATTRIBUTES["best_params_"],
    "best_score_": ("float", "The mean score of the best candidate over the folds of all samples."),
    "selection_": (
        "Selection or None",
        "What is proven about the choice among the candidates that were fitted on all samples, and how many were left out before: ``index``, "
        "``proven``, ``tied``, ``score`` and ``left_out``; it prints as a sentence. None where the metric has no intervals.",
    ),
}
"""(type, explanation) of the parameters and attributes that all of these estimators have."""

EPSILON = {
    "epsilons": (
        "int or array-like",
        "The values of ε to try, or how many: a number of values is spread evenly, on a logarithmic scale, from 0.05 to 0.8 mean absolute deviations "
        "of y.",
    ),
    "epsilon_": ("float", "The chosen ε."),
    "epsilons_": ("array of shape (n_epsilons,)", "All values of ε that were tried, ascending."),
}
"""(type, explanation) of what regressors have besides."""

SEARCHED = "scores_ cv_results_ best_index_ best_params_ best_score_ selection_"
"""The attributes that tell of the search."""


class TunedMixin:
    """Chooses parameters by a search and then fits its base class with them; the base class reads them by their names, as if they had been given."""

    _base: ClassVar[type]
    _one_class: ClassVar[str]
    _stored: ClassVar[tuple[str, ...]]
    cv: Any
    Cs: Any
    widen: int
    scoring: Any
    refit: bool
    racing: bool
    prove: str
    staged: bool
    n_jobs: int | None
    verbose: Any
    _pairwise: bool = False  # whether X has an entry for each pair of samples

    C_: float

    C: Any = property(attrgetter("C_"), doc="The chosen C, under the name that the base class has for it.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose the parameters by cross-validation, and fit the model with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Labels, or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, in the fits, in the scores and in the choice of the grids. A sample of weight zero is in no fold, unless ``cv``
            lists the rows of each fold.
        groups : array-like of shape (n_samples,), default=None
            The groups of the samples, for a splitter that keeps groups together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows, targets, weight = self._checked(X, y, sample_weight)
        counts = np.ones(len(targets)) if weight is None else weight
        folds = self._folds(rows, targets, counts, groups)
        # Where weights are given, scores count them as fits do; scikit-learn sends them to both by its metadata routing alone.
        with nullcontext() if weight is None else sklearn.config_context(enable_metadata_routing=True):
            candidate, scoring = self._candidate(), self.scoring
            if weight is not None:
                candidate = candidate.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
                scoring = _weighted(scoring)
            with one_blas_thread():  # so that the grid is the same on every machine, and no thread of BLAS waits for work where the fits begin
                axes = self._axes(rows, targets, counts)

            def fit(search: GridSearchCV, stage: Stage) -> None:
                own = {} if weight is None else {"sample_weight": weight[stage.rows]}
                search.fit(stage.take(rows, self._pairwise), targets[stage.rows], **own)

            stages = stages_of(
                folds, targets, is_classifier(self), self._first_stage(rows) if self.staged else math.inf
            )
            search = StagedSearch(
                candidate, axes, self.widen, stages, fit, scoring=scoring, n_jobs=self.n_jobs, verbose=int(self.verbose),
                error_score="raise", racing=self.racing, prove=self.prove,
            )  # fmt: skip
            self._choose(search.run())
        if self.refit:
            return super().fit(X, targets, sample_weight)  # type: ignore[misc]
        for name in super()._stored:  # type: ignore[misc]
            vars(self).pop(name, None)  # what an earlier fit has left is not the model of this choice
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "intercept_" in vars(self)

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """(X, y, weight) as the base class checks them; weight is None where none are given."""
        raise NotImplementedError

    def _axes(self, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Axis]:
        """What is searched."""
        raise NotImplementedError

    def _first_stage(self, X: Any) -> float:
        """The samples of the first stage of a search."""
        return FIRST

    def _unit(self, y: np.ndarray, weight: np.ndarray) -> float:
        """What C is in proportion to, besides one over the variance of the features."""
        return 1.0

    def _more_axes(self, y: np.ndarray, weight: np.ndarray) -> list[Axis]:
        """What is searched besides C and γ."""
        return []

    def _targets(self, y: Any, weight: np.ndarray | None) -> np.ndarray:
        """y as one column: labels of two classes at least, or numbers."""
        y = column_or_1d(y, warn=True)
        if not is_classifier(self):
            return y.astype(np.float64, copy=False)
        encode_labels(y, np.ones(len(y)) if weight is None else weight, self._one_class)
        return y

    def _candidate(self) -> Any:
        """The base class with the parameters that are not searched."""
        shared = set(inspect.signature(type(self)).parameters) & set(inspect.signature(self._base).parameters)
        return self._base(**{name: getattr(self, name) for name in shared - set(_OF_LAST_FIT)})

    def _folds(self, X: Any, y: np.ndarray, weight: np.ndarray, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """(train, test) of each fold; they are listed once, so that candidates which are fitted later see the same folds."""
        check_consistent_length(y, groups)
        used = np.flatnonzero(weight > 0)
        cv = self.cv
        if cv is None:
            smallest = len(used) if not is_classifier(self) else np.unique(y[used], return_counts=True)[1].min()
            cv = min(_FOLDS, max(2, int(smallest)))
        elif isinstance(cv, Iterable) and not hasattr(cv, "split"):
            return list(cv)
        if len(used) < len(y):
            X, groups = _safe_indexing(X, used), None if groups is None else _safe_indexing(groups, used)
        splitter = check_cv(cv, y[used], classifier=is_classifier(self))
        return [(used[train], used[test]) for train, test in splitter.split(X, y[used], groups)]

    def _choose(self, search: StagedSearch) -> None:
        """Keep the best candidate and what is known of the others."""
        self.cv_results_ = search.cv_results_
        self.best_index_, self.best_params_ = int(search.best_index_), search.best_params_
        self.best_score_ = float(search.best_score_)
        self.selection_ = search.selection_
        by_name = {axis.name: axis for axis in search.axes}
        self.C_, self.Cs_ = float(search.best_params_["C"]), by_name["C"].values
        # "C" sorts before the names of the other parameters, which are in lower case.
        names = [*sorted(by_name)[1:], "C"]
        places: list[Any] = [
            np.searchsorted(by_name[name].values, [each[name] for each in search.cv_results_["params"]])
            for name in names
        ]
        self.scores_ = np.full((search.n_splits_, *(len(by_name[name].values) for name in names)), np.nan)
        complete = search.cv_results_["stage"] == search.cv_results_["stage"].max()
        for fold in range(search.n_splits_):
            self.scores_[(fold, *(each[complete] for each in places))] = search.cv_results_[f"split{fold}_test_score"][
                complete
            ]

    def _check_loaded(self) -> None:
        super()._check_loaded()  # type: ignore[misc]
        if not (isinstance(getattr(self, "C_", None), float) and self.C_ > 0):
            raise InvalidInputError("it does not tell the C that was chosen")


class TunedEpsilonMixin(TunedMixin):
    """The search of ε, for regressors."""

    epsilons: Any

    epsilon: Any = property(attrgetter("epsilon_"), doc="The chosen ε, under the name that the base class has for it.")

    def _unit(self, y: np.ndarray, weight: np.ndarray) -> float:
        return deviation(y, weight)

    def _more_axes(self, y: np.ndarray, weight: np.ndarray) -> list[Axis]:
        # Below its grid ε makes next to no difference to a score, and above it little is left to fit: this grid is not widened.
        found = epsilon_grid(y, weight, count_of(self.epsilons))
        return [axis("epsilon", self.epsilons, found, grows=False)]

    def _choose(self, search: StagedSearch) -> None:
        super()._choose(search)
        self.epsilon_ = float(search.best_params_["epsilon"])
        self.epsilons_ = next(axis.values for axis in search.axes if axis.name == "epsilon")


STORED = ("C_", "Cs_", "scores_", "best_index_", "best_params_", "best_score_", "selection_")
"""What a model file keeps of a search."""


def axis(name: str, given: Any, chosen: np.ndarray | None, grows: bool = True) -> Axis:
    """The axis of a parameter: the values that the user gives, or those that were chosen from the data, which may grow."""
    if POSITIVE_WHOLE.holds(given) and chosen is not None:
        return Axis(name, chosen, grows)
    return Axis(name, np.unique(np.asarray(given, dtype=np.float64)), False)


def without(rules: dict[str, Rule], *names: str) -> dict[str, Rule]:
    """Rules but for those of the parameters that are searched."""
    return {name: rule for name, rule in rules.items() if name not in names}


def count_of(given: Any) -> int:
    """How many values are to be chosen from the data where a parameter is a number of values; for values themselves, any number."""
    return int(given) if POSITIVE_WHOLE.holds(given) else 1


def _weighted(scoring: Any) -> Any:
    """A scorer that counts sample weights where its metric takes them, unless the user has said something else of it."""
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    metric = getattr(scorer, "_score_func", None)
    if metric is None or "sample_weight" not in inspect.signature(metric).parameters:
        return scorer
    asked = scorer.get_metadata_routing().score.requests.get("sample_weight")
    return deepcopy(scorer).set_score_request(sample_weight=True) if asked is None else scorer
