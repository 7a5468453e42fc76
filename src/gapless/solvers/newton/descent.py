"""Newton's method on a loss that is rounded off less and less: what ``smoothed_newton`` does, and ``sdca`` where epochs stop paying.

A loss with kinks is φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β| − ½ d β². Near some β̄ it is rounded off by − ½ r (β − β̄)², r = width /
max(upper, −lower), which is the dual box of another p and d: what is left is piecewise quadratic, for Newton steps with an exact line search
(``native/newton/piecewise.hpp``), with a Hessian of the rows near a kink alone. With β = β(f) of the rounded loss, the gap of the loss itself splits
exactly into what is known for nothing:

    P(w) − D(β) = S + K,   S = ½ ‖w − Σ βᵢxᵢ‖²,   K = Σ φᵢ(fᵢ) − βᵢ(pᵢ − fᵢ) + ε|βᵢ| + ½ d βᵢ²

K falls as width²: Newton steps bring a round near its optimum, in the last round S below K, then β̄ becomes β and the width shrinks, by no more than
the gap asks for. So each round is an augmented Lagrangian of the dual, and the rounds end, after finitely many steps, at the optimum to rounding
(Rockafellar 1976; Li, Sun & Toh 2018; Yan & Li 2020). A loss that is smooth by itself needs one round, and no width.
"""

from __future__ import annotations

import math

import numpy as np

from gapless import _native
from gapless.losses import DualBox
from gapless.solvers.newton.weighted_gram import Samples

DENSE_COLUMNS = 1500  # above which a system of all features is left to conjugate gradients
_SOLVED = 0.3  # of K, to which S is brought in a round
_INNER = 2.0  # of what the centre costs the dual point, to which a patient descent brings S in every round
_AFTER = 0.05  # of the squared Newton decrement of a step: half of what is left to gain after it, where some rows changed their piece
_FINE = 1e-9  # relative gap below which widths must not shrink faster than K does, since rounding grows with 1/width
_NARROW = 0.2  # least share of the width that is left from one round to the next
_LEAST = 1e-10  # of the residuals' size: width below which rounding takes over
_NOTHING = 1e-14  # of P: what a step gains where it may be rounding
_TRIES = 6  # such steps in a row, and rounds without gain, after which nothing more is to be had
_SINGLE = 1e-4  # relative gap down to which Hessians of float32 rows are summed in float32


class Descent:
    """The rounds on some rows. ``width`` zero: the loss is smooth by itself. ``length`` is the size of residuals.

    ``proves``: whether β is to prove w, or w alone is wanted. ``patient``: whether every round is solved well, and not the last ones alone. Where
    there are hundreds of rows for each column, a w that is good enough to go on from costs a step or two; where there are tens of them, only
    patience keeps the number of rows that change sides in each round, and so of steps, small.
    """

    def __init__(
        self,
        samples: Samples,
        box: DualBox,
        rho: np.ndarray,
        w: np.ndarray,
        width: float,
        length: float,
        *,
        proves: bool = True,
        patient: bool = False,
        centre: np.ndarray | None = None,
    ) -> None:
        self.samples, self.width, self.length = samples, width, length
        self.proves, self.patient = proves, patient
        self.objective = _native.Piecewise(*samples, box, rho, w, width, centre)
        self.work = 0.0  # in rows
        self.poor = 0  # rounds without gain; of a smooth loss, steps
        self.best = math.inf
        self.idle = 0  # steps without gain
        self.decrement = math.inf

    @property
    def w(self) -> np.ndarray:
        """The model, the intercept last where there is one."""
        return np.asarray(self.objective.w)

    @property
    def beta(self) -> np.ndarray:
        """What its decisions call for."""
        return np.asarray(self.objective.beta)

    @property
    def value(self) -> float:
        """P."""
        return float(self.objective.value)

    @property
    def lacking(self) -> float:
        """K."""
        return float(self.objective.lacking)

    @property
    def short(self) -> float:
        """S, and what the certificate loses where it restores Σβ = 0, roughly."""
        free = self.objective.free_slope
        return float(
            self.objective.residual + (abs(free) * (abs(float(self.objective.w[-1])) + self.length) if free else 0.0)
        )

    @property
    def gap(self) -> float:
        """P − D; with a free intercept an estimate. Where nothing is to be proven, K and what P of the rounded loss is above its least."""
        return (self.short if self.proves else self.near) + self.lacking

    @property
    def near(self) -> float:
        """About what P of the rounded loss is above its least: by the last Newton step, where S does not say better."""
        return min(self.short, self.decrement)

    @property
    def stuck(self) -> bool:
        """Whether rounding leaves nothing to gain."""
        return self.poor >= _TRIES

    def advance(self, goal: float) -> None:
        """A Newton step towards a gap of ``goal``, or where the round is done by then the next one and its first."""
        single = goal >= _SINGLE * abs(self.value)
        if self.width == 0.0:
            self.poor = 0 if self.step(single) else self.poor + 1
            return
        if self.solved(goal):
            self.narrow(goal)
        if not self.step(single):
            self.narrow(goal)

    def solved(self, goal: float) -> bool:
        """Whether the round has given what it can: where its K is too large for the goal, a w that is good enough to go on from;
        in the last round also a β that proves it, which takes a far smaller slope. To come near rounding level every round has to."""
        if self.patient:
            return self.short <= _INNER * self.objective.moved + _NOTHING * abs(self.value)
        strict = self.proves and (self.lacking <= goal or goal < _FINE * abs(self.value))
        return (self.short if strict else self.near) <= _SOLVED * self.lacking

    def narrow(self, goal: float) -> None:
        """Begin the next round, with the width at which K will be about half of ``goal``."""
        lacking = self.lacking
        gap = self.near + lacking
        share = math.sqrt(0.5 * goal / lacking) if lacking > 0 else 0.5
        self.width = max(self.width * min(0.7, max(_NARROW, share)), _LEAST * self.length)
        self.poor = 0 if gap < 0.7 * self.best else self.poor + 1
        self.best = min(self.best, gap)
        self.objective.round(self.width, self.beta)
        self.idle, self.decrement = 0, math.inf
        self.work += len(self.beta)

    def step(self, single: bool) -> bool:
        """A Newton step; False where rounding leaves none."""
        objective = self.objective
        if self.samples.columns <= DENSE_COLUMNS:
            dw, multiplied = objective.newton(single), 0.0
        else:
            dw, multiplied = objective.conjugate()
        decrement, before = objective.falls(dw), self.short
        if not decrement > 0:
            return False
        t = objective.step(dw)
        self.work += 3.0 * len(objective.beta) + 2.0 * multiplied
        self.decrement = _AFTER * decrement  # roughly what P of the rounded loss is still above its least
        self.idle = self.idle + 1 if decrement < _NOTHING * abs(self.value) and self.short > 0.5 * before else 0
        return t > 0 and self.idle < _TRIES
