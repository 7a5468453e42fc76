"""The interface of a loss: its value, a sub-gradient, its conjugate, its part of the dual, and the intercept that minimises it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.optimize import brentq

_EPS = float(np.finfo(float).eps)


class DualBox(NamedTuple):
    r"""The separable part of the dual, :math:`p_i β_i - ε_i |β_i| - ½ d_i β_i^2` on :math:`\mathrm{lower}_i ≤ β_i ≤ \mathrm{upper}_i`.

    Zero is always inside the box. One coordinate update (soft-threshold, clip) serves every loss of this form.
    """

    p: np.ndarray
    epsilon: np.ndarray
    d: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class DualEntropy(NamedTuple):
    r"""The separable part of the logistic dual, :math:`-c_i (a \log a + (1-a) \log(1-a))` with :math:`a = y_i β_i / c_i ∈ [0, 1]`."""

    y: np.ndarray
    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


DualTerms: TypeAlias = DualBox | DualEntropy


class Loss(ABC):
    """A convex loss ℓ(y, f) of a target y and a decision value f. All methods are vectorised over samples."""

    name: ClassVar[str]
    task: ClassVar[str]  # "classification": y is −1 or +1; "regression": y is any number
    has_hard_limit: ClassVar[bool] = True  # whether an infinite cost still leaves a problem with a minimum

    @abstractmethod
    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """ℓ(yᵢ, fᵢ)."""

    @abstractmethod
    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """A sub-gradient of ℓ(yᵢ, ·) at fᵢ."""

    @abstractmethod
    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """ℓ*(yᵢ, vᵢ) = sup over f of vᵢ f − ℓ(yᵢ, f), infinite outside its domain."""

    @abstractmethod
    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualTerms:
        """The vectors that state −cᵢ ℓ*(yᵢ, −βᵢ/cᵢ) to a solver, the limit cᵢ = ∞ included."""

    def dual_value(self, y: np.ndarray, cost: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """−cᵢ ℓ*(yᵢ, −βᵢ/cᵢ) for β inside the box, the limit cᵢ = ∞ included."""
        box = self.dual_box(y, cost)
        assert isinstance(box, DualBox)
        return box.p * beta - box.epsilon * np.abs(beta) - 0.5 * box.d * beta**2

    def dual_slopes(self, y: np.ndarray, cost: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(right, left): the derivatives of ``dual_value`` for a rise and for a fall of βᵢ, which differ where |βᵢ| has its kink."""
        box = self.dual_box(y, cost)
        assert isinstance(box, DualBox)
        smooth = box.p - box.d * beta
        return smooth - np.where(beta >= 0, box.epsilon, -box.epsilon), smooth - np.where(
            beta > 0, box.epsilon, -box.epsilon
        )

    def kinks(self, y: np.ndarray) -> list[np.ndarray]:
        """The f at which the derivative of ℓ(yᵢ, ·) jumps by one; a loss that has any is linear between them."""
        return []

    def knots(self, y: np.ndarray) -> list[np.ndarray]:
        """The f at which a continuous derivative of ℓ(yᵢ, ·) changes its course; a loss that has any is quadratic between them."""
        return []

    def taken(self, places: np.ndarray) -> Self:
        """The loss of the samples at these places (or under this mask) alone, in this order: the same one, unless it has a number for each sample."""
        return self

    def marks(self, y: np.ndarray) -> np.ndarray:
        """A number for each sample: two samples of one group that have the same number have the same loss."""
        return y

    def margin(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """How well a sample holds its constraint; here y f, where the constraint is y f ≥ 1."""
        return y * f

    def slack(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """ξᵢ, the least slack that satisfies the sample's constraint."""
        return np.maximum(0.0, 1.0 - y * f)

    def best_intercept(self, y: np.ndarray, f: np.ndarray, cost: np.ndarray, pull: float = 0.0) -> tuple[float, float]:
        """The interval of every b that minimises Σ cᵢ ℓ(yᵢ, fᵢ + b) + pull · b, all costs finite.

        For a loss with kinks the ends of the interval are weighted quantiles of the kinks' distances from f, exactly. For a smooth loss the slope of
        the sum is continuous and rising: the interval is its root, to rounding, or the two knots between which the slope is zero.
        """
        kinks = self.kinks(y)
        if kinks:
            start = pull + float(cost @ self.derivative(y, np.full_like(f, -np.inf)))
            if len(kinks) == 1:
                return weighted_quantile(kinks[0] - f, cost, start)
            return weighted_quantile(np.concatenate([kink - f for kink in kinks]), np.tile(cost, len(kinks)), start)

        def slope(b: float) -> float:
            return pull + float(cost @ self.derivative(y, f + b))

        step = 1.0 + float(np.abs(y).max())
        low, high = float((y - f).min()) - step, float((y - f).max()) + step
        while slope(low) > 0:
            low -= (step := 2 * step)
        while slope(high) < 0:
            high += (step := 2 * step)
        if slope(low) == 0 or slope(high) == 0:
            b = low if slope(low) == 0 else high
        else:
            b = float(brentq(slope, low, high, xtol=1e-300, rtol=4 * _EPS, maxiter=500))
        around = np.unique(np.concatenate([knot - f for knot in self.knots(y)])) if self.knots(y) else np.empty(0)
        place = int(np.searchsorted(around, b))
        for left, right in pairwise(around[max(0, place - 2) : place + 2].tolist()):
            inside = (0.75 * left + 0.25 * right, 0.25 * left + 0.75 * right)
            if all(abs(slope(t)) <= self._slope_rounding(y, f + t, cost) for t in inside):
                return left, right
        return b, b

    def _slope_rounding(self, y: np.ndarray, f: np.ndarray, cost: np.ndarray) -> float:
        """A bound on the rounding error of Σ cᵢ ℓ′(yᵢ, fᵢ): the sum is rounded n times, and each of its terms a few times."""
        return 4 * len(y) * _EPS * float(cost @ np.abs(self.derivative(y, f)))


def weighted_quantile(knots: np.ndarray, jumps: np.ndarray, start: float) -> tuple[float, float]:
    """(low, high): where a slope that begins at ``start`` < 0 and rises by ``jumps`` at ``knots`` is zero; one point twice where it jumps over zero.

    A slope below the rounding error of its own sum counts as zero, so that a tie of costs gives the whole interval, not one of its ends.
    """
    rounding = 4 * len(knots) * _EPS * float(jumps.sum())
    order = knots.argsort()
    slope = start + jumps[order].cumsum()
    reached = min(int(np.searchsorted(slope, -rounding)), len(knots) - 1)
    passed = min(int(np.searchsorted(slope, rounding, side="right")), len(knots) - 1)
    return float(knots[order[reached]]), float(knots[order[passed]])
