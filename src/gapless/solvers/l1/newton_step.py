"""One Newton step on all non-zero weights together, with an exact line search through the kinks of |w| and of the squared hinge."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dposv

# The most weights, and the most work in entries, of a Newton step: about half a second, during which Ctrl-C is not heard.
_MOST_WEIGHTS = 1000
_MOST_COST = 2e8
_CALLS = 5e3  # what a step costs besides, in the same unit: its calls from Python


def newton_cost(A: Any, support: np.ndarray) -> float:
    """The work of a Newton step, in entries of a descent pass: infinite where it would be too much.

    The factors are measured ratios of times; BLAS and LAPACK take 0.1 and 0.02 of a descent pass's time for each multiplication.
    """
    if len(support) > _MOST_WEIGHTS:
        return math.inf
    if sp.issparse(A):
        entries = float((A.indptr[support + 1] - A.indptr[support]).sum())
        product = entries * (entries / A.shape[1])
    else:
        entries = float(len(support) * A.shape[1])
        product = 0.1 * entries * len(support)
    cost = _CALLS + 5.0 * entries + product + 0.02 * len(support) ** 3
    return cost if cost <= _MOST_COST else math.inf


def newton_step(A: Any, cost: np.ndarray, w: np.ndarray, short: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(w, short) after the non-zero weights w have moved along the Newton direction of their orthant; a weight that reaches zero stays there.

    A has a row for each of these weights; short are the shortfalls 1 − yᵢf(xᵢ) of the whole model.
    """
    active = (short > 0) & (cost > 0)
    part, c = A[:, active], 2.0 * cost[active]
    slope = np.sign(w) - np.asarray(part @ (c * short[active]))
    hessian = (part * c) @ part.T
    hessian = hessian.toarray() if sp.issparse(hessian) else hessian
    diagonal = hessian.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    hessian *= unit
    hessian *= unit[:, None]
    # Where features are collinear the Hessian is singular: this ridge makes the direction long, and the line search ends at a kink.
    hessian[np.diag_indices_from(hessian)] += 1e-11
    _, solution, refused = dposv(hessian, unit * slope, overwrite_a=True)
    if refused:
        return w, short
    direction = -unit * solution
    change = np.asarray(A.T @ direction)
    length, stopped = line_search(w, direction, short, change, cost)
    if not length > 0:
        return w, short
    return np.where(stopped, 0.0, w + length * direction), short - length * change


def line_search(
    w: np.ndarray, direction: np.ndarray, short: np.ndarray, change: np.ndarray, cost: np.ndarray
) -> tuple[float, np.ndarray]:
    """(t, which weights are then zero) of the exact minimum over t ≥ 0 of ‖w + t·direction‖₁ + Σ c max(0, short − t·change)².

    The derivative is piecewise linear and rises; it bends where a shortfall changes sign and jumps where a weight does.
    """
    started = (short > 0) | ((short == 0) & (change < 0))
    slope = float(np.sign(w) @ direction - 2.0 * (cost * change) @ np.where(started, short, 0.0))
    bend = float(2.0 * (cost * change**2)[started].sum())
    crosses = w * direction < 0
    turns = short * change > 0
    at = np.concatenate([-w[crosses] / direction[crosses], short[turns] / change[turns]])
    bends = 2.0 * (cost * change**2)[turns] * np.where(short[turns] > 0, -1.0, 1.0)
    nothing = np.zeros(len(w), dtype=bool)
    if slope < 0 and bend > 0 and -slope <= bend * at.min(initial=math.inf):
        return -slope / bend, nothing  # before anything changes its sign, the usual case near the end
    order = np.argsort(at, kind="stable")
    at = at[order]
    jumps = np.concatenate([2.0 * np.abs(direction[crosses]), np.zeros(len(bends))])[order]
    bends = np.concatenate([np.zeros(int(crosses.sum())), bends])[order]
    bends = np.maximum(0.0, bend + np.cumsum(np.append(0.0, bends)))  # from each event to the next
    before = slope + np.cumsum(bends[:-1] * np.diff(at, prepend=0.0)) + np.cumsum(jumps) - jumps
    rising = np.flatnonzero(before + jumps >= 0)
    if not slope < 0 or not len(rising):
        return 0.0, nothing  # t = 0 is the minimum, to rounding
    k = int(rising[0])
    if before[k] >= 0 and bends[k] > 0:
        return float(at[k] - before[k] / bends[k]), nothing
    nothing[crosses] = -w[crosses] / direction[crosses] == at[k]
    return float(at[k]), nothing
