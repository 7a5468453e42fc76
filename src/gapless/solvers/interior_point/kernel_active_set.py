"""The exact end of a scaled dual whose optimum is almost known: which parts lie strictly between their bounds, and where.

A guess of the parts at their bounds leaves one linear system for the others. A part that the system takes out of its box goes to the bound that it
crossed; a part at a bound whose slope points inside becomes free. Where the next guess is the same, the optimum is found, to rounding: a primal–dual
active-set method (Hintermüller, Ito & Kunisch 2002), which is quick near the optimum and may cycle far from it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from gapless.solvers.interior_point.scaled_dual import ScaledDual

RIDGE = 1e-15
"""What a diagonal of ones is raised by, times the number of its rows, so that rounding leaves a semi-definite matrix definite."""
_ROUNDS = 10
_REFINED = 3  # solutions of the system, each for what the ones before left


def pin(scaled: ScaledDual, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(x, λ) of the optimum, from a guess of the parts at zero (``low``) and at their upper bounds (``high``); None where none is found."""
    sample, sign, upper, price = scaled.parts
    for _ in range(_ROUNDS):
        (free,) = np.nonzero(~(low | high))
        rows = sample[free]
        if not len(rows) or len(np.unique(rows)) < len(rows):  # both parts of a sample cannot be free
            return None
        x = np.zeros(len(sample))
        x[high] = upper[high]
        beta = scaled.joined(x)
        found = _solve(
            scaled.Q[np.ix_(rows, rows)], scaled.A[:, rows], -sign[free] * price[free] - (scaled.Q @ beta)[rows],
            scaled.totals - scaled.A @ beta,
        )  # fmt: skip
        if found is None or not np.isfinite(found[0]).all():
            return None
        x[free] = sign[free] * found[0]
        beta = scaled.joined(x)
        slopes = scaled.slopes(beta, found[1])
        is_free = ~(low | high)
        next_low = np.where(is_free, x < 0, low & (slopes >= 0))
        next_high = np.where(is_free, x > upper, high & (slopes <= 0))
        if np.array_equal(low, next_low) and np.array_equal(high, next_high):
            return x, found[1]
        low, high = next_low, next_high
    return None


def _solve(Q: np.ndarray, A: np.ndarray, right: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(β, λ) with Qβ + Aᵀλ = right and Aβ = totals, refined, since a ridge was added; None where rounding leaves Q indefinite."""
    M = np.array(Q, order="F")
    M[np.diag_indices(len(M))] += RIDGE * len(M)
    factor, failed = dpotrf(M, lower=1, overwrite_a=1)
    if failed:
        return None
    columns = dpotrs(factor, A.T, lower=1)[0] if len(A) else np.zeros((len(M), 0))
    beta, multipliers = np.zeros(len(M)), np.zeros(len(A))
    for _ in range(_REFINED):
        change = dpotrs(factor, right - Q @ beta - multipliers @ A, lower=1)[0]
        if len(A):
            shift = np.linalg.lstsq(A @ columns, A @ (beta + change) - totals, rcond=None)[0]
            change, multipliers = change - columns @ shift, multipliers + shift
        beta = beta + change
    return beta, multipliers
