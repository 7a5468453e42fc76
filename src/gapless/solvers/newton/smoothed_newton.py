"""Newton's method for linear models whose loss has kinks, the hinge and the ε-insensitive loss, rounded off less and less (``descent.py``).

The method begins at the ridge regression of the targets; with many rows the first model comes from a sample of them.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gapless.data.rows import CsrRows, DenseRows, as_rows
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, refuse_kernel, start_weights
from gapless.solvers.interior_point.relay import relayed
from gapless.solvers.newton.descent import Descent
from gapless.solvers.newton.row_sampling import (
    NEAR,
    box_of,
    draw,
    factoring_work,
    first_size,
    gathered,
    least_squares,
    leverage,
    model_point,
    refuse_smooth,
    require_system,
    ridge,
    samples_of,
    spread,
)
from gapless.solvers.newton.weighted_gram import Samples

_ROUGH = 1e-2  # the relative gap to which a sample is solved: the error of sampling is of that size
_SAMPLE_STEPS = 40  # the most Newton steps on a sample, which mostly takes ten
_FREE = 0.55  # the share of the target gap that is aimed at with a free intercept, whose part of the gap is an estimate
# The first width from a given start, as a share of the size of the residuals: that of a model which is nearly right. Of 0.01 to 1 it takes the fewest
# steps along a grid of C's, each of which begins where the last one ended, on six data sets.
_START = 0.03
_SURE = 0.9  # the share of that aim at which the engine says ``READY``


class SmoothedNewton(Solver):
    """Newton's method on a loss whose kinks are rounded off less and less.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> gl.solve(problem, SmoothedNewton()).w.round(6)
    array([2.])
    """

    name: ClassVar[str] = "smoothed_newton"
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 1000

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_smooth(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> Engine:
        return relayed(problem, SmoothedNewtonEngine(problem, start, rng), price=factoring_work(problem, NEAR))


class SmoothedNewtonEngine(Engine):
    """The descent on all rows."""

    holds = True

    def __init__(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> None:
        rho = ridge(problem)
        require_system(SmoothedNewton.name, len(rho))
        self.problem, self.work = problem, 0.0
        box, length = box_of(problem), spread(problem)
        w, b = start_weights(problem, start)
        w, width = np.append(w, b)[: len(rho)], _START * length
        samples = samples_of(problem)
        if not w.any():
            samples, w, width = self._first(samples, box, rho, length, rng)
        self.descent = Descent(samples, box, rho, w, width, length)

    def step(self, budget: Budget, targets: Targets) -> Advance:
        descent = self.descent
        aim = (1.0 if self.problem.intercept != "free" else _FREE) * min(targets)
        before = descent.work
        descent.advance(aim * abs(descent.value))
        work = (descent.work - before) * self.problem.entry_work + self.work
        self.work = 0.0
        if descent.stuck:
            return Advance(1, work, Outcome.STALLED)
        ready = descent.gap <= _SURE * aim * abs(descent.value)
        return Advance(1, work, Outcome.READY if ready else Outcome.RUNNING)

    def point(self) -> Point:
        return model_point(self.problem, self.descent.w, self.descent.beta)

    def _first(
        self, samples: Samples, box: DualBox, rho: np.ndarray, length: float, rng: np.random.Generator
    ) -> tuple[Samples, np.ndarray, float]:
        """(rows in a form for many passes, a model to begin with, its width); the model is that of a sample where this is much less work."""
        problem, n = self.problem, self.problem.n_samples
        size = n if samples.sparse else first_size(n, len(rho))
        if size == n:
            samples = self._dense(samples, np.arange(n))
            self.work += 3.0 * n * problem.entry_work
            return (samples, *_regression(samples, box, rho))
        rows, factor = draw(leverage(problem), size, rng)
        part = self._dense(samples, rows, whole=False)
        scaled = DualBox(
            box.p[rows], box.epsilon[rows], box.d[rows], box.lower[rows] * factor, box.upper[rows] * factor
        )
        w, width = _regression(part, scaled, rho)
        first = Descent(part, scaled, rho, w, width, length, proves=False)
        for _ in range(_SAMPLE_STEPS):
            goal = _ROUGH * abs(first.value)
            if first.stuck or first.gap <= goal:
                break
            first.advance(goal)
        self.work += (3.0 * (len(rows) + n) + first.work) * problem.entry_work
        return samples, first.w, first.width

    def _dense(self, samples: Samples, rows: np.ndarray, whole: bool = True) -> Samples:
        """The rows ``rows`` (all of them if ``whole``); CSR rows with few zeros become a dense matrix."""
        stored, X = samples.rows, self.problem.X
        if samples.sparse or (whole and not isinstance(stored, CsrRows)):
            return samples
        if not isinstance(stored, CsrRows):
            return Samples.of(as_rows(X[rows]), samples.d, samples.ones)
        A = gathered(SmoothedNewton.name, stored, rows, samples.d, samples.columns)
        return Samples.of(DenseRows(A), samples.columns, False)


def _regression(samples: Samples, box: DualBox, rho: np.ndarray) -> tuple[np.ndarray, float]:
    """(w, width) to begin with, from the ridge regression of the targets."""
    price = np.maximum(box.upper, -box.lower)
    w, width = least_squares(samples, price, rho, box.p, single=True)
    return w, 2.0 * width
