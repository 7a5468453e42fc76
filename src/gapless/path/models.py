"""What a path consists of: the models, the bounds between them, and the model at any C."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from gapless.data import check_matrix
from gapless.errors import InvalidInputError
from gapless.path.segment import Segment
from gapless.problems.along_c import with_c
from gapless.problems.problem import Problem
from gapless.proof.points import Point
from gapless.record import record
from gapless.result import Result


@record
class PathModel:
    """The model of a path at one C: a mixture of the two models around it, with proven bounds.

    Attributes
    ----------
    problem : Problem
        The problem at this C.
    left, right : Result
        The models of the path around C; ``left`` is None below the first model, where zero takes its place.
    share : float
        θ: the model is (1 − θ) times the left one plus θ times the right one. Below the first model it is the multiple θ of that model.
    primal, dual : float
        Bounds for this C: the optimum is at least ``dual``, and P of the mixture is at most ``primal``.
    relative_gap : float
        (primal − dual)/primal, rounded upwards.
    point : Point
        w, b and β of the mixture, for ``gl.certify(model.problem, model.point)`` or ``gl.solve(model.problem, start=model.point)``.

    Examples
    --------
    >>> import gapless as gl
    >>> path = gl.C_path(gl.Problem([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1]), 0.01, 100.0)
    >>> model = path.model_at(0.02)
    >>> model.left is None, model.right is path.results[0], round(model.share, 3)
    (True, True, 0.158)
    >>> model.predict([[0.0], [4.0]]).tolist()
    [0, 1]
    >>> gl.certify(model.problem, model.point).relative_gap <= model.relative_gap
    True
    """

    problem: Problem = field(repr=False)
    left: Result | None = field(repr=False)
    right: Result = field(repr=False)
    share: float
    primal: float
    dual: float
    relative_gap: float
    point: Point = field(repr=False)

    @property
    def C(self) -> float:
        """The C that the model is for."""
        return self.problem.regularization

    @property
    def w(self) -> np.ndarray | None:
        """The weights of a linear problem; None with a kernel."""
        return self.point.w

    @property
    def b(self) -> float:
        """The intercept."""
        assert self.point.b is not None
        return self.point.b

    @property
    def beta(self) -> np.ndarray:
        """The signed dual variables."""
        assert self.point.beta is not None
        return self.point.beta

    @property
    def expansion(self) -> np.ndarray | None:
        """With a kernel, the coefficients of w = Σ expansionᵢ φ(xᵢ); None of a linear problem."""
        return self.point.expansion

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x) = ⟨w, φ(x)⟩ + b for each row of X."""
        X = check_matrix(X, n_features=self.problem.n_features)
        if self.expansion is not None:
            return self.problem.expand(self.expansion, X) + self.b
        return np.asarray(X @ self.w) + self.b

    def predict(self, X: Any) -> np.ndarray:
        """Labels of a classification (the larger label where f > 0), values of a regression."""
        f = self.decision_function(X)
        return f if self.problem.classes is None else self.problem.classes[(f > 0).astype(int)]


@record
class CPath:
    """The models along C, and a proof for every C between ``C_min`` and ``C_max``; ``len(path)`` models are enough for it.

    Attributes
    ----------
    C_min, C_max : float
        The interval.
    tol : float
        The relative duality gap that was asked for, at every C of the interval.
    results : tuple of Result
        The models with their certificates, in the order of C; the last one is at ``C_max``.
    worst_gap : float
        A bound on the relative duality gap of ``model_at(C)``, for all C of the interval.
    solves : int
        How many problems were solved to find these models: some steps were too long, and some could be longer.
    seconds : float
        The time that the path took.

    Examples
    --------
    >>> import gapless as gl
    >>> path = gl.C_path(gl.Problem([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1]), 0.01, 100.0)
    >>> path
    CPath(3 models guarantee a relative gap of 0.01 for every C from 0.01 to 100: at most 0.00939)
    >>> path.Cs.round(3).tolist()
    [0.127, 0.225, 100.0]
    >>> path.gap_at(30.0) <= path.worst_gap <= 1e-2
    True
    """

    C_min: float
    C_max: float
    tol: float
    results: tuple[Result, ...] = field(repr=False)
    worst_gap: float
    solves: int
    seconds: float
    segments: tuple[Segment, ...] = field(repr=False)
    zero_offset: float = field(repr=False)

    @property
    def Cs(self) -> np.ndarray:
        """The C of each model, ascending. The first one may be above ``C_min``: below it, multiples of the first model are good enough."""
        return np.array([result.problem.regularization for result in self.results])

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most ``tol`` for every C of the interval."""
        return self.worst_gap <= self.tol

    def gap_at(self, C: float) -> float:
        """A bound on the relative duality gap of ``model_at(C)``, rounded upwards."""
        return self.segments[self._place(C)].relative_gap(C)

    def bounds_at(self, C: float) -> tuple[float, float]:
        """(P, D) at C: P of ``model_at(C)`` is at most P, and the optimum at least D."""
        return self.segments[self._place(C)].bounds(C)

    def model_at(self, C: float) -> PathModel:
        """The model for C: the mixture of the two models around it whose share of C is its share of the model."""
        place = self._place(C)
        segment, right = self.segments[place], self.results[place]
        left = None if place == 0 else self.results[place - 1]
        share = float(segment.share(C))
        one, two = None if left is None else left.certificate.point, right.certificate.point
        assert two is not None

        def mixed(of: Callable[[Any], Any]) -> Any:
            last = of(two)
            if last is None or share == 1.0:
                return last
            return share * last if one is None else (1.0 - share) * of(one) + share * last

        b = two.b if share == 1.0 else (1.0 - share) * (self.zero_offset if one is None else one.b) + share * two.b
        point = Point(
            beta=mixed(lambda each: each.beta),
            w=mixed(lambda each: each.w),
            b=b,
            expansion=mixed(lambda each: each.expansion),
        )
        primal, dual = segment.bounds(C)
        problem = with_c(right.problem, float(C))
        return PathModel(problem, left, right, share, primal, dual, segment.relative_gap(C), point)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        models = "1 model guarantees" if len(self) == 1 else f"{len(self)} models guarantee"
        where = f"for every C from {self.C_min:g} to {self.C_max:g}"
        if self.proven:
            return f"CPath({models} a relative gap of {self.tol:g} {where}: at most {self.worst_gap:.3g})"
        return f"CPath({models} a relative gap of {self.worst_gap:.3g} {where}; tol={self.tol:g} was not reached)"

    def _place(self, C: float) -> int:
        """The segment that contains C."""
        if not (isinstance(C, (int, float, np.number)) and self.C_min <= C <= self.C_max):
            raise InvalidInputError(
                f"C must be a number from {self.C_min:g} to {self.C_max:g}, the interval of this path; got {C!r}."
            )
        return bisect.bisect_left([segment.right.C for segment in self.segments], float(C))
