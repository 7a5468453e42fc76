"""Bounds on the leave-one-out error that follow from one proven model, without a single refit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gapless.blas import one_blas_thread
from gapless.errors import UnsupportedError
from gapless.kernels.rounding import UNIT
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import evaluate
from gapless.proof.interval import Reach
from gapless.proof.outward import MORE, ROUNDINGS, share
from gapless.proof.points import CertifiedPoint
from gapless.proof.values import Values, values_of_expansion, values_of_model, values_of_weights
from gapless.record import record

if TYPE_CHECKING:
    from gapless.result import Result

# A share of a sum's terms that is more than a few dozen operations in float64 can have rounded: each of them rounds by 1.1e-16.
_ROUNDED = 1e-14


@record
class LeaveOneOut:
    """What is proven of the leave-one-out error: it lies between ``low`` and ``high``.

    Attributes
    ----------
    errors : bool array of shape (n_samples,)
        The samples that are certainly misclassified by the machine trained without them.
    correct : bool array of shape (n_samples,)
        The samples that are certainly classified correctly by it.
    undecided : int array
        The indices of all other samples of a positive weight: a refit without each of these would give the exact leave-one-out error.
    low, high : float
        The bounds, as shares of the samples of a positive weight.

    Examples
    --------
    >>> import gapless as gl
    >>> result = gl.solve(gl.Problem([[0.0], [1.0], [2.0], [3.0], [2.5]], [0, 0, 1, 1, 0], C=1.0), tol=1e-9)
    >>> gl.leave_one_out_bounds(result)
    LeaveOneOut(the error is between 0.2 and 0.8: 1 of 5 samples proven wrong, 1 proven correct, 3 undecided)
    """

    errors: np.ndarray
    correct: np.ndarray
    undecided: np.ndarray

    @property
    def n(self) -> int:
        """The samples that are counted, those of a positive weight."""
        return int(self.errors.sum() + self.correct.sum()) + len(self.undecided)

    @property
    def low(self) -> float:
        """The leave-one-out error is at least this."""
        return float(self.errors.sum()) / self.n

    @property
    def high(self) -> float:
        """The leave-one-out error is at most this."""
        return (float(self.errors.sum()) + len(self.undecided)) / self.n

    def __repr__(self) -> str:
        return (
            f"LeaveOneOut(the error is between {self.low:.3g} and {self.high:.3g}: {self.errors.sum()} of {self.n} samples proven wrong, "
            f"{self.correct.sum()} proven correct, {len(self.undecided)} undecided)"
        )


@one_blas_thread()
def leave_one_out_bounds(result: Result) -> LeaveOneOut:
    r"""Which samples the machine trained without them gets right or wrong, as far as the certificate of the whole machine proves it.

    Let :math:`f^*` be an exact optimum, and :math:`f^{-i}` an exact optimum of the same problem without sample i: the same C, loss and kernel.
    Three arguments decide samples.

    *Errors stay errors.* :math:`P = P^{-i} + c_iℓ_i`, where :math:`P^{-i}` is the objective without sample i. Add :math:`P^{-i}(f^{-i}) ≤
    P^{-i}(f^*)` to :math:`P(f^*) ≤ P(f^{-i})`: what is left is :math:`ℓ_i(f^*) ≤ ℓ_i(f^{-i})`. A margin loss falls in :math:`y_i f(x_i)`, so that a
    sample with :math:`y_i f^*(x_i) < 0` is an error of :math:`f^{-i}` too.

    *Samples outside of the margin do not matter* (Vapnik's count of support vectors). Where :math:`y_i f^*(x_i) > 1` for every optimum, the loss of
    the sample is zero in a neighbourhood of all optima, and :math:`α_i = 0` in every dual optimum. So P and :math:`P^{-i}` are equal near the
    optima of P; a convex function has no other minima than local ones, and :math:`f^{-i}` is an :math:`f^*`, which classifies the sample correctly.

    *A small α* (Jaakkola and Haussler's bound, made exact; not for a free intercept, whose dual has Σβ = 0). Take any feasible β, and r, which is β
    with :math:`β_i = 0`; let s be the dual optimum without sample i, of :math:`f^{-i}`. If :math:`y_i f^{-i}(x_i) ≤ 0`, then s with :math:`α_i = a`
    has a dual value of at least :math:`D(s) + a - ½(k(x_i, x_i) + d_i)a²`, for every a in the box. No dual value is above the P of the certificate,
    and :math:`D(s) ≥ D(r)`: wherever :math:`D(r) + \max_a (a - ½(k(x_i, x_i) + d_i)a²) > P`, the sample is classified correctly.

    :math:`f^*` is known only to lie in an interval, as in ``decision_interval``, whose width is the square root of the gap: a smaller
    ``tol`` decides more samples.

    Parameters
    ----------
    result : Result
        A solved classification by two classes, stated by ``C`` or ``lam_sum``: where the losses are averaged, leaving a sample out changes the cost
        of all others, and another problem would be bounded.

    Returns
    -------
    LeaveOneOut
        ``low`` and ``high``, and for each sample what is proven of it.

    Examples
    --------
    >>> import gapless as gl
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> problem = gl.Problem(X, y == 2, kernel=gl.kernels.RBF(gamma=0.5), intercept="regularized", C=0.5)
    >>> gl.leave_one_out_bounds(gl.solve(problem, tol=1e-8))
    LeaveOneOut(the error is between 0.02 and 0.213: 3 of 150 samples proven wrong, 118 proven correct, 29 undecided)
    """
    problem, certificate = result.problem, result.certificate
    _check(problem)
    point = certificate.point
    assert point is not None
    used = problem.cost > 0
    with np.errstate(over="ignore", invalid="ignore"):  # where nothing is proven the intervals are infinite
        least, most = _margins(result, point)
        errors, correct = used & (most < 0), np.zeros(problem.n_samples, dtype=bool)
        if isinstance(problem.dual, DualBox):  # of an entropy no α is zero
            correct = used & (least > 1)
            if problem.intercept != "free":
                correct |= used & _is_gained(problem, point.beta, certificate.internal.gap)
    return LeaveOneOut(errors, correct & ~errors, np.flatnonzero(used & ~errors & ~correct))


def _margins(result: Result, point: CertifiedPoint) -> tuple[np.ndarray, np.ndarray]:
    """(least, most): every optimum's yᵢ f(xᵢ) lies between them."""
    problem = result.problem
    values = _values(problem, point)
    error, g = values.error, _lengths(problem)
    longest = float(g[problem.cost > 0].max()) if problem.intercept == "free" else 0.0
    reach = Reach.around(result.certificate, longest, problem.shift)
    low, high = reach.offsets[0]
    slack = reach.distance * np.sqrt(g**2 + problem.shift)
    # A free intercept is the best one for values that are off by no more than the largest error.
    slack = slack + error + (float(error.max()) if problem.intercept == "free" else 0.0)
    slack += _ROUNDED * (np.abs(values.f) + slack + max(abs(low), abs(high)))
    if problem.intercept == "regularized":
        slack += share(problem.n_samples + ROUNDINGS) * problem.shift * float(np.abs(point.beta).sum())
    below, above = values.f - slack + low, values.f + slack + high
    positive = problem.y > 0
    return np.where(positive, below, -above), np.where(positive, above, -below)


def _values(problem: Problem, point: CertifiedPoint) -> Values:
    if point.w is not None:
        return values_of_weights(problem, point.w)
    assert point.expansion is not None
    return values_of_expansion(problem, point.expansion, problem.expand(point.expansion))


def _lengths(problem: Problem) -> np.ndarray:
    """Numbers that no √k(xᵢ, xᵢ) is above."""
    g, r = problem.magnitudes
    return (g + MORE * UNIT * r) * (1.0 + _ROUNDED)


def _is_gained(problem: Problem, beta: np.ndarray, gap: float) -> np.ndarray:
    """Where the dual value would rise above P if the sample were put back beside a machine that misclassifies it (the third argument).

    D(r) = D(β) − (pβ − ½dβ²) + β f(x) − ½ k β² in one coordinate, with f = Kβ, so that P − D(r) is at most the gap plus the rest, rounded upwards.
    """
    box, values = problem.dual, values_of_model(problem, beta)
    assert isinstance(box, DualBox)
    total = problem.shift * float(beta.sum())
    error = values.error + share(problem.n_samples + ROUNDINGS) * problem.shift * float(np.abs(beta).sum())
    f, square = values.f + total, _lengths(problem) ** 2 + problem.shift  # at least k(xᵢ, xᵢ) + s²
    terms = (box.p * beta, -0.5 * box.d * beta**2, -beta * f, 0.5 * square * beta**2)
    rounded = np.abs(beta) * error + _ROUNDED * sum(np.abs(term) for term in terms)
    cost = gap * (1.0 + _ROUNDED) + sum(terms) + rounded
    curvature = (square + box.d) * (1.0 + _ROUNDED)
    bound = np.maximum(box.upper, -box.lower)
    best = np.minimum(np.divide(1.0, curvature, out=np.full_like(curvature, 1e100), where=curvature > 0), bound)
    gain = best - 0.5 * curvature * best**2
    return np.asarray(gain - _ROUNDED * best > cost)


def _check(problem: Any) -> None:
    if evaluate.dispatch(type(problem)) is not evaluate.dispatch(Problem) or problem.is_nu or problem.classes is None:
        raise UnsupportedError(
            "leave_one_out_bounds takes a classification by two classes with ½‖w‖² and C; a regression, a ν-form or several classes have "
            "no such bounds."
        )
    if problem.convention not in ("C", "lam_sum"):
        raise UnsupportedError(
            f"leave_one_out_bounds takes a problem stated by C or lam_sum; with {problem.convention} the losses are averaged, so that leaving "
            "a sample out changes the cost of all others."
        )
    used = problem.cost > 0
    if min(int(np.sum(used & (problem.y > 0))), int(np.sum(used & (problem.y < 0)))) < 2:
        raise UnsupportedError(
            "leave_one_out_bounds needs two samples of each class: without the only sample of a class there is no machine."
        )
