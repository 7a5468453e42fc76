"""The sub-gradient method on the primal, full batch.

v = w − Σ gᵢxᵢ with gᵢ = −cᵢ ℓ′(yᵢ, f(xᵢ)), w ← w − ηₜ v: a mask, then one matrix product. A free b is a coordinate like any other, without a
penalty: b ← b + ηₜ Σ gᵢ. This is not a descent method: the iterate with the smallest objective is returned. (Here ηₜ is the step on
½‖w‖² + Σ cᵢ ℓ, see ``step_sizes.py``.)

Since w ← (1 − ηₜ) w + ηₜ Σ gᵢxᵢ, the same average of the g is a dual point, which is in the box for ηₜ ≤ 1: a gap takes no further work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless.data.rows import row_entries
from gapless.data.scale import LARGEST
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, refuse_hard_margin, refuse_kernel
from gapless.solvers.textbook.primal_start import primal_start
from gapless.solvers.textbook.spectrum import largest_eigenvalue, unbounded_curvature
from gapless.solvers.textbook.step_sizes import StepSizes, check_steps

STEPS = ("constant", "decay", "search")
# The trials of ``"search"``: η, η/2, …, η/2¹², for ten iterations each.
_HALVINGS, _TRIAL = 13, 10


@dataclass(frozen=True)
class Subgradient(Solver):
    """Sub-gradient method with a step rule, the best iterate kept.

    ``step_rule``: ``"decay"`` is ηₜ = η/(t + t₀), t = 1, 2, …, so that Σηₜ = ∞ and Σηₜ² < ∞; ``"constant"`` is ηₜ = η and reaches only a
    neighbourhood; ``"search"`` tries η, η/2, …, η/2¹² for ten iterations each and goes on with ``"decay"`` from the best; a function of t is any
    other. ``eta`` is in the convention that the problem was stated in, and defaults to 1/λ (to one for C). t₀ defaults to zero; where the
    loss is squared to the curvature of P, and where the intercept is free to at least Σcᵢ, so that no step moves b by more than one.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], intercept="none")
    >>> gl.solve(problem, Subgradient(), tol=1e-2, max_iter=500).status.name
    'CONVERGED'
    """

    step_rule: str | Callable[[int], float] = "decay"
    eta: float | None = None
    t0: float | None = None
    name: ClassVar[str] = "subgradient"
    max_iter: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        check_steps(self.step_rule, self.eta, self.t0, STEPS)

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_hard_margin(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SubgradientEngine:
        t0 = least_delay(problem) if self.t0 is None else self.t0
        if self.step_rule != "search":
            return SubgradientEngine(problem, start, StepSizes.of(problem, self.step_rule, self.eta, t0))
        largest = StepSizes.of(problem, "decay", self.eta, t0)
        trials = [
            SubgradientEngine(problem, start, StepSizes("decay", largest.eta / 2**k, t0, largest.scale))
            for k in range(_HALVINGS)
        ]
        for trial in trials:
            for _ in range(_TRIAL):
                trial.iterate()
        return SubgradientEngine(problem, start, min(trials, key=lambda trial: trial.best[0]).steps)


class SubgradientEngine(Engine):
    """The iterate w, b and β with its decision values, the best (P, w, b, β) so far, and the number of iterations."""

    def __init__(self, problem: Problem, start: Point | None, steps: StepSizes) -> None:
        self.problem, self.steps = problem, steps
        self.w, self.b, self.beta = primal_start(problem, start)
        self.best = (np.inf, self.w, self.b, self.beta)
        self.t = 0
        self._look()

    def step(self, budget: Budget, targets: Targets) -> Advance:
        cost = 2 * self.problem.n_samples * row_entries(self.problem.rows)
        steps = self.whole_steps(budget, cost)
        for made in range(steps):
            # Where the steps are so large that the iterates diverge, the last iterate below LARGEST stays.
            if not max(np.abs(self.w).max(), abs(self.b)) <= LARGEST:
                return Advance(made, made * cost, Outcome.STALLED)
            self.iterate()
        return Advance(steps, steps * cost)

    def iterate(self) -> None:
        """One step of the method."""
        problem = self.problem
        g = -problem.cost * problem.loss.derivative(problem.y, self.f)
        (eta,) = self.steps.after(self.t, 1)
        self.t += 1
        self.w = (1 - eta) * self.w + eta * problem.weights(g)
        self.beta = (1 - eta) * self.beta + eta * g
        if problem.intercept == "free":
            self.b += eta * float(g.sum())
        elif problem.intercept == "regularized":  # b = s·w₀ with the weight w₀ of the feature s
            self.b = (1 - eta) * self.b + eta * problem.shift * float(g.sum())
        self._look()

    def _look(self) -> None:
        """Compute the decision values and P of the iterate, and keep it if it is the best."""
        problem = self.problem
        self.f = problem.expand_weights(self.w) + self.b
        square = float(self.w @ self.w)
        if problem.intercept == "regularized":
            square += self.b**2 / problem.shift
        value = 0.5 * square + float(problem.cost @ problem.loss.value(problem.y, self.f))
        if value < self.best[0]:
            self.best = (value, self.w, self.b, self.beta)

    def point(self) -> Point:
        return self._offered(self.w, self.b, self.beta)

    def answer(self) -> Point:
        """The iterate with the smallest objective."""
        return self._offered(*self.best[1:])

    def _offered(self, w: np.ndarray, b: float, beta: np.ndarray) -> Point:
        # Where the loss is smooth, its derivative at w is a better dual point than the average of derivatives.
        return Point(beta=beta.copy() if self.problem.loss.kinks(self.problem.y) else None, w=w.copy(), b=b)


def least_delay(problem: Problem) -> float:
    """The default t₀, with a first step of 1/(1 + t₀): zero where the curvature one of ½‖w‖² is all that bounds the steps.

    For a squared loss it is the curvature of P, so that the first steps do not go too far. With a free intercept it is at least Σcᵢ, so that no step
    moves b, for which P may have no curvature, by more than one.
    """
    curvature = float(unbounded_curvature(problem).max())
    if problem.intercept != "free":
        return curvature * largest_eigenvalue(problem, None) if curvature > 0 else 0.0
    return max(float(problem.cost.sum()), curvature * largest_eigenvalue(problem, None, shift=1.0))
