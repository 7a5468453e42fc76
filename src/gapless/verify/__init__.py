"""Certify the fitted support vector machine of any library: bounds on its optimum, recomputed from the model and the data alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from gapless.blas import one_blas_thread
from gapless.errors import InvalidInputError
from gapless.problems.problem import Problem
from gapless.proof.best import sharpened
from gapless.proof.certificate import Certificate, DualPoint, Point, PrimalPoint, combine, evaluate
from gapless.proof.independent import evaluate_independently, level
from gapless.proof.points import check_point
from gapless.proof.twofold import refine_model
from gapless.result import Result
from gapless.solve import solve
from gapless.verify.libsvm_models import is_libsvm_model, parts_of_libsvm
from gapless.verify.sklearn_models import Part, parts_of_estimator

__all__ = ["certify"]


# The relative gap below which no more digits are looked for: some thousand roundings of float64, less than anybody asks for by tol.
_TIGHT = 1e-12
# The share of a value that may have been counted for rounding: no gap of a default tol is told to fewer than six digits then.
_ROUGH = 1e-10
# The relative gap to which the dual point of a model without dual variables is solved: LIBLINEAR's own tol is 1e-4, so that the gap that is reported
# is the model's, and not that of the dual point.
_DUAL_TOL = 1e-5


@one_blas_thread()
def certify(
    subject: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    C: float | None = None,
    nu: float | None = None,
    epsilon: float | None = None,
    independent: bool = False,
) -> Certificate:
    """Recompute primal, dual and gap from scratch, for a point of a problem or for any fitted support vector machine.

    ``certify(problem, result)`` proves a :class:`~gapless.Result` or :class:`~gapless.Point` again. ``certify(model, X, y)`` takes a fitted model
    and the data that it was trained on. The primal value is that of the model as it predicts, its own intercept included; a model without dual
    variables (LinearSVC, LinearSVR) is measured against a dual point that is found here.

    Parameters
    ----------
    subject : Problem, estimator, svm_model, str or path
        A problem; or a fitted SVC, NuSVC, LinearSVC, SVR, NuSVR, LinearSVR or OneClassSVM of Gapless, scikit-learn or scikit-learn-intelex; or a
        model of LIBSVM: the ``svm_model`` of its Python package, or the path of its model file.
    X : Result, Point, array or sparse matrix
        The point of the problem; or the samples that the model was trained on.
    y : array of shape (n_samples,), default None
        The labels or targets that the model was trained on; None for a problem and for OneClassSVM.
    sample_weight : array of shape (n_samples,), default None
        The sample weights that the model was trained with. For LIBSVM's models this is also where class weights (``-wi``) go.
    C, nu, epsilon : float, default None
        The parameters of a LIBSVM model file, which does not store them; every other model knows its own.
    independent : bool, default False
        Whether both values are computed in plain NumPy, block by block, without the compiled code of Gapless: a slower second opinion, with the same
        bounds to rounding. (The dual point for a model that has none is still found by a solver, and then judged in NumPy.)

    Returns
    -------
    Certificate
        The bounds and their gap. Of a model with several subproblems (pairs of classes) it is the certificate with the largest relative gap, and
        ``parts`` holds all of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> import gapless as gl
    >>> X, y = load_iris(return_X_y=True)
    >>> certificate = gl.certify(SVC(C=10, tol=1e-3).fit(X, y), X, y)
    >>> certificate.relative_gap < 1e-2, len(certificate.parts)
    (True, 3)
    >>> again = gl.certify(SVC(C=10, tol=1e-3).fit(X, y), X, y, independent=True)
    >>> abs(again.primal - certificate.primal) <= 1e-9 * certificate.primal
    True
    """
    evaluation = evaluate_independently if independent else evaluate
    parameters = (("C", C), ("nu", nu), ("epsilon", epsilon))
    if isinstance(subject, Problem):
        if y is not None or not isinstance(X, (Result, Point)):
            raise InvalidInputError("certify(problem, point) takes a Result or a Point after the problem.")
        given = [name for name, value in (*parameters, ("sample_weight", sample_weight)) if value is not None]
        if given:
            raise InvalidInputError(
                f"{', '.join(given)} is the problem's own; certify(problem, point) does not take it."
            )
        points = evaluation(subject, check_point(subject, X.certified if isinstance(X, Result) else X))
        as_it_stands = isinstance(X, Point) and X.offsets is not None  # given offsets are not replaced by better ones
        proof = combine(*(points if independent or as_it_stands else sharpened(subject, points, _TIGHT)))
        return proof.stated(subject.scale)
    if isinstance(subject, (str, PathLike)) or is_libsvm_model(subject):
        parts = parts_of_libsvm(subject, X, y, sample_weight, C=C, nu=nu, epsilon=epsilon)
    else:
        given = [name for name, value in parameters if value is not None]
        if given:
            raise InvalidInputError(f"{', '.join(given)} is the model's own; give it for a LIBSVM model file alone.")
        parts = parts_of_estimator(subject, X, y, sample_weight)
    certificates = [_certify_part(part, evaluation) for part in parts]
    worst = max(certificates, key=lambda certificate: certificate.relative_gap)
    return replace(worst, parts=tuple(certificates)) if len(certificates) > 1 else worst


def _is_rough(side: PrimalPoint | DualPoint) -> bool:
    """Whether more was counted for rounding than anybody should mistake for a gap, so that twice the digits tell more of the model."""
    return not side.rounding <= _ROUGH * abs(side.value)


def _certify_part(part: Part, evaluation: Callable[[Problem, Point], tuple[PrimalPoint, DualPoint]]) -> Certificate:
    problem, point = part
    primal, dual = evaluation(problem, point)
    rough = [_is_rough(side) for side in (primal, dual)]
    if evaluation is evaluate and point.beta is not None and any(rough):
        finer = refine_model(problem, point.beta, primal, dual)
        # Each side by itself: the dual bound of a model does not depend on its intercept.
        primal, dual = finer[0] if rough[0] else primal, finer[1] if rough[1] else dual
    if point.beta is None:
        # A model of weights alone has no dual point, and the dual point that its loss suggests is a weak bound where the loss has kinks. Every
        # feasible dual point is a bound, so that a solver may find a better one.
        suggested = Point(beta=np.clip(dual.beta, problem.dual.lower, problem.dual.upper))
        found = solve(problem, tol=_DUAL_TOL, start=suggested)
        _, better = evaluation(problem, Point(beta=found.certified.beta))
        dual = better if better.value > dual.value else dual
        if (
            evaluation is evaluate_independently
        ):  # the two sides come from two evaluations, and nothing is rounded outwards in NumPy
            primal, dual = level(problem, primal, dual)
    return combine(primal, dual).stated(problem.scale)
