"""The dual of a box loss as a quadratic programme of even scale, in parts of one sign.

    min over β of  ½ βᵀQβ − pᵀβ + ε‖β‖₁,   lower ≤ β ≤ upper,   Aβ = totals,   Q = K + diag(d)

β is a sum of parts s·x of one sign s each, 0 ≤ x ≤ U: one part a sample in classification, two in regression. Each βᵢ is measured in the length of
its sample, √Qᵢᵢ, so that Q has a diagonal of ones: kernels of unscaled data have entries from 1 to 1e18, and each sample keeps its own digits. One
unit for all β is what is left of scale.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gapless.data import require_memory
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.solvers.base import full_gram

_TINY = float(np.finfo(float).tiny)


class Parts(NamedTuple):
    """The parts of all samples: whose each is, its sign, its upper bound, and its price, the slope of the objective at β = 0."""

    sample: np.ndarray
    sign: np.ndarray
    upper: np.ndarray
    price: np.ndarray


class ScaledDual:
    """Q with a diagonal of ones (``curvature``: the share of the loss), A with rows of length one, the totals, the parts, and the way back to β."""

    def __init__(self, problem: Problem, name: str) -> None:
        n, dual = problem.n_samples, problem.dual
        assert isinstance(dual, DualBox)
        require_memory(
            3 * 8 * n * n, f"{name} factors a matrix of {n:,} x {n:,} samples in float64, which with two copies"
        )
        Q = full_gram(problem, name)
        Q[np.diag_indices(n)] += dual.d
        length = np.sqrt(np.maximum(Q.diagonal(), 0.0))
        length[length == 0] = 1.0  # a sample of length zero has an empty row, and any unit will do
        Q /= length[:, None]
        Q /= length
        A = np.zeros((len(problem.totals) if problem.intercept == "free" else 0, n))
        if len(A):
            A[problem.groups, np.arange(n)] = 1.0 / length
        price = float(((np.abs(dual.p) + dual.epsilon) / length).max())
        wanted = np.abs(problem.totals[: len(A)]) / np.maximum(A.sum(axis=1), _TINY)
        self.unit = max(price, float(wanted.max(initial=0.0))) or 1.0  # any unit will do where zero is the optimum
        norms = np.sqrt((A**2).sum(axis=1))
        norms[norms == 0] = 1.0
        self.Q, self.A, self.length = Q, A / norms[:, None], length
        self.curvature = dual.d / length**2
        self.totals = problem.totals[: len(A)] / (self.unit * norms)
        self.parts = self._split(dual)

    def _split(self, dual: DualBox) -> Parts:
        found = []
        for sign, bound in ((1.0, dual.upper), (-1.0, -dual.lower)):
            (chosen,) = np.nonzero(bound > 0)
            length = self.length[chosen]
            found.append(
                (
                    chosen,
                    np.full(len(chosen), sign),
                    bound[chosen] * length / self.unit,
                    (dual.epsilon[chosen] - sign * dual.p[chosen]) / (length * self.unit),
                )
            )
        return Parts(*map(np.concatenate, zip(*found, strict=True)))

    def joined(self, x: np.ndarray) -> np.ndarray:
        """The scaled β of parts x."""
        return np.bincount(self.parts.sample, weights=self.parts.sign * x, minlength=len(self.length))

    def slopes(self, beta: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """The derivative along each part of the objective and of what the multipliers of Aβ = totals add."""
        sample, sign, _, price = self.parts
        return price + sign * (self.Q @ beta + multipliers @ self.A)[sample]

    def gap(self, x: np.ndarray, slopes: np.ndarray) -> float:
        """P − D at parts x that meet the totals: what each would gain along its slope, down to zero, or up to its bound or where it curves off."""
        rise, d = np.maximum(-slopes, 0.0), self.curvature[self.parts.sample]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            length = np.minimum(np.where(d > 0, rise / d, np.inf), self.parts.upper - x)
            gains = np.where(rise > 0, length * (rise - 0.5 * d * length), 0.0)
        return float(x @ np.maximum(slopes, 0.0)) + float(gains.sum())

    def value(self, x: np.ndarray, beta: np.ndarray) -> float:
        """The objective at parts x, which add up to β."""
        return 0.5 * float(beta @ (self.Q @ beta)) + float(self.parts.price @ x)

    def stated(self, beta: np.ndarray) -> np.ndarray:
        """β in the problem's own units."""
        return beta * (self.unit / self.length)
