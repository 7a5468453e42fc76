"""OneClassSVM: novelty detection by the support of a distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from gapless.blas import one_blas_thread
from gapless.estimators.callbacks import with_callbacks
from gapless.estimators.documented import KERNEL_MODEL, documented
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.parameters import KERNEL, SHARE, Rule
from gapless.estimators.regress import SingleKernelEstimator
from gapless.problems import nu as nu_forms
from gapless.problems.problem import Problem
from gapless.store import register


@register
@documented(
    f"{KERNEL_MODEL} offset_",
    nu=(
        "float",
        "ν, above 0 and at most 1: an upper bound on the share of training samples outside, a lower bound on the share of support vectors.",
    ),
    offset_=("array of shape (1,)", "ρ: ``decision_function = score_samples − offset_``."),
)
class OneClassSVM(OutlierMixin, SingleKernelEstimator):
    r"""Novelty detection: :math:`\min ½‖w‖² - νnρ + \sum_i w_i \max(0, ρ - f(x_i))`.

    A drop-in for :class:`sklearn.svm.OneClassSVM`, with the additions of :class:`gapless.SVC`. Where the origin lies within the samples, w = 0 is
    optimal, the optimum is zero, and no gap is small relative to zero; the fit then counts as proven where neither primal − dual nor −dual is above
    ½ (t·νn·R)², n being the number of samples, R the root of their mean squared length (of 256 of them), and t a tenth of ``tol``, but at least 1e-6
    and at most 1e-4; t is 1e-6 where primal is below zero, which proves that the optimum is. A warning says so: the decision function is then zero
    but for rounding. A smaller ν, samples that are not centred or another kernel may have another optimum.

    Examples
    --------
    >>> from gapless import OneClassSVM
    >>> OneClassSVM(gamma="auto").fit([[0.0], [0.44], [0.45], [0.46], [1.0]]).predict([[0.0], [0.44]])
    array([-1,  1])
    """

    _rules: ClassVar[dict[str, Rule]] = {**KERNEL, "nu": SHARE}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum. y is not used."""
        X, _ = self._take(X, None)
        return self._fit_one(X, None, sample_weight)

    def _problem(self, samples: Any, y: np.ndarray | None, weight: np.ndarray, spec: KernelSpec) -> Problem:
        return nu_forms.one_class(samples, nu=self.nu, kernel=spec.kernel, sample_weight=weight)

    @property
    def offset_(self) -> np.ndarray:
        """ρ: ``decision_function = score_samples − offset_``."""
        return -self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x) − ρ, positive inside and zero on the boundary; a value within the rounding error of the sum is set to zero."""
        decisions = self._decisions(X)
        decisions[np.abs(decisions) <= 1e-12 * np.abs(self.offset_)] = 0.0
        return decisions

    def score_samples(self, X: Any) -> np.ndarray:
        """f(x), without ρ subtracted."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """+1 for inliers, the boundary included, −1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
