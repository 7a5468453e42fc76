"""What the kernel estimators share: input → Problem → solve → scikit-learn's attributes, and prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gapless.certificate import Certificate, Point
from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators.kernel_spec import KernelSpec, call_kernel, gram_samples, resolve_kernel
from gapless.estimators.parameters import KERNEL, Rule, check_parameters
from gapless.estimators.report import warn_if_early
from gapless.kernels.gram import blocks
from gapless.problem import Problem
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.trace import Progress, Trace


class SolvingMixin:
    """Runs the subproblems of an estimator, side by side where asked, and keeps what they prove."""

    def _solve_all(
        self, problems: Sequence[Callable[[], Problem]], *, kkt_tol: float | None, max_iter: float | None, opening: str
    ) -> list[Result]:
        """Solve each problem, warn of early stops, and set ``certificate_`` and ``trace_``; after Ctrl-C everything is set all the same."""
        starts = self._starts(len(problems))
        state = getattr(self, "random_state", None)
        seed = 0 if state is None else int(check_random_state(state).randint(2**31 - 1))
        interrupted: list[Interrupted] = []

        def halt_or_user(progress: Progress) -> bool | None:
            return bool(interrupted) or (self.callback(progress) if self.callback is not None else None)

        def run(k: int) -> Result:
            problem = problems[k]()
            start = starts[k] if starts[k] is not None and len(starts[k].beta) == problem.n_samples else None
            try:
                return solve(
                    problem, self.solver, tol=self.tol, kkt_tol=kkt_tol, max_iter=max_iter, max_time=self.max_time,
                    callback=halt_or_user, start=start, random_state=seed,
                )  # fmt: skip
            except Interrupted as interruption:
                interrupted.append(interruption)
                return interruption.result

        jobs = 1 if self.n_jobs is None else self.n_jobs
        if jobs == 1 or len(problems) == 1:
            results = [run(k) for k in range(len(problems))]
        else:
            with ThreadPoolExecutor(None if jobs < 0 else jobs) as pool:
                results = list(pool.map(run, range(len(problems))))
        certificates = [result.certificate for result in results]
        self.certificates_ = certificates
        self.certificate_: Certificate = max(certificates, key=lambda certificate: certificate.relative_gap)
        self.traces_ = [result.trace for result in results]
        self.trace_: Trace = self.traces_[certificates.index(self.certificate_)]
        self._results = results
        refuse_inseparable(results)
        if not interrupted:
            warn_if_early(results, opening, self.tol)
        self._interruption = interrupted[0] if interrupted else None
        return results

    def _starts(self, count: int) -> list[Point | None]:
        previous = getattr(self, "_results", None)
        if not self.warm_start or previous is None or len(previous) != count:
            return [None] * count
        return [Point(beta=result.beta, w=result.w, b=result.b, expansion=result.expansion) for result in previous]

    def _finish(self) -> Any:
        """Return self, or raise the interruption that a fitted and certified model has survived."""
        if self._interruption is not None:
            raise self._interruption
        return self


def refuse_inseparable(results: list[Result]) -> None:
    """A hard margin that does not exist is an error of the input."""
    for result in results:
        if result.status is Status.NOT_SEPARABLE:
            raise InvalidInputError(f"C=inf asks for a hard margin. {result.status}")


class KernelEstimator(SolvingMixin, BaseEstimator):
    """Base of SVC, NuSVC, SVR, NuSVR and OneClassSVM."""

    _rules: dict[str, Rule] = KERNEL

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _take(self, X: Any, y: Any) -> tuple[Any, Any]:
        """(X, y) checked; X as given where the kernel is a function that may take anything."""
        check_parameters(self, self._rules)
        if sp.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        if self._takes_anything:
            if y is not None:
                check_consistent_length(X, y)
            self.shape_fit_ = X.shape if hasattr(X, "shape") else (len(X),)
        else:
            options: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C", "accept_sparse": "csr"}
            if y is None:
                X = validate_data(self, X, **options)
            else:
                X, y = validate_data(self, X, y, **options)
            self.shape_fit_ = X.shape
        self._sparse = sp.issparse(X)
        return X, y

    @property
    def _takes_anything(self) -> bool:
        from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel

        return callable(self.kernel) and not isinstance(self.kernel, GaussianProcessKernel)

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray:
        """Sample weights; rows of weight zero or less are as if absent, LIBSVM's way."""
        n = self.shape_fit_[0]
        if sample_weight is None:
            return np.ones(n)
        weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != (n,):
            raise InvalidInputError(
                f"sample_weight and X have incompatible shapes: {weight.shape} vs {self.shape_fit_}."
            )
        if not np.isfinite(weight).all():
            raise InvalidInputError("sample_weight must be finite; it has NaN or infinite entries.")
        weight = np.maximum(weight, 0.0)
        if not weight.any():
            raise InvalidInputError("Invalid input - all samples have zero or negative weights.")
        return weight

    def _samples(self, X: Any, weight: np.ndarray) -> tuple[Any, KernelSpec]:
        """The samples as the problem sees them, and the kernel on them."""
        spec = resolve_kernel(self, X, weight)
        self._gamma = spec.gamma
        self._kernel_object = spec.kernel
        self._X_fit = X if spec.pairwise and callable(self.kernel) else None
        if not spec.pairwise:
            return X, spec
        gram = call_kernel(self.kernel, X, X) if callable(self.kernel) else X
        samples, kernel = gram_samples(gram)
        return samples, KernelSpec(kernel, 0.0, True)

    def _keep_support(self, X: Any, support: np.ndarray, spec: KernelSpec) -> None:
        self.support_ = support
        self.support_vectors_ = np.empty((0, 0)) if spec.pairwise else X[support]

    def _kernel_values(self, X: Any, coefficients: np.ndarray) -> np.ndarray:
        """Σ over support vectors of k(x, v) · coefficients, one column a model, in blocks."""
        check_is_fitted(self)
        if not self._takes_anything:
            X = validate_data(
                self, X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr", reset=False,
                ensure_all_finite=True, skip_check_array=False,
            ) if self.kernel != "precomputed" else self._gram_rows(X)  # fmt: skip
        if self._kernel_object is None:
            K = self._gram_rows(call_kernel(self.kernel, X, self._X_fit)) if callable(self.kernel) else X
            return K @ coefficients
        if self.support_vectors_.shape[0] != coefficients.shape[0]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        out = np.zeros((X.shape[0], coefficients.shape[1]))
        if coefficients.shape[0]:
            for part, block in blocks(self._kernel_object, X, self.support_vectors_):
                out[part] = block @ coefficients
        return out

    def _gram_rows(self, X: Any) -> np.ndarray:
        """The columns of the support vectors, from a Gram block with all training columns or with these alone."""
        from sklearn.utils import check_array

        X = check_array(X, dtype=np.float64)
        if X.shape[1] == self.shape_fit_[0]:
            return X[:, self.support_]
        if X.shape[1] == len(self.support_):
            return X
        raise InvalidInputError(
            f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the number of samples at training time"
            f" (or to {len(self.support_)}, the number of support vectors)."
        )

    @property
    def coef_(self) -> Any:
        """Weights of the features where ``kernel="linear"``."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._get_coef()
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def _get_coef(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_

    def _store_dual(self, dual_coef: np.ndarray) -> Any:
        """The dual coefficients in the storage of the input: scikit-learn's convention."""
        return sp.csr_matrix(dual_coef) if self._sparse and self._kernel_object is not None else dual_coef

    @property
    def _max_iter(self) -> float | None:
        return None if self.max_iter == -1 else self.max_iter

    @property
    def _opening(self) -> str:
        return (
            f"Solver terminated early (max_iter={self.max_iter})."
            "  Consider pre-processing your data with StandardScaler or MinMaxScaler."
        )
