"""KernelLogisticRegression: probabilities from any kernel, with proof."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit, log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gapless.blas import one_blas_thread
from gapless.data import require_memory
from gapless.errors import InvalidInputError
from gapless.estimators.base import KernelEstimator
from gapless.estimators.callbacks import with_callbacks
from gapless.estimators.deadline import Deadline
from gapless.estimators.kernel_spec import KernelSpec, Table, dense_if_small
from gapless.estimators.multiclass import class_weights, encode_labels
from gapless.estimators.parameters import BOOLEAN, CLASS_WEIGHT, KERNEL, POSITIVE_FINITE, Rule
from gapless.estimators.report import NOT_FINITE
from gapless.kernels import Precomputed, Validity
from gapless.kernels.gram import blocks
from gapless.kernels.rounding import magnitudes
from gapless.problems.multinomial import MultinomialProblem
from gapless.problems.problem import Problem
from gapless.solvers import Solver
from gapless.solvers.newton.kernel_newton import KernelNewton
from gapless.solvers.newton.multinomial_newton import MultinomialNewton
from gapless.store import register

_BLOCK_BYTES = 4 * 2**20  # of the Gram matrix between two looks at the clock: some milliseconds


@register
class KernelLogisticRegression(ClassifierMixin, KernelEstimator):
    r"""Kernel logistic regression, with proof: :math:`\min ½‖w‖² + C \sum_i w_i \log(1 + \exp(-y_i f(x_i)))`, b free.

    With more than two classes there is a function for each, :math:`\min ½ \sum_m ‖w_m‖² + C \sum_i w_i (\log \sum_m \exp f_m(x_i) - f_{y_i}(x_i))`,
    and the probabilities are the softmax of these functions. Training and prediction need inner products alone, f(x) = Σ aᵢ k(x, xᵢ) + b; unlike in a
    support vector machine, almost every coefficient aᵢ differs from zero.

    The problem is solved by Newton's method on the n × n kernel matrix, which is held in memory; where it does not fit, the fit is refused with the
    size that it would need.

    Parameters
    ----------
    C : float, default 1.0
        The cost of the loss against the regulariser: the larger, the closer the model follows the samples.
    kernel, degree, gamma, coef0
        As in :class:`SVC`: a kernel of :mod:`gapless.kernels`, a name, a function or ``"precomputed"``. It must be positive semi-definite.
    fit_intercept : bool, default True
        Whether the model has an intercept b, which is not regularised.
    tol : float, default 1e-4
        The relative duality gap at which the fit stops.
    class_weight : dict or "balanced", default None
        Multiplies the cost of the samples of each class, as in :class:`SVC`.
    max_iter, max_time, warm_start, verbose, callback
        As in :class:`SVC`; an iteration is a Newton step.
    random_state : int or RandomState, default None
        The seed of the draw of samples that precondition ill-conditioned steps; None is a fixed seed.

    Attributes
    ----------
    certificate_, trace_
        The proof (primal value, dual value and gap), and the history of the fit.
    classes_, support_, support_vectors_, dual_coef_, intercept_
        The model: the samples with a ≠ 0, and a row of coefficients and an offset for each function (one where there are two classes).
    n_iter_ : int
        The number of Newton steps.

    Examples
    --------
    >>> from gapless import KernelLogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression(C=10, tol=1e-8).fit(X, y)
    >>> round(model.score(X, y), 4), model.certificate_.relative_gap <= 1e-8
    (0.98, True)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.99, 0.01, 0.  ]])
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **{name: KERNEL[name] for name in ("kernel", "degree", "gamma", "coef0", "tol", "max_iter", "max_time")},
        **{name: KERNEL[name] for name in ("warm_start", "verbose", "callback")},
        "C": POSITIVE_FINITE,
        "fit_intercept": BOOLEAN,
        "class_weight": CLASS_WEIGHT,
    }
    n_jobs: ClassVar[None] = None

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        class_weight: Any = None,
        max_iter: int = -1,
        max_time: float | None = None,
        warm_start: bool = False,
        verbose: bool = False,
        random_state: Any = None,
        callback: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state
        self.callback = callback

    @property
    def solver(self) -> Solver:
        """Newton's method, for two classes or for more."""
        return KernelNewton() if self._two else MultinomialNewton()

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y = self._take(X, y)
        deadline = Deadline(self.max_time)
        weight = self._weights(sample_weight)
        classes, codes = encode_labels(
            y, weight, "Invalid input - all samples with positive weights belong to the same class."
        )
        self._two = len(classes) == 2
        class_weight = class_weights(self.class_weight, classes, codes, weight)
        samples, spec = self._samples(X, weight)
        begun: list[bool] = []
        used = np.maximum(codes, 0)  # a sample of weight zero has no class, and gets the first, which does not matter
        weights, intercept = weight * class_weight[used], "free" if self.fit_intercept else "none"

        def problem(_: int) -> Problem:
            table = None
            # A second call comes after a Ctrl-C during the first, and needs only some problem whose solve stops at its first check.
            if not begun:
                begun.append(True)
                table = self._table(X, spec, deadline)
            places = samples if table is None else np.arange(self.shape_fit_[0], dtype=np.float64)[:, None]
            kernel = spec.kernel if table is None else table
            options: dict[str, Any] = dict(kernel=kernel, C=self.C, intercept=intercept, sample_weight=weights)
            if self._two:
                return Problem(places, used, loss="logistic", **options)
            return MultinomialProblem(places, used, len(classes), **options)

        run = self._solve_all(
            1, problem, data=(X, y, sample_weight), kkt_tol=None, max_iter=self._max_iter, deadline=deadline
        )
        solved = run.solved[0]
        self.classes_, self.class_weight_ = classes, class_weight
        coefficients = solved.beta.reshape(len(solved.beta), -1)
        support = np.flatnonzero(coefficients.any(axis=1)).astype(np.int32)
        self._keep_support(X, support, spec)
        self._store_model(coefficients[support].T, np.array(solved.offsets), solved.proven)
        self.dual_coef_, self.intercept_ = self._store_dual(coefficients[support].T), np.array(solved.offsets)
        self.n_iter_ = max(1, round(solved.iterations))
        return self._finish(run)

    def _samples(self, X: Any, weight: np.ndarray, codes: np.ndarray | None = None) -> tuple[Any, KernelSpec]:
        """The samples and the kernel; refused where the kernel is not valid, or where its whole Gram matrix does not fit into memory."""
        n = self.shape_fit_[0]
        require_memory(
            8 * n * n, f"{type(self).__name__} holds the whole kernel matrix: {n:,} x {n:,} in float64, which"
        )
        samples, spec = super()._samples(X, weight, codes)
        if spec.kernel is not None and (spec.kernel.validity is Validity.NOT_VALID or spec.kernel.refutation(samples)):
            raise InvalidInputError(
                f"kernel must be positive semi-definite, so that the problem is convex; got {spec.kernel!r}. "
                f"{spec.kernel.refutation(samples)}".rstrip()
            )
        return samples, spec

    def _table(self, X: Any, spec: KernelSpec, deadline: Deadline) -> Table | None:
        """The whole Gram matrix as a kernel of indices; None where the kernel is a matrix already, or where the time is over before it is made."""
        if isinstance(spec.kernel, Precomputed) or spec.kernel is None:
            return None
        X, n = dense_if_small(X), self.shape_fit_[0]
        gram = np.empty((n, n))
        with np.errstate(over="ignore", invalid="ignore"):  # entries that overflow are refused below, with a sentence
            for part, block in blocks(spec.kernel, X, max_bytes=_BLOCK_BYTES):
                gram[part] = block
                if deadline.is_over:
                    return None
                if not np.isfinite(block).all():
                    raise InvalidInputError(NOT_FINITE)
        return Table(gram, spec.kernel, X, magnitudes(spec.kernel, X))

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x), the logarithm of the odds, positive for ``classes_[1]``; for more than two classes a column for each class."""
        check_is_fitted(self)
        f = self._kernel_values(X, self._dense_dual().T) + self._intercept_
        return f.ravel() if len(self.classes_) == 2 else f

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes, a column for each class."""
        f = self.decision_function(X)
        return np.column_stack([log_expit(-f), log_expit(f)]) if f.ndim == 1 else log_softmax(f, axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, a column for each class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each sample."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
