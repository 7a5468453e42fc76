"""Primal, dual and feasibility of a problem as naive NumPy, from their formulas alone; the package is not used.

    P = ½‖w‖² + Σ cᵢ ℓ(yᵢ, f(xᵢ))                          f(x) = ⟨w, φ(x)⟩ + b
    D = pᵀβ − ε‖β‖₁ − ½ Σ dᵢ βᵢ² − ½ βᵀKβ                   lowerᵢ ≤ βᵢ ≤ upperᵢ, w = Σ βᵢ φ(xᵢ)

The logistic loss has −cᵢ (a log a + (1−a) log(1−a)), a = yᵢβᵢ/cᵢ, in place of the first three terms of D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

WRITTEN = ("hinge", "squared_hinge", "smoothed_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive")
"""The losses whose formulas stand in this file."""


def loss_value(loss: str, parameter: float, y: float, f: float) -> float:
    short, excess = max(0.0, 1.0 - y * f), max(0.0, abs(y - f) - parameter)
    match loss:
        case "hinge":
            return short
        case "squared_hinge":
            return short**2
        case "smoothed_hinge":
            return short**2 / (2 * parameter) if short < parameter else short - parameter / 2
        case "logistic":
            return math.log1p(math.exp(-y * f)) if y * f > 0 else -y * f + math.log1p(math.exp(y * f))
        case "epsilon_insensitive":
            return excess
        case "squared_epsilon_insensitive":
            return excess**2
    raise NotImplementedError(loss)


def unit_cost(n: float, options: dict[str, Any]) -> float:
    """The C of ½‖w‖² + C Σξ, where ``options`` name one of the five conventions, or none (C = 1)."""
    if "C_mean" in options:
        return options["C_mean"] / n
    if "lam_mean" in options:
        return 1 / (options["lam_mean"] * n)
    if "lam_mean_full" in options:
        return 1 / (2 * options["lam_mean_full"] * n)
    if "lam_sum" in options:
        return 1 / options["lam_sum"]
    return options.get("C", 1.0)


def signs(y: Any) -> np.ndarray:
    """−1 for the smaller of two labels, +1 for the larger."""
    larger = max(list(y))
    return np.array([1.0 if label == larger else -1.0 for label in y])


@dataclass(frozen=True)
class Reference:
    """A problem as plain arrays. X is None where only the kernel matrix K is known; ``parameter`` is the loss's (s or ε)."""

    X: np.ndarray | None
    K: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    loss: str
    parameter: float
    intercept: str
    scale: float

    def loss_value(self, y: float, f: float) -> float:
        return loss_value(self.loss, self.parameter, y, f)

    def norm_squared(self, w: np.ndarray | None, expansion: np.ndarray | None) -> float:
        """‖w‖²; of a linear problem from w itself, since βᵀKβ loses it to cancellation where K is large."""
        if self.X is not None:
            w = np.array([math.fsum(expansion * column) for column in self.X.T]) if w is None else w
            return math.fsum(w * w)
        return math.fsum(expansion * (self.K @ expansion))

    def regularizer(self, w: np.ndarray | None, expansion: np.ndarray | None, b: float) -> float:
        """½‖w‖², with ½ b²/s² where the intercept is regularised."""
        penalty = b**2 / self.scale**2 if self.intercept == "regularized" else 0.0
        return 0.5 * (self.norm_squared(w, expansion) + penalty)

    def decisions(self, w: np.ndarray | None, expansion: np.ndarray | None) -> np.ndarray:
        """⟨w, φ(xᵢ)⟩."""
        return self.X @ w if expansion is None else self.K @ expansion

    def primal(self, w: np.ndarray | None, expansion: np.ndarray | None, b: float) -> float:
        f = self.decisions(w, expansion) + b
        losses = [self.loss_value(y, v) for y, v in zip(self.y, f, strict=True)]
        if np.isinf(self.cost).any():
            # To the rounding of a sum over the features: a constraint is active at every solution.
            reach = 1e-11 * (1 + abs(b) + np.abs(f).max())
            return self.regularizer(w, expansion, b) if self.worst_violation(f) <= reach else math.inf
        return self.regularizer(w, expansion, b) + math.fsum(self.cost * losses)

    def rounding(self, w: np.ndarray | None, expansion: np.ndarray | None, b: float) -> float:
        """What the rounding of f may change in P, to first order: ε Σ cᵢ |ℓ′| Σⱼ |wⱼ xᵢⱼ| with |ℓ′| ≤ 1 (hard margins aside)."""
        reach = np.abs(self.X) @ np.abs(w) if expansion is None else np.abs(self.K) @ np.abs(expansion)
        finite = np.where(np.isfinite(self.cost), self.cost, 0.0)
        return np.finfo(float).eps * math.fsum(finite * (reach + abs(b)))

    def worst_violation(self, f: np.ndarray) -> float:
        """How far the hard margin (or the hard tube) is missed."""
        used = self.cost > 0
        y, f = self.y[used], f[used]
        is_tube = self.loss.endswith("epsilon_insensitive")
        return float((np.abs(y - f) - self.parameter).max() if is_tube else (1 - y * f).max())

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        bound = np.full(len(self.y), np.inf) if self.loss.startswith("squared") else self.cost
        bound = np.where(self.cost > 0, bound, 0.0)
        if self.loss.endswith("epsilon_insensitive"):
            return -bound, bound
        return np.where(self.y > 0, 0.0, -bound), np.where(self.y > 0, bound, 0.0)

    def dual(self, beta: np.ndarray) -> float:
        quadratic = 0.5 * self.norm_squared(None, beta)
        if self.intercept == "regularized":
            quadratic += 0.5 * self.scale**2 * math.fsum(beta) ** 2
        return math.fsum(self._separable(y, c, v) for y, c, v in zip(self.y, self.cost, beta, strict=True)) - quadratic

    def _separable(self, y: float, cost: float, beta: float) -> float:
        if cost == 0:
            return 0.0
        match self.loss:
            case "logistic":
                a = y * beta / cost
                return -cost * sum(v * math.log(v) for v in (a, 1 - a) if v > 0)
            case "hinge":
                return y * beta
            case "squared_hinge":
                return y * beta - beta**2 / (4 * cost)
            case "smoothed_hinge":
                return y * beta - self.parameter * beta**2 / (2 * cost)
            case "epsilon_insensitive":
                return y * beta - self.parameter * abs(beta)
            case "squared_epsilon_insensitive":
                return y * beta - self.parameter * abs(beta) - beta**2 / (4 * cost)
        raise NotImplementedError(self.loss)


@dataclass(frozen=True)
class OwnWordReference(Reference):
    """Of a loss whose formulas are not written above: ℓ, ℓ* and the box are the loss's own, which ``tests/losses`` compares with each other."""

    own: Any

    def loss_value(self, y: float, f: float) -> float:
        return float(self.own.value(np.array([y]), np.array([f]))[0])

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        dual = self.own.dual_box(self.y, self.cost)
        return dual.lower, dual.upper

    def worst_violation(self, f: np.ndarray) -> float:
        raise NotImplementedError(f"a hard margin of {self.loss} needs its formula in tests/reference.py")

    def _separable(self, y: float, cost: float, beta: float) -> float:
        """−c ℓ*(y, −β/c), a hair inside the box where the division leaves it."""
        if cost == 0:
            return 0.0
        v = -beta / cost
        return -cost * min(float(self.own.conjugate(np.array([y]), np.array([u]))[0]) for u in (v, v * (1 - 2**-50)))
