"""SVR and NuSVR: kernel regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from gapless.blas import one_blas_thread
from gapless.estimators.base import KernelEstimator
from gapless.estimators.callbacks import with_callbacks
from gapless.estimators.deadline import Deadline
from gapless.estimators.documented import KERNEL_MODEL, documented
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.parameters import KERNEL, NON_NEGATIVE, POSITIVE, POSITIVE_FINITE, SHARE, Rule
from gapless.estimators.report import warn_if_zero
from gapless.estimators.stages import SMALL
from gapless.estimators.tube_width import solve_by_width
from gapless.losses import EpsilonInsensitive
from gapless.problems import nu as nu_forms
from gapless.problems.problem import Problem
from gapless.store import register

# Of a one-class machine. The optimum of a regression is zero where all targets are, and its model then tells them.
_WHY_ZERO = (
    "the origin lies so far within the samples that w = 0 is optimal, and the model's decision function, which is zero but for rounding, tells "
    "nothing of a sample. A smaller nu, samples that are not centred, or a kernel such as 'rbf' may have another optimum."
)


class SingleKernelEstimator(KernelEstimator):
    """Base of the estimators with one subproblem and one decision function: regression and one-class."""

    def _fit_one(self, X: Any, y: np.ndarray | None, sample_weight: Any) -> Any:
        deadline = Deadline(self.max_time)
        weight = self._weights(sample_weight)
        samples, spec = self._samples(X, weight)
        used = np.flatnonzero(weight > 0)
        run = self._solve_all(
            1,
            lambda _: self._problem(samples[used], None if y is None else y[used], weight[used], spec),
            data=(X, y, sample_weight),
            kkt_tol=self._kkt_tol,
            max_iter=self._max_iter,
            deadline=deadline,
            together=self._given,
        )
        found = run.columns
        beta = np.zeros(self.shape_fit_[0])
        beta[used] = self._coefficients(found.beta)
        support = np.flatnonzero(beta).astype(np.int32)
        self._keep_support(X, support, spec)
        self._store_model(beta[support][None, :], found.offsets.mean(axis=1), bool(found.proven.all()))
        self.dual_coef_, self.intercept_ = self._dual_coef_, self._intercept_
        self._n_support = np.array([len(support)], dtype=np.int32)
        self.n_iter_ = round(float(found.iterations[0]))
        if not self._quiet and y is None:
            warn_if_zero(self, found.zero, _WHY_ZERO)
        return self._finish(run)

    def _problem(self, samples: Any, y: np.ndarray | None, weight: np.ndarray, spec: KernelSpec) -> Problem:
        raise NotImplementedError

    def _coefficients(self, beta: np.ndarray) -> np.ndarray:
        return beta

    @property
    def alpha_(self) -> np.ndarray:
        """|β| of every training sample."""
        check_is_fitted(self)
        alpha = np.zeros(self.shape_fit_[0])
        alpha[self.support_] = np.abs(self._dense_dual()[0])
        return alpha

    def decision_interval(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """(low, high): bounds on f(x) of the exact optimum for each sample, proven by the gap.

        >>> from gapless import SVR
        >>> model = SVR(kernel="linear", C=100, epsilon=0.0, tol=1e-9).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
        >>> low, high = model.decision_interval([[3.0]])
        >>> bool(low[0] <= 7.0 <= high[0]), bool(high[0] - low[0] < 0.1)
        (True, True)
        """
        return self._answer(X)[:2]

    def _answer(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What ``decision_interval`` gives, and f(x), from kernel values that are computed once."""
        values = self._decisions(X)
        low, high = self._solved[0].reach.bounds(values - self._intercept_[0], self._squares(X))
        return low, high, values

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._kernel_values(X, self._dense_dual().T).ravel() + self._intercept_[0]


class _KernelRegressor(RegressorMixin, SingleKernelEstimator):
    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y = self._take(X, y)
        y = (y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)).astype(np.float64, copy=False)
        return self._fit_one(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """f(x) for each sample."""
        return self._decisions(X)


@register
@documented(KERNEL_MODEL)
class SVR(_KernelRegressor):
    r"""ε-support vector regression, with proof: :math:`\min ½‖w‖² + C \sum_i w_i \max(0, |y_i - f(x_i)| - ε)`, b free.

    A drop-in for :class:`sklearn.svm.SVR`, with the additions of :class:`gapless.SVC`.

    Examples
    --------
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


@register
@documented(
    KERNEL_MODEL,
    nu=(
        "float",
        "ν, above 0 and at most 1: an upper bound on the share of errors above ε, a lower bound on the share of support vectors.",
    ),
    C=(
        "float",
        "The cost of an error above ε, against the regulariser: the larger, the closer the model follows the samples.",
    ),
)
class NuSVR(_KernelRegressor):
    r"""ν-support vector regression: :math:`\min ½‖w‖² + C (νnε + \sum_i w_i \max(0, |y_i - f(x_i)| - ε))`, where the optimum includes ε.

    A drop-in for :class:`sklearn.svm.NuSVR`, with the additions of :class:`gapless.SVC`.

    Examples
    --------
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

    def _solve_one(self, problem: Problem, **options: Any) -> Any:
        searched = self.solver == "auto" and problem.is_linear and problem.n_samples > SMALL
        if searched and options["start"] is None and options["max_iter"] is None:
            return solve_by_width(problem, self._pairs(), **options).certified
        return super()._solve_one(problem, **options)

    def _coefficients(self, beta: np.ndarray) -> np.ndarray:
        half = len(beta) // 2
        return beta[:half] + beta[half:]
