"""Stochastic sub-gradient descent on the primal, one sample a step, O(nnz of xᵢ).

A step shrinks w by (1 − ηₜ) and adds ηₜ n gᵢ xᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)); a free b moves by ηₜ n gᵢ. For the hinge: when y f ≥ 1 only
the shrinking, otherwise also ηₜ n C y x to w and ηₜ n C y to b.

w = a·v with a scalar a, so that shrinking is free. β follows w (w = Σβᵢxᵢ), and an average of iterates is kept for β alone: with
S = Σ aₜ since the average began and q the S-weighted updates, Σₜ βₜ = S u − q where β = a·u. w̄ = Σ β̄ᵢxᵢ is formed when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from gapless.data.rows import row_add, row_dot, row_entries
from gapless.losses.steps import dual_of
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Solver,
    State,
    check_choice,
    check_positive,
    refuse_hard_margin,
    refuse_kernel,
    samples_ahead,
    start_beta,
)  # fmt: skip
from gapless.solvers.textbook.sampling import SAMPLINGS, Order
from gapless.solvers.textbook.spectrum import unbounded_curvature

STEPS = ("constant", "decay")
AVERAGINGS = ("tail", "none")
# Positions in the vector of scalars that the compiled loop reads and writes.
_SCALE, _B, _T, _SUM_SCALE, _SUM_B, _COUNT = range(6)


@dataclass
class SgdState(State):
    """v and u with w = a·v, β = a·u; q for the average; the scalars a, b, t, Σa, Σb and the length of the average."""

    v: np.ndarray = None  # type: ignore[assignment]
    u: np.ndarray = None  # type: ignore[assignment]
    q: np.ndarray = None  # type: ignore[assignment]
    scalars: np.ndarray = None  # type: ignore[assignment]
    order: Order = None  # type: ignore[assignment]
    next_restart: float = 1.0
    t0: float = 1.0


@dataclass(frozen=True)
class SGD(Solver):
    """Stochastic sub-gradient descent.

    ``step_rule``: ``"decay"`` is ηₜ = η/(t + t₀), ``"constant"`` is ηₜ = η; t₀ counts samples and defaults to n, or where the loss is squared to n
    times the largest curvature of one sample's loss. ``averaging``: ``"tail"`` returns the average from T₀ on, where T₀ is the last power of two of
    epochs; ``"none"`` the last iterate. ``sampling``: ``"epochs"`` or ``"uniform"``.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, SGD(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    """

    step_rule: str = "decay"
    eta: float = 1.0
    t0: float | None = None
    averaging: str = "tail"
    sampling: str = "epochs"
    name: ClassVar[str] = "sgd"

    def __post_init__(self) -> None:
        check_choice("step_rule", self.step_rule, STEPS)
        check_choice("averaging", self.averaging, AVERAGINGS)
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_positive("eta", self.eta)
        if self.t0 is not None:
            check_positive("t0", self.t0)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SgdState:
        beta = start_beta(problem, start)
        scalars = np.zeros(6)
        scalars[_SCALE] = 1.0
        scalars[_B] = (
            start.b or 0.0 if start is not None and problem.intercept == "free" else problem.shift * beta.sum()
        )
        return SgdState(
            rng,
            v=problem.weights(beta),
            u=beta,
            q=np.zeros_like(beta),
            scalars=scalars,
            order=Order.start(problem.n_samples, self.sampling, rng),
            t0=problem.n_samples * max(1.0, float((problem.diagonal * unbounded_curvature(problem)).max()))
            if self.t0 is None
            else self.t0,
        )

    def step(self, problem: Problem, state: SgdState) -> None:
        n = problem.n_samples
        entries = row_entries(problem.rows)
        if state.iterations >= state.next_restart * (1 - 1e-12):
            state.next_restart *= 2
            state.q[:] = 0.0
            state.scalars[[_SUM_SCALE, _SUM_B, _COUNT]] = 0.0
        piece = state.order.next(samples_ahead(state, problem.n_samples, 2 * entries))
        penalty = 1.0 if problem.intercept == "regularized" else 0.0
        free = problem.shift if problem.intercept == "regularized" else float(problem.intercept == "free")
        constant = self.step_rule == "constant"
        _descend(
            problem.rows, problem.dual, piece, penalty, free, constant, self.eta, state.t0,
            state.v, state.u, state.q, state.scalars,
        )  # fmt: skip
        state.iterations += len(piece) / n
        state.work += 2 * len(piece) * entries

    def point(self, problem: Problem, state: SgdState) -> Point:
        scale, b, _, sum_scale, sum_b, count = state.scalars
        if self.averaging == "tail" and count > 0:
            beta, b = (sum_scale * state.u - state.q) / count, sum_b / count
        else:
            beta = scale * state.u
        # Where the loss is smooth, its derivative at w is a better dual point than the average of derivatives.
        return Point(beta=beta if problem.loss.kinks(problem.y) else None, w=problem.weights(beta), b=float(b))


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(rows, dual, piece, b_penalty, b_reach, constant, eta0, t0, v, u, q, scalars):
    """One step for each index of ``piece``; writes v, u, q and the scalars. b shrinks by ``b_penalty`` ηb and moves by ``b_reach`` ηng."""
    n = len(u)
    scale, b, t = scalars[0], scalars[1], scalars[2]
    sum_scale, sum_b, count = scalars[3], scalars[4], scalars[5]
    for k in range(len(piece)):
        i = piece[k]
        eta = min(eta0 if constant else eta0 / (t + t0), 1.0)
        g = n * dual_of(dual, i, scale * row_dot(rows, i, v) + b)
        t += 1.0
        scale *= 1.0 - eta
        b += eta * (b_reach * g - b_penalty * b)
        if scale < 1e-4:  # fold the scalar, and the sum so far, into the vectors before digits are lost
            for j in range(len(v)):
                v[j] *= scale
            for j in range(n):
                q[j] -= sum_scale * u[j]
                u[j] *= scale
            scale, sum_scale = 1.0, 0.0
        if g != 0.0:
            change = eta * g / scale
            row_add(rows, i, change, v)
            u[i] += change
            q[i] += sum_scale * change
        sum_scale += scale
        sum_b += b
        count += 1.0
    scalars[0], scalars[1], scalars[2] = scale, b, t
    scalars[3], scalars[4], scalars[5] = sum_scale, sum_b, count
