"""An interior-point method for linear models with few features or few samples, from both ends: by leaving out, and to the last digit.

Kernels and ν-forms have a method of their own, for few samples (``kernel_barrier.py``). For the rest:

For the hinge and the ε-insensitive loss all but about d samples end at a bound of their box, and a model trained on a sample of the data already
tells which bound for most. So the barrier method (``native/interior_point/barrier.hpp``) sees few rows:

1. it solves for a random sample, roughly; rows of high leverage, those with a rare feature say, are drawn more often, and cost less;
2. the rows near a kink of the loss under that model, the band, enter as they are, all others as one constant vector g = Σ βᵢxᵢ at their bounds.
   Near is relative to the row's leverage, with which the sampling error of its decision grows;
3. now and then a pass over the data finds the rows outside that are on the wrong side by now. They come in, until there are none.

Each solve ends in an active-set method (``active_set.py``), which is exact. Portnoy & Koenker (1997) do this for quantile regression.

Squared losses have no such bound, and no row is left out; fewer samples than features are solved in coordinates of their span (``span.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gapless import _native
from gapless.data.rows import DenseRows
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point, is_valid
from gapless.solvers.base import (
    Advance,
    Budget,
    Engine,
    Outcome,
    Solver,
    Targets,
    start_beta,
    start_weights,
)
from gapless.solvers.interior_point.active_set import pin
from gapless.solvers.interior_point.kernel_barrier import KernelBarrier
from gapless.solvers.interior_point.span import RowSpan, is_wide
from gapless.solvers.newton.row_sampling import (
    band_size,
    box_of,
    decisions,
    draw,
    least_squares,
    leverage,
    model_point,
    part_size,
    require_rows,
    require_system,
    ridge,
    spread,
)
from gapless.solvers.newton.weighted_gram import Samples

_ROUGH = 1e-2  # relative gap to which a sample is solved: what sampling costs is of that size
_SURE = 0.3  # share of the target that a part's own gap may take
_LOOK = 1e-2  # relative gap of a part from which the rows outside are looked at
_AGAIN = 10.0  # times the present μ: with which a barrier begins anew where rows came in
_WAIT = 8  # steps after which they are looked at all the same: a part without the rows that hold it may run away
_STEPS = 25  # of a solve, as a rule
_IDLE = 30  # steps that do not halve the gap, after which rounding has ended it
_PRODUCT = 1 / 60  # of an entry touched: a multiplication inside a product of matrices
_MOST_COLUMNS, _MOST_ENTRIES = 2000, 3e7  # of the barrier's matrix: half a second a step, and 240 MB
_ROOM = 2.0  # times what no |βᵢ| is above: so far is the bound from where it would slow the barrier down
_PIN = 1e-5  # relative gap from which the active set is worth a guess, then wherever it has fallen to a thirtieth
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Mehrotra's predictor–corrector method on the (d+1)×(d+1) system, on the rows that matter, and an active-set end.

    With a kernel, and for the ν-forms, the system is that of the dual variables, n×n, which suits up to some thousand samples.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], C=10.0)
    >>> gl.solve(problem, InteriorPoint()).w.round(6)
    array([2.])
    """

    name: ClassVar[str] = "interior_point"
    unit: ClassVar[str] = "steps"
    max_iter: ClassVar[int] = 500

    def unsupported(self, problem: Problem) -> str | None:
        if not _has_samples_system(problem):
            return _refuse(problem)
        if problem.is_hard or not isinstance(problem.dual, DualBox):
            return f"{self.name} needs a finite C, and with a kernel a loss whose dual is quadratic; use solver='smo' or 'qp'."
        if not is_valid(problem):
            return f"{self.name} needs a kernel that is positive semi-definite; use solver='smo'."
        return None

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> Engine:
        if _has_samples_system(problem):
            return KernelBarrier(problem, start, self.name)
        return InteriorPointEngine(problem, start, rng)


def _has_samples_system(problem: Problem) -> bool:
    """Whether the system is that of the samples: a kernel has no w, and a price for offsets is a matter of the dual."""
    return not problem.is_linear or problem.is_nu


def _refuse(problem: Problem) -> str | None:
    """The sentence for losses whose β has neither a bound nor a bend."""
    name = InteriorPoint.name
    if problem.is_nu or problem.is_hard:
        return f"{name} needs a finite C and one offset without a price; use solver='smo' or 'qp'."
    if not isinstance(problem.dual, DualBox):
        return f"{name} is for losses that are linear or quadratic between kinks, which {problem.loss.name} is not; use solver='sdca'."
    return None


def expected_work(problem: Problem) -> float | None:
    """What a solve is likely to cost, in entries touched; None where its matrices would be large."""
    n, d = problem.n_samples, problem.n_features
    columns = min(n, d) + 1
    size, smooth = band_size(n, columns), box_of(problem).d.any()
    rows = 0.75 * size if 2 * size < n and not smooth and not is_wide(problem) else float(n)
    if columns > _MOST_COLUMNS or rows * columns > _MOST_ENTRIES or n * d > _MOST_ENTRIES:
        return None
    turning = 4.0 * n * n * d * _PRODUCT if is_wide(problem) else 0.0
    return (
        turning
        + _STEPS * (rows * columns * (8.0 + 0.5 * columns * _PRODUCT) + columns**3 * _PRODUCT / 3)
        + 12.0 * n * d
    )


def bounded_box(problem: Problem) -> DualBox:
    """The dual box, and where a squared loss has no bounds those that no optimum reaches: φᵢ is at least ½ dᵢβᵢ², and at most P at w = 0."""
    box = box_of(problem)
    bent = (box.d > 0) & ~np.isfinite(box.upper - box.lower)
    if not bent.any():
        return box
    most = float((problem.cost * problem.loss.value(problem.y, np.zeros(problem.n_samples))).sum())
    bound = np.full(problem.n_samples, np.inf)
    bound[bent] = _ROOM * np.sqrt(2.0 * max(most, _TINY) / box.d[bent])
    return box._replace(lower=np.maximum(box.lower, -bound), upper=np.minimum(box.upper, bound))


class Part:
    """The rows that the barrier sees (None: all), which stand for others where they are a sample, and how far it is."""

    def __init__(
        self, rows: np.ndarray | None, sampled: bool, dual: DualBox, barrier: Any, width: float, step: int
    ) -> None:
        self.rows, self.sampled, self.dual, self.barrier = rows, sampled, dual, barrier
        self.width = width  # with which the barrier began
        self.pinned: np.ndarray | None = None  # w of the active set's exact end
        self.next_pin, self.next_look, self.looked = _PIN, _LOOK, step
        self.least, self.idle = np.inf, 0  # the least gap so far, and steps since it was half as small

    @property
    def places(self) -> np.ndarray | slice:
        """Where its rows are among all."""
        return slice(None) if self.rows is None else self.rows

    @property
    def share(self) -> float:
        """The gap relative to the objective."""
        return float(self.barrier.gap / max(abs(self.barrier.value), _TINY))

    @property
    def w(self) -> np.ndarray:
        """Its model."""
        return np.asarray(self.barrier.w) if self.pinned is None else self.pinned

    @property
    def stuck(self) -> bool:
        """Whether rounding leaves nothing to gain."""
        return self.barrier.stuck or self.idle >= _IDLE

    def iterate(self) -> None:
        """One step of the barrier."""
        self.barrier.iterate()
        self.idle += 1
        if self.barrier.gap < 0.5 * self.least:
            self.least, self.idle = self.barrier.gap, 0

    def ends(self, goal: float) -> bool:
        """Whether it has come to a relative gap, or as far as it can."""
        return self.pinned is not None or self.stuck or self.share <= goal


class InteriorPointEngine(Engine):
    """The best model of all samples so far, with its decisions where they are known, their dual point, and the part under way."""

    def __init__(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.span = RowSpan(problem) if is_wide(problem) else None
        self.rho, self.box, self.length = ridge(problem), bounded_box(problem), spread(problem)
        n = problem.n_samples
        w, b = start_weights(problem, start)
        if self.span is not None:
            w = self.span.inside(w)
            self.rho = np.append(np.ones(len(w)), self.rho[problem.n_features :])
        columns = len(self.rho)
        require_system(InteriorPoint.name, columns)
        self.beta = start_beta(problem, start)
        self.w = np.append(w, b)[:columns]
        self.f: np.ndarray | None = None
        self.steps, self.work = 0, 0.0
        self.strict = 1.0  # what the target is multiplied by, where a part that met it did not
        self.size = band_size(n, columns)
        self.holds = 2 * self.size < n and self.span is None and not self.box.d.any()
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
        return model_point(self.problem, self._model(part.w), self.beta)

    def _model(self, w: np.ndarray) -> np.ndarray:
        """The weights of the features, and the intercept's, of a model in the coordinates of the barrier."""
        if self.span is None:
            return w
        return np.append(self.span.outside(w[: self.span.rank]), w[self.span.rank :])

    def _iterate(self, target: float) -> Outcome:
        part = self.part
        goal = max(_ROUGH, 0.1 * target) if part.sampled else _SURE * target
        if not part.ends(goal):
            part.iterate()
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
        """Choose the rows of the next part and put them together."""
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
        """The rows near a kink, how far they reach from it, and what all others add: Σ βᵢaᵢ and Σ pᵢβᵢ − ε|βᵢ| at their bounds."""
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
        """Rows as a dense matrix, below those that are there, in a buffer that all parts share."""
        problem, count, columns = self.problem, after + len(rows), len(self.w)
        if self.span is not None:  # never of some rows alone
            return np.hstack([self.span.L, np.ones((count, columns - self.span.rank))])
        if len(self.buffer) < count:
            room = min(problem.n_samples, max(2 * after, int(1.2 * max(count, self.size))))
            require_rows(InteriorPoint.name, room, columns)
            grown = np.empty((room, columns))
            grown[:after] = self.buffer[:after]
            self.buffer = grown
        _native.gather_rows(problem.rows, problem.n_features, rows, self.buffer[after:count])
        return self.buffer[:count]

    def _take_beta(self) -> None:
        """Bring the dual point of all samples to the part's, which a pinned part has done by itself."""
        if self.part.pinned is None:
            self.beta[self.part.places] = self.part.barrier.beta()

    def _pin(self, goal: float) -> None:
        """Guess the active set; keep the end that it leads to where that is one."""
        part = self.part
        barrier = part.barrier
        enough = max(goal, 1e-13) * abs(barrier.value)
        found = pin(
            barrier.A, self.rho, barrier.g, part.dual, barrier.f, barrier.beta(), barrier.w, self.length, enough, self.problem.n_features
        )  # fmt: skip
        self.work += 4.0 * barrier.A.size
        if found is not None and found.gap <= enough:
            part.pinned = found.w
            self.beta[part.places] = found.beta

    def _close(self, target: float) -> Outcome:
        """The part is solved: see what its model is worth for all samples, and who is on the wrong side."""
        part, problem = self.part, self.problem
        w = part.w.copy()
        if part.sampled:
            self.work += problem.n_samples * problem.entry_work
            self.w, self.f = w, decisions(problem, w)
            self.part = self._open()
            return Outcome.RUNNING
        self._take_beta()
        last = part.pinned is not None or part.stuck
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
        """Let the rows outside that are on the wrong side of their kink come in, and begin anew between the best and the new model."""
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
        """From the best model to the lowest point on the way to a new one, found by halving: its decisions need no pass over the data."""
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
