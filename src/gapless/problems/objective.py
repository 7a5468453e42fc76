"""P, D and the Lagrangian at any point, in plain NumPy: the formulas that a reader evaluates by hand.

The values here are those of ½‖w‖² + Σ cᵢ ℓ(yᵢ, f(xᵢ)); ``Problem.primal``, ``Problem.dual_function`` and ``Problem.lagrangian`` give the values of
the objective as the problem was stated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.losses import DualBox

if TYPE_CHECKING:
    from gapless.problems.problem import Problem

ROUNDING = 1e-12
"""What a point may miss a constraint by and still count as feasible, relative to the numbers that the constraint compares.

Sums of up to 4,000 terms are rounded by no more than this (4,000 · 2⁻⁵² ≈ 1e-12); β that misses its constraints by more was not meant to hold them.
"""


def primal_value(problem: Problem, w: np.ndarray, offsets: np.ndarray) -> float:
    """P at w (with a kernel, the coefficients of w in the samples) and the offset of each group; ∞ where a hard margin is missed."""
    f = problem.expand_weights(w) if problem.is_linear else problem.expand(w)
    square = float(w @ w) if problem.is_linear else float(w @ f)
    return value_of_decisions(problem, square, f, offsets)


@np.errstate(over="ignore", invalid="ignore")  # a sum that overflows is infinite, which is the right value
def value_of_decisions(problem: Problem, square: float, f: np.ndarray, offsets: np.ndarray) -> float:
    """P from ``square`` = ‖w‖², f = ⟨w, φ(xᵢ)⟩ and the offset of each group."""
    b = float(offsets[0])
    value = 0.5 * (square + (b * b / problem.shift if problem.intercept == "regularized" else 0.0))
    value += float(problem.totals @ offsets)
    f = f + offsets[problem.groups]
    if not problem.is_hard:
        return value + float(problem.cost @ problem.loss.value(problem.y, f))
    slack = problem.loss.slack(problem.y, f)[problem.cost > 0]
    return value if float(slack.max()) <= ROUNDING * (1.0 + float(np.abs(f).max())) else np.inf


def dual_value(problem: Problem, beta: np.ndarray, anywhere: bool = False) -> float:
    """D(β): −∞ outside the feasible set; with ``anywhere`` the number that the formula gives there too."""
    if not (anywhere or is_feasible(problem, beta)):
        return -np.inf
    f = problem.expand(beta)
    square = float(beta @ f) + problem.shift * float(beta.sum()) ** 2
    dual = problem.dual
    if isinstance(dual, DualBox):
        bend = float(dual.d @ (beta * beta)) if dual.d.any() else 0.0
        return float(dual.p @ beta) - float(dual.epsilon @ np.abs(beta)) - 0.5 * (bend + square)
    return float(problem.loss.dual_value(problem.y, problem.cost, beta).sum()) - 0.5 * square


def is_feasible(problem: Problem, beta: np.ndarray) -> bool:
    """Whether β is in its box and, where offsets are free, sums to the total of each group, to rounding."""
    size = float(np.abs(beta).max(initial=0.0))
    outside = np.maximum(problem.dual.lower - beta, beta - problem.dual.upper)
    if not float(outside.max()) <= ROUNDING * size:
        return False
    if problem.intercept != "free":
        return True
    off = np.bincount(problem.groups, weights=beta, minlength=len(problem.totals)) - problem.totals
    return float(np.abs(off).max()) <= ROUNDING * float(np.abs(beta).sum())


def lagrangian(problem: Problem, w: np.ndarray, b: float, xi: np.ndarray, alpha: np.ndarray, mu: np.ndarray) -> float:
    """½‖w‖² + Σ cᵢξᵢ − Σ αᵢ(yᵢ f(xᵢ) − 1 + ξᵢ) − Σ μᵢξᵢ of the hinge loss."""
    f = problem.expand_weights(w) if problem.is_linear else problem.expand(w)
    square = float(w @ w) if problem.is_linear else float(w @ f)
    if problem.intercept == "regularized":
        square += b * b / problem.shift
    paid = 0.0 if problem.is_hard else float(problem.cost @ xi)
    return 0.5 * square + paid - float(alpha @ (problem.y * (f + b) - 1.0 + xi)) - float(mu @ xi)
