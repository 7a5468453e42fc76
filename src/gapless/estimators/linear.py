"""LinearSVC and LinearSVR: linear models that keep w, one-vs-rest."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gapless.errors import InvalidInputError
from gapless.estimators.base import SolvingMixin
from gapless.estimators.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_FINITE,
    SOLVING,
    Rule,
    check_parameters,
    one_of,
)
from gapless.losses import EpsilonInsensitive, Loss, SquaredEpsilonInsensitive, as_loss
from gapless.problem import Intercept, Problem
from gapless.result import Result

_LINEAR: dict[str, Rule] = {
    **SOLVING,
    "C": POSITIVE,
    "fit_intercept": BOOLEAN,
    "intercept_scaling": POSITIVE_FINITE,
    "intercept": one_of("regularized", "free"),
    "dual": Rule(lambda value: BOOLEAN.holds(value) or value == "auto", "True, False or 'auto'"),
    "max_iter": Rule(lambda value: isinstance(value, int) and value >= 0, "a whole number of at least 0"),
}


class _LinearEstimator(SolvingMixin, BaseEstimator):
    _rules: ClassVar[dict[str, Rule]] = _LINEAR

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _take(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray]:
        check_parameters(self, self._rules)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
        n = X.shape[0]
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != (n,):
            raise InvalidInputError(
                f"sample_weight must have one entry for each of the {n} samples; got {weight.shape}."
            )
        if not np.isfinite(weight).all():
            raise InvalidInputError("sample_weight must be finite; it has NaN or infinite entries.")
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

    def _one_problem(self, X: Any, y: np.ndarray, loss: Loss, weight: np.ndarray) -> Problem:
        return Problem(
            X, y, loss=loss, C=self.C, intercept=self._intercept_kind, intercept_scale=self.intercept_scaling, sample_weight=weight
        )  # fmt: skip

    @property
    def _opening(self) -> str:
        return "Liblinear failed to converge, increase the number of iterations."

    def _keep(self, results: list[Result]) -> None:
        self.coef_ = np.vstack([result.w for result in results])
        self.intercept_ = np.array([result.b for result in results]) if self.fit_intercept else 0.0
        self.n_iter_ = max(1, *(int(np.ceil(result.iterations - 1e-9)) for result in results)) if results else 0

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], accept_sparse="csr", reset=False)
        return np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True)) + self.intercept_


class LinearSVC(ClassifierMixin, _LinearEstimator):
    r"""Linear support vector classification, with proof: :math:`\min ½‖w‖² + ½b²/s² + C \sum_i w_i ℓ(y_i, f(x_i))`, one-vs-rest.

    ℓ is the squared hinge (default) or the hinge; s is ``intercept_scaling``. ``intercept="free"`` leaves b out of the regulariser, which
    is the problem that :class:`SVC` solves. A drop-in for :class:`sklearn.svm.LinearSVC`; added are ``certificate_``, ``trace_``, ``alpha_``,
    ``decision_interval``, ``save`` and the parameters ``intercept``, ``solver``, ``max_time``, ``warm_start``, ``n_jobs``, ``callback``.
    ``dual`` is kept for compatibility: the proof always needs both sides.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y, weight = self._take(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidInputError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")
        if len(np.unique(codes[weight > 0])) < len(self.classes_):
            raise InvalidInputError(
                "sample_weight leaves a class without a sample of positive weight; every class needs one."
            )
        weight = weight * compute_class_weight(self.class_weight, classes=self.classes_, y=y)[codes]
        loss = as_loss(self.loss)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        tasks = [(lambda k=k: self._one_problem(X, codes == k, loss, weight)) for k in positives]
        results = self._solve_all(tasks, kkt_tol=None, max_iter=self.max_iter, opening=self._opening)
        self._keep(results)
        return self._finish()

    @property
    def alpha_(self) -> np.ndarray:
        """α of every training sample, in [0, C]: a vector for two classes, otherwise a row a class."""
        check_is_fitted(self)
        alphas = np.vstack([result.alpha() for result in self._results])
        return alphas[0] if len(alphas) == 1 else alphas

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x), positive for ``classes_[1]``; for more classes a column a class."""
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the samples."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


class LinearSVR(RegressorMixin, _LinearEstimator):
    r"""Linear support vector regression, with proof: :math:`\min ½‖w‖² + ½b²/s² + C \sum_i w_i \max(0, |y_i - f(x_i)| - ε)` or its square.

    A drop-in for :class:`sklearn.svm.LinearSVR`, with the additions of :class:`LinearSVC`.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y, weight = self._take(X, y, sample_weight)
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        cls = EpsilonInsensitive if self.loss == "epsilon_insensitive" else SquaredEpsilonInsensitive
        problem = self._one_problem(X, y, cls(epsilon=float(self.epsilon)), weight)
        results = self._solve_all([lambda: problem], kkt_tol=None, max_iter=self.max_iter, opening=self._opening)
        self._keep(results)
        self.coef_ = self.coef_[0]
        return self._finish()

    @property
    def alpha_(self) -> np.ndarray:
        """|β| of every training sample."""
        check_is_fitted(self)
        return self._results[0].alpha()

    def predict(self, X: Any) -> np.ndarray:
        """f(x) for each sample."""
        return self._scores(X)
