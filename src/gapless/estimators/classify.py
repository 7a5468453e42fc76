"""SVC and NuSVC: kernel classifiers, one-vs-one."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from gapless.blas import one_blas_thread
from gapless.data.rows import kept_matrix
from gapless.errors import InvalidInputError
from gapless.estimators.approximation import APPROXIMATION, ApproximatingMixin
from gapless.estimators.base import KernelEstimator
from gapless.estimators.callbacks import with_callbacks
from gapless.estimators.deadline import Deadline
from gapless.estimators.documented import KERNEL_MODEL, documented
from gapless.estimators.every_pair import PairTerms, hinge_terms, nu_terms
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.multiclass import ClassPairs, class_weights, encode_labels, pack, unpack, vote
from gapless.estimators.one_vs_one import OneVersusOne
from gapless.estimators.parameters import BOOLEAN, CLASS_WEIGHT, KERNEL, POSITIVE, SHARE, Rule, one_of
from gapless.estimators.probability import FOLDS_AND_SOLVERS, PROBABILITY, ProbabilityMixin
from gapless.estimators.report import warn_if_zero
from gapless.estimators.special import favour_other_class
from gapless.problems import nu as nu_forms
from gapless.problems.problem import Problem
from gapless.proof.interval import bounds_of
from gapless.result import Result
from gapless.store import register
from gapless.store.later import Later

_CLASSIFIER = {
    **KERNEL,
    "class_weight": CLASS_WEIGHT,
    "decision_function_shape": one_of("ovr", "ovo"),
    "break_ties": BOOLEAN,
    "probability": PROBABILITY,
}
# Of a ν-SVC, the only classifier here whose optimum may be zero.
_WHY_ZERO = (
    "the classes overlap so far that w = 0 is optimal, and the model's decision function is zero for every sample, which tells nothing of its class. "
    "A larger nu may have another optimum."
)


class _KernelClassifier(ProbabilityMixin, ClassifierMixin, KernelEstimator):
    _one_class = "Invalid input - all samples with positive weights belong to the same class."

    @with_callbacks
    @one_blas_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model; ``certificate_`` tells how close it is to the optimum."""
        X, y = self._take(X, y)
        self._check_probability()
        deadline = Deadline(self.max_time)
        weight = self._weights(sample_weight)
        classes, codes = encode_labels(y, weight, self._one_class)
        class_weight = class_weights(self.class_weight, classes, codes, weight)
        samples, spec = self._samples(X, weight, codes if len(classes) > 2 else None)
        counts = None if sample_weight is None else weight
        task = OneVersusOne(self, samples, spec, codes, class_weight, counts)
        members = task.members
        run = self._solve_all(
            len(members),
            task.problem,
            data=(X, y, sample_weight),
            kkt_tol=self._kkt_tol,
            max_iter=self._max_iter,
            deadline=self._time_of_machines(deadline),
            together=self._given or task.together(),
        )
        self.classes_, self.class_weight_ = classes, class_weight
        self._members = Later(lambda: list(members))
        found = run.columns
        self._zero = found.zero
        self._scales = np.where(found.zero, 1.0, self._scales_of(found.offsets))
        # In each Problem the second class of the pair, which has the larger label, is +1; LIBSVM's layout counts the first class positive.
        support, self._n_support, packed = pack(-found.beta / members.spread(self._scales), members, codes)
        intercepts = -found.offsets.mean(axis=1) / self._scales
        if not self._quiet:
            warn_if_zero(self, found.zero, _WHY_ZERO)
        self._keep_support(X, support, spec)
        self._store_model(packed, intercepts, bool(found.proven.all()))
        flip = -1.0 if len(classes) == 2 else 1.0
        # For more than two classes dual_coef_ and _dual_coef_ are one array, as in scikit-learn, which a pickle then holds once.
        self.dual_coef_ = self._dual_coef_ if flip == 1.0 else self._store_dual(flip * packed)
        self.intercept_ = flip * intercepts + 0.0
        self.n_iter_ = np.rint(found.iterations).astype(np.int32)
        if self._calibrates and run.interruption is None:
            self._calibrate(task, deadline)
        return self._finish(run)

    def _problem(
        self,
        samples: Any,
        positive: np.ndarray,
        weight: np.ndarray | None,
        class_weight: np.ndarray | None,
        spec: KernelSpec,
        whole: bool,
    ) -> Problem:
        """The problem of a pair of classes; ``weight`` and ``class_weight`` are None where all weights are one.

        ``whole`` says that these are all samples of the pair, and not a part of them that a cross-validation has left.
        """
        raise NotImplementedError

    def _pair_terms(self, members: ClassPairs, weight: np.ndarray | None, class_weight: np.ndarray) -> PairTerms | None:
        """The numbers of ``_problem`` for all pairs of classes at once; None where the pairs are to be solved one by one."""
        raise NotImplementedError

    def _scales_of(self, offsets: np.ndarray) -> np.ndarray:
        """The numbers by which the solutions of the problems are divided to become the estimator's, from the offsets of each."""
        return np.ones(len(offsets))

    @property
    def alpha_(self) -> np.ndarray:
        """α of every training sample, in [0, C]: of shape (n_samples,) for two classes, and (n_samples, n_pairs) for more.

        Each column is for a pair of classes, in the order (0, 1), (0, 2), …, (1, 2), … of ``decision_function_shape="ovo"``, with zeros for the
        samples of other classes.

        >>> from gapless import SVC
        >>> SVC(kernel="linear", C=10).fit([[-2.0], [0.0], [3.0]], ["a", "b", "c"]).alpha_.round(3)
        array([[0.5  , 0.08 , 0.   ],
               [0.5  , 0.   , 0.222],
               [0.   , 0.08 , 0.222]])
        """
        check_is_fitted(self)
        betas = [solved.beta for solved in self._solved]
        alpha = np.zeros((self.shape_fit_[0], len(betas)))
        for k, (member, beta, scale) in enumerate(zip(self._members, betas, self._scales, strict=True)):
            alpha[member, k] = np.abs(beta) / scale
        return alpha[:, 0] if alpha.shape[1] == 1 else alpha

    def _pair_decisions(self, X: Any, signs: bool = False) -> np.ndarray:
        """f of every pair of classes, positive for the first class of the pair; with ``signs`` only the sign of f is sure to be right."""
        check_is_fitted(self)
        dual = self._dense_dual()
        if self._n_support.sum() != dual.shape[1]:
            raise InvalidInputError(f"The internal representation of {type(self).__name__} was altered")
        if signs:
            return self._signs(X, unpack(dual, self._n_support), self._intercept_)
        return self._kernel_values(X, unpack(dual, self._n_support)) + self._intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x), positive for ``classes_[1]``; for more than two classes a column for each class (``"ovr"``) or each pair of classes (``"ovo"``)."""
        decisions = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return -decisions.ravel()
        if self.decision_function_shape == "ovr":
            return _ovr_decision_function(decisions < 0, -decisions, len(self.classes_))
        return decisions

    def decision_interval(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """(low, high): bounds on f(x) of the exact optimum, proven by the gap, shaped as ``decision_function`` (``"ovo"`` for more than two classes).

        >>> from gapless import SVC
        >>> low, high = SVC(kernel="linear", tol=1e-9).fit([[-2.0], [-1.0], [1.0]], [0, 0, 1]).decision_interval([[0.5], [3.0]])
        >>> (low <= [0.5, 3.0]).all(), (high >= [0.5, 3.0]).all(), (high - low < 0.01).all()
        (np.True_, np.True_, np.True_)
        """
        return self._around(self._pair_decisions(X), X)

    def _answer(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What ``decision_interval`` and ``predict`` give, from kernel values that are computed once."""
        self._check_ties()
        values = self._pair_decisions(X)
        return *self._around(values, X), self.classes_[self._winners(values)]

    def _around(self, values: np.ndarray, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The intervals of ``decision_interval`` around the decisions of all pairs."""
        low, high = self._pair_bounds(self._intercept_ - values, self._squares(X))
        return (low.ravel(), high.ravel()) if len(self.classes_) == 2 else (-high, -low)

    def _pair_bounds(self, f: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(low, high): bounds on f* + b* of each pair, a column each, positive for its second class, from f without the intercept."""
        return bounds_of([solved.reach for solved in self._solved], f, squares)

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the samples."""
        check_is_fitted(self)
        self._check_ties()
        exact = self.break_ties and len(self.classes_) > 2
        return self.classes_[self._winners(self._pair_decisions(X, signs=not exact))]

    def _check_ties(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidInputError("break_ties must be False when decision_function_shape is 'ovo'")

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        """The classes that ``predict`` names, as places in ``classes_``, from the decisions of the pairs."""
        n_classes = len(self.classes_)
        if self.break_ties and self.decision_function_shape == "ovr" and n_classes > 2:
            return _ovr_decision_function(decisions < 0, -decisions, n_classes).argmax(axis=1)
        return vote(decisions, n_classes)

    def _get_coef(self) -> Any:
        if len(self.classes_) == 2:
            return super()._get_coef()
        coef = unpack(self._dense_dual(), self._n_support).T
        return self._store_dual(coef) @ kept_matrix(self.support_vectors_, "support_vectors_")


@register
@documented(
    f"classes_ class_weight_ {KERNEL_MODEL} probA_,probB_",
    approximation=(
        "feature map",
        "A feature map such as ``gapless.features.Nystroem(500)``: the model is trained on its features in place of the kernel, which is faster "
        "on many samples. The dual point is feasible for the exact problem, so that ``certificate_`` is exact all the same.",
    ),
    random_state=FOLDS_AND_SOLVERS,
    polish=("bool", "Whether the fit goes on from the approximate model to the exact optimum."),
)
class SVC(ApproximatingMixin, _KernelClassifier):
    r"""C-support vector classification, with proof: :math:`\min ½‖w‖² + C \sum_i w_i \max(0, 1 - y_i f(x_i))`, b free.

    A drop-in for :class:`sklearn.svm.SVC`: the same parameters, defaults and attributes. Added are the attributes ``certificate_``,
    ``certificates_``, ``trace_`` and ``alpha_``, the methods ``decision_interval``, ``save``, ``compact`` and ``to_onnx``, and the parameters from
    ``solver`` on to ``polish``. A fit without a warning has each of ``certificates_`` within ``tol``.

    Examples
    --------
    >>> from gapless import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=1, tol=1e-6).fit(X, y)
    >>> round(model.score(X, y), 4), model.certificate_.relative_gap <= 1e-6
    (0.9733, True)
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **_CLASSIFIER,
        "C": POSITIVE,
        "approximation": APPROXIMATION,
        "polish": BOOLEAN,
    }

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
        approximation: Any = None,
        polish: bool = False,
        probability: Any = "deprecated",
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
        self.approximation = approximation
        self.polish = polish
        self.probability = probability

    def _problem(
        self,
        samples: Any,
        positive: np.ndarray,
        weight: np.ndarray | None,
        class_weight: np.ndarray | None,
        spec: KernelSpec,
        whole: bool,
    ) -> Problem:
        weights = [each for each in (weight, class_weight) if each is not None]
        total = math.prod(weights[1:], start=weights[0]) if weights else None
        return Problem(samples, positive, kernel=spec.kernel, C=self.C, sample_weight=total)

    def _pair_terms(self, members: ClassPairs, weight: np.ndarray | None, class_weight: np.ndarray) -> PairTerms | None:
        return None if self.approximation is not None else hinge_terms(members, float(self.C), weight, class_weight)


@register
@documented(f"classes_ class_weight_ {KERNEL_MODEL} probA_,probB_", random_state=FOLDS_AND_SOLVERS)
class NuSVC(_KernelClassifier):
    r"""ν-support vector classification: :math:`\min ½‖w‖² - νnρ + \sum_i w_i \max(0, ρ - y_i f(x_i))`, reported in the scaling ρ = 1.

    A drop-in for :class:`sklearn.svm.NuSVC`, with the additions of :class:`SVC`. Where the classes overlap so far that w = 0 is optimal, the optimum
    is zero, and no gap is small relative to zero; the fit then counts as proven where neither primal − dual nor −dual is above ½ (t·νn·R)², n being
    the number of samples of the pair of classes, R the root of their mean squared distance from their mean (of 256 of them), and t a tenth of
    ``tol``, but at least 1e-6 and at most 1e-4; t is 1e-6 where primal is below zero, which proves that the optimum is. A warning says so. The pair's
    decision function is then that of the optimum, zero everywhere, so that ``predict`` votes for the same class of the pair each time; ``dual_coef_``
    keeps the dual variables that prove it, not divided by ρ, which is zero. A larger ν may have another optimum.

    Examples
    --------
    >>> from gapless import NuSVC
    >>> NuSVC(nu=0.5, kernel="linear").fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]).predict([[-3.0], [3.0]])
    array([0, 1])
    """

    _rules: ClassVar[dict[str, Rule]] = {**_CLASSIFIER, "nu": SHARE}
    _one_class = "specified nu is infeasible: all samples with positive weights belong to the same class."

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
        probability: Any = "deprecated",
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
        self.probability = probability

    def _problem(
        self,
        samples: Any,
        positive: np.ndarray,
        weight: np.ndarray | None,
        class_weight: np.ndarray | None,
        spec: KernelSpec,
        whole: bool,
    ) -> Problem:
        # A part of the samples may have a smaller share of the rarer class, and allow a smaller ν than all samples do.
        nu = self.nu if whole else min(self.nu, nu_forms.largest_nu(positive, weight))
        return nu_forms.nu_classification(
            samples, positive, nu=nu, kernel=spec.kernel, sample_weight=weight, box_weight=class_weight
        )

    def _pair_terms(self, members: ClassPairs, weight: np.ndarray | None, class_weight: np.ndarray) -> PairTerms | None:
        return nu_terms(members, float(self.nu), weight, class_weight)

    def _pair_bounds(self, f: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = super()._pair_bounds(self._scales * f, squares)
        offsets = np.array([solved.reach.offsets for solved in self._solved])
        (plus_low, plus_high), (minus_low, minus_high) = offsets.transpose(1, 2, 0)
        least, most = 0.5 * (minus_low - plus_high), 0.5 * (minus_high - plus_low)  # the bounds on ρ of the optimum
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = np.minimum(low / least, low / most), np.maximum(high / least, high / most)
        known = least > 0
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)

    def _pair_decisions(self, X: Any, signs: bool = False) -> np.ndarray:
        decisions = super()._pair_decisions(X, signs)
        decisions[:, self._zero] = 0.0
        return decisions

    def _settle(self, result: Result) -> Result:
        return favour_other_class(result)

    def _scales_of(self, offsets: np.ndarray) -> np.ndarray:
        # The scale is ρ. Where the optimum is w = 0, ρ is zero up to rounding of either sign.
        rho = 0.5 * (offsets[:, 1] - offsets[:, 0])
        return np.where(rho > 1e-12 * np.abs(offsets).max(axis=1), rho, 1.0)
