"""Sparse linear classification: the ℓ₁ penalty with the squared hinge, its own dual bound, and a coordinate descent that knows it.

The dual follows from c max(0, u)² = max over α ≥ 0 of αu − α²/(4c), by exchanging min and max: with β = yα the minimum of ‖w‖₁ − ⟨w, Σ βᵢxᵢ⟩
is zero where ‖Σ βᵢxᵢ‖∞ ≤ 1 and −∞ elsewhere. At the optimum αᵢ = 2cᵢ max(0, 1 − yᵢf(xᵢ)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.linalg import cho_factor, cho_solve

from gapless.data.products import matvec
from gapless.data.rows import Rows, as_rows, row_add
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.problem import Intercept, Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate
from gapless.result import Result
from gapless.solve import own_solver, result_type
from gapless.solvers import Solver, State

# A descent that falls short of this share of the predicted one is halved, at most this many times (Armijo).
_SUFFICIENT = 0.01
_HALVINGS = 20
# Passes over the non-zero weights between two passes over all, unless their violation falls to this share of all weights' before.
_INNER_PASSES = 20
_INNER_SHARE = 0.1
# A Newton step on more weights than these, or dearer than that many entries, would block Ctrl-C for too long.
_NEWTON_WEIGHTS = 1000
_NEWTON_COST = 2e8


class L1Problem(Problem):
    r"""The squared hinge under an ℓ₁ penalty, which makes weights exactly zero.

    .. math::

        \min_{w, b} \; P = ‖w‖_1 + |b|/s + \sum_i c_i \max(0, 1 - y_i f(x_i))², \qquad f(x) = ⟨w, x⟩ + b

        \max_{α ≥ 0} \; D = \sum_i α_i - \sum_i \frac{α_i²}{4c_i}, \qquad
        \Bigl\|\sum_i α_i y_i x_i\Bigr\|_∞ ≤ 1, \quad s\,\Bigl|\sum_i α_i y_i\Bigr| ≤ 1

    With ``intercept="regularized"`` b is the weight of one more feature of the constant value s = ``intercept_scale`` (LIBLINEAR's way); with
    ``"none"`` b = 0 and the last condition goes. cᵢ is C times the sample's weight. P is not strongly convex: the certificate bounds
    the objective, and ``distance_bound`` is infinite.

    >>> import gapless as gl
    >>> from gapless.l1 import L1Problem
    >>> problem = L1Problem([[-1.0, 0.1], [-2.0, 0.3], [1.0, 0.2], [3.0, 0.1]], [0, 0, 1, 1], C=1.0, intercept="none")
    >>> problem
    L1Problem(4 x 2 dense, squared_hinge, linear, C=1, intercept='none')
    >>> result = gl.solve(problem, tol=1e-9)
    >>> result.w.round(6), result.certificate.relative_gap <= 1e-9
    (array([0.75, 0.  ]), True)
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        C: float = 1.0,
        intercept: Intercept = "regularized",
        intercept_scale: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        if intercept == "free":
            raise InvalidInputError(
                "intercept must be 'regularized' or 'none' with an l1 penalty, which is on b too; got 'free'."
            )
        if np.isinf(C):
            raise InvalidInputError("C must be finite with an l1 penalty; got inf.")
        super().__init__(
            X, y, loss="squared_hinge", C=C, intercept=intercept, intercept_scale=intercept_scale, sample_weight=sample_weight
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"L1{super().__repr__()}"


class L1Result(Result):
    """A :class:`~gapless.result.Result` of an :class:`L1Problem`."""

    def kkt(self) -> NoReturn:
        """Refused: the table's stationarity is that of ½‖w‖²."""
        raise UnsupportedError(
            "kkt() reports the conditions of a problem with ½‖w‖²; an l1 penalty has others, see result.certificate."
        )


@evaluate.register
def _(problem: L1Problem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    w, b = _weights(problem, point)
    f = problem.expand_weights(w) + b
    short = np.maximum(0.0, 1.0 - problem.y * f)
    value = float(np.abs(w).sum() + abs(b) / problem.intercept_scale + (problem.cost * short**2).sum())
    primal = PrimalPoint(value, w, None, np.array([b]), ((b, b),), own=False, curvature=0.0)
    candidates = [2.0 * problem.cost * problem.y * short]
    if point.beta is not None and np.isfinite(point.beta).all():
        candidates.append(np.clip(point.beta, problem.dual.lower, problem.dual.upper))
    return primal, max((_dual(problem, beta) for beta in candidates), key=lambda dual: dual.value)


def _weights(problem: Problem, point: Point | None) -> tuple[np.ndarray, float]:
    """(w, b) of a point, zero where it has none; offsets of a model to be judged as it stands are its b."""
    if point is None or point.w is None or not np.isfinite(point.w).all():
        return np.zeros(problem.n_features), 0.0
    offsets = point.offsets
    b = (point.b if offsets is None else float(offsets[0])) if problem.intercept == "regularized" else 0.0
    return np.asarray(point.w, dtype=np.float64), 0.0 if b is None else b


def _dual(problem: Problem, beta: np.ndarray) -> DualPoint:
    """The best multiple of β that is feasible: D(tβ) = t Σα − t² Σα²/(4c), t ≤ 1/‖Σ βᵢx̃ᵢ‖∞."""
    reach = float(np.abs(problem.weights(beta)).max())
    if problem.intercept == "regularized":
        reach = max(reach, problem.intercept_scale * abs(float(beta.sum())))
    linear = float((problem.y * beta).sum())
    used = beta != 0
    square = float((beta[used] ** 2 / (4.0 * problem.cost[used])).sum())
    scale = min(0.5 * linear / square, 1.0 / reach if reach > 0 else math.inf) if square > 0 else 0.0
    value = scale * linear - scale**2 * square
    return DualPoint(value, scale * beta, max(0.0, reach - 1.0), 0.0, math.nan)


@dataclass
class L1State(State):
    """The columns times the labels, the weights with the intercept's last, and the shortfalls 1 − yᵢf(xᵢ)."""

    A: Any = field(default=None, repr=False)  # (y ∘ X̃)ᵀ, one row a weight
    columns: Rows = None  # type: ignore[assignment]
    squares: np.ndarray = None  # type: ignore[assignment]  # Σ cᵢ Aⱼᵢ²
    w: np.ndarray = None  # type: ignore[assignment]
    short: np.ndarray = None  # type: ignore[assignment]
    order: np.ndarray = None  # type: ignore[assignment]  # the weights of this pass
    position: int = 0
    inner: int = 0  # passes since the last one over all weights, itself counted as 0
    violation: float = 0.0  # the largest of this pass
    target: float = 0.0  # what ends the inner passes
    moved: bool = False
    saved: float = 0.0  # work since the last Newton step


@dataclass(frozen=True)
class L1CoordinateDescent(Solver):
    """Coordinate descent on the primal, a Newton step with line search for each weight (Yuan et al. 2010), on ever smaller sets of weights.

    A pass over all weights alternates with passes over those that are not zero. Where features are correlated this creeps, so that whenever as much
    work has gone into passes as it costs, one Newton step moves all non-zero weights together, with an exact line search through the kinks.
    """

    name: ClassVar[str] = "l1_coordinate_descent"
    max_iter: ClassVar[int] = 10_000

    def unsupported(self, problem: Problem) -> str | None:
        if isinstance(problem, L1Problem):
            return None
        return f"{self.name} solves an L1Problem alone; got a {type(problem).__name__}."

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> L1State:
        w, b = _weights(problem, start)
        if problem.intercept == "regularized":
            w = np.append(w, b / problem.intercept_scale)
        A = _signed_columns(problem)
        state = L1State(rng, A=A, columns=as_rows(A), w=w.copy())
        state.squares = matvec(A.multiply(A) if sp.issparse(A) else A * A, problem.cost)
        _pass_over_all(state)
        return state

    def step(self, problem: Problem, state: L1State) -> None:
        size = max(1, state.A.nnz if sp.issparse(state.A) else state.A.size)
        budget = min(state.quantum, (state.limit - state.iterations) * size)
        state.position, work, violation, moved = _descend(
            state.columns, problem.cost, state.squares, state.order, state.position, budget, state.w, state.short
        )
        state.violation = max(state.violation, violation)
        state.moved |= moved
        state.iterations += work / size
        state.work += work
        state.saved += work
        if state.position == len(state.order):
            self._end_pass(problem, state)

    def _end_pass(self, problem: Problem, state: L1State) -> None:
        whole = state.inner == 0
        if whole and not state.moved:
            state.done = True
            return
        if whole:
            state.target = _INNER_SHARE * state.violation
        support = np.flatnonzero(state.w)
        cost = _newton_cost(state.A, support)
        if len(support) and cost <= state.saved:
            _newton(state, problem.cost, support)
            state.work += cost
            state.saved = 0.0
            support = np.flatnonzero(state.w)
        settled = not whole and state.violation <= state.target
        if settled or state.inner >= _INNER_PASSES or not len(support):
            _pass_over_all(state)
        else:
            _begin_pass(state, support, state.inner + 1)

    def point(self, problem: Problem, state: L1State) -> Point:
        d = problem.n_features
        b = problem.intercept_scale * float(state.w[d]) if len(state.w) > d else 0.0
        return Point(w=state.w[:d].copy(), b=b)


@own_solver.register
def _(problem: L1Problem) -> Solver:
    return L1CoordinateDescent()


@result_type.register
def _(problem: L1Problem) -> type[Result]:
    return L1Result


def _signed_columns(problem: Problem) -> Any:
    """(y ∘ X̃)ᵀ, where X̃ has the intercept's constant feature as its last column."""
    X, y = problem.X, problem.y
    extra = (problem.intercept_scale * y)[None] if problem.intercept == "regularized" else np.empty((0, len(y)))
    if sp.issparse(X):
        return sp.csr_array(sp.vstack([(sp.diags_array(y) @ X).T, extra], format="csr"))
    return np.vstack([X.T * y, extra])


def _pass_over_all(state: L1State) -> None:
    # The shortfalls are taken anew, so that the rounding of their updates does not add up.
    state.short = 1.0 - np.asarray(state.A.T @ state.w)
    _begin_pass(state, np.arange(len(state.w)), 0)


def _begin_pass(state: L1State, weights: np.ndarray, inner: int) -> None:
    state.order = state.rng.permutation(weights)
    state.position, state.inner, state.violation, state.moved = 0, inner, 0.0, False


def _newton_cost(A: Any, support: np.ndarray) -> float:
    """What a Newton step costs, in entries of a descent pass; measured, and BLAS is the faster."""
    if len(support) > _NEWTON_WEIGHTS:
        return math.inf
    if sp.issparse(A):
        entries = float((A.indptr[support + 1] - A.indptr[support]).sum())
        product = entries * (entries / A.shape[1])
    else:
        entries = float(len(support) * A.shape[1])
        product = 0.1 * entries * len(support)
    cost = 5.0 * entries + product + 0.02 * len(support) ** 3
    return cost if cost <= _NEWTON_COST else math.inf


def _newton(state: L1State, cost: np.ndarray, support: np.ndarray) -> None:
    """Move the non-zero weights along the Newton direction of their orthant; a weight that stops at zero leaves. Writes w and short."""
    w, short = state.w[support], state.short
    A = state.A[support]
    active = (short > 0) & (cost > 0)
    part, c = A[:, active], 2.0 * cost[active]
    slope = np.sign(w) - np.asarray(part @ (c * short[active]))
    hessian = (part * c) @ part.T
    hessian = hessian.toarray() if sp.issparse(hessian) else hessian
    diagonal = hessian.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    hessian *= unit
    hessian *= unit[:, None]
    hessian[np.diag_indices_from(hessian)] += (
        1e-11  # collinear features: the direction runs far, and the line search ends at a kink
    )
    direction = -unit * cho_solve(cho_factor(hessian), unit * slope)
    change = np.asarray(A.T @ direction)
    length, stopped = _line_search(w, direction, short, change, cost)
    if length > 0:
        state.w[support] = np.where(stopped, 0.0, w + length * direction)
        state.short = short - length * change


def _line_search(
    w: np.ndarray, direction: np.ndarray, short: np.ndarray, change: np.ndarray, cost: np.ndarray
) -> tuple[float, np.ndarray]:
    """(t, which weights are then zero) of the exact minimum over t ≥ 0 of ‖w + t·direction‖₁ + Σ c max(0, short − t·change)².

    The derivative is piecewise linear and rises; it bends where a shortfall changes sign and jumps where a weight does.
    """
    started = (short > 0) | ((short == 0) & (change < 0))
    slope = float(np.sign(w) @ direction - 2.0 * (cost * change) @ np.where(started, short, 0.0))
    bend = float(2.0 * (cost * change**2)[started].sum())
    crosses = w * direction < 0
    turns = short * change > 0
    at = np.concatenate([-w[crosses] / direction[crosses], short[turns] / change[turns]])
    bends = 2.0 * (cost * change**2)[turns] * np.where(short[turns] > 0, -1.0, 1.0)
    order = np.argsort(at, kind="stable")
    at = at[order]
    jumps = np.concatenate([2.0 * np.abs(direction[crosses]), np.zeros(len(bends))])[order]
    bends = np.concatenate([np.zeros(int(crosses.sum())), bends])[order]
    bends = np.maximum(0.0, bend + np.cumsum(np.append(0.0, bends)))  # from each event to the next
    before = slope + np.cumsum(bends[:-1] * np.diff(at, prepend=0.0)) + np.cumsum(jumps) - jumps
    nothing = np.zeros(len(w), dtype=bool)
    rising = np.flatnonzero(before + jumps >= 0)
    if not slope < 0 or not len(rising):
        return 0.0, nothing  # at the minimum, to rounding
    k = int(rising[0])
    if before[k] >= 0 and bends[k] > 0:
        return float(at[k] - before[k] / bends[k]), nothing
    nothing[crosses] = -w[crosses] / direction[crosses] == at[k]
    return float(at[k]), nothing


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(columns, cost, squares, order, position, budget, w, short):  # type: ignore[no-untyped-def]
    """One step for each weight of ``order`` from ``position`` on, until ``budget`` entries are read; writes w and short.

    Returns (the next position, entries read, the largest violation met, whether a weight moved).
    """
    work, worst, moved = 0.0, 0.0, False
    while position < len(order) and (work < budget or work == 0.0):
        j = order[position]
        position += 1
        slope, bend = _derivatives(columns, j, cost, short)
        work += 2.0 * _length(columns, j) + 1.0
        old = w[j]
        violation = abs(slope + np.sign(old)) if old != 0.0 else max(0.0, abs(slope) - 1.0)
        worst = max(worst, violation)
        if violation == 0.0:
            continue
        if slope + 1.0 <= bend * old:
            step = -(slope + 1.0) / bend
        elif slope - 1.0 >= bend * old:
            step = -(slope - 1.0) / bend
        else:
            step = -old
        for _ in range(_HALVINGS):
            new = old + step
            penalty = abs(new) - abs(old)
            enough = _SUFFICIENT * (slope * step + penalty)
            # First the bound by the curvature of all samples, then, where that does not decide, the change itself.
            if penalty + slope * step + squares[j] * step**2 <= enough:
                break
            work += _length(columns, j)
            if penalty + _change(columns, j, cost, short, step) <= enough:
                break
            step *= 0.5
        else:
            continue
        if new != old:
            w[j] = new
            row_add(columns, j, -step, short)
            moved = True
    return position, work, worst, moved


@njit(cache=True, error_model="numpy", inline="always")
def _length(columns, j):  # type: ignore[no-untyped-def]
    if hasattr(columns, "indptr"):
        return columns.indptr[j + 1] - columns.indptr[j]
    else:
        return columns.values.shape[1]


@njit(cache=True, error_model="numpy", inline="always")
def _entry(columns, j, k):  # type: ignore[no-untyped-def]
    """(sample, value) of the k-th entry of a column."""
    if hasattr(columns, "indptr"):
        at = columns.indptr[j] + k
        return np.int64(columns.indices[at]), columns.values[at]
    else:
        return k, columns.values[j, k]


@njit(cache=True, error_model="numpy", inline="always")
def _derivatives(columns, j, cost, short):  # type: ignore[no-untyped-def]
    """First and second derivative of Σ c max(0, short)² in weight j."""
    slope, bend = 0.0, 0.0
    for k in range(_length(columns, j)):
        i, value = _entry(columns, j, k)
        if short[i] > 0.0:
            weighted = 2.0 * cost[i] * value
            slope -= weighted * short[i]
            bend += weighted * value
    return slope, bend


@njit(cache=True, error_model="numpy", inline="always")
def _change(columns, j, cost, short, step):  # type: ignore[no-untyped-def]
    """What a step of weight j changes of Σ c max(0, short)²."""
    total = 0.0
    for k in range(_length(columns, j)):
        i, value = _entry(columns, j, k)
        before, after = max(0.0, short[i]), max(0.0, short[i] - step * value)
        total += cost[i] * (after - before) * (after + before)
    return total
