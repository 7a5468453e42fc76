"""SVR and NuSVR: kernel regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from gapless import nu as nu_forms
from gapless.estimators.base import KernelEstimator
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.parameters import KERNEL, NON_NEGATIVE, POSITIVE, POSITIVE_FINITE, SHARE, Rule
from gapless.losses import EpsilonInsensitive
from gapless.problem import Problem


class SingleKernelEstimator(KernelEstimator):
    """An estimator with one subproblem and one decision function: regression and one-class."""

    def _fit_one(self, X: Any, y: np.ndarray | None, sample_weight: Any) -> Any:
        weight = self._weights(sample_weight, X)
        samples, spec = self._samples(X, weight)
        self._kept = np.flatnonzero(weight > 0)
        problem = self._problem(samples[self._kept], None if y is None else y[self._kept], weight[self._kept], spec)
        (result,) = self._solve_all([lambda: problem], kkt_tol=self.tol, max_iter=self._max_iter, opening=self._opening)
        beta = np.zeros(self.shape_fit_[0])
        beta[self._kept] = self._coefficients(result.beta)
        support = np.flatnonzero(beta).astype(np.int32)
        self._keep_support(X, support, spec)
        self.dual_coef_ = self._store_dual(beta[support][None, :])
        self._dual_coef_ = self.dual_coef_
        self.intercept_ = np.array([result.b])
        self._intercept_ = self.intercept_
        self._n_support = np.array([len(support)], dtype=np.int32)
        self.n_iter_ = round(result.iterations)
        self.fit_status_ = int(not result.status.proven)
        return self._finish()

    def _problem(self, samples: Any, y: np.ndarray | None, weight: np.ndarray, spec: KernelSpec) -> Problem:
        raise NotImplementedError

    def _coefficients(self, beta: np.ndarray) -> np.ndarray:
        return beta

    @property
    def n_support_(self) -> np.ndarray:
        """Number of support vectors, as an array of one."""
        if not hasattr(self, "_n_support"):
            raise AttributeError("n_support_ is known after fit")
        return self._n_support

    @property
    def alpha_(self) -> np.ndarray:
        """|β| of every training sample."""
        check_is_fitted(self)
        alpha = np.zeros(self.shape_fit_[0])
        alpha[self.support_] = np.abs(self._dense_dual()[0])
        return alpha

    def _dense_dual(self) -> np.ndarray:
        return self._dual_coef_.toarray() if sp.issparse(self._dual_coef_) else self._dual_coef_

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._kernel_values(X, self._dense_dual().T).ravel() + self._intercept_[0]


class _KernelRegressor(RegressorMixin, SingleKernelEstimator):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y = self._take(X, y)
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        return self._fit_one(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """f(x) for each sample."""
        return self._decisions(X)


class SVR(_KernelRegressor):
    r"""ε-support vector regression, with proof: :math:`\min ½‖w‖² + C \sum_i w_i \max(0, |y_i - f(x_i)| - ε)`, b free.

    A drop-in for :class:`sklearn.svm.SVR`, with the additions of :class:`gapless.SVC`.

    >>> from gapless import SVR
    >>> model = SVR(kernel="linear", C=100, epsilon=0.0, tol=1e-8).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(4)
    array([7.])
    """

    _rules: ClassVar[dict[str, Rule]] = {**KERNEL, "C": POSITIVE, "epsilon": NON_NEGATIVE}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _problem(self, samples: Any, y: np.ndarray | None, weight: np.ndarray, spec: KernelSpec) -> Problem:
        loss = EpsilonInsensitive(epsilon=float(self.epsilon))
        return Problem(samples, y, loss=loss, kernel=spec.kernel, C=self.C, sample_weight=weight)


class NuSVR(_KernelRegressor):
    r"""ν-support vector regression: :math:`\min ½‖w‖² + C (νnε + \sum_i w_i \max(0, |y_i - f(x_i)| - ε))`, with ε chosen by the problem.

    A drop-in for :class:`sklearn.svm.NuSVR`, with the additions of :class:`gapless.SVC`.

    >>> from gapless import NuSVR
    >>> model = NuSVR(kernel="linear", C=100, tol=1e-8).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(4)
    array([7.])
    """

    _rules: ClassVar[dict[str, Rule]] = {**KERNEL, "C": POSITIVE_FINITE, "nu": SHARE}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _problem(self, samples: Any, y: np.ndarray | None, weight: np.ndarray, spec: KernelSpec) -> Problem:
        return nu_forms.nu_regression(samples, y, nu=self.nu, C=self.C, kernel=spec.kernel, sample_weight=weight)

    def _coefficients(self, beta: np.ndarray) -> np.ndarray:
        half = len(beta) // 2
        return beta[:half] + beta[half:]
