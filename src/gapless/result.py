"""What a solve returns: the model, its proof, its history, and why the solve stopped."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from functools import singledispatch
from typing import Any, Literal, NoReturn, Self

import numpy as np

from gapless.data import check_matrix
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.problems.l1 import L1Problem
from gapless.problems.multinomial import MultinomialProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate, Point
from gapless.proof.kkt import KKT, kkt
from gapless.record import changed, record
from gapless.trace import Trace


class Status(Enum):
    """Why a solve stopped; the value of each member is the sentence for the user.

    >>> import gapless as gl
    >>> print(gl.Status.MAX_ITER)
    Stopped at max_iter before tol was reached; the certificate tells how close the best iterate is.
    >>> gl.Status.MAX_ITER.proven, gl.Status.CONVERGED.proven
    (False, True)
    """

    CONVERGED = "The relative duality gap is at most tol: the model is proven optimal to that bound."
    STATIONARY = "The optimality conditions hold within tol, but the kernel is not positive semi-definite, so that no dual value bounds the optimum."
    ZERO = (
        "The optimum of this ν-form is zero, as w = 0 is optimal; no gap is small relative to zero, so that the gap is judged against the size of "
        "the data."
    )
    APPROXIMATE = (
        "The model is optimal for the approximation of the kernel that it was asked for; the certificate tells how close it is to the optimum of the "
        "kernel itself."
    )
    MAX_ITER = "Stopped at max_iter before tol was reached; the certificate tells how close the best iterate is."
    MAX_TIME = "Stopped at max_time before tol was reached; the certificate tells how close the best iterate is."
    CALLBACK = "Stopped by the callback; the certificate tells how close the best iterate is."
    INTERRUPTED = "Interrupted; the best iterate and its certificate are kept, and solve(start=result) goes on from it."
    STALLED = "The solver can make no further progress in floating point; the certificate tells how close the best iterate is."
    ROUNDING = (
        "Floating point cannot prove more on data of this scale: the gap as computed is within tol, but not with what rounding may add to it "
        "(certificate.rounding). Centred features of a similar scale (such as StandardScaler's), or a smaller C, round less."
    )
    NOT_SEPARABLE = (
        "The data is not separable, so that no hard margin exists: the dual ray in result.ray proves it (the samples, weighted by it, cancel out). "
        "Give a finite C."
    )

    @property
    def proven(self) -> bool:
        """Whether the solve ended because it had reached what it was asked for."""
        return self in (Status.CONVERGED, Status.STATIONARY, Status.ZERO, Status.APPROXIMATE)

    def __str__(self) -> str:
        return str(self.value)


@record
class Result:
    """What a solver has found, with the certificate of how good it is.

    The model (``w``, ``b``, ``beta``, ``expansion``) is the algorithm's own point, to the digit. The certificate holds for a point of its own,
    ``certificate.point``, which is as good or better: its β may have been repaired and scaled by the best factor, its b is the best one for w, and
    its two bounds may come from two iterates. :attr:`certified` is the result with that point in place of the solver's; estimators keep that one.

    Where the status is ``CONVERGED``, the model is within ``tol`` by itself, and not only the certificate's point: P at the w and the offsets that
    the result holds, rounded upwards, less D at its β, rounded downwards, is at most tol·|P|. (A β that misses its box or its sum by rounding counts
    without this rounding, and a hard margin is judged after a stretch to it.) Where rounding leaves this open, the result holds the certified point.

    Attributes
    ----------
    problem : Problem
        What was solved.
    solver : str
        The name of the solver.
    w : array of shape (n_features,), or None
        The weights of a linear problem; None with a kernel.
    offsets : array
        The offsets of f: one, or two in a ν-form; :attr:`b` is their mean.
    beta : array of shape (n_samples,)
        The signed dual variables.
    expansion : array of shape (n_samples,), or None
        With a kernel, the coefficients of w = Σ expansionᵢ φ(xᵢ); None of a linear problem.
    certificate : Certificate
        The proof: a primal bound, a dual bound and the gap between them.
    trace : Trace
        The history, an entry for each check.
    status : Status
        Why the solve stopped.
    iterations : float
        The iterations in the solver's own unit, ``trace.unit``.
    seconds : float
        The time that the solve took, its certificates included.
    ray : array of shape (n_samples,), or None
        Where a hard margin does not exist, the dual ray that proves it, rounded, with Σ|βᵢ| = 1.
    last : Point or None
        The newest iterate, from which ``solve(problem, start=result)`` goes on.

    Examples
    --------
    >>> import gapless as gl
    >>> result = gl.solve(gl.Problem([[-2.0], [-1.0], [1.0]], ["a", "a", "b"], C=10.0))
    >>> result.predict([[-0.5], [3.0]]).tolist()
    ['a', 'b']
    >>> result.kkt().role.tolist()
    ['none', 'free', 'free']
    """

    problem: Problem = field(repr=False)
    solver: str
    w: np.ndarray | None = field(repr=False)
    offsets: np.ndarray = field(repr=False)
    beta: np.ndarray = field(repr=False)
    expansion: np.ndarray | None = field(repr=False)
    certificate: Certificate
    trace: Trace = field(repr=False)
    status: Status
    iterations: float
    seconds: float
    ray: np.ndarray | None = field(default=None, repr=False)
    last: Point | None = field(default=None, repr=False)

    @property
    def certified(self) -> Self:
        """The same result with the certificate's own point in place of the solver's."""
        point = self.certificate.point
        if point is None:
            return self
        return changed(self, w=point.w, offsets=point.offsets, beta=point.beta, expansion=point.expansion)

    @property
    def b(self) -> float:
        """The intercept: the offset, or the mean of the two offsets of a ν-form (half their difference is then ρ or ε)."""
        return float(np.mean(self.offsets))

    @property
    def support(self) -> np.ndarray:
        """Indices of the support vectors, the samples with β ≠ 0."""
        return np.flatnonzero(self.beta)

    def alpha(self, scaling: Literal["stated", "C", "unit", "fenchel"] = "stated") -> np.ndarray:
        """|β| in one of the textbook scalings: ``"stated"`` as the dual of the stated problem has it, ``"C"`` in [0, cᵢ], ``"unit"`` in [0, 1],
        ``"fenchel"`` in [−1, 0].
        """
        alpha = np.abs(self.beta)
        if scaling == "stated":
            return self.problem.scale * alpha
        if scaling == "C":
            return alpha
        if scaling not in ("unit", "fenchel"):
            raise InvalidInputError(f"scaling must be one of stated, C, unit, fenchel; got {scaling!r}.")
        share = np.divide(alpha, self.problem.cost, out=np.zeros_like(alpha), where=self.problem.cost > 0)
        return share if scaling == "unit" else -share

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x) = ⟨w, φ(x)⟩ + b for each row of X."""
        problem = self.problem
        X = check_matrix(X, n_features=problem.n_features)
        if self.expansion is not None:
            return problem.expand(self.expansion, X) + self.b
        return np.asarray(X @ self.w) + self.b

    def predict(self, X: Any) -> np.ndarray:
        """Labels of a classification (the larger label where f > 0), values of a regression."""
        f = self.decision_function(X)
        if self.problem.classes is None:
            return f
        return self.problem.classes[(f > 0).astype(int)]

    def kkt(self) -> KKT:
        """The optimality conditions, sample by sample and as residuals."""
        return kkt(self.problem, self)  # type: ignore[arg-type]


class L1Result(Result):
    """A :class:`~gapless.result.Result` of an :class:`L1Problem`."""

    def kkt(self) -> NoReturn:
        """Refused with an UnsupportedError: the table of conditions is that of a problem with ½‖w‖²."""
        raise UnsupportedError(
            "kkt() reports the conditions of a problem with ½‖w‖²; an l1 penalty has others, see result.certificate."
        )


class CrammerSingerResult(Result):
    """A :class:`~gapless.result.Result` whose ``w``, ``b`` and ``beta`` have a column for each class."""

    @property
    def b(self) -> np.ndarray:  # type: ignore[override]
        """The intercept of each class."""
        return self.offsets

    @property
    def support(self) -> np.ndarray:
        """Indices of the support vectors, the samples whose row of β is not zero."""
        return np.flatnonzero(self.beta.any(axis=1))

    def alpha(self, scaling: str = "stated") -> np.ndarray:
        """|β|, a column for each class; the only scaling is ``"C"``, in which such a problem is stated."""
        if scaling not in ("stated", "C"):
            raise InvalidInputError(f"scaling must be C for Crammer and Singer's machine; got {scaling!r}.")
        return np.abs(self.beta)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score, for each row of X."""
        return np.asarray(self.problem.classes)[self.decision_function(X).argmax(axis=1)]

    def kkt(self) -> NoReturn:
        """Refused with an UnsupportedError: the table of conditions has one dual variable for each sample."""
        raise UnsupportedError(
            "kkt() reports one dual variable for each sample; Crammer and Singer's machine has one for each sample and class, see result.beta."
        )


class MultinomialResult(Result):
    """A :class:`~gapless.result.Result` whose ``expansion``, ``beta`` and ``b`` have a column for each class."""

    @property
    def b(self) -> np.ndarray:  # type: ignore[override]
        """The offset of each class."""
        return self.offsets

    @property
    def support(self) -> np.ndarray:
        """Indices of the support vectors, the samples whose row of β is not zero."""
        return np.flatnonzero(self.beta.any(axis=1))

    def alpha(self, scaling: str = "stated") -> np.ndarray:
        """|β|, a column for each class; the only scaling is ``"C"``, in which such a problem is stated."""
        if scaling not in ("stated", "C"):
            raise InvalidInputError(f"scaling must be C for multinomial regression; got {scaling!r}.")
        return np.abs(self.beta)

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x) for each row of X, a column for each class; the softmax of a row are the probabilities of the classes."""
        X = check_matrix(X, n_features=self.problem.n_features)
        return self.problem.expand(np.asarray(self.expansion), X) + self.offsets

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class, for each row of X."""
        return np.asarray(self.problem.classes)[self.decision_function(X).argmax(axis=1)]

    def kkt(self) -> NoReturn:
        """Refused with an UnsupportedError: the table of conditions has one dual variable for each sample."""
        raise UnsupportedError(
            "kkt() reports one dual variable for each sample; multinomial regression has one for each sample and class, see result.beta."
        )


@singledispatch
def result_type(problem: Problem) -> type[Result]:
    """The kind of result that a kind of problem has."""
    return Result


@result_type.register
def _(problem: L1Problem) -> type[Result]:
    return L1Result


@result_type.register
def _(problem: CrammerSingerProblem) -> type[Result]:
    return CrammerSingerResult


@result_type.register
def _(problem: MultinomialProblem) -> type[Result]:
    return MultinomialResult
