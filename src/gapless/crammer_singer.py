"""Crammer and Singer's multiclass machine: one vector of weights a class, all trained together, with its own dual bound and solver.

The dual has one block βᵢ = (βᵢ₁, …, βᵢₖ) a sample. From the loss c max over m of (δ(m ≠ y) + f_m − f_y) = max over p in c·simplex of
Σ p_m (δ(m ≠ y) + f_m − f_y), with β_m = −p_m for m ≠ y and β_y = Σ p_m over them, the minimum over W is at w_m = Σ βᵢ_m xᵢ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, get_args

import numpy as np
from numba import njit

from gapless.data import check_matrix, check_weights
from gapless.data.products import rmatvec
from gapless.data.rows import row_add, row_dot, row_entries
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.losses import Hinge
from gapless.problems.problem import Intercept, Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate
from gapless.result import Result
from gapless.solve import own_solver, result_type
from gapless.solvers import Solver, State

# Passes over the blocks that still move between two passes over all, and how many visits may be drawn in advance.
_INNER_PASSES = 50
_VISITS = 100_000


class CrammerSingerProblem(Problem):
    r"""All classes at once: the true class has to score higher than every other by one (Crammer & Singer 2001, LIBLINEAR's ``-s 4``).

    .. math::

        \min_{W, b} \; P = ½ \sum_m ‖w_m‖² + \frac{1}{2s²} \sum_m b_m² + \sum_i c_i \max_m \bigl( [m ≠ y_i] + f_m(x_i) - f_{y_i}(x_i) \bigr),
        \qquad f_m(x) = ⟨w_m, x⟩ + b_m

        \max_{β} \; D = \sum_i β_{i y_i} - ½ \sum_m ‖w_m‖² - \frac{1}{2s²} \sum_m b_m², \qquad w_m = \sum_i β_{im} x_i, \quad b_m = s² \sum_i β_{im},
        \qquad \sum_m β_{im} = 0, \quad β_{i y_i} ≤ c_i, \quad β_{im} ≤ 0 \; (m ≠ y_i)

    ``codes`` are the classes as numbers from 0 to ``n_classes`` − 1. W has a column a class. s is ``intercept_scale``; with ``intercept="none"``
    b = 0. cᵢ is C times the sample's weight.

    >>> import gapless as gl
    >>> from gapless.crammer_singer import CrammerSingerProblem
    >>> problem = CrammerSingerProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2], C=1.0)
    >>> problem
    CrammerSingerProblem(3 x 2 dense, 3 classes, C=1, intercept='regularized')
    >>> result = gl.solve(problem, tol=1e-9)
    >>> result.w.shape, result.predict([[2.0, 0.0], [-2.0, -1.0]]).tolist(), result.certificate.relative_gap <= 1e-9
    ((2, 3), [0, 2], True)
    """

    n_classes: int

    def __init__(
        self,
        X: Any,
        codes: Any,
        n_classes: int | None = None,
        *,
        C: float = 1.0,
        intercept: Intercept = "regularized",
        intercept_scale: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        if intercept not in get_args(Intercept) or intercept == "free":
            raise InvalidInputError(
                f"intercept must be 'regularized' or 'none' for Crammer and Singer's machine; got {intercept!r}."
            )
        for name, value in (("C", C), ("intercept_scale", intercept_scale)):
            if not 0 < value < math.inf:
                raise InvalidInputError(f"{name} must be a positive finite number; got {value!r}.")
        X = check_matrix(X)
        codes = np.asarray(codes)
        if codes.shape != (X.shape[0],) or codes.dtype.kind not in "iu":
            raise InvalidInputError(
                f"codes must be whole numbers, one for each of the {X.shape[0]} samples; got {codes.dtype} of the shape {codes.shape}."
            )
        n_classes = int(codes.max()) + 1 if n_classes is None else int(n_classes)
        if n_classes < 2 or codes.min() < 0 or codes.max() >= n_classes:
            raise InvalidInputError(
                f"codes must lie between 0 and n_classes - 1, of two classes at least; "
                f"got {codes.min()} to {codes.max()} and n_classes={n_classes}."
            )
        weight = check_weights(sample_weight, X.shape[0])
        object.__setattr__(self, "n_classes", n_classes)
        self._set(
            X=X,
            y=codes.astype(np.int64),
            cost=C * weight,
            loss=Hinge(),
            kernel=None,
            intercept=intercept,
            intercept_scale=float(intercept_scale),
            convention="C",
            regularization=float(C),
            total_weight=float(weight.sum()),
            classes=np.arange(n_classes),
        )

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """W = Σ xᵢ βᵢᵀ, a column a class."""
        return np.column_stack([rmatvec(self.X, column) for column in beta.T])

    @property
    def entry_work(self) -> float:
        """What one row costs against the weights of all classes."""
        return self.n_classes * row_entries(self.rows)

    def __repr__(self) -> str:
        size = super().__repr__().split("(")[1].split(",")[0]
        return f"CrammerSingerProblem({size}, {self.n_classes} classes, C={self.regularization:g}, intercept={self.intercept!r})"


class CrammerSingerResult(Result):
    """A :class:`~gapless.result.Result` whose ``w``, ``b`` and ``beta`` have a column a class."""

    @property
    def b(self) -> np.ndarray:  # type: ignore[override]
        """The intercept of each class."""
        return self.offsets

    @property
    def support(self) -> np.ndarray:
        """Indices of the samples with a block β ≠ 0."""
        return np.flatnonzero(self.beta.any(axis=1))

    def alpha(self, scaling: str = "C") -> np.ndarray:
        """|β|, a column a class; the only scaling is ``"C"``."""
        if scaling != "C":
            raise InvalidInputError(f"scaling must be C for Crammer and Singer's machine; got {scaling!r}.")
        return np.abs(self.beta)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score."""
        return np.asarray(self.problem.classes)[self.decision_function(X).argmax(axis=1)]

    def kkt(self) -> NoReturn:
        """Refused: the table has one dual variable a sample."""
        raise UnsupportedError(
            "kkt() reports one dual variable a sample; Crammer and Singer's machine has one for each class, see result.beta."
        )


@evaluate.register
def _(problem: CrammerSingerProblem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    beta = point.beta
    if beta is None or not np.isfinite(beta).all():
        beta = np.zeros((problem.n_samples, problem.n_classes))
    beta, box_violation, sum_violation = _feasible(problem, beta)
    W, b = problem.weights(beta), problem.shift * beta.sum(axis=0)
    square = _square(problem, W, b)
    own = beta[np.arange(len(beta)), problem.y]
    linear = float(own.sum())
    largest = float((problem.cost[own > 0] / own[own > 0]).min(initial=math.inf))
    scale = min(linear / square, largest) if square > 0 else min(1.0, largest)
    dual = DualPoint(scale * linear - 0.5 * scale**2 * square, scale * beta, box_violation, sum_violation, math.nan)

    candidates = [_primal(problem, scale * W, scale * b, own=True)]
    if point.w is not None and np.isfinite(point.w).all():
        offsets = np.zeros(problem.n_classes) if point.offsets is None else np.asarray(point.offsets)
        offsets = offsets if problem.intercept == "regularized" else np.zeros_like(offsets)
        given = _primal(problem, np.asarray(point.w, dtype=np.float64), offsets, own=False)
        # A Point with offsets is a model to be judged as it stands.
        candidates = [given] if isinstance(point, Point) and point.offsets is not None else [*candidates, given]
    return min(candidates, key=lambda candidate: candidate.value), dual


def _feasible(problem: CrammerSingerProblem, beta: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(feasible β, how far the given one was from its bounds, and from rows that sum to zero); shares of wrong classes are kept, or scaled down."""
    if beta.shape != (problem.n_samples, problem.n_classes):
        raise InvalidInputError(f"beta must have the shape {(problem.n_samples, problem.n_classes)}; got {beta.shape}.")
    rows = np.arange(len(beta))
    bounds = np.zeros_like(beta)
    bounds[rows, problem.y] = problem.cost
    box_violation = float(np.maximum(0.0, beta - bounds).max())
    sum_violation = float(np.abs(beta.sum(axis=1)).max())
    wrong = np.minimum(beta, 0.0)
    wrong[rows, problem.y] = 0.0
    total = -wrong.sum(axis=1)
    wrong *= np.divide(np.minimum(total, problem.cost), total, out=np.zeros_like(total), where=total > 0)[:, None]
    wrong[rows, problem.y] = -wrong.sum(axis=1)
    return wrong, box_violation, sum_violation


def _square(problem: Problem, W: np.ndarray, b: np.ndarray) -> float:
    """Twice the regulariser."""
    return float((W**2).sum()) + (float((b**2).sum()) / problem.shift if problem.shift else 0.0)


def _primal(problem: CrammerSingerProblem, W: np.ndarray, b: np.ndarray, own: bool) -> PrimalPoint:
    scores = problem.expand_weights(W) + b
    rows = np.arange(len(scores))
    true = scores[rows, problem.y]
    rivals = scores + 1.0
    rivals[rows, problem.y] -= 1.0
    value = 0.5 * _square(problem, W, b) + float((problem.cost * (rivals.max(axis=1) - true)).sum())
    intervals = tuple((float(offset), float(offset)) for offset in b)
    return PrimalPoint(value if math.isfinite(value) else math.inf, W, None, b, intervals, own)


@dataclass
class CrammerSingerState(State):
    """β, the weights that they give, and the visits ahead."""

    beta: np.ndarray = None  # type: ignore[assignment]
    W: np.ndarray = None  # type: ignore[assignment]  # a row a class here
    b: np.ndarray = None  # type: ignore[assignment]
    order: np.ndarray = None  # type: ignore[assignment]
    position: int = 0
    whole: bool = True  # whether this pass goes over all samples and classes
    moved: np.ndarray = None  # type: ignore[assignment]  # the samples whose block the pass has moved


@dataclass(frozen=True)
class CrammerSingerDual(Solver):
    """The sequential dual method (Keerthi et al. 2008): one sample's block after the other is maximised exactly, with W kept up to date.

    A pass over all samples and classes alternates with a few over the samples that it moved and the classes that share in their block.
    An epoch is as much work as a pass over all.
    """

    name: ClassVar[str] = "crammer_singer_dual"
    max_iter: ClassVar[int] = 100_000

    def unsupported(self, problem: Problem) -> str | None:
        if isinstance(problem, CrammerSingerProblem):
            return None
        return f"{self.name} solves a CrammerSingerProblem alone; got a {type(problem).__name__}."

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> CrammerSingerState:
        assert isinstance(problem, CrammerSingerProblem)
        beta = np.zeros((problem.n_samples, problem.n_classes))
        if start is not None and start.beta is not None:
            beta = _feasible(problem, start.beta)[0]
        for i in np.flatnonzero((problem.diagonal == 0) & (problem.cost > 0)):  # nothing to learn from: the loss is one
            beta[i] = 0.0
            beta[i, problem.y[i]] = problem.cost[i]
            beta[i, problem.y[i] - 1] = -problem.cost[i]
        state = CrammerSingerState(rng, beta=beta)
        state.W, state.b = np.ascontiguousarray(problem.weights(beta).T), problem.shift * beta.sum(axis=0)
        state.moved = np.zeros(problem.n_samples, dtype=np.bool_)
        _begin_pass(problem, state, whole=True)
        return state

    def step(self, problem: Problem, state: CrammerSingerState) -> None:
        assert isinstance(problem, CrammerSingerProblem)
        size = problem.n_samples * problem.n_classes * (row_entries(problem.rows) + 1.0)
        budget = min(state.quantum, (state.limit - state.iterations) * size)
        state.position, work = _ascend(
            problem.rows, problem.y, problem.cost, problem.diagonal, problem.shift, row_entries(problem.rows) + 1.0,
            state.order, state.position, budget, state.whole, state.beta, state.W, state.b, state.moved,
        )  # fmt: skip
        state.iterations += work / size
        state.work += work
        if state.position == len(state.order):
            state.done = state.whole and not state.moved.any()
            _begin_pass(problem, state, whole=not (state.whole and state.moved.any()))

    def point(self, problem: Problem, state: CrammerSingerState) -> Point:
        return Point(beta=state.beta.copy())


@own_solver.register
def _(problem: CrammerSingerProblem) -> Solver:
    return CrammerSingerDual()


@result_type.register
def _(problem: CrammerSingerProblem) -> type[Result]:
    return CrammerSingerResult


def _begin_pass(problem: Problem, state: CrammerSingerState, whole: bool) -> None:
    if whole:
        visits = np.flatnonzero((problem.diagonal > 0) & (problem.cost > 0))[None]
    else:
        moved = np.flatnonzero(state.moved)
        visits = np.tile(moved, (int(np.clip(_VISITS / len(moved), 1, _INNER_PASSES)), 1))
    state.order = state.rng.permuted(visits, axis=1).ravel()
    state.position, state.whole = 0, whole
    state.moved[:] = False


@njit(cache=True, nogil=True, error_model="numpy")
def _ascend(rows, codes, cost, diagonal, shift, entries, order, position, budget, whole, beta, W, b, moved):  # type: ignore[no-untyped-def]
    """Maximise D over one block after the other, from ``position`` of ``order`` on, until ``budget`` entries are met; writes beta, W, b and moved.

    With a = ‖x̃ᵢ‖² and g = f(xᵢ) + [m ≠ y] the block minimises ½a‖β‖² + ⟨g − aβ_old, β⟩ over Σβ = 0, β ≤ (c at y, 0 elsewhere), which is
    β_m = min(bound_m, (level − g_m)/a + β_old_m) for the one level where the sum is zero. Starting from no bounds, the level only rises
    when classes go to theirs, so that a few rounds find it exactly (Michelot 1986). Unless ``whole``, classes outside the block stay outside.
    Returns (the next position, entries met).
    """
    k = W.shape[0]
    classes = np.empty(k, dtype=np.int64)
    linear, levels, change = np.empty(k), np.empty(k), np.empty(k)
    work = 0.0
    while position < len(order) and (work < budget or work == 0.0):
        i = order[position]
        position += 1
        y, a, c = codes[i], diagonal[i], cost[i]
        count = 0
        for m in range(k):
            if whole or m == y or beta[i, m] != 0.0:
                classes[count] = m
                count += 1
        work += count * entries
        total = -a * c
        for q in range(count):
            m = classes[q]
            linear[q] = row_dot(rows, i, W[m]) + b[m] + (0.0 if m == y else 1.0) - a * beta[i, m]
            levels[q] = linear[q] + (a * c if m == y else 0.0)
            total += levels[q]
        free = count
        while True:
            level = total / free
            above, total = 0, -a * c
            for q in range(count):
                if levels[q] > level:
                    total += levels[q]
                    above += 1
            if above == free or above == 0:
                break
            free = above
        largest = 0.0
        for q in range(count):
            m = classes[q]
            change[q] = min(c if m == y else 0.0, (level - linear[q]) / a) - beta[i, m]
            largest = max(largest, abs(change[q]))
        if largest > 1e-15 * c:  # below the rounding of the block itself nothing is learnt
            moved[i] = True
            for q in range(count):
                if change[q] != 0.0:
                    m = classes[q]
                    beta[i, m] += change[q]
                    b[m] += shift * change[q]
                    row_add(rows, i, change[q], W[m])
                    work += entries
    return position, work
