"""KernelFisherDiscriminant: linear discriminant analysis in the features of a kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la
from scipy.linalg.lapack import dpstrf
from scipy.special import log_expit, log_softmax
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gapless.blas import one_blas_thread
from gapless.data import require_memory
from gapless.data.products import row_products
from gapless.data.tiles import gram
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.estimators.base import KernelEstimator
from gapless.estimators.callbacks import FitHooks, with_callbacks
from gapless.estimators.kernel_spec import call_kernel, dense_if_small, gram_samples, resolve_kernel
from gapless.estimators.multiclass import encode_labels
from gapless.estimators.parameters import KERNEL, NON_NEGATIVE, POSITIVE_WHOLE, Rule
from gapless.estimators.report import NOT_FINITE
from gapless.kernels import Validity
from gapless.kernels.gram import blocks
from gapless.store import register


@register
class KernelFisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, KernelEstimator):
    r"""Fisher's discriminant in the features of a kernel: directions in which the classes are far apart, compared with their widths.

    Each axis w maximises :math:`⟨w, S_b w⟩ / ⟨w, (S_w + α) w⟩`, where S_b is the covariance of the class means and S_w the pooled covariance within
    the classes. The axes lie in the span of the samples, w = Σ aᵢφ(xᵢ), so that only inner products are needed (Mika et al. 1999). Samples are
    classified as if the classes were normally distributed with the common covariance S_w + α, which for the linear kernel and α = 0 is scikit-learn's
    :class:`~sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    The n × n kernel matrix is held in memory; where it does not fit, the fit is refused with the size that it would need.

    Parameters
    ----------
    alpha : float, default 1e-3
        Added to the covariance in every direction, in units of k: 0 is possible only where the classes have a width in all directions.
    kernel, degree, gamma, coef0
        As in :class:`SVC`: a kernel of :mod:`gapless.kernels`, a name, a function or ``"precomputed"``. It must be positive semi-definite.
    priors : array of shape (n_classes,), default None
        The probabilities of the classes; None takes their frequencies.
    n_components : int, default None
        The number of axes of ``transform``, at most n_classes − 1; None is n_classes − 1.

    Attributes
    ----------
    classes_, priors_
        The classes and their probabilities.
    support_, support_vectors_, dual_coef_
        The samples whose features span the axes, and a row of coefficients for each axis.
    offsets_ : array
        The number that is subtracted along each axis, so that the mean of the classes lies at zero.
    means_ : array of shape (n_classes, n_axes)
        The class means on the axes.
    explained_variance_ratio_ : array
        The share of each axis in the variance between the classes, as ``transform`` orders them.

    Examples
    --------
    >>> from gapless import KernelFisherDiscriminant
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant(gamma=0.1).fit(X, y)
    >>> round(model.score(X, y), 4), model.transform(X).shape
    (0.9933, (150, 2))
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **{name: KERNEL[name] for name in ("kernel", "degree", "gamma", "coef0")},
        "alpha": NON_NEGATIVE,
        "n_components": Rule(
            lambda value: value is None or POSITIVE_WHOLE.holds(value), "None or a positive whole number"
        ),
    }
    _stored = (
        *KernelEstimator._stored,
        *("priors_", "offsets_", "means_", "explained_variance_ratio_"),
    )
    _certified = False
    solver: ClassVar[str] = "auto"

    def __init__(
        self,
        *,
        alpha: float = 1e-3,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        priors: Any = None,
        n_components: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.priors = priors
        self.n_components = n_components

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any) -> Any:
        """Find the discriminant axes."""
        X, y = self._take(X, y)
        hooks = FitHooks(self, 1, (X, y, None))
        n = self.shape_fit_[0]
        classes, codes = encode_labels(y, np.ones(n), "")
        k = len(classes)
        if n <= k:
            raise InvalidInputError(
                f"The number of samples must be more than the number of classes; got {n} samples of {k} classes."
            )
        self.classes_, self.priors_ = classes, self._check_priors(codes, k)
        components = k - 1 if self.n_components is None else self.n_components
        if components > k - 1:
            raise InvalidInputError(
                f"n_components must be at most {k - 1}, one less than the number of classes; got {self.n_components}."
            )
        Z, pivots = _coordinates(self._gram(X))
        means = np.stack([Z[codes == c].mean(axis=0) for c in range(k)])
        centre = self.priors_ @ means
        inner = Z - means[codes]
        within = gram(inner) / n
        try:
            within[np.diag_indices_from(within)] += self.alpha
            root = la.cholesky(within, lower=True, check_finite=False)
        except la.LinAlgError:
            root = np.zeros((1, 1))
        if root.diagonal().min() <= 1e-7 * np.sqrt(within.diagonal().max()):
            raise InvalidInputError(
                f"alpha must be larger: with alpha={self.alpha:g} the classes have no width in some of the {Z.shape[1]} directions."
            )
        spread = la.solve_triangular(root, (np.sqrt(self.priors_)[:, None] * (means - centre)).T, lower=True)
        axes, sizes, _ = la.svd(spread, full_matrices=False)
        axes, sizes = axes[:, : k - 1], sizes[: k - 1]
        directions = la.solve_triangular(root, axes, lower=True, trans="T")
        # A direction v of the coordinates is Σ aᵢφ(xᵢ) over the pivots, whose own coordinates are triangular.
        if not Z[pivots].diagonal().all():
            raise InvalidInputError("kernel must tell samples apart, but all its values on X are zero. Rescale X.")
        coefficients = la.solve_triangular(Z[pivots], directions, lower=True, trans="T", check_finite=False)
        if not np.isfinite(coefficients).all():
            raise InvalidInputError(NOT_FINITE)
        self.support_ = pivots.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self._kernel_object is None else X[pivots]
        self.dual_coef_ = np.ascontiguousarray(coefficients.T)
        self.offsets_, self.means_ = centre @ directions, (means - centre) @ directions
        variance = np.square(sizes)
        self.explained_variance_ratio_ = (variance / variance.sum() if variance.any() else variance)[:components]
        hooks.end()
        return self

    def _check_priors(self, codes: np.ndarray, k: int) -> np.ndarray:
        if self.priors is None:
            return np.bincount(codes, minlength=k) / len(codes)
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (k,) or not (priors >= 0).all() or abs(priors.sum() - 1.0) > 1e-6:
            raise InvalidInputError(
                f"priors must be {k} probabilities, one for each class, that sum to 1; got {self.priors!r}."
            )
        return priors / priors.sum()

    def _gram(self, X: Any) -> np.ndarray:
        """The kernel matrix of all samples; the kernel that predictions take is set besides."""
        n = self.shape_fit_[0]
        require_memory(
            24 * n * n,
            f"{type(self).__name__} holds three matrices of the kernel's size: {n:,} x {n:,} in float64, which",
        )
        spec = resolve_kernel(self, X, np.ones(n))
        self._gamma, self._kernel_object = spec.gamma, spec.kernel
        self._X_fit = X if spec.pairwise and callable(self.kernel) else None
        if spec.kernel is None:
            return gram_samples(call_kernel(self.kernel, X, X) if callable(self.kernel) else X, n)[1].gram
        if spec.kernel.validity is Validity.NOT_VALID:
            raise InvalidInputError(f"kernel must be positive semi-definite, so that lengths are; got {spec.kernel!r}.")
        X = dense_if_small(X)
        gram = np.empty((n, n))
        with np.errstate(over="ignore", invalid="ignore"):  # entries that overflow are refused below, with a sentence
            for part, block in blocks(spec.kernel, X):
                gram[part] = block
        if not np.isfinite(gram).all():
            raise InvalidInputError(NOT_FINITE)
        return gram

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not len(self.means_) == len(self.priors_) == len(self.classes_):
            raise InvalidInputError(
                f"it has {len(self.means_)} means and {len(self.priors_)} shares for {len(self.classes_)} classes"
            )

    def _on_axes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._kernel_values(X, self.dual_coef_.T) - self.offsets_

    def transform(self, X: Any) -> np.ndarray:
        """The samples on the discriminant axes, the most telling axis first; on average the classes have the covariance 1 − α there."""
        return self._on_axes(X)[:, : self._n_features_out]

    @property
    def _n_features_out(self) -> int:
        return len(self.explained_variance_ratio_)

    def _scores(self, X: Any) -> np.ndarray:
        with np.errstate(divide="ignore"):  # a class of probability zero is never predicted
            return (
                row_products(self._on_axes(X), self.means_.T)
                - 0.5 * np.square(self.means_).sum(axis=1)
                + np.log(self.priors_)
            )

    def decision_function(self, X: Any) -> np.ndarray:
        """The logarithm of the odds of ``classes_[1]``; for more than two classes the logarithm of each probability, up to a common number."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes, a column for each class."""
        f = self.decision_function(X)
        return np.column_stack([log_expit(-f), log_expit(f)]) if f.ndim == 1 else log_softmax(f, axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, a column for each class."""
        return np.exp(self.predict_log_proba(X))

    def to_onnx(self) -> Any:
        """Not offered: the error says why."""
        raise UnsupportedError(
            "to_onnx is for models with one kernel expansion for each class; KernelFisherDiscriminant projects on axes first."
        )

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each sample."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]


def _coordinates(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Z, pivots): coordinates of the samples whose inner products are K, by a pivoted Cholesky factorisation; rows of pivots are triangular."""
    n = len(K)
    factor, order, rank, _ = dpstrf(K, lower=1, tol=n * np.finfo(float).eps * float(K.diagonal().max()))
    order = order - 1
    Z = np.empty((n, max(1, rank)))
    Z[order] = np.tril(factor)[:, : max(1, rank)]
    return Z, order[: max(1, rank)]
