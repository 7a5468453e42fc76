"""The sub-gradient method on the primal, full batch.

v = w − Σ gᵢxᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)), w ← w − ηₜ v: a mask, then one matrix product. Not a descent method: the iterate with the smallest
objective counts. Since w ← (1 − ηₜ) w + ηₜ Σ gᵢxᵢ, the same average of the g is a dual point, and for ηₜ ≤ 1 one inside the box: the
gap costs nothing extra.

The optimum lies in the ball ½‖w‖² ≤ P of any P seen, and each iterate is projected onto it, as in Pegasos: early steps cannot run away.

With a free intercept the method runs on min over b of P(w, b), whose sub-gradients are those with Σgᵢ = 0 at the best b: the sample at the kink
takes the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless.data.rows import row_entries
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Solver,
    State,
    check_choice,
    check_positive,
    refuse_hard_margin,
    refuse_kernel,
    start_beta,
    whole_steps,
)  # fmt: skip
from gapless.solvers.textbook.spectrum import largest_eigenvalue, unbounded_curvature

STEPS = ("constant", "decay", "search")


@dataclass
class SubgradientState(State):
    """The iterate as w, b and β, the best iterate so far, and the step's scale."""

    eta: float = 1.0
    t0: float = 1.0
    w: np.ndarray = None  # type: ignore[assignment]
    b: float = 0.0
    beta: np.ndarray = None  # type: ignore[assignment]
    best: tuple[float, np.ndarray, float, np.ndarray] = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Subgradient(Solver):
    """Sub-gradient method with a step rule, the best iterate kept.

    ``step_rule``: ``"decay"`` is ηₜ = η/(t + t₀), so that Σηₜ = ∞ and Σηₜ² < ∞, where t₀ defaults to one, or to the curvature of P where the loss is
    squared; ``"constant"`` is ηₜ = η and reaches only a neighbourhood; ``"search"`` tries η ∈ {2⁰, …, 2⁻¹²} for ten iterations each and goes on with
    ``"decay"`` from the best.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, Subgradient(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    """

    step_rule: str = "decay"
    eta: float = 1.0
    t0: float | None = None
    name: ClassVar[str] = "subgradient"
    max_iter: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        check_choice("step_rule", self.step_rule, STEPS)
        check_positive("eta", self.eta)
        if self.t0 is not None:
            check_positive("t0", self.t0)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SubgradientState:
        state = self._fresh(problem, start, rng, self.eta)
        if self.step_rule == "search":
            trials = [self._fresh(problem, start, rng, 2.0**-k) for k in range(13)]
            for trial in trials:
                for _ in range(10):
                    self._iterate(problem, trial)
                    trial.iterations += 1
            state.eta = min(trials, key=lambda trial: trial.best[0]).eta
        return state

    def _fresh(self, problem: Problem, start: Point | None, rng: np.random.Generator, eta: float) -> SubgradientState:
        beta = start_beta(problem, start)
        w, b = problem.weights(beta), problem.shift * float(beta.sum())
        t0 = smoothness(problem) if self.t0 is None else self.t0
        return SubgradientState(rng, eta=eta, t0=t0, w=w, b=b, beta=beta, best=(np.inf, w, b, beta))

    def step(self, problem: Problem, state: SubgradientState) -> None:
        cost = 2 * problem.n_samples * row_entries(problem.rows)
        for _ in range(whole_steps(state, cost)):
            self._iterate(problem, state)
            state.iterations += 1
            state.work += cost

    def _iterate(self, problem: Problem, state: SubgradientState) -> None:
        y, cost, loss = problem.y, problem.cost, problem.loss
        f = problem.expand_weights(state.w)
        square = float(state.w @ state.w)
        if problem.intercept == "free":
            state.b = float(np.mean(loss.best_intercept(y, f, cost)))
        elif problem.intercept == "regularized":
            square += state.b**2 / problem.shift
        f += state.b
        value = 0.5 * square + float(cost @ loss.value(y, f))
        if value < state.best[0]:
            state.best = (value, state.w, state.b, state.beta)
        g = -cost * loss.derivative(y, f)
        if problem.intercept == "free":
            _balance(problem, f, g)
        t = state.iterations
        eta = state.eta if self.step_rule == "constant" else state.eta / (t + state.t0)
        state.w = (1 - eta) * state.w + eta * problem.weights(g)
        state.beta = (1 - eta) * state.beta + eta * g
        square = float(state.w @ state.w)
        if problem.intercept == "regularized":
            state.b = (1 - eta) * state.b + eta * problem.shift * float(g.sum())
            square += state.b**2 / problem.shift
        if 0.5 * square > state.best[0]:
            shrink = np.sqrt(2.0 * state.best[0] / square)
            state.w, state.beta, state.b = shrink * state.w, shrink * state.beta, shrink * state.b

    def point(self, problem: Problem, state: SubgradientState) -> Point:
        _, w, b, _ = state.best
        # Where the loss is smooth, its derivative at w is a better dual point than the average of derivatives.
        return Point(beta=state.beta.copy() if problem.loss.kinks(problem.y) else None, w=w.copy(), b=b)


def smoothness(problem: Problem) -> float:
    """The largest curvature of P where the loss is squared; one otherwise."""
    curvature = float(unbounded_curvature(problem).max())
    return 1.0 + largest_eigenvalue(problem, None) * curvature if curvature > 0 else 1.0


def _balance(problem: Problem, f: np.ndarray, g: np.ndarray) -> None:
    """Make Σg = 0 by moving the g of samples at a kink, nearest first, inside their boxes; writes g."""
    kinks = problem.loss.kinks(problem.y)
    if not kinks:
        return
    distance = np.min([np.abs(kink - f) for kink in kinks], axis=0)
    excess, rounding = float(g.sum()), 1e-15 * float(np.abs(g).sum())
    for i in np.argsort(np.where(problem.cost > 0, distance, np.inf)):
        if abs(excess) <= rounding:
            break
        moved = min(max(g[i] - excess, problem.dual.lower[i]), problem.dual.upper[i])
        excess -= g[i] - moved
        g[i] = moved
