"""KernelRidge and KernelPCA: scikit-learn's own estimators with the kernels, names and defaults of this family."""

from __future__ import annotations

from numbers import Real
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels

from gapless.blas import one_blas_thread
from gapless.data import require_memory
from gapless.data.namespace import NamespaceMixin
from gapless.data.validate import as_weights
from gapless.errors import InvalidInputError
from gapless.estimators.kernel_spec import resolve_gamma, resolve_kernel
from gapless.estimators.parameters import KERNEL, Rule, check_parameters
from gapless.estimators.training_data import take_features
from gapless.kernels import Kernel

_OUR_NAMES = ("linear", "poly", "rbf", "sigmoid")
_RULES: dict[str, Rule] = {
    "kernel": Rule(
        lambda value: callable(value) or (isinstance(value, str) and value in (*KERNEL_PARAMS, "precomputed")),
        f"a kernel of gapless.kernels, a function of two samples, or one of {', '.join(map(repr, _OUR_NAMES))}, 'precomputed' "
        "and scikit-learn's further names",
    ),
    "degree": KERNEL["degree"],
    "gamma": Rule(
        lambda value: value is None or KERNEL["gamma"].holds(value), "'scale', 'auto', None or a number of at least 0"
    ),
    "coef0": KERNEL["coef0"],
}


class _WithOurKernels(NamespaceMixin):
    """What KernelRidge and KernelPCA share: the kernel is determined once, in ``fit``, and predictions use the same one."""

    kernel: Any
    gamma: float | str | None
    degree: int
    coef0: float
    kernel_params: dict[str, Any] | None

    # The parameters of the kernel are checked here, the other ones by scikit-learn.
    _ours: ClassVar[dict[str, Any]] = {"gamma": "no_validation", "kernel": "no_validation"}

    def _find_kernel(self, X: Any, weight: Any = None) -> float | None:
        """Set ``kernel_`` for the samples of a fit; return γ where the kernel is given by name and has one, otherwise None."""
        check_parameters(self, _RULES)
        kernel, gamma = self.kernel, None
        if isinstance(kernel, Kernel):
            kernel = clone(kernel)  # a later change of the parameter must not change the fitted model
        elif sp.issparse(X) and isinstance(kernel, str) and kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        elif isinstance(kernel, str) and kernel != "precomputed":
            X = take_features(self, X, reset=True)
            if weight is None or weight.shape != X.shape[:1]:  # a wrong shape is refused by scikit-learn's own fit
                weight = np.ones(X.shape[0])
            gamma = resolve_gamma("auto" if self.gamma is None else self.gamma, X, weight)
            if kernel in _OUR_NAMES:
                numbers = SimpleNamespace(kernel=kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
                kernel = resolve_kernel(numbers, X, weight).kernel
        self.kernel_ = kernel
        self._gamma = gamma
        return gamma

    def _get_kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """The matrix of the kernel, for scikit-learn's ``fit`` and predictions."""
        X = X if hasattr(X, "shape") else np.asarray(X)
        kernel, n, jobs = self.kernel_, X.shape[0], getattr(self, "n_jobs", None)
        m = n if Y is None else Y.shape[0]
        if not (isinstance(kernel, str) and kernel == "precomputed"):
            require_memory(
                8 * n * m, f"{type(self).__name__} holds the kernel's matrix: {n:,} x {m:,} in float64, which"
            )
        with np.errstate(over="ignore", invalid="ignore"):  # entries that overflow are refused below, with a sentence
            if isinstance(kernel, Kernel):
                K = np.asarray(kernel(X, Y))
            elif callable(kernel):
                K = pairwise_kernels(X, Y, metric=kernel, filter_params=True, n_jobs=jobs, **(self.kernel_params or {}))
            else:
                options = {"gamma": self._gamma, "degree": self.degree, "coef0": self.coef0}
                K = pairwise_kernels(X, Y, metric=kernel, filter_params=True, n_jobs=jobs, **options)
            finite = np.isfinite(K.sum()) or np.isfinite(K).all()
        if not finite:
            raise InvalidInputError(
                "The kernel's values are not finite: X may contain large values and need to be scaled."
            )
        return K


class KernelRidge(_WithOurKernels, SklearnKernelRidge):
    r"""Ridge regression in the features of a kernel: scikit-learn's estimator, with the kernels and the defaults of Gapless.

    The model is f(x) = Σ aᵢ k(xᵢ, x), without an intercept. It minimises :math:`\sum_i s_i (y_i - ⟨w, φ(x_i)⟩)^2 + α\|w\|^2` (sᵢ the sample
    weights) over w = Σ aᵢφ(xᵢ), and so a solves the linear system :math:`(K + α\,\mathrm{diag}(1/s))\,a = y`. For a kernel that is no inner product
    (a sigmoid) a solves the same system, but minimises nothing.

    This is :class:`sklearn.kernel_ridge.KernelRidge`: the system is solved by scikit-learn's code, with one Cholesky factorisation, and the answer is
    as exact as that. There is **no certificate**: nothing here proves a duality gap, and there are no ``certificate_``, ``trace_`` or ``save``.
    Gapless brings the kernels, the meaning of their names, and the defaults, which are those of :class:`SVR`: ``kernel="rbf"`` (scikit-learn:
    ``"linear"``), ``gamma="scale"`` (``None``) and ``coef0=0`` (1).

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default 1.0
        The strength of the regularisation; with C as in :class:`SVR`, α = 1/(2C).
    kernel : Kernel, str or callable, default "rbf"
        A kernel of :mod:`gapless.kernels`, which may be composed of others; ``"linear"``, ``"poly"``, ``"rbf"`` or ``"sigmoid"``, as in :class:`SVR`;
        or ``"precomputed"``. scikit-learn's further names and functions are taken too; a function is called for each pair of samples (for a function
        of two matrices give ``FunctionKernel(f, vectorized=True)``).
    gamma : {"scale", "auto"}, float or None, default "scale"
        γ of a kernel that is given by name: ``"scale"`` is 1/(d · var X), where sample weights count; ``"auto"`` and None are 1/d.
    degree, coef0
        The parameters of a kernel that is given by name, as in :class:`SVR`.
    kernel_params : dict, default None
        Further arguments for a kernel that is a function.

    Attributes
    ----------
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_targets)
        The coefficients a.
    X_fit_
        The training samples, all of which a prediction needs; for ``"precomputed"`` their kernel matrix.
    kernel_
        The kernel that was used, with its numbers.
    gamma_ : float or None
        γ as a number, where the kernel is given by name.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless import KernelRidge
    >>> from gapless.kernels import RBF, Linear
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = KernelRidge(alpha=0.1, kernel=RBF(gamma=1.0) + 0.1 * Linear()).fit(X, np.sin(X[:, 0]))
    >>> K = model.kernel_(X)
    >>> np.allclose(model.dual_coef_, np.linalg.solve(K + 0.1 * np.eye(40), np.sin(X[:, 0])))
    True
    >>> model.predict([[np.pi / 2]]).round(2)
    array([0.99])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SklearnKernelRidge._parameter_constraints,
        **_WithOurKernels._ours,
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(alpha, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, kernel_params=kernel_params)

    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve for the coefficients of the samples."""
        self.gamma_ = self._find_kernel(X, _weights(sample_weight))
        return super().fit(X, y, sample_weight)

    @one_blas_thread()
    def predict(self, X: Any) -> np.ndarray:
        """The values Σ aᵢ k(xᵢ, x) of new samples."""
        return super().predict(X)


class KernelPCA(_WithOurKernels, SklearnKernelPCA):
    r"""Principal components in the features of a kernel: scikit-learn's estimator, with the kernels and the defaults of Gapless.

    With features centred on the samples' mean, :math:`\tilde K = HKH` where :math:`H = 1 - \frac1n 11^⊤`, and :math:`\tilde K v = λv`, the axis
    :math:`w = \sum_i v_i \tilde φ(x_i) / \sqrt λ` has length one, and of all axes at right angles to those before it the samples vary most along
    it: by λ/n. A sample's component is :math:`⟨w, \tilde φ(x)⟩`; of the training samples these are :math:`\sqrt λ\,v`. Signs are a convention.
    A kernel that is no inner product (a sigmoid) has no such axes; scikit-learn's code notices where an eigenvalue that it computes is negative.

    This is :class:`sklearn.decomposition.KernelPCA`: the code that finds eigenvectors, directly or by iterations to ``tol`` (``eigen_solver``), and
    the approximate ``inverse_transform`` are scikit-learn's. There is **no certificate**: nothing here proves a duality gap, and there are no
    ``certificate_``, ``trace_`` or ``save``. Gapless brings the kernels, the meaning of their names, and the defaults, which are those of
    :class:`SVC`: ``kernel="rbf"`` (scikit-learn: ``"linear"``), ``gamma="scale"`` (``None``) and ``coef0=0`` (1).

    Parameters
    ----------
    n_components : int, default None
        The number of components; None keeps all whose eigenvalue is not zero.
    kernel, gamma, degree, coef0, kernel_params
        As in :class:`KernelRidge`.
    alpha : float, default 1.0
        The strength of the ridge regression that ``fit_inverse_transform`` learns.
    fit_inverse_transform, eigen_solver, tol, max_iter, iterated_power, remove_zero_eig, random_state, copy_X, n_jobs
        As in scikit-learn's class.

    Attributes
    ----------
    eigenvalues_, eigenvectors_
        The eigenvalues λ, the largest first, and the eigenvectors v of length one, each in a column.
    kernel_, gamma_
        As in :class:`KernelRidge`.
    X_fit_, dual_coef_, X_transformed_fit_
        As in scikit-learn's class.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless import KernelPCA
    >>> from gapless.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> model = KernelPCA(2, kernel=Polynomial(degree=2)).fit(X)
    >>> K = model.kernel_(X)
    >>> centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    >>> np.allclose(model.eigenvalues_, np.linalg.eigvalsh(centred)[:-3:-1])
    True
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SklearnKernelPCA._parameter_constraints,
        **_WithOurKernels._ours,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_components, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, kernel_params=kernel_params, alpha=alpha,
            fit_inverse_transform=fit_inverse_transform, eigen_solver=eigen_solver, tol=tol, max_iter=max_iter,
            iterated_power=iterated_power, remove_zero_eig=remove_zero_eig, random_state=random_state, copy_X=copy_X, n_jobs=n_jobs,
        )  # fmt: skip

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the principal axes. y is not used."""
        gamma = self._find_kernel(X)
        super().fit(X)
        self.gamma_ = gamma
        return self

    @one_blas_thread()
    def transform(self, X: Any) -> np.ndarray:
        """The components of new samples."""
        return super().transform(X)

    def _get_kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """The matrix of the kernel in the precision of the samples, as scikit-learn's, so that float32 samples give float32 components."""
        K = super()._get_kernel(X, Y)
        return K.astype(np.float32, copy=False) if getattr(X, "dtype", None) == np.float32 else K


def _weights(sample_weight: Any) -> np.ndarray | None:
    """The weights for the variance of X; None where they are all the same number, or all zero."""
    if sample_weight is None or isinstance(sample_weight, Real):
        return None
    weight = as_weights(sample_weight)
    if (weight < 0).any():
        raise InvalidInputError(f"sample_weight must not be negative; got {weight.min():g}.")
    return weight if weight.any() else None
