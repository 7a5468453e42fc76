"""An interior-point method for linear models with few features and many samples, which leaves out most rows and ends at the exact optimum.

For the hinge and the ε-insensitive loss all but about d samples end at a bound of their box, and a model trained on a sample of the data already
tells for most of them which bound. So the barrier method (``native/interior_point/barrier.hpp``) works on few rows:

1. a random sample of the rows is solved roughly; rows of high leverage, those with a rare feature say, are drawn more often, and weigh less;
2. the rows near a kink of the loss under that model, the band, take part as they are; all others enter as one constant vector g = Σ βᵢxᵢ with βᵢ at
   their bounds. The distance from a kink is divided by the root of the row's leverage, since the sampling error of its decision grows with that;
3. now and then a pass over the data finds the rows outside of the band that are on the wrong side by now. They join it, until there are none.

Each solve ends in an active-set method (``active_set.py``), which is exact. Portnoy & Koenker (1997) do this for quantile regression.
"""

from __future__ import annotations

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
    refuse_kernel,
    start_beta,
    start_weights,
)
from gapless.solvers.interior_point.active_set import pin
from gapless.solvers.newton.row_sampling import (
    band_size,
    box_of,
    decisions,
    draw,
    least_squares,
    leverage,
    model_point,
    part_size,
    refuse_smooth,
    require_rows,
    require_system,
    ridge,
    spread,
)
from gapless.solvers.newton.weighted_gram import Samples

_ROUGH = 1e-2  # the relative gap to which a sample is solved: the error of sampling is of that size
_SURE = 0.3  # the share of the target at which a part is solved: its rows outside add to the gap of all
_LOOK = 1e-2  # the relative gap of a part at which the rows outside are looked at for the first time
_AGAIN = 10.0  # where rows came in, the barrier begins anew with so many times the present μ
_WAIT = 8  # steps after which the rows outside are looked at in any case: without them the part may be far off
_PIN = 1e-5  # the relative gap at which the active set is guessed for the first time, and again at each thirtieth of it
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Mehrotra's predictor–corrector method on the (d+1)×(d+1) system of the rows near a kink, and an active-set method at the end.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> gl.solve(problem, InteriorPoint()).w.round(6)
    array([2.])
    """

    name: ClassVar[str] = "interior_point"
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 500

    def unsupported(self, problem: Problem) -> str | None:
        return refuse_kernel(problem, self.name) or refuse_smooth(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> InteriorPointEngine:
        return InteriorPointEngine(problem, start, rng)


class Part:
    """The rows that the barrier method works on at present (all where ``rows`` is None), and its state. ``sampled`` rows stand for others, too."""

    def __init__(
        self, rows: np.ndarray | None, sampled: bool, dual: DualBox, barrier: Any, width: float, step: int
    ) -> None:
        self.rows, self.sampled, self.dual, self.barrier = rows, sampled, dual, barrier
        self.width = width  # the μ that the barrier began with
        self.pinned: np.ndarray | None = None  # the exact w that the active-set method has found
        self.next_pin, self.next_look, self.looked = _PIN, _LOOK, step

    @property
    def places(self) -> np.ndarray | slice:
        """The places of the part's rows among all rows."""
        return slice(None) if self.rows is None else self.rows

    @property
    def share(self) -> float:
        """The part's gap relative to the objective."""
        return float(self.barrier.gap / max(abs(self.barrier.value), _TINY))

    @property
    def w(self) -> np.ndarray:
        """The part's model."""
        return np.asarray(self.barrier.w) if self.pinned is None else self.pinned

    def ends(self, goal: float) -> bool:
        """Whether the part has come to a relative gap of ``goal``, or as far as it can."""
        return self.pinned is not None or self.barrier.stuck or self.share <= goal


class InteriorPointEngine(Engine):
    """The best model for all samples so far, its decisions where they are known, a dual point, and the part that is being solved."""

    def __init__(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.rho, self.box, self.length = ridge(problem), box_of(problem), spread(problem)
        n, columns = problem.n_samples, len(self.rho)
        require_system(InteriorPoint.name, columns)
        self.beta = start_beta(problem, start)
        w, b = start_weights(problem, start)
        self.w = np.append(w, b)[:columns]
        self.f: np.ndarray | None = None
        self.steps, self.work = 0, 0.0
        self.strict = 1.0  # a factor of the target, lowered where a part met the target and all samples did not
        self.size = band_size(n, columns)
        self.holds = 2 * self.size < n
        self.leverage = leverage(problem) if self.holds else np.empty(0)
        self.buffer = np.empty((0, columns))
        self.part = self._open()

    def step(self, budget: Budget, targets: Targets) -> Advance:
        before, steps, outcome = self.work if self.steps else 0.0, self.steps, Outcome.RUNNING
        while outcome is Outcome.RUNNING:
            outcome = self._iterate(self.strict * min(targets))
            self.steps += 1
            if self.work - before >= budget.work or self.steps - steps >= budget.iterations:
                break
        return Advance(self.steps - steps, self.work - before, outcome)

    def point(self) -> Point:
        part = self.part
        if self.steps == 0 or (self.f is None and part.sampled):
            return Point(beta=self.beta.copy()) if self.beta.any() else Point()
        if part.sampled:
            return model_point(self.problem, self.w, self.beta)
        self._take_beta()
        return model_point(self.problem, part.w, self.beta)

    def _iterate(self, target: float) -> Outcome:
        part = self.part
        goal = max(_ROUGH, 0.1 * target) if part.sampled else _SURE * target
        if not part.ends(goal):
            part.barrier.iterate()
            self.work += part.barrier.A.size * 6.0
            if not part.sampled:
                late = self.steps - part.looked >= _WAIT and part.share > _LOOK
                if self.holds and (part.share <= part.next_look or late):
                    part.next_look, part.looked = 0.03 * part.share, self.steps
                    if self._look(part.barrier.w, decisions(self.problem, part.barrier.w)):
                        part = self.part
                if part.share <= part.next_pin:
                    part.next_pin = part.share / 30.0
                    self._pin(goal)
        return self._close(target) if part.ends(goal) else Outcome.RUNNING

    # --- the parts

    def _open(self) -> Part:
        """Choose the rows of the next part, and begin to solve it."""
        problem, box, w = self.problem, self.box, self.w
        n, columns = problem.n_samples, len(w)
        fresh = self.f is None and not w.any()
        rows: np.ndarray | None = None
        factor: np.ndarray | None = None
        constant, g, width = 0.0, np.zeros(columns), 3.0 * self.length
        if self.holds:
            self.work += 2.0 * n * problem.entry_work
            if fresh:
                rows, factor = draw(self.leverage, part_size(n, columns) // 2, self.rng)
            else:
                rows, width, g, constant = self._band()
        A = self._rows(np.arange(n) if rows is None else rows)
        dual = box if rows is None else DualBox(*(v[rows] for v in box))
        if fresh:
            price = np.maximum(dual.upper, -dual.lower) * (1.0 if factor is None else factor)
            samples = Samples.of(DenseRows(A), columns, False)
            w, width = least_squares(samples, price, self.rho, dual.p)
        return self._begin(rows, factor, A, dual, w, width, g, constant)

    def _band(self) -> tuple[np.ndarray, float, np.ndarray, float]:
        """(rows, width, g, constant): the rows near a kink, their largest distance from it, and Σ βᵢaᵢ and Σ pᵢβᵢ − ε|βᵢ| of all others."""
        problem, box = self.problem, self.box
        if self.f is None:
            self.f = decisions(problem, self.w)
        distance = np.empty(problem.n_samples)
        _native.survey_kinks(box, self.f, self.beta, distance)
        distance /= np.sqrt(self.leverage)
        rows = np.sort(np.argpartition(distance, self.size)[: self.size])
        width = float(distance[rows].max()) * float(np.sqrt(np.median(self.leverage)))
        others = self.beta.copy()
        others[rows] = 0.0
        g = np.append(problem.weights(others), others.sum())[: len(self.w)]
        return rows, width, g, float(box.p @ others - box.epsilon @ np.abs(others))

    def _begin(
        self,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        A: np.ndarray,
        dual: DualBox,
        w: np.ndarray,
        width: float,
        g: np.ndarray,
        constant: float,
    ) -> Part:
        self.work += 3.0 * A.size
        barrier = _native.Barrier(A, dual, factor, self.rho, g, constant, w, width)
        return Part(rows, factor is not None, dual, barrier, width, self.steps)

    def _rows(self, rows: np.ndarray, after: int = 0) -> np.ndarray:
        """A dense matrix of ``after`` rows that are in the buffer already and of these rows below them; all parts share the buffer."""
        problem, count, columns = self.problem, after + len(rows), len(self.w)
        if len(self.buffer) < count:
            room = min(problem.n_samples, max(2 * after, int(1.2 * max(count, self.size))))
            require_rows(InteriorPoint.name, room, columns)
            grown = np.empty((room, columns))
            grown[:after] = self.buffer[:after]
            self.buffer = grown
        _native.gather_rows(problem.rows, problem.n_features, rows, self.buffer[after:count])
        return self.buffer[:count]

    def _take_beta(self) -> None:
        """Copy the part's β into the dual point of all samples; where the part is pinned, ``_pin`` has done so."""
        if self.part.pinned is None:
            self.beta[self.part.places] = self.part.barrier.beta()

    def _pin(self, goal: float) -> None:
        """Run the active-set method from the present point; keep its point where the gap is within the goal."""
        part = self.part
        barrier = part.barrier
        found = pin(barrier.A, self.rho, barrier.g, part.dual, barrier.f, barrier.beta(), barrier.w, self.length)
        self.work += 4.0 * barrier.A.size
        if found is not None and found.gap <= max(goal, 1e-13) * abs(barrier.value):
            part.pinned = found.w
            self.beta[part.places] = found.beta

    def _close(self, target: float) -> Outcome:
        """After a part is solved: compute the gap of its model for all samples, and let rows on the wrong side come in."""
        part, problem = self.part, self.problem
        w = part.w.copy()
        if part.sampled:
            self.work += problem.n_samples * problem.entry_work
            self.w, self.f = w, decisions(problem, w)
            self.part = self._open()
            return Outcome.RUNNING
        self._take_beta()
        last = part.pinned is not None or part.barrier.stuck
        if part.rows is None:
            self.w = w
            return Outcome.STALLED if last else Outcome.READY
        self.work += problem.n_samples * problem.entry_work
        f = decisions(problem, w)
        if _native.fenchel_gap(self.box, f, self.beta) <= target * abs(part.barrier.value):
            return Outcome.READY
        if self._look(w, f):
            return Outcome.RUNNING
        self.strict *= 0.1
        return Outcome.STALLED if last else Outcome.RUNNING

    def _look(self, w: np.ndarray, f: np.ndarray) -> bool:
        """Let the rows outside that are on the wrong side of their kink come in, and begin anew between the best model and the new one.

        Returns whether there were such rows.
        """
        problem, box, present, barrier = self.problem, self.box, self.part.rows, self.part.barrier
        assert present is not None
        self.work += problem.n_samples * problem.entry_work
        wrong = np.empty(problem.n_samples, dtype=bool)
        _native.wrong_side(box, f, self.beta, wrong)
        wrong[present] = False
        others = np.flatnonzero(wrong)
        if not len(others):
            return False
        width = min(self.part.width, _AGAIN * barrier.mu)
        beta, g, constant = self.beta[others], barrier.g.copy(), barrier.constant
        self._move(w, f)
        A = self._rows(others, len(present))
        g -= A[len(present) :].T @ beta
        constant -= float(box.p[others] @ beta - box.epsilon[others] @ np.abs(beta))
        rows = np.concatenate([present, others])
        self.part = self._begin(rows, None, A, DualBox(*(v[rows] for v in box)), self.w, width, g, constant)
        return True

    def _move(self, w: np.ndarray, f: np.ndarray) -> None:
        """Move the best model to the lowest point on the way to the new model (w, f), by bisection; its decisions need no pass over the data."""
        assert self.f is not None
        dw, df = w - self.w, f - self.f
        low, high = 0.0, 2.0
        for _ in range(6):
            t = 0.5 * (low + high)
            if float((self.rho * (self.w + t * dw)) @ dw) + _native.loss_slope(self.box, self.f, df, t) > 0:
                high = t
            else:
                low = t
            if low == 1.0:
                break
        self.w = self.w + low * dw
        self.f = self.f + low * df
