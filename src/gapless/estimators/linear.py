"""LinearSVC and LinearSVR: linear models that keep w and no support vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils import column_or_1d
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from gapless.blas import one_blas_thread
from gapless.data.namespace import NamespaceMixin
from gapless.data.products import row_products
from gapless.data.validate import as_weights
from gapless.errors import InvalidInputError
from gapless.estimators.callbacks import with_callbacks
from gapless.estimators.deadline import Deadline
from gapless.estimators.documented import LINEAR, LINEAR_MODEL, documented
from gapless.estimators.kernel_spec import stored_by_zeros
from gapless.estimators.linear_fold import LinearFold
from gapless.estimators.linear_support import LinearSupport
from gapless.estimators.multiclass import class_weights, encode_labels
from gapless.estimators.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_FINITE,
    POSITIVE_WHOLE,
    SOLVING,
    Rule,
    check_parameters,
    one_of,
)
from gapless.estimators.report import whose_words
from gapless.estimators.solving import Run, Solved, SolvingMixin
from gapless.estimators.training_data import take_features, take_training_data
from gapless.losses import EpsilonInsensitive, Loss, SquaredEpsilonInsensitive, as_loss
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.l1 import L1Problem
from gapless.problems.other_labels import OtherLabels
from gapless.problems.problem import Intercept, Problem
from gapless.proof.interval import bounds_of
from gapless.result import Result, Status
from gapless.store import register

_LINEAR: dict[str, Rule] = {
    **SOLVING,
    "C": POSITIVE,
    "fit_intercept": BOOLEAN,
    "intercept_scaling": POSITIVE_FINITE,
    "intercept": one_of("regularized", "free"),
    "dual": Rule(lambda value: BOOLEAN.holds(value) or value == "auto", "True, False or 'auto'"),
    "max_iter": POSITIVE_WHOLE,
}


class _LinearEstimator(NamespaceMixin, LinearSupport, SolvingMixin, BaseEstimator):
    _rules: ClassVar[dict[str, Rule]] = _LINEAR
    _fold: LinearFold | None = None  # what a search shares between fits; set while it works on this one

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _take(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray | None]:
        check_parameters(self, self._rules)
        if self._fold is not None:
            return self._fold.training_data(self)
        X, y = take_training_data(self, X, y)
        n = X.shape[0]
        if sample_weight is None:
            return X, y, None
        weight = as_weights(sample_weight)
        if weight.shape != (n,):
            raise InvalidInputError(
                f"sample_weight must have one entry for each of the {n} samples; got {weight.shape}."
            )
        if (weight < 0).any():
            raise InvalidInputError(
                f"sample_weight must not be negative; entry {int(np.argmin(weight))} is {weight.min():g}."
            )
        if not weight.any():
            raise InvalidInputError("sample_weight must have a positive entry; all are zero.")
        return X, y, weight

    @property
    def _intercept_kind(self) -> Intercept:
        if not self.fit_intercept:
            return "none"
        return "regularized" if self.intercept == "regularized" else "free"

    def _one_problem(
        self, rows: Callable[[], Any], y: np.ndarray, loss: Loss, weight: np.ndarray | None, *, C: float
    ) -> Problem:
        return Problem(
            rows(), y, loss=loss, C=C, intercept=self._intercept_kind, intercept_scale=self.intercept_scaling, sample_weight=weight
        )  # fmt: skip

    def _problem(self, k: int, make: Callable[..., Problem]) -> Problem:
        """Subproblem k, which ``make`` makes for a given C."""
        return make(C=self.C) if self._fold is None else self._fold.problem(k, self.C, make)

    def _starts(self, count: int) -> list[Solved | None]:
        if self._fold is None or self.warm_start:
            return super()._starts(count)
        return self._fold.starts(count, self.C)

    def _solve_one(self, problem: Problem, **options: Any) -> Result:
        elsewhere = self._fold is not None and not self.warm_start and self._fold.begins_elsewhere(self.C)
        return super()._solve_one(problem, prove_start=not elsewhere, **options)

    @property
    def _kkt_tol(self) -> float | None:
        """The bound on the KKT violation, where a tiny ``tol`` is asked for: a gap of 1e-16, float64's precision, leaves w uncertain by 1e-8."""
        asked = self.tol if self._asked_tol is None else self._asked_tol
        return self.tol if asked < 1e-10 else None

    def _opening(self, status: Status) -> str:
        if status is Status.MAX_ITER:
            return f"Liblinear failed to converge, increase the number of iterations. ({whose_words(self)})"
        return super()._opening(status)

    def _keep(self, run: Run) -> None:
        self.coef_ = np.vstack([np.asarray(solved.w) for solved in run.solved])
        self.intercept_ = np.array([solved.b for solved in run.solved]) if self.fit_intercept else 0.0
        # An engine may end a part of an epoch beyond its bound, and who compares n_iter_ with max_iter expects at most that.
        most = max(int(np.ceil(solved.iterations - 1e-9)) for solved in run.solved)
        self.n_iter_ = int(min(max(1, most), self.max_iter))

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._scores_of(self._features(X))

    def _scores_of(self, X: Any) -> np.ndarray:
        """The scores of checked rows."""
        coef: Any = self.coef_
        coef = coef.toarray() if sp.issparse(coef) else coef  # scikit-learn's method sparsify() makes coef_ sparse
        return row_products(X, coef.T) + self.intercept_

    def _features(self, X: Any) -> Any:
        known = self._fold is not None and X is self._fold.test
        return X if known else take_features(self, X, reset=False)

    def decision_interval(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """(low, high): bounds on f(x) of the exact optimum, proven by the gap; infinite under an l1 penalty, whose gap does not bound w.

        >>> from gapless import LinearSVR
        >>> low, high = LinearSVR(C=100, fit_intercept=False, tol=1e-9).fit([[1.0], [2.0]], [2.0, 4.0]).decision_interval([[3.0]])
        >>> bool(low[0] <= 6.0 <= high[0]), bool(high[0] - low[0] < 0.1)
        (True, True)
        """
        return self._answer(X)[:2]

    def _answer(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What ``decision_interval`` and ``predict`` give, from scores that are computed once."""
        check_is_fitted(self)
        X = self._features(X)
        scores = self._scores_of(X)
        reaches = [solved.reach for solved in self._solved]
        X = X.astype(np.float64, copy=False)
        squares = row_norms(X, squared=True)
        if self._intercept_kind == "free":
            columns, b = np.atleast_2d(scores.T).T, np.atleast_1d(self.intercept_)
            low, high = bounds_of(reaches, columns - b, squares)
        else:
            distances = np.array([reach.distance for reach in reaches])
            slack = self._difference * np.sqrt(squares + reaches[0].shift)[:, None] * distances
            slack = slack if scores.ndim == 2 else slack[:, 0]
            low, high = scores - slack, scores + slack
        if low.ndim == 2 and low.shape[1] == 1:
            low, high = low.ravel(), high.ravel()
        return low, high, self._said(scores)

    def _said(self, scores: np.ndarray) -> np.ndarray:
        """What ``predict`` gives where these are the scores: themselves."""
        return scores

    @property
    def _difference(self) -> float:
        """How much f changes at most where the weights change by a distance of one."""
        return 1.0


def _check_penalty(penalty: str, loss: str, dual: bool | str) -> None:
    """Refuse the one pair of penalty and loss that no solver covers; the message names ``dual`` because scikit-learn's message does."""
    if penalty == "l1" and loss != "squared_hinge":
        raise InvalidInputError(
            f"Unsupported set of arguments: penalty='l1' needs loss='squared_hinge'; got penalty={penalty!r}, loss={loss!r}, dual={dual!r}."
        )


@register
@documented(
    f"classes_ {LINEAR_MODEL}",
    **LINEAR,
    penalty=("{'l1', 'l2'}", "The regulariser: ``'l1'``, which makes weights exactly zero, is for the squared hinge."),
    loss=("{'hinge', 'squared_hinge'}", "The loss ℓ."),
    multi_class=("{'ovr', 'crammer_singer'}", "More than two classes: each against the rest, or all in one problem."),
)
class LinearSVC(ClassifierMixin, SparseCoefMixin, _LinearEstimator):
    r"""Linear support vector classification, with proof: :math:`\min ½‖w‖² + ½b²/s² + C \sum_i w_i ℓ(y_i, f(x_i))`, one-vs-rest.

    s is ``intercept_scaling``. A drop-in for :class:`sklearn.svm.LinearSVC`, with the additions of :class:`SVC`, the attributes ``support_``,
    ``dual_coef_`` and ``n_support_``, and the parameter ``intercept``. ``loss="hinge", dual=False``, which scikit-learn refuses, is solved.

    ``penalty="l1"`` solves :math:`\min ‖w‖_1 + |b|/s + C \sum_i w_i \max(0, 1 - y_i f(x_i))²` (:class:`~gapless.problems.l1.L1Problem`), to a
    gap of at most the square of ``tol`` (but not below 1e-10).

    ``multi_class="crammer_singer"`` trains all classes at once (:class:`~gapless.problems.crammer_singer.CrammerSingerProblem`) and ignores
    ``penalty``, ``loss`` and ``dual``; ``alpha_`` is then |β|, with a column for each class.

    Examples
    --------
    >>> from gapless import LinearSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> model.coef_.shape, model.certificate_.relative_gap <= 1e-4
    ((3, 4), True)
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **_LINEAR,
        "penalty": one_of("l1", "l2"),
        "loss": one_of("hinge", "squared_hinge"),
        "multi_class": one_of("ovr", "crammer_singer"),
        "class_weight": CLASS_WEIGHT,
    }
    _one_class = "sample_weight leaves one class, and a classifier needs two."

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "regularized",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y, weight = self._take(X, y, sample_weight)
        deadline = Deadline(self.max_time)
        if self.multi_class == "ovr":
            _check_penalty(self.penalty, self.loss, self.dual)
        counts = np.ones(X.shape[0]) if weight is None else weight
        self.classes_, codes = encode_labels(y, counts, self._one_class)
        by_class = weight
        if self.class_weight is not None:
            by_class = counts * class_weights(self.class_weight, self.classes_, codes, counts)[codes]
        tasks = self._tasks(X, codes, weight, by_class)
        run = self._solve_all(
            len(tasks),
            lambda k: self._problem(k, tasks[k]),
            data=(X, y, sample_weight),
            kkt_tol=self._kkt_tol,
            max_iter=self.max_iter,
            deadline=deadline,
        )
        self._keep(run)
        self._count_support(codes, len(self.classes_))
        return self._finish(run)

    def _tasks(
        self, X: Any, codes: np.ndarray, weight: np.ndarray | None, by_class: np.ndarray | None
    ) -> list[Callable[..., Problem]]:
        """The problems, which take their C: one for each class, or one for all. ``codes`` are −1 where the weight is zero; ``by_class`` is weight
        times class weight.
        """
        options: dict[str, Any] = {"intercept": self._intercept_kind, "intercept_scale": self.intercept_scaling}
        if self.multi_class == "crammer_singer":
            codes = np.maximum(codes, 0)
            return [partial(CrammerSingerProblem, X, codes, len(self.classes_), sample_weight=by_class, **options)]
        if len(self.classes_) == 2:
            sides = [(codes == 1, by_class)]
        else:  # as in LIBLINEAR, the weight of a class counts where the class is set against the rest, not within the rest
            ones = [codes == k for k in range(len(self.classes_))]
            others = 1.0 if weight is None else weight
            sides = [(one, weight if by_class is None else np.where(one, by_class, others)) for one in ones]
        if self.penalty == "l1":
            return [partial(L1Problem, X, one, sample_weight=weights, **options) for one, weights in sides]
        loss, rows, same = as_loss(self.loss), cache(lambda: stored_by_zeros(X)), OtherLabels()

        def against_rest(one: np.ndarray, weights: np.ndarray | None, *, C: float) -> Problem:
            problem = self._one_problem(rows, one, loss, weights, C=C)
            return same.join(problem) if len(sides) > 1 else problem

        return [partial(against_rest, one, weights) for one, weights in sides]

    @property
    def _gap_tol(self) -> float:
        # Which weights are exactly zero is decided by the violations of the optimality conditions, LIBLINEAR's criterion; the gap is of the order of
        # their squares, and is therefore brought to the square of tol.
        sparse = self.penalty == "l1" and self.multi_class == "ovr"
        return min(self.tol, max(self.tol**2, 1e-10)) if sparse else self.tol

    @property
    def _difference(self) -> float:
        # With two classes trained at once, f is the difference of two functions, so that a distance d of all weights changes f by √2 d at most.
        return 2**0.5 if self.multi_class == "crammer_singer" and len(self.classes_) == 2 else 1.0

    def _starts(self, count: int) -> list[Solved | None]:
        blocks = (len(self.classes_),) if self.multi_class == "crammer_singer" else ()
        starts = super()._starts(count)
        return [None if start is None or start.beta.shape[1:] != blocks else start for start in starts]

    def _keep(self, run: Run) -> None:
        super()._keep(run)
        if self.multi_class != "crammer_singer":
            return
        (solved,) = run.solved
        coef, intercept = np.asarray(solved.w).T, solved.offsets
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_ = np.ascontiguousarray(coef)
        self.intercept_ = intercept if self.fit_intercept else 0.0

    def _functions(self) -> list[np.ndarray]:
        if self.multi_class != "crammer_singer":
            return super()._functions()
        beta = self._solved[0].beta
        return [beta[:, 1] - beta[:, 0]] if len(self.classes_) == 2 else list(beta.T)

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x), positive for ``classes_[1]``; for more than two classes a column for each class."""
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the samples."""
        return self._said(self._scores(X))

    def _said(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[(scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)]


@register
@documented(
    LINEAR_MODEL,
    **LINEAR,
    loss=("{'epsilon_insensitive', 'squared_epsilon_insensitive'}", "The loss: the error above ε, or its square."),
)
class LinearSVR(RegressorMixin, _LinearEstimator):
    r"""Linear support vector regression, with proof: :math:`\min ½‖w‖² + ½b²/s² + C \sum_i w_i \max(0, |y_i - f(x_i)| - ε)` or its square.

    A drop-in for :class:`sklearn.svm.LinearSVR`, with the additions of :class:`LinearSVC`; s is ``intercept_scaling``.

    Examples
    --------
    >>> from gapless import LinearSVR
    >>> LinearSVR(C=100, fit_intercept=False, tol=1e-8).fit([[1.0], [2.0]], [2.0, 4.0]).coef_.round(4)
    array([2.])
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **_LINEAR,
        "loss": one_of("epsilon_insensitive", "squared_epsilon_insensitive"),
        "epsilon": NON_NEGATIVE,
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "regularized",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y, weight = self._take(X, y, sample_weight)
        deadline = Deadline(self.max_time)
        y = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
        y = y.astype(np.float64, copy=False)
        cls = EpsilonInsensitive if self.loss == "epsilon_insensitive" else SquaredEpsilonInsensitive
        rows, loss = cache(lambda: stored_by_zeros(X)), cls(epsilon=float(self.epsilon))
        problem = self._problem(0, partial(self._one_problem, rows, y, loss, weight))
        run = self._solve_all(
            1,
            lambda _: problem,
            data=(X, y, sample_weight),
            kkt_tol=self._kkt_tol,
            max_iter=self.max_iter,
            deadline=deadline,
        )
        self._keep(run)
        self.coef_ = self.coef_[0]
        self._count_support()
        return self._finish(run)

    def predict(self, X: Any) -> np.ndarray:
        """f(x) for each sample."""
        return self._scores(X)
