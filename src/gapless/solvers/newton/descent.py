"""Newton's method on a loss that is rounded off less and less: the method of ``smoothed_newton``, and of ``sdca`` where its epochs become slow.

A loss with kinks is φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β| − ½ d β². It is rounded off around a centre β̄ by −½ r (β − β̄)² in the
maximum, r = width / max(upper, −lower), which gives the dual box of another p and d. The rounded loss is piecewise quadratic, for Newton steps with
an exact line search (``native/newton/piecewise.hpp``) and a Hessian of the rows near a kink alone. With β = β(f) of the rounded loss, the gap of the
loss itself is exactly a sum of two terms that each pass computes anyway:

    P(w) − D(β) = S + K,   S = ½ ‖w − Σ βᵢxᵢ‖²,   K = Σ φᵢ(fᵢ) − βᵢ(pᵢ − fᵢ) + ε|βᵢ| + ½ d βᵢ²

K falls as width². Newton steps bring a round near its optimum (in the last round, S below K); then β becomes the next centre β̄ and the width
shrinks, by no more than the gap needs. So each round is an augmented Lagrangian of the dual, and the rounds end, after finitely many steps, at the
optimum to rounding (Rockafellar 1976; Li, Sun & Toh 2018; Yan & Li 2020). A loss that is smooth by itself needs one round, and no width.
"""

from __future__ import annotations

import math

import numpy as np

from gapless import _native
from gapless.losses import DualBox
from gapless.solvers.newton.weighted_gram import Samples

DENSE_COLUMNS = 1500  # columns above which the Newton system is solved by conjugate gradients, not factored
_SOLVED = 0.3  # a round is solved where S is at most this share of K
_INNER = 2.0  # a patient round is solved where S is at most so many times Σ ½ r (β − β̄)²
# After a step that changes the pieces of some rows, P is above its minimum by about this share of the step's squared Newton decrement.
_AFTER = 0.05
_FINE = 1e-9  # for a smaller relative gap every round is solved strictly: rounding grows with 1/width
_NARROW = 0.2  # the least factor between the widths of two rounds
_LEAST = 1e-10  # the least width, relative to the size of the residuals: below it rounding takes over
_NOTHING = 1e-14  # a gain of a step below this share of P may be rounding
_TRIES = 6  # steps in a row with such gains, or rounds without gain, after which the descent is stuck
_SINGLE = 1e-4  # the relative gap down to which Hessians of float32 rows are summed in float32


class Descent:
    """The rounds on some rows. A ``width`` of zero is for a loss that is smooth by itself. ``length`` is the size of the residuals.

    ``proves`` says that β must prove w; without it w alone is wanted. ``patient`` says that every round is solved well, not only the last ones. Where
    there are hundreds of rows for each column, a w that is good enough to go on from takes a step or two; where there are tens, only solving every
    round well keeps the number of rows that change sides in a round, and so the number of steps, small.
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
        self.rows = len(box.p)
        self.work = 0.0  # the rows that were read
        self.poor = 0  # rounds without gain; for a smooth loss, steps without gain
        self.best = math.inf
        self.idle = 0  # steps without gain
        self.decrement = math.inf

    @property
    def w(self) -> np.ndarray:
        """The model, the intercept last where there is one."""
        return np.asarray(self.objective.w)

    @property
    def beta(self) -> np.ndarray:
        """The β that the decisions call for."""
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
        """S, and with a free intercept about the amount by which D falls where the certificate restores Σβ = 0."""
        free = self.objective.free_slope
        return float(
            self.objective.residual + (abs(free) * (abs(float(self.objective.w[-1])) + self.length) if free else 0.0)
        )

    @property
    def gap(self) -> float:
        """P − D (with a free intercept an estimate); without ``proves`` K and the distance of the rounded P from its minimum."""
        return (self.short if self.proves else self.near) + self.lacking

    @property
    def near(self) -> float:
        """An estimate of the distance of the rounded loss's P from its minimum: S, or what the last Newton step suggests where that is less."""
        return min(self.short, self.decrement)

    @property
    def stuck(self) -> bool:
        """Whether rounding leaves nothing to gain."""
        return self.poor >= _TRIES

    def advance(self, goal: float) -> None:
        """Take a Newton step towards a gap of ``goal``; where the round is solved, it is the first step of the next round."""
        single = goal >= _SINGLE * abs(self.value)
        if self.width == 0.0:
            self.poor = 0 if self.step(single) else self.poor + 1
            return
        if self.solved(goal):
            self.narrow(goal)
        if not self.step(single):
            self.narrow(goal)

    def solved(self, goal: float) -> bool:
        """Whether the round is solved. Where K is too large for the goal, a w that is good enough to go on from will do; in the last round β must
        prove w, which takes a far smaller S. For goals near rounding every round is solved like the last one."""
        if self.patient:
            return self.short <= _INNER * self.objective.moved + _NOTHING * abs(self.value)
        strict = self.proves and (self.lacking <= goal or goal < _FINE * abs(self.value))
        return (self.short if strict else self.near) <= _SOLVED * self.lacking

    def narrow(self, goal: float) -> None:
        """Begin the next round, with the width at which K is expected to be half of ``goal``."""
        lacking = self.lacking
        gap = self.near + lacking
        share = math.sqrt(0.5 * goal / lacking) if lacking > 0 else 0.5
        self.width = max(self.width * min(0.7, max(_NARROW, share)), _LEAST * self.length)
        self.poor = 0 if gap < 0.7 * self.best else self.poor + 1
        self.best = min(self.best, gap)
        self.objective.round(self.width, self.beta)
        self.idle, self.decrement = 0, math.inf
        self.work += self.rows

    def step(self, single: bool) -> bool:
        """Take a Newton step; False where rounding leaves none to take."""
        objective, before, multiplied = self.objective, self.short, 0.0
        if self.samples.columns <= DENSE_COLUMNS:
            decrement, t = objective.descend(single)
        else:
            dw, multiplied = objective.conjugate()
            decrement = objective.falls(dw)
            t = objective.step(dw) if decrement > 0 else 0.0
        if not decrement > 0:
            return False
        self.work += 3.0 * self.rows + 2.0 * multiplied
        self.decrement = _AFTER * decrement
        self.idle = self.idle + 1 if decrement < _NOTHING * abs(self.value) and self.short > 0.5 * before else 0
        return t > 0 and self.idle < _TRIES
