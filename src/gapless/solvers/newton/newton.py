"""Finite Newton for linear models with a squared loss (Mangasarian 2002; Keerthi & DeCoste 2005).

P is piecewise quadratic: its gradient is ρ∘w − Xᵀβ with β = β(f) = clip(soft(p − f, ε)/d), its Hessian diag ρ + Σ xᵢxᵢᵀ/dᵢ over the samples that
are strictly inside a quadratic piece. Newton steps with an exact line search end, after finitely many, at the optimum to rounding; the gap of w
and β is ½‖∇P‖² in the norm of 1/ρ, known for nothing.

- With many more samples than features the first model comes from a sample of the rows, and with more than some 60 features the first Hessian too. Off
  by some per cent, it makes each step gain a digit or more, at the price of two passes over the data.
- With fewer features, or where that does not do, the Hessian of all rows is formed, and then changed by the rows that enter or leave their quadratic
  piece alone: it costs less than the steps that a sample's leaves to be made, since the gap starts at C times the optimum.
- With many features no matrix is formed: the step comes from conjugate gradients, preconditioned by the Hessian's diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numba import njit

from gapless.data import require_memory
from gapless.data.products import matvec, rmatvec
from gapless.data.rows import FASTMATH
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, check_choice, refuse_kernel, start_weights
from gapless.solvers.interior_point.mehrotra import factored, weighted_gram
from gapless.solvers.newton.row_sampling import box_of, decisions, draw, gather, leverage, part_size, ridge
from gapless.solvers.newton.sparse_gram import sparse_gram, stays_sparse
from gapless.solvers.newton.two_threads import times, transposed_times

SYSTEMS = ("auto", "dense", "cg")
DENSE_COLUMNS = 1500  # above which a system of all features is left to conjugate gradients
_MANY = 1000  # columns from which memory is asked for
_FEW = 64  # columns up to which the Hessian of all rows costs less than the steps that it saves
_ROUGH = 1e-3  # relative gain of a step after which a sample's model is left as it is
_PANEL = 1 << 18  # entries of X made dense at a time: 2 MiB


@dataclass
class NewtonState(State):
    """w (the intercept last), f, β and ∇P; the Hessian without its ridge, the samples in it (None: a sample's), and a solver of its system."""

    w: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    beta: np.ndarray = None  # type: ignore[assignment]
    slope: np.ndarray = None  # type: ignore[assignment]
    rho: np.ndarray = None  # type: ignore[assignment]
    hessian: np.ndarray | None = None
    members: np.ndarray | None = None
    solve: Callable[[np.ndarray], np.ndarray] | None = None
    inverse: np.ndarray = None  # type: ignore[assignment]  # 1/d
    gap: float = np.inf
    before: float = np.inf  # the last squared Newton decrement
    poor: int = 0  # steps in a row that gained nothing


@dataclass(frozen=True)
class Newton(Solver):
    """Newton's method on the primal of a squared loss, with an exact line search.

    ``system``: ``"dense"`` factors the d×d Hessian, ``"cg"`` needs its products alone; ``"auto"`` takes the first up to some 1,500 features,
    where the samples are as many.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], loss="squared_hinge", C=0.25, intercept="none")
    >>> gl.solve(problem, Newton()).w
    array([0.5])
    """

    system: str = "auto"
    name: ClassVar[str] = "newton"
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 500

    def __post_init__(self) -> None:
        check_choice("system", self.system, SYSTEMS)

    def unsupported(self, problem: Problem) -> str | None:
        reason = refuse_kernel(problem, self.name)
        if reason is not None:
            return reason
        if problem.is_nu or problem.is_hard:
            return f"{self.name} needs a finite C and one offset without a price; use solver='smo' or 'qp'."
        dual = problem.dual
        if not isinstance(dual, DualBox) or _any_bound(dual.lower, dual.upper, problem.cost):
            return f"{self.name} needs a loss that is quadratic where it is not zero; {problem.loss.name} is not; use solver='sdca' or 'smo'."
        return None

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> NewtonState:
        state = NewtonState(rng, rho=ridge(problem), inverse=_inverse(box_of(problem)))
        w, b = start_weights(problem, start)
        state.w = np.append(w, b)[: len(state.rho)]
        n, columns = problem.n_samples, len(state.rho)
        dense = columns <= DENSE_COLUMNS and columns <= 2 * n if self.system == "auto" else self.system == "dense"
        state.holds = dense
        if dense:
            if columns > _MANY:  # asking takes as long as a step
                require_memory(
                    32 * columns * columns,
                    f"{self.name} factors a matrix of the features: {columns:,} x {columns:,} in float64, which",
                )
            many = 4 * part_size(n, columns) < n
            if many:
                self._from_sample(problem, state, fresh=not state.w.any())
            if not many or columns <= _FEW:
                state.hessian, state.members = np.zeros((columns, columns)), np.zeros(n, dtype=bool)
        self._look(problem, state, decisions(problem, state.w))
        return state

    def step(self, problem: Problem, state: NewtonState) -> None:
        n, entries = problem.n_samples, problem.entry_work
        if state.solve is None:
            state.solve = self._system(problem, state)
        dw = state.solve(-state.slope)
        decrement = -float(state.slope @ dw)
        if state.hessian is not None and state.members is None and decrement > 0.1 * state.before:
            state.hessian, state.members = np.zeros_like(state.hessian), np.zeros(n, dtype=bool)
            dw = (solve := self._system(problem, state))(-state.slope)
            decrement, state.solve = -float(state.slope @ dw), solve
        state.before = decrement
        df = decisions(problem, dw)
        ridge_along = float(state.rho @ (state.w * dw)), float(state.rho @ dw**2)
        t = line_search(box_of(problem), state.inverse, state.f, df, *ridge_along, decrement)
        before = state.gap
        state.w = state.w + t * dw
        self._look(problem, state, state.f + t * df)
        state.iterations += 1
        state.work += 2.0 * n * entries
        state.poor = 0 if state.gap < 0.9 * before else state.poor + 1
        state.ready = state.gap <= 0.5 * state.target * abs(self._value(problem, state))
        state.done = not decrement > 0 or state.poor >= 20
        if state.members is not None or state.hessian is None:
            state.solve = None

    def point(self, problem: Problem, state: NewtonState) -> Point:
        d = problem.n_features
        return Point(beta=state.beta.copy(), w=state.w[:d].copy(), b=float(state.w[d]) if len(state.w) > d else 0.0)

    # --- the pieces

    def _look(self, problem: Problem, state: NewtonState, f: np.ndarray) -> None:
        """β and ∇P at decisions f."""
        state.f = f
        state.beta = _best_beta(*box_of(problem), state.inverse, f)
        own = problem.weights(state.beta)
        state.slope = state.rho * state.w - (own if len(state.w) == len(own) else np.append(own, state.beta.sum()))
        # P − D of w and its β; a free intercept's part is left to the certificate
        bounded = state.rho > 0
        state.gap = 0.5 * float((state.slope[bounded] ** 2 / state.rho[bounded]).sum()) + float(
            np.abs(state.slope[~bounded] * state.w[~bounded]).sum()
        )

    def _value(self, problem: Problem, state: NewtonState) -> float:
        return 0.5 * float(state.rho @ state.w**2) + float(_losses(*box_of(problem), state.f, state.beta))

    def _from_sample(self, problem: Problem, state: NewtonState, fresh: bool) -> None:
        """A sample's Hessian and, for a fresh start, its model."""
        n, columns = problem.n_samples, len(state.rho)
        weight = leverage(problem)
        rows, factor = draw(weight, part_size(n, columns), state.rng)
        A = np.empty((len(rows), columns))
        gather(problem.rows, rows, problem.n_features, A)
        p, epsilon, d, lower, upper = (v[rows] for v in box_of(problem))
        dual = DualBox(p, epsilon, d / factor, lower * factor, upper * factor)
        inverse = _inverse(dual)
        panels: list[np.ndarray] = []
        w, f = state.w, times(A, state.w)
        for _ in range(30):
            beta = _best_beta(*dual, inverse, f)
            H = weighted_gram(A, _curvatures(*dual, inverse, f), panels)
            state.work += 4.0 * A.size
            if not fresh:
                break
            slope = state.rho * w - transposed_times(A, beta)
            dw = factored(H, state.rho)(-slope)
            df = times(A, dw)
            decrement = -float(slope @ dw)
            t = line_search(dual, inverse, f, df, float(state.rho @ (w * dw)), float(state.rho @ dw**2), decrement)
            value = 0.5 * float(state.rho @ w**2) + float(_losses(*dual, f, beta))
            w, f = w + t * dw, f + t * df
            fresh = decrement > _ROUGH * abs(value)
        state.w, state.hessian = w, H
        state.work += 3.0 * n * problem.entry_work

    def _system(self, problem: Problem, state: NewtonState) -> Callable[[np.ndarray], np.ndarray]:
        """What solves (H + diag ρ) x = r at the present f."""
        curvature = _curvatures(*box_of(problem), state.inverse, state.f)
        if state.hessian is None:
            return self._conjugate(problem, state, curvature)
        if state.members is not None:
            self._update(problem, state, curvature)
        return factored(state.hessian, state.rho)

    def _update(self, problem: Problem, state: NewtonState, curvature: np.ndarray) -> None:
        """Bring the Hessian to the samples that now are inside a quadratic piece; all of them anew where most changed."""
        assert state.hessian is not None and state.members is not None
        members = curvature > 0
        changed = np.flatnonzero(members != state.members)
        if 2 * len(changed) >= np.count_nonzero(members):
            state.hessian[:] = 0.0
            changed = np.flatnonzero(members)
        if stays_sparse(problem.rows, len(state.rho)):
            signed = np.where(members[changed], 1.0, -1.0) / box_of(problem).d[changed]
            state.hessian += sparse_gram(
                problem.rows, changed, signed, len(state.rho), ones=len(state.rho) > problem.n_features
            )
            state.members = members
            state.work += len(changed) * problem.entry_work**2
            return
        step = max(1, _PANEL // len(state.rho))
        panel = np.empty((min(step, len(changed)), len(state.rho)))
        inside = members[changed]
        for sign, part in ((1.0, changed[inside]), (-1.0, changed[~inside])):
            roots = np.sqrt(state.inverse[part])
            for begin in range(0, len(part), step):
                rows = part[begin : begin + step]
                A = panel[: len(rows)]
                gather(problem.rows, rows, problem.n_features, A)
                A *= roots[begin : begin + step, None]
                state.hessian += sign * (A.T @ A)
        state.members = members
        state.work += len(changed) * len(state.rho) * 2.0

    def _conjugate(
        self, problem: Problem, state: NewtonState, curvature: np.ndarray
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Conjugate gradients to a residual that shrinks with the gradient, on the rows inside a quadratic piece."""
        inside = np.flatnonzero(curvature)
        X, weight = (
            (problem.X, curvature) if 10 * len(inside) > 7 * len(curvature) else (problem.X[inside], curvature[inside])
        )
        d, has_b = problem.n_features, len(state.rho) > problem.n_features
        squares: Any = X.multiply(X) if sp.issparse(X) else X.astype(np.float64) ** 2  # type: ignore[union-attr]
        diagonal = state.rho + np.append(np.asarray(squares.T @ weight).ravel(), [weight.sum()] * has_b)
        diagonal[diagonal <= 0] = 1.0

        def product(v: np.ndarray) -> np.ndarray:
            z = weight * (matvec(X, v[:d]) + (v[d] if has_b else 0.0))
            return state.rho * v + np.append(rmatvec(X, z), [z.sum()] * has_b)

        def solve(r: np.ndarray) -> np.ndarray:
            x, residual = np.zeros_like(r), r.copy()
            z = residual / diagonal
            direction, rz = z.copy(), float(residual @ z)
            goal = rz * min(0.01, rz / max(1e-300, abs(self._value(problem, state))))
            for _ in range(500):
                if rz <= goal:
                    break
                Hp = product(direction)
                curved = float(direction @ Hp)
                if not curved > 0:
                    break
                x += (rz / curved) * direction
                residual -= (rz / curved) * Hp
                z = residual / diagonal
                rz, last = float(residual @ z), rz
                direction = z + (rz / last) * direction
                state.work += 2.0 * X.shape[0] * problem.entry_work
            return x

        return solve


def line_search(
    dual: DualBox, inverse: np.ndarray, f: np.ndarray, df: np.ndarray, linear: float, quadratic: float, first: float
) -> float:
    """A t with |P′(t)| ≤ 0.01 |P′(0)| along a direction; ``first`` is −P′(0).

    P′ is piecewise linear and rises: Newton's method finds its root inside a bracket. Near the optimum the first try, t = 1, is the root itself.
    """
    low, high, t = 0.0, np.inf, 1.0
    if not first > 0:
        return 0.0
    for _ in range(50):
        slope, curvature = _slope_along(*dual, inverse, f, df, t)
        slope, curvature = slope + linear + t * quadratic, curvature + quadratic
        if abs(slope) <= 0.01 * first:
            break
        low, high = (t, high) if slope < 0 else (low, t)
        new = t - slope / curvature if curvature > 0 else np.inf
        if not low < new < high:
            new = 0.5 * (low + high) if high < np.inf else 2.0 * t
        if new == t:
            break
        t = new
    return t


def _inverse(dual: DualBox) -> np.ndarray:
    """1/d, zero where a sample is absent."""
    return np.divide(1.0, dual.d, out=np.zeros_like(dual.d), where=dual.d > 0)


@njit(cache=True, nogil=True, error_model="numpy")
def _any_bound(lower, upper, cost):
    """Whether some sample that counts has a β with a bound beside zero."""
    i = 0
    while i < len(cost) and not (cost[i] > 0.0 and max(upper[i], -lower[i]) < np.inf):
        i += 1
    return i < len(cost)


# Plain arrays and reordered sums, without a branch: the loops below are vectorised.


@njit(cache=True, error_model="numpy", inline="always")
def _beta_at(e, epsilon, inverse, lower, upper):
    """The β that maximises βe − ε|β| − ½dβ² in its box."""
    return min(max((max(e - epsilon, 0.0) + min(e + epsilon, 0.0)) * inverse, lower), upper)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _best_beta(p, epsilon, d, lower, upper, inverse, f):
    out = np.empty(len(f))
    for i in range(len(f)):
        out[i] = _beta_at(p[i] - f[i], epsilon[i], inverse[i], lower[i], upper[i])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _curvatures(p, epsilon, d, lower, upper, inverse, f):
    """1/d where β is strictly between its bounds and not zero, otherwise zero."""
    out = np.empty(len(f))
    for i in range(len(f)):
        beta = _beta_at(p[i] - f[i], epsilon[i], inverse[i], lower[i], upper[i])
        out[i] = inverse[i] if beta != 0.0 and lower[i] < beta < upper[i] else 0.0
    return out


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _losses(p, epsilon, d, lower, upper, f, beta):
    """Σ φᵢ(fᵢ) for the β that is best at f."""
    total = 0.0
    for i in range(len(f)):
        total += beta[i] * (p[i] - f[i]) - epsilon[i] * abs(beta[i]) - 0.5 * d[i] * beta[i] * beta[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _slope_along(p, epsilon, d, lower, upper, inverse, f, df, t):
    """The first and second derivative of Σ φᵢ(fᵢ + t dfᵢ) by t."""
    slope, curvature = 0.0, 0.0
    for i in range(len(f)):
        beta = _beta_at(p[i] - f[i] - t * df[i], epsilon[i], inverse[i], lower[i], upper[i])
        slope -= beta * df[i]
        inside = (beta != 0.0) & (lower[i] < beta) & (beta < upper[i])
        curvature += df[i] * df[i] * inverse[i] if inside else 0.0
    return slope, curvature
