"""Certify anybody's fitted support vector machine: the bounds of its optimum, recomputed from the model and the data alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from gapless.errors import InvalidInputError
from gapless.problems.problem import Problem
from gapless.proof.best import sharpened
from gapless.proof.certificate import Certificate, DualPoint, Point, PrimalPoint, combine, evaluate
from gapless.proof.independent import evaluate_independently
from gapless.proof.points import check_point
from gapless.result import Result
from gapless.solve import solve
from gapless.verify.libsvm_models import is_libsvm_model, parts_of_libsvm
from gapless.verify.sklearn_models import Part, parts_of_estimator

__all__ = ["certify"]


_TIGHT = 1e-12  # relative gap from which on more digits are of no use


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
    """Recompute primal, dual and gap from scratch: of a problem's point, or of any fitted support vector machine.

    ``certify(problem, result)`` proves a :class:`~gapless.Result` or :class:`~gapless.Point` again. ``certify(model, X, y)`` takes a fitted model
    and the data that it was trained on: ours, scikit-learn's, scikit-learn-intelex's, or LIBSVM's (the ``svm_model`` of its Python package, or the
    path of a model file, which stores neither ``C`` nor ``nu`` nor ``epsilon``: give them). The primal value is that of the model as it
    predicts, its own intercept included; models without dual variables (LinearSVC, LinearSVR) are measured against a dual point found here.
    Of several subproblems the worst is returned, and all are in its ``parts``.

    ``independent=True`` computes both values in plain NumPy, block by block, with nothing compiled of ours: a second opinion, slower, of the same
    bounds to rounding. (A dual point for a model that has none is found by a solver all the same, and judged in NumPy.)

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
        as_it_stands = isinstance(X, Point) and X.offsets is not None  # such a model has offsets of its own
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


def _certify_part(part: Part, evaluation: Callable[[Problem, Point], tuple[PrimalPoint, DualPoint]]) -> Certificate:
    problem, point = part
    primal, dual = evaluation(problem, point)
    if point.beta is None:
        # A primal model names no dual point; what its loss suggests is weak where the loss has kinks. Any feasible one is a bound.
        found = solve(problem, tol=1e-5, start=Point(beta=np.clip(dual.beta, problem.dual.lower, problem.dual.upper)))
        _, better = evaluation(problem, Point(beta=found.certified.beta))
        dual = better if better.value > dual.value else dual
    return combine(primal, dual).stated(problem.scale)
