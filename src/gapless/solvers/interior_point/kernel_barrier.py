"""An interior-point method on the dual of a kernel problem of some hundreds of samples: one n×n system a step, and an active-set end.

On the scaled dual (``scaled_dual.py``) Mehrotra's predictor–corrector steps (Mehrotra 1992; Ferris & Munson 2002 for support vector machines) keep x,
U − x and their multipliers z and t positive. A step has A(β + Δβ) = totals, slopes that z − t balances, and all products xz and (U − x)t equal to a μ
that goes to zero. Without what can be eliminated it is

    (Q + W⁻¹) Δβ + AᵀΔλ = W⁻¹ g,   AΔβ = totals − Aβ,   W = Σ over a sample's parts of 1 / (z/x + t/(U − x))

Some twenty steps are enough, almost whatever the scales of the data and C are.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.feasible import feasible
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Targets, start_beta
from gapless.solvers.interior_point.kernel_active_set import RIDGE, pin
from gapless.solvers.interior_point.scaled_dual import ScaledDual

_BACK = 0.995  # share of the way to the nearest bound that a step goes
_PIN = 1e-2  # gap, relative to the objective, from which the active set is worth a guess; then wherever it has fallen to a tenth
_SURE = 0.1  # share of the target at which the barrier's own gap says that a proof is due
_INSIDE = 1.0 - 1e-9  # share of all bounds that a ν may take and leave an inside
_LEAST = 1e-13  # relative gap below which steps are rounding
_PATIENCE = 8  # steps without a smaller gap that are taken for a start far from the optimum, and not for rounding
_SHORT = 1e-8  # a step that is no longer leads nowhere
_WORST_RIDGE = 1e-8  # of a matrix that rounding leaves indefinite
_TINY = float(np.finfo(float).tiny)


class KernelBarrier(Engine):
    """Parts x with their room U − x, the multipliers z and t of both bounds and λ of Aβ = totals, and the β found so far."""

    judges = True
    holds = True

    def __init__(self, problem: Problem, start: Point | None, name: str) -> None:
        self.problem, self.scaled = problem, ScaledDual(problem, name)
        self.beta = start_beta(problem, start)
        self.value = self.gap = np.inf
        self.next_pin = _PIN
        self.waited = 0
        self.pinned: np.ndarray | None = None  # where the last guess of the active set has led
        n = problem.n_samples
        self.cost = n**3 / 30.0 + 6.0 * n**2  # of a step, in entries touched
        self.bounded = np.isfinite(self.scaled.parts.upper)
        self.stuck = not self._begin()

    def step(self, budget: Budget, targets: Targets) -> Advance:
        taken, outcome = 0, Outcome.RUNNING
        # A step that overflows leaves numbers that are not finite, and is the last.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            while outcome is Outcome.RUNNING and taken < self.whole_steps(budget, self.cost):
                if not self.stuck:
                    self._iterate()
                taken += 1
                outcome = self._judge(targets)
        return Advance(taken, taken * self.cost, outcome)

    def point(self) -> Point:
        return Point(beta=self.beta.copy())

    def _judge(self, targets: Targets) -> Outcome:
        size = max(abs(self.value), _TINY)
        # What x and U − x are multiplied by says how near the active set is; the gap may be all rounding where bounds are huge.
        open_ = (float(self.x @ self.z) + float(self.room @ self.t)) / size
        if open_ <= self.next_pin or self.stuck:
            self.next_pin = 0.1 * open_
            low = self.x < self.z
            found = pin(self.scaled, low, self.bounded & (self.room < self.t) & ~low)
            if found is not None:
                self.pinned = self.scaled.joined(found[0])
                if self._offer(*found) and self.gap <= _SURE * targets.gap * size:
                    return Outcome.READY
        if self.stuck:
            # The optimality conditions hold at the active set's end; what its gap seems to be is rounding times huge bounds.
            if self.pinned is not None:
                self._keep(self.pinned)
            return Outcome.STALLED
        # A point inside of its box meets no KKT conditions, however small its gap is; the active set does.
        goal = _SURE * targets.gap if targets.kkt == np.inf else _LEAST
        return Outcome.READY if self.gap <= goal * size else Outcome.RUNNING

    def _offer(self, x: np.ndarray, lam: np.ndarray) -> bool:
        """Keep the β of parts x where P − D at β and λ is the least so far."""
        scaled = self.scaled
        beta = scaled.joined(x)
        gap = scaled.gap(x, scaled.slopes(beta, lam))
        if not gap < self.gap:
            return False
        self.gap, self.value = gap, scaled.value(x, beta)
        self._keep(beta)
        return True

    def _keep(self, beta: np.ndarray) -> None:
        self.beta = feasible(self.problem, self.scaled.stated(beta))[0]

    def _begin(self) -> bool:
        """In the middle of the box, where the totals are met and z − t are the slopes, so that nothing is left to be made feasible.

        False where the totals leave one point alone, every part at its bound.
        """
        scaled = self.scaled
        sample, sign, upper, _ = scaled.parts
        most, full = np.where(self.bounded, upper, 1.0), False
        self.x = 0.5 * most
        if len(scaled.A):
            group, side = self.problem.groups[sample], (sign < 0).astype(int)
            reach = np.zeros((2, len(scaled.A)))
            np.add.at(reach, (side, group), most * scaled.A[group, sample])
            if self.problem.is_nu:
                share = np.abs(scaled.totals) / np.maximum(reach.max(axis=0), _TINY)
                self.x = most * np.minimum(share, _INSIDE)[group]
                full = bool((share > _INSIDE).all())
            else:
                self.x *= np.minimum(1.0, reach[::-1] / np.maximum(reach, _TINY))[side, group]
        self.room = np.where(self.bounded, upper - self.x, 1.0)  # a part without a bound has t = 0 and any room
        self.lam = np.zeros(len(scaled.A))
        slopes = scaled.slopes(scaled.joined(self.x), self.lam)
        mu = max(float(np.abs(slopes).mean()), _TINY) * float(self.x.mean())
        self.z = np.maximum(slopes, 0.0) + mu / self.x
        self.t = np.where(self.bounded, self.z - slopes, 0.0)
        if full:
            self._keep(scaled.joined(upper))
        return not full

    def _iterate(self) -> None:
        """One predictor–corrector step."""
        scaled, x, z, t, bounded = self.scaled, self.x, self.z, self.t, self.bounded
        sample, sign, upper, _ = scaled.parts
        room = self.room
        beta = scaled.joined(x)
        residual = z - t - scaled.slopes(beta, self.lam)
        lacking = scaled.totals - scaled.A @ beta
        theta = z / x + t / room
        weight = np.bincount(sample, weights=1.0 / theta, minlength=len(beta))
        inverse = np.where(weight > 0, 1.0 / weight, 1.0)  # a sample without parts stays at zero
        factor = self._factor(inverse)
        if factor is None:
            self.stuck = True
            return
        columns = dpotrs(factor, scaled.A.T, lower=1)[0] if len(scaled.A) else np.zeros((len(beta), 0))
        schur = scaled.A @ columns

        def direction(below: np.ndarray, above: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
            """(Δx, Δz, Δt, Δλ) that change xz by ``below`` and (U − x)t by ``above``, to first order."""
            right = residual + below / x - above / room
            pulled = np.bincount(sample, weights=sign * right / theta, minlength=len(beta))
            moved = dpotrs(factor, pulled * inverse, lower=1)[0]
            lam = np.zeros(0)
            if len(scaled.A):
                lam = np.linalg.lstsq(schur, scaled.A @ moved - lacking, rcond=None)[0]
                moved = moved - columns @ lam
            dx = (right - sign * (inverse * (pulled - moved))[sample]) / theta
            return dx, (below - z * dx) / x, np.where(bounded, (above + t * dx) / room, 0.0), lam

        products = float(x @ z) + float((room * t)[bounded].sum())
        mu = products / (len(x) + np.count_nonzero(bounded))
        dx, dz, dt, _ = direction(-x * z, -room * t)
        step = self._longest(dx, dz, dt)
        ahead = float((x + step * dx) @ (z + step * dz)) + float(((room - step * dx) * (t + step * dt))[bounded].sum())
        centre = mu * min(1.0, max(ahead, 0.0) / max(products, _TINY)) ** 3
        dx, dz, dt, lam = direction(centre - x * z - dx * dz, np.where(bounded, centre - room * t + dx * dt, 0.0))
        step = _BACK * self._longest(dx, dz, dt)
        self.x = x + step * dx
        # U − x of a part near its upper bound is a difference of nearly equal numbers; what is left of the room has its digits.
        self.room = np.where(bounded, np.where(room < x, room - step * dx, upper - self.x), 1.0)
        self.z, self.t, self.lam = z + step * dz, t + step * dt, self.lam + step * lam
        self.waited = 0 if self._offer(self.x, self.lam) else self.waited + 1  # the gap grows where rounding takes over
        self.stuck = not (step > _SHORT and self.waited < _PATIENCE and np.isfinite(self.x).all())

    def _factor(self, inverse: np.ndarray) -> np.ndarray | None:
        """The Cholesky factor of Q + W⁻¹; None where rounding leaves it indefinite."""
        Q, ridge = self.scaled.Q, RIDGE * len(inverse)
        while ridge < _WORST_RIDGE:
            M = np.array(Q.T, order="F")
            M[np.diag_indices(len(M))] += inverse + ridge
            factor, failed = dpotrf(M, lower=1, overwrite_a=1)
            if failed == 0:
                return factor
            ridge *= 100.0
        return None

    def _longest(self, dx: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """The longest step that leaves all of x, U − x, z and t positive, at most one."""
        b = self.bounded
        rates = (-dx / self.x, -dz / self.z, dx[b] / self.room[b], -dt[b] / self.t[b])
        return 1.0 / max(1.0, *(float(rate.max(initial=0.0)) for rate in rates))
