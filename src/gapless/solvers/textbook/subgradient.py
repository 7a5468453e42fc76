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
    Advance,
    Budget,
    Engine,
    Solver,
    Targets,
    check_choice,
    check_positive,
    refuse_hard_margin,
    refuse_kernel,
    start_beta,
)
from gapless.solvers.textbook.spectrum import largest_eigenvalue, unbounded_curvature

STEPS = ("constant", "decay", "search")


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

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SubgradientEngine:
        beta = start_beta(problem, start)
        t0 = smoothness(problem) if self.t0 is None else self.t0
        eta = self.eta
        if self.step_rule == "search":
            trials = [SubgradientEngine(problem, beta, 2.0**-k, t0, constant=False) for k in range(13)]
            for trial in trials:
                for _ in range(10):
                    trial.iterate()
            eta = min(trials, key=lambda trial: trial.best[0]).eta
        return SubgradientEngine(problem, beta, eta, t0, constant=self.step_rule == "constant")


class SubgradientEngine(Engine):
    """The iterate as w, b and β, the best (P, w, b) so far, and the iterations made."""

    def __init__(self, problem: Problem, beta: np.ndarray, eta: float, t0: float, constant: bool) -> None:
        self.problem, self.eta, self.t0, self.constant = problem, eta, t0, constant
        self.w, self.b, self.beta = problem.weights(beta), problem.shift * float(beta.sum()), beta
        self.best = (np.inf, self.w, self.b)
        self.t = 0

    def step(self, budget: Budget, targets: Targets) -> Advance:
        cost = 2 * self.problem.n_samples * row_entries(self.problem.rows)
        steps = self.whole_steps(budget, cost)
        for _ in range(steps):
            self.iterate()
        return Advance(steps, steps * cost)

    def iterate(self) -> None:
        """One step of the method."""
        problem, y, cost, loss = self.problem, self.problem.y, self.problem.cost, self.problem.loss
        f = problem.expand_weights(self.w)
        square = float(self.w @ self.w)
        if problem.intercept == "free":
            self.b = float(np.mean(loss.best_intercept(y, f, cost)))
        elif problem.intercept == "regularized":
            square += self.b**2 / problem.shift
        f += self.b
        value = 0.5 * square + float(cost @ loss.value(y, f))
        if value < self.best[0]:
            self.best = (value, self.w, self.b)
        g = -cost * loss.derivative(y, f)
        if problem.intercept == "free":
            _balance(problem, f, g)
        eta = self.eta if self.constant else self.eta / (self.t + self.t0)
        self.t += 1
        self.w = (1 - eta) * self.w + eta * problem.weights(g)
        self.beta = (1 - eta) * self.beta + eta * g
        square = float(self.w @ self.w)
        if problem.intercept == "regularized":
            self.b = (1 - eta) * self.b + eta * problem.shift * float(g.sum())
            square += self.b**2 / problem.shift
        if 0.5 * square > self.best[0]:
            shrink = np.sqrt(2.0 * self.best[0] / square)
            self.w, self.beta, self.b = shrink * self.w, shrink * self.beta, shrink * self.b

    def point(self) -> Point:
        _, w, b = self.best
        # Where the loss is smooth, its derivative at w is a better dual point than the average of derivatives.
        beta = self.beta.copy() if self.problem.loss.kinks(self.problem.y) else None
        return Point(beta=beta, w=w.copy(), b=b)


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
