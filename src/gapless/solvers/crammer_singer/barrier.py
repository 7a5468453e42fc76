r"""Mehrotra's predictor–corrector method for Crammer and Singer's machine, for few features and classes: some thirty steps on any scales.

    min over W, ξ of  ½ Σ ρⱼ Wⱼₘ² + Σᵢ cᵢ ξᵢ   with  tᵢₘ = ξᵢ − [m ≠ yᵢ] − (fᵢₘ − fᵢy) ≥ 0,   F = A W

A has the features in units of their root mean square, and the intercept as a column; ρ is what ½‖W‖² costs in these units. pᵢₘ ≥ 0 are
the multipliers of t, with Σₘ pᵢₘ = cᵢ, and β = c [m = y] − p. With the shares Dᵢₘ = pᵢₘ/tᵢₘ a Newton step moves p by Hᵢ dfᵢ + hᵢ, where Hᵢ
is the Laplacian of the classes with the weights DᵢₘDᵢₗ/ΣDᵢ: so a step is one system of all weights, (ρ + Σᵢ Hᵢ ⊗ aᵢaᵢᵀ) dW = r.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from gapless.data.rows import row_entries
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Targets

_MOST_WEIGHTS = 1000  # of all classes: a step factors a matrix with a row for each
_MOST_ENTRIES = 4e7  # of A, and of a matrix with a column a class: 320 MB
_STEPS = 30  # that a solve takes, as a rule
_MOST_STEPS = 100  # many times as many as any solve takes that gets anywhere
_PRODUCT = 0.02  # a multiplication in a product of matrices, in entries touched
_BACK = 0.995  # the share of the way to the nearest bound that a step goes
_RIDGE = 1e-15  # for each row of a system whose factors do not exist for rounding
_REFINED = 2  # solves of a system, each of what the one before has left
_SURE = 0.5  # the share of the target that the engine's own gap must reach
_PROGRESS = 0.99  # a step gains little that leaves more than this share of the complementarity, and of what W is off from Σ xᵢβᵢᵀ,
_IDLE = 5  # and after so many of these in a row, in which neither P fell nor D rose, rounding has stopped the method


def expected_work(problem: CrammerSingerProblem) -> float | None:
    """What a solve is likely to cost, in entries touched; None where its matrices would be large."""
    n, k, columns = problem.n_samples, problem.n_classes, problem.n_features + 1
    if k * columns > _MOST_WEIGHTS or n * max(k, columns) > _MOST_ENTRIES:
        return None
    step = n * (0.5 * k * (k - 1) * columns * (1.0 + _PRODUCT * columns) + 12.0 * k) + _PRODUCT * (k * columns) ** 3
    return _STEPS * step + n * row_entries(problem.rows)


class CrammerSingerBarrier(Engine):
    """W in units of A's columns, the slacks ξ and t and their prices p."""

    holds = True

    def __init__(self, problem: CrammerSingerProblem) -> None:
        self.problem = problem
        self.places = np.flatnonzero(problem.cost > 0)
        X = problem.X[self.places]
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        columns = [dense] if problem.intercept == "none" else [dense, np.full((len(dense), 1), problem.intercept_scale)]
        A = np.hstack(columns)
        largest = np.abs(A).max(axis=0, initial=0.0)
        largest[largest == 0] = 1.0
        A /= largest  # first by the largest entry, whose square may overflow
        spread = np.sqrt(np.mean(A**2, axis=0))
        spread[spread == 0] = 1.0
        self.A, self.unit = A / spread, largest * spread
        self.rho = 1.0 / self.unit**2
        n, k = len(A), problem.n_classes
        self.cost, self.codes = problem.cost[self.places], problem.y[self.places]
        self.is_true = self.codes[:, None] == np.arange(k)
        self.W = np.zeros((A.shape[1], k))
        self.xi = np.full(n, 2.0)
        self.p = np.repeat(self.cost[:, None] / k, k, axis=1)
        self.t = self.xi[:, None] - np.where(self.is_true, 0.0, 1.0)
        self.best_W, self.best_beta = self.W, np.zeros((n, k))
        self.primal, self.dual = float(self.cost.sum()), 0.0
        self.told = False
        self.mu, self.off, self.idle, self.steps = np.inf, np.inf, 0, 0
        self.step_work = (expected_work(problem) or 0.0) / _STEPS

    def step(self, budget: Budget, targets: Targets) -> Advance:
        steps, outcome = 0, Outcome.RUNNING
        while outcome is Outcome.RUNNING and steps < self.whole_steps(budget, self.step_work):
            # Far from the optimum, and where rounding has stopped the method, numbers may overflow: such a step ends the solve.
            with np.errstate(all="ignore"):
                outcome = self._iterate(_SURE * min(targets))
            steps += 1
        return Advance(steps, steps * self.step_work, outcome)

    def point(self) -> Point:
        problem = self.problem
        beta = np.zeros((problem.n_samples, problem.n_classes))
        beta[self.places] = self.best_beta
        W = self.best_W / self.unit[:, None]
        if problem.intercept == "none":
            return Point(beta=beta, w=W, offsets=np.zeros(problem.n_classes))
        return Point(beta=beta, w=W[:-1], offsets=problem.intercept_scale * W[-1])

    def _iterate(self, target: float) -> Outcome:
        """Judge the present point, and make one step from it."""
        A, rho, p, t, rows = self.A, self.rho[:, None], self.p, self.t, np.arange(len(self.A))
        F = A @ self.W
        rivals = F - F[rows, self.codes][:, None] + np.where(self.is_true, 0.0, 1.0)
        self._judge(rivals)
        self.told = not self.told and self.primal - self.dual <= target * self.primal
        if self.told:  # and where the loop asks again, the proof did not agree: it takes another step
            return Outcome.READY
        mu = float((p * t).mean())
        off_W = A.T @ np.where(self.is_true, self.cost[:, None] - p, -p) - rho * self.W
        off = float(np.abs(off_W).max())
        self.idle = self.idle + 1 if mu > _PROGRESS * self.mu and off > _PROGRESS * self.off else 0
        self.mu, self.off, self.steps = min(mu, self.mu), min(off, self.off), self.steps + 1
        if not np.isfinite(mu) or self.idle >= _IDLE or self.steps > _MOST_STEPS:
            return Outcome.STALLED
        off_p, off_t = p.sum(axis=1) - self.cost, self.xi[:, None] - rivals - t
        D = p / t
        total = D.sum(axis=1)
        try:
            solve = self._solver(D, total)
        except (np.linalg.LinAlgError, ValueError):
            return Outcome.STALLED

        def direction(complement: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
            aside = (complement - p * off_t) / t
            lift = (aside.sum(axis=1) + off_p) / total
            h = aside - D * lift[:, None]
            dW = solve(off_W - A.T @ h)
            dF = A @ dW
            mean = (D * dF).sum(axis=1) / total
            dp = h + D * (dF - mean[:, None])
            return dW, lift + mean - dF[rows, self.codes], dp, (complement - t * dp) / p

        _, _, dp, dt = direction(-p * t)
        length = min(_room(p, dp), _room(t, dt))
        ahead = float(((p + length * dp) * (t + length * dt)).mean())
        dW, dxi, dp, dt = direction((ahead / mu) ** 3 * mu - p * t - dp * dt)
        length = min(1.0, _BACK * min(_room(p, dp), _room(t, dt)))
        if not np.isfinite(dW).all() or not length > 0:
            return Outcome.STALLED
        self.W, self.xi = self.W + length * dW, self.xi + length * dxi
        self.p, self.t = p + length * dp, t + length * dt
        return Outcome.RUNNING

    def _judge(self, rivals: np.ndarray) -> None:
        """Keep the model where its P is the least yet, and β where its D is the largest."""
        primal = 0.5 * float((self.rho[:, None] * self.W**2).sum() + 2.0 * (self.cost * rivals.max(axis=1)).sum())
        if primal < self.primal:
            self.primal, self.best_W, self.idle = primal, self.W, 0
        p = self.p * (self.cost / self.p.sum(axis=1))[:, None]
        beta = np.where(self.is_true, 0.0, -p)
        beta[self.is_true] = -beta.sum(axis=1)
        dual = float(beta[self.is_true].sum() - 0.5 * ((self.A.T @ beta) ** 2 / self.rho[:, None]).sum())
        if dual > self.dual:
            self.dual, self.best_beta, self.idle = dual, beta, 0

    def _solver(self, D: np.ndarray, total: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Solves the system of a step for right-hand sides of the shape of W."""
        A, k, m = self.A, D.shape[1], self.A.shape[1]
        system = np.zeros((k, m, k, m))
        for a in range(k):
            for b in range(a):
                part = A.T @ (A * (D[:, a] * D[:, b] / total)[:, None])
                system[a, :, b], system[b, :, a] = -part, -part.T
                system[a, :, a] += part
                system[b, :, b] += part
        M = system.reshape(k * m, k * m)
        M[np.diag_indices(k * m)] += np.tile(self.rho, k)
        unit = 1.0 / np.sqrt(np.diag(M))
        scaled = M * unit * unit[:, None]
        try:
            factor = scipy.linalg.cho_factor(scaled)
        except np.linalg.LinAlgError:
            factor = scipy.linalg.cho_factor(scaled + _RIDGE * k * m * np.eye(k * m))

        def solve(right: np.ndarray) -> np.ndarray:
            wanted, x = right.T.ravel(), np.zeros(k * m)
            for _ in range(_REFINED):
                x += unit * scipy.linalg.cho_solve(factor, unit * (wanted - M @ x))
            return np.asarray(x.reshape(k, m).T)

        return solve


def _room(values: np.ndarray, change: np.ndarray) -> float:
    """The largest step that keeps positive values from falling below zero, at most 1/_BACK."""
    falling = change < 0
    return float((values[falling] / -change[falling]).min(initial=1.0 / _BACK))
