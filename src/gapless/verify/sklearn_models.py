"""From a fitted estimator with scikit-learn's attributes to the problems that it has solved and the points that it holds."""

from __future__ import annotations

import inspect
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.utils import column_or_1d, compute_class_weight

from gapless.data import check_matrix, check_weights
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.estimators.kernel_spec import KernelSpec, call_kernel, gram_samples, resolve_kernel
from gapless.estimators.multiclass import class_weights, pairs, unpack
from gapless.estimators.solving import SolvingMixin
from gapless.losses import EpsilonInsensitive, SquaredEpsilonInsensitive, as_loss
from gapless.problems import nu as nu_forms
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.result import Status
from gapless.verify.tube_of_model import nu_regression_point

Part: TypeAlias = tuple[Problem, Point]

# Whether scikit-learn's LinearSVC(class_weight="balanced") counts a sample of weight 2 twice: it does since it can.
_BALANCE_COUNTS_WEIGHTS = "sample_weight" in inspect.signature(compute_class_weight).parameters


def parts_of_estimator(model: Any, X: Any, y: Any, sample_weight: Any) -> list[Part]:
    """One (problem, point) for each subproblem of a fitted estimator."""
    name = next((base.__name__ for base in type(model).__mro__ if base.__name__ in _READERS), None)
    if name is None:
        raise UnsupportedError(
            f"certify reads problems with points, LIBSVM models, and fitted {', '.join(_READERS)}; got {type(model).__name__}."
        )
    if not hasattr(model, "intercept_"):
        raise InvalidInputError(f"certify needs a fitted model; this {name} is not fitted yet.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    weight = check_weights(
        None if sample_weight is None else np.maximum(np.asarray(sample_weight, dtype=float), 0.0), n
    )
    if y is None and name != "OneClassSVM":
        raise InvalidInputError("certify(model, X, y) needs the labels or targets that the model was trained on.")
    targets: Any = None if y is None else column_or_1d(y)
    return _READERS[name](model, X, targets, weight)


def _samples(model: Any, X: Any, weight: np.ndarray) -> tuple[Any, KernelSpec]:
    spec = resolve_kernel(model, X, weight)
    if spec.pairwise:
        samples, kernel = gram_samples(call_kernel(model.kernel, X, X) if callable(model.kernel) else X)
        return samples, KernelSpec(kernel, 0.0, True)
    X = check_matrix(X)
    if not isinstance(model.kernel, str) or not isinstance(model.gamma, str):
        return X, spec
    # The γ of the training is taken where the model keeps it: scikit-learn's gamma="scale" disregards sample weights, and that of Gapless does not.
    gamma = getattr(model, "_gamma", None)
    if gamma is None:
        gamma = resolve_kernel(model, X, np.ones(X.shape[0])).gamma
    return X, resolve_kernel(_WithGamma(model, float(gamma)), X, weight)


class _WithGamma:
    """The kernel parameters of a model, with a number for γ in place of its text."""

    def __init__(self, model: Any, gamma: float) -> None:
        self.kernel, self.degree, self.coef0, self.gamma = model.kernel, model.degree, model.coef0, gamma


def _is_ours(model: Any) -> bool:
    """Whether a model is one of Gapless, or of a class of the user's that is made from one; others are scikit-learn's or follow it."""
    return isinstance(model, SolvingMixin)


def _dense(dual_coef: Any) -> np.ndarray:
    return dual_coef.toarray() if sp.issparse(dual_coef) else np.asarray(dual_coef)


def _offsets_of_zero(model: Any, k: int) -> np.ndarray | None:
    """The offsets of a pair of our own whose optimum is zero, which is not scaled to ρ = 1; None of every other pair."""
    solved = getattr(model, "_solved", None)
    return np.asarray(solved[k].offsets) if solved and solved[k].status is Status.ZERO else None


def _support_rows(model: Any, X: Any, weight: np.ndarray) -> np.ndarray:
    """The rows of X that are the support vectors. scikit-learn's indices count the samples of positive weight alone."""
    support = np.asarray(model.support_)
    vectors = model.support_vectors_
    positive = np.flatnonzero(weight > 0)
    if not len(support):
        return np.zeros(0, dtype=np.int64)
    if vectors.shape[0] != len(support) or vectors.shape[1] != X.shape[1]:
        # A model of a Gram matrix has no support vectors, only indices.
        if support.max(initial=-1) >= len(weight):
            raise InvalidInputError(
                "the model has support vectors beyond the rows of X: the model was trained on other data."
            )
        return support if _is_ours(model) else positive[support]
    # On discrete samples both may fit: the library's own way to count comes first.
    every = np.arange(len(weight))
    counts_all = _is_ours(model) or hasattr(model, "_onedal_estimator")
    for among in (every, positive) if counts_all else (positive, every):
        if support.max(initial=-1) >= len(among):
            continue
        rows = among[support]
        difference = abs(X[rows] - vectors)
        # The tolerance lets vectors pass that a library has kept in float32, whose rounding is 6e-8.
        if (difference.max() if difference.shape[0] else 0.0) <= 1e-6 * max(
            1.0, abs(vectors).max() if len(support) else 0.0
        ):
            return rows
    raise InvalidInputError("the model's support vectors are not rows of X: the model was trained on other data.")


def _codes(model: Any, y: np.ndarray) -> np.ndarray:
    codes = np.searchsorted(model.classes_, y)
    known = codes < len(model.classes_)
    if not (known.all() and (model.classes_[np.where(known, codes, 0)] == y).all()):
        raise InvalidInputError("y has labels that the model was not trained on.")
    return codes


def _pairwise_classifier(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Part]:
    codes = _codes(model, y)
    samples, spec = _samples(model, X, weight)
    class_weight = np.asarray(model.class_weight_)[codes]
    binary = len(model.classes_) == 2
    # Coefficients are made positive for the first class of a pair; a model of two classes stores them positive for classes_[1].
    coefficients = unpack(_dense(model.dual_coef_) * (-1.0 if binary else 1.0), np.asarray(model.n_support_))
    intercepts = np.asarray(model.intercept_) * (-1.0 if binary else 1.0)
    support = _support_rows(model, X, weight)
    parts = []
    for k, (i, j) in enumerate(pairs(len(model.classes_))):
        member = np.flatnonzero(((codes == i) | (codes == j)) & (weight > 0))
        beta = np.zeros(len(codes))
        beta[support] = -coefficients[:, k]
        positive = codes[member] == j
        if "nu" in model.get_params(deep=False):
            # The class weights scale the bounds of β in Gapless, and the weights of the samples in oneDAL; LIBSVM's ν-SVC, which scikit-learn has,
            # disregards them.
            counts = weight * class_weight if hasattr(model, "_onedal_estimator") else weight
            problem = nu_forms.nu_classification(
                samples[member], positive, nu=model.nu, kernel=spec.kernel, sample_weight=counts[member],
                box_weight=class_weight[member] if _is_ours(model) and model.class_weight is not None else None,
            )  # fmt: skip
            rho = float(problem.totals[0]) / max(0.5 * float(np.abs(beta[member]).sum()), 1e-300)
            b = -rho * float(intercepts[k])
            offsets = _offsets_of_zero(model, k)
            offsets = np.array([b - rho, b + rho]) if offsets is None else offsets
            parts.append((problem, Point(beta=rho * beta[member], offsets=offsets)))
        else:
            cost = (weight * class_weight)[member]
            problem = Problem(samples[member], positive, kernel=spec.kernel, C=model.C, sample_weight=cost)
            parts.append((problem, Point(beta=beta[member], offsets=np.array([-intercepts[k]]))))
    return parts


def _single(model: Any, X: Any, y: np.ndarray | None, weight: np.ndarray) -> list[Part]:
    samples, spec = _samples(model, X, weight)
    beta = np.zeros(len(weight))
    beta[_support_rows(model, X, weight)] = _dense(model.dual_coef_).ravel()
    kept = np.flatnonzero(weight > 0)
    samples, beta, weight = samples[kept], beta[kept], weight[kept]
    if not np.size(model.intercept_):  # oneDAL's model without support vectors, which cannot predict either
        raise InvalidInputError("the model has no intercept, so that it predicts nothing that could be certified.")
    b = float(np.ravel(model.intercept_)[0])
    if y is None or not is_regressor(model):
        problem = nu_forms.one_class(samples, nu=model.nu, kernel=spec.kernel, sample_weight=weight)
        return [(problem, Point(beta=beta, offsets=np.array([b])))]
    y = y[kept].astype(np.float64)
    if "nu" in model.get_params(deep=False):
        problem = nu_forms.nu_regression(samples, y, nu=model.nu, C=model.C, kernel=spec.kernel, sample_weight=weight)
        return [(problem, nu_regression_point(problem, beta, b))]
    loss = EpsilonInsensitive(epsilon=float(model.epsilon))
    problem = Problem(samples, y, loss=loss, kernel=spec.kernel, C=model.C, sample_weight=weight)
    return [(problem, Point(beta=beta, offsets=np.array([b])))]


def _linear_classifier(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Part]:
    if model.penalty != "l2" or model.multi_class != "ovr":
        raise UnsupportedError(
            "certify reads LinearSVC with penalty='l2' and multi_class='ovr'; for the others, Gapless's own LinearSVC has its certificate_."
        )
    codes = _codes(model, y)
    binary = len(model.classes_) == 2
    counts = weight if _is_ours(model) or _BALANCE_COUNTS_WEIGHTS else np.ones_like(weight)
    by_class = weight * class_weights(model.class_weight, model.classes_, codes, counts)[codes]
    parts = []
    for row, k in enumerate([1] if binary else range(len(model.classes_))):
        # As in LIBLINEAR, the weight of a class counts where the class is set against the rest, not within the rest.
        cost = by_class if binary else np.where(codes == k, by_class, weight)
        parts.append(_linear_part(model, X, codes == k, as_loss(model.loss), cost, row))
    return parts


def _linear_regressor(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Part]:
    cls = EpsilonInsensitive if model.loss == "epsilon_insensitive" else SquaredEpsilonInsensitive
    return [_linear_part(model, X, y.astype(np.float64), cls(epsilon=float(model.epsilon)), weight, 0)]


def _linear_part(model: Any, X: Any, y: np.ndarray, loss: Any, weight: np.ndarray, row: int) -> Part:
    intercept: Any = "none" if not model.fit_intercept else getattr(model, "intercept", "regularized")
    problem = Problem(
        X, y, loss=loss, C=model.C, intercept=intercept, intercept_scale=model.intercept_scaling, sample_weight=weight
    )  # fmt: skip
    w = np.atleast_2d(model.coef_)[row].astype(np.float64)
    b = float(np.ravel(model.intercept_)[row]) if model.fit_intercept else 0.0
    return problem, Point(w=w, b=b, offsets=np.array([b]))


_READERS = {
    "SVC": _pairwise_classifier,
    "NuSVC": _pairwise_classifier,
    "SVR": _single,
    "NuSVR": _single,
    "OneClassSVM": _single,
    "LinearSVC": _linear_classifier,
    "LinearSVR": _linear_regressor,
}
