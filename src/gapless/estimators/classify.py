"""SVC and NuSVC: kernel classifiers, one-vs-one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gapless import nu as nu_forms
from gapless.errors import InvalidInputError
from gapless.estimators.base import KernelEstimator
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.multiclass import pack, pairs, unpack, vote
from gapless.estimators.parameters import BOOLEAN, CLASS_WEIGHT, KERNEL, POSITIVE, SHARE, Rule, one_of
from gapless.problem import Problem
from gapless.result import Result

_CLASSIFIER = {
    **KERNEL,
    "class_weight": CLASS_WEIGHT,
    "decision_function_shape": one_of("ovr", "ovo"),
    "break_ties": BOOLEAN,
}


class _KernelClassifier(ClassifierMixin, KernelEstimator):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y = self._take(X, y)
        codes = self._encode(y)
        weight = self._weights(sample_weight, X)
        self._check_classes(codes, weight)
        samples, spec = self._samples(X, weight)
        cost = weight * self.class_weight_[codes]
        members = [np.flatnonzero(((codes == i) | (codes == j)) & (weight > 0)) for i, j in pairs(len(self.classes_))]
        tasks = [
            (
                lambda member=member, i=i: self._problem(
                    samples[member], codes[member] != i, cost[member], weight[member], spec
                )
            )
            for member, (i, _) in zip(members, pairs(len(self.classes_)), strict=True)
        ]
        results = self._solve_all(tasks, kkt_tol=self.tol, max_iter=self._max_iter, opening=self._opening)
        scales = [self._scale(result) for result in results]
        # In each Problem the pair's second class is +1 (the larger label); LIBSVM's layout counts its first class positive.
        betas = [-result.beta / scale for result, scale in zip(results, scales, strict=True)]
        support, self._n_support, packed = pack(betas, members, codes, len(self.classes_))
        intercepts = np.array([-result.b / scale for result, scale in zip(results, scales, strict=True)])
        self._keep_support(X, support, spec)
        self._members = members
        self._scales = scales
        self._dual_coef_, self._intercept_ = self._store_dual(packed), intercepts
        flip = -1.0 if len(self.classes_) == 2 else 1.0
        self.dual_coef_, self.intercept_ = flip * self._dual_coef_, flip * intercepts
        self.n_iter_ = np.array([round(result.iterations) for result in results], dtype=np.int32)
        self.fit_status_ = int(any(not result.status.proven for result in results))
        return self._finish()

    def _encode(self, y: Any) -> np.ndarray:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InvalidInputError(f"The number of classes has to be greater than one; got {len(classes)} class")
        self.class_weight_ = compute_class_weight(self.class_weight, classes=classes, y=y)
        self.classes_ = classes
        return codes

    def _check_classes(self, codes: np.ndarray, weight: np.ndarray) -> None:
        left = np.unique(codes[weight > 0])
        if len(left) == 1:
            raise InvalidInputError("Invalid input - all samples with positive weights belong to the same class.")
        if len(left) < len(self.classes_):
            missing = next(c for c in range(len(self.classes_)) if c not in left)
            raise InvalidInputError(
                f"sample_weight leaves no sample of class {self.classes_[missing]!r}; every class needs a positive weight."
            )

    def _problem(
        self, samples: Any, positive: np.ndarray, cost: np.ndarray, weight: np.ndarray, spec: KernelSpec
    ) -> Problem:
        raise NotImplementedError

    def _scale(self, result: Result) -> float:
        """What the problem's own solution is divided by to be the estimator's."""
        return 1.0

    @property
    def n_support_(self) -> np.ndarray:
        """Number of support vectors of each class."""
        if not hasattr(self, "_n_support"):
            raise AttributeError("n_support_ is known after fit")
        return self._n_support

    @property
    def alpha_(self) -> np.ndarray | list[np.ndarray]:
        """α of every training sample, in [0, C]: a vector for two classes, one for each pair of classes otherwise (in order of its samples)."""
        check_is_fitted(self)
        alphas = []
        for member, result, scale in zip(self._members, self._results, self._scales, strict=True):
            alpha = np.zeros(self.shape_fit_[0])
            alpha[member] = np.abs(result.beta) / scale
            alphas.append(alpha)
        return alphas[0] if len(alphas) == 1 else alphas

    def _pair_decisions(self, X: Any) -> np.ndarray:
        """f of every pair of classes, positive for its first class."""
        check_is_fitted(self)
        dual = self._dual_coef_.toarray() if sp.issparse(self._dual_coef_) else self._dual_coef_
        if self._n_support.sum() != dual.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return self._kernel_values(X, unpack(dual, self._n_support)) + self._intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x), positive for ``classes_[1]``; for more classes a column a class (``"ovr"``) or a pair (``"ovo"``)."""
        decisions = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return -decisions.ravel()
        if self.decision_function_shape == "ovr":
            return _ovr_decision_function(decisions < 0, -decisions, len(self.classes_))
        return decisions

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the samples."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self.classes_[vote(self._pair_decisions(X), len(self.classes_))]

    def _get_coef(self) -> Any:
        if len(self.classes_) == 2:
            return self.dual_coef_ @ self.support_vectors_
        dual = self._dual_coef_.toarray() if sp.issparse(self._dual_coef_) else self._dual_coef_
        coef = unpack(dual, self._n_support).T
        return sp.csr_matrix(coef) @ self.support_vectors_ if self._sparse else coef @ self.support_vectors_


class SVC(_KernelClassifier):
    r"""C-support vector classification, with proof: :math:`\min ½‖w‖² + C \sum_i w_i \max(0, 1 - y_i f(x_i))`, b free.

    A drop-in for :class:`sklearn.svm.SVC`: the same parameters, defaults and attributes. Added: ``certificate_`` (primal, dual and gap; of several
    subproblems the worst, all in ``certificates_``), ``trace_``, ``alpha_``, ``decision_interval``, ``save``; the parameters ``solver``, ``max_time``,
    ``warm_start``, ``n_jobs`` and ``callback``. ``tol`` bounds the relative duality gap and the largest KKT violation.

    >>> from gapless import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> model.score(X, y), model.certificate_.relative_gap <= 1e-3
    (0.98, True)
    """

    _rules: ClassVar[dict[str, Rule]] = {**_CLASSIFIER, "C": POSITIVE}

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _problem(
        self, samples: Any, positive: np.ndarray, cost: np.ndarray, weight: np.ndarray, spec: KernelSpec
    ) -> Problem:
        return Problem(samples, positive, kernel=spec.kernel, C=self.C, sample_weight=cost)


class NuSVC(_KernelClassifier):
    r"""ν-support vector classification: :math:`\min ½‖w‖² - νnρ + \sum_i w_i \max(0, ρ - y_i f(x_i))`, reported in the scaling ρ = 1.

    ν bounds the share of margin errors from above and the share of support vectors from below. A drop-in for :class:`sklearn.svm.NuSVC`,
    with the additions of :class:`SVC`.

    >>> from gapless import NuSVC
    >>> NuSVC(nu=0.5, kernel="linear").fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]).predict([[-3.0], [3.0]])
    array([0, 1])
    """

    _rules: ClassVar[dict[str, Rule]] = {**_CLASSIFIER, "nu": SHARE}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _problem(
        self, samples: Any, positive: np.ndarray, cost: np.ndarray, weight: np.ndarray, spec: KernelSpec
    ) -> Problem:
        return nu_forms.nu_classification(samples, positive, nu=self.nu, kernel=spec.kernel, sample_weight=cost)

    def _scale(self, result: Result) -> float:
        rho = 0.5 * float(result.offsets[1] - result.offsets[0])
        return rho if rho > 0 else 1.0
