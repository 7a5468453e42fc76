"""Finite Newton for linear models with a squared loss (Mangasarian 2002; Keerthi & DeCoste 2005).

P is piecewise quadratic: its gradient is ρ∘w − Xᵀβ with β = β(f) = clip(soft(p − f, ε)/d), its Hessian diag ρ + Σ xᵢxᵢᵀ/dᵢ over the samples that
are strictly inside a quadratic piece (``native/newton/piecewise.hpp``). Newton steps with an exact line search end, after finitely many, at the
optimum to rounding; the gap of w and β is ½‖∇P‖² in the norm of 1/ρ, which every step computes.

- With many more samples than features the first model comes from a sample of the rows, and with more than some 60 features the first Hessian too.
  That Hessian is off by some per cent, so that each step gains a digit or more, at the price of two passes over the data.
- With fewer features, or where steps with the sample's Hessian gain too little, the Hessian of all rows is formed, and then changed only by the rows
  that enter or leave their quadratic piece: this costs less than the further steps that the sample's Hessian would take.
- With many features no matrix is formed: the step comes from conjugate gradients, preconditioned by the Hessian's diagonal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import DenseRows
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import (
    Advance,
    Budget,
    Engine,
    Outcome,
    Solver,
    Targets,
    check_choice,
    refuse_kernel,
    start_weights,
)
from gapless.solvers.interior_point.relay import relayed
from gapless.solvers.newton.descent import DENSE_COLUMNS
from gapless.solvers.newton.row_sampling import (
    box_of,
    draw,
    factoring_work,
    gathered,
    leverage,
    model_point,
    part_size,
    require_system,
    ridge,
    samples_of,
)
from gapless.solvers.newton.weighted_gram import Samples

SYSTEMS = ("auto", "dense", "cg")
_FEW = 64  # columns up to which the Hessian of all rows costs less than the steps that it saves
_ROUGH = 1e-3  # a sample is solved where a step gains less than this share of its objective
_SAMPLE_STEPS = 30  # the most Newton steps on a sample, which mostly takes ten
# The Hessian of all rows is formed where a step with the sample's leaves more than this share of the last squared Newton decrement.
_SLOW = 0.1
_GAIN = 0.9  # a step has gained where it leaves at most this share of the gap
_TRIES = 20  # steps in a row without gain after which the solve is stalled
_SURE = 0.5  # the share of the target gap at which the engine says ``READY``


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
        if not isinstance(dual, DualBox) or _native.any_bounded(dual.lower, dual.upper, problem.cost):
            return f"{self.name} needs a loss that is quadratic where it is not zero; {problem.loss.name} is not; use solver='sdca' or 'smo'."
        return None

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> Engine:
        columns = problem.n_features + (problem.intercept != "none")
        few = columns <= DENSE_COLUMNS and columns <= 2 * problem.n_samples
        if self.system != "auto":
            return NewtonEngine(problem, start, rng, self.system == "dense")
        return relayed(
            problem, NewtonEngine(problem, start, rng, few), price=factoring_work(problem, 1.0) if few else 0.0
        )


class NewtonEngine(Engine):
    """The objective at w, and the source of the Hessian: the factored ``sample``, all rows, or (where not ``dense``) products with rows alone."""

    def __init__(self, problem: Problem, start: Point | None, rng: np.random.Generator, dense: bool) -> None:
        self.problem, self.holds, self.dense = problem, dense, dense
        rho, samples = ridge(problem), samples_of(problem)
        n, columns = problem.n_samples, len(rho)
        w, b = start_weights(problem, start)
        w = np.append(w, b)[:columns]
        self.sample: Any = None
        self.work = n * problem.entry_work
        if dense:
            require_system(Newton.name, columns)
            if 4 * part_size(n, columns) < n:
                w, sample = self._from_sample(samples, rho, w, rng)
                self.sample = sample if columns > _FEW else None
        self.objective = _native.Piecewise(*samples, box_of(problem), rho, w, 0.0, None)
        self.reached = self.gap
        self.before = math.inf  # the last squared Newton decrement
        self.poor = 0  # steps in a row that gained nothing

    @property
    def gap(self) -> float:
        """P − D of w and its β; the part of a free intercept is an estimate."""
        objective = self.objective
        free = objective.free_slope
        return float(objective.residual + abs(free * objective.w[-1])) if free else float(objective.residual)

    def step(self, budget: Budget, targets: Targets) -> Advance:
        objective = self.objective
        before, work = self.reached, self.work + 2.0 * self.problem.n_samples * self.problem.entry_work
        self.work = 0.0
        decrement, multiplied = self._descend()
        self.before = decrement
        work += 2.0 * multiplied * self.problem.entry_work
        self.reached = gap = self.gap
        self.poor = 0 if gap < _GAIN * before else self.poor + 1
        if not decrement > 0 or self.poor >= _TRIES:
            return Advance(1, work, Outcome.STALLED)
        ready = gap <= _SURE * min(targets) * abs(objective.value)
        return Advance(1, work, Outcome.READY if ready else Outcome.RUNNING)

    def point(self) -> Point:
        return model_point(self.problem, self.objective.w, self.objective.beta)

    def _descend(self) -> tuple[float, float]:
        """(the squared Newton decrement of a step, the rows that were multiplied for it)."""
        objective = self.objective
        if not self.dense:
            dw, multiplied = objective.conjugate()
            decrement = objective.falls(dw)
            objective.step(dw)
            return decrement, multiplied
        if self.sample is not None:
            dw = self.sample.solve(-objective.slope)
            decrement = objective.falls(dw)
            if decrement <= _SLOW * self.before:
                objective.step(dw)
                return decrement, 0.0
            self.sample = None
        return objective.descend()[0], 0.0

    def _from_sample(
        self, samples: Samples, rho: np.ndarray, w: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, Any]:
        """(w, the factored Newton system of a sample of the rows at w): w is the sample's own model, or the given w where that is not zero."""
        problem = self.problem
        n, columns = problem.n_samples, samples.columns
        rows, factor = draw(leverage(problem), part_size(n, columns), rng)
        A = gathered(Newton.name, samples.rows, rows, samples.d, columns)
        p, epsilon, d, lower, upper = (v[rows] for v in box_of(problem))
        dual = DualBox(p, epsilon, d / factor, lower * factor, upper * factor)
        part = Samples.of(DenseRows(A), columns, False)
        objective = _native.Piecewise(*part, dual, rho, w, 0.0, None)
        self.work += 3.0 * n * problem.entry_work + 4.0 * A.size
        for _ in range(0 if w.any() else _SAMPLE_STEPS):
            dw = objective.newton()
            gain = objective.falls(dw)
            objective.step(dw)
            self.work += 4.0 * A.size
            if not gain > _ROUGH * abs(objective.value):
                break
        return objective.w.copy(), _native.Factored(objective.hessian().reshape(columns, columns), rho)
