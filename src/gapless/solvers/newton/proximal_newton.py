"""The second-order end of a linear solve that began by epochs: ``descent.py`` from the β of the epochs, and an estimate of its work."""

from __future__ import annotations

import math

import numpy as np

from gapless.data.rows import Rows, row_entries
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.solvers.newton.descent import DENSE_COLUMNS, Descent
from gapless.solvers.newton.row_sampling import box_of, ridge, spread
from gapless.solvers.newton.weighted_gram import Samples

_CG_STEPS = 200  # products of conjugate gradients in a step, as expected
_MOST_STEPS = 500  # Newton steps after which the epochs take over again


def covers(problem: Problem) -> bool:
    """Whether every row has a bounded β or a dual with d > 0, which Newton steps on the rounded loss need; under a hard margin rows have neither."""
    dual = problem.dual
    return isinstance(dual, DualBox) and bool((np.isfinite(dual.upper - dual.lower) | (dual.d > 0)).all())


def expected_work(problem: Problem, rows: Rows) -> float:
    """The expected work of a solve, in entries touched: some steps, each of which passes over all rows and forms (or multiplies by) its matrix."""
    n, d, entries = problem.n_samples, problem.n_features, row_entries(rows)
    smooth = bool(box_of(problem).d.any())
    if d < DENSE_COLUMNS:
        steps, inside = (6, 0.6 * n) if smooth else (16, 0.05 * n)
        return steps * (n * (entries + 4) + 0.5 * inside * entries**2 + d**3 / 60)
    # With more features than that many rows are inside a quadratic piece, and their matrix is as badly conditioned as the problem of the epochs:
    # conjugate gradients pay for the few steps of a smooth loss, not for those of many rounds.
    return 5 * n * (3 * entries + 10 + _CG_STEPS * 2 * 0.4 * entries) if smooth else math.inf


class ProximalNewton:
    """A descent from the β, w and b of the epochs. ``gap`` and ``primal`` are its own estimates, not a certificate."""

    def __init__(self, problem: Problem, rows: Rows, beta: np.ndarray, w: np.ndarray, b: float) -> None:
        box, rho = box_of(problem), ridge(problem)
        length = spread(problem)
        smooth = bool(((box.d > 0) | (box.upper == box.lower)).all())
        self.d, self.steps = problem.n_features, 0
        self.entries = row_entries(rows)
        samples = Samples.of(rows, problem.n_features, problem.intercept != "none")
        self.descent = Descent(
            samples,
            box,
            rho,
            np.append(w, b)[: len(rho)],
            0.0 if smooth else length,
            length,
            patient=True,
            centre=beta,
        )

    @property
    def beta(self) -> np.ndarray:
        """The dual point."""
        return self.descent.beta

    @property
    def w(self) -> np.ndarray:
        """The model's weights."""
        return self.descent.w[: self.d]

    @property
    def b(self) -> float:
        """The intercept, zero where there is none."""
        return float(self.descent.w[self.d :].sum())

    @property
    def gap(self) -> float:
        """An estimate of P − D."""
        return self.descent.gap

    @property
    def primal(self) -> float:
        """P."""
        return self.descent.value

    @property
    def work(self) -> float:
        """Entries of X touched so far."""
        return self.descent.work * self.entries

    @property
    def stuck(self) -> bool:
        """Whether rounding leaves nothing to gain, or the steps are used up."""
        return self.descent.stuck or self.steps >= _MOST_STEPS

    def step(self, target: float) -> None:
        """Take one Newton step towards a relative gap of ``target``; where the last round is solved, a narrower round begins first."""
        self.steps += 1
        self.descent.advance(target * abs(self.primal))
