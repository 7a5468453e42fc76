"""Some rows of a linear problem in place of all: which to draw, and they as a dense matrix with the intercept as its last column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from gapless.data.rows import FASTMATH
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.solvers.interior_point.mehrotra import factored

_LONG = 4_000_000  # entries from which on a pass over all rows is long
_TELLING = 24  # rows for each column that still tell the model
_SOME = 10_000  # rows that tell how long the columns are


def box_of(problem: Problem) -> DualBox:
    """The dual of a problem whose loss has a box for one."""
    dual = problem.dual
    assert isinstance(dual, DualBox)
    return dual


def refuse_smooth(problem: Problem, name: str) -> str | None:
    """The sentence of the solvers whose loss is linear between kinks."""
    if problem.is_nu or problem.is_hard:
        return f"{name} needs a finite C and one offset without a price; use solver='smo' or 'qp'."
    if not isinstance(problem.dual, DualBox) or problem.dual.d.any():
        return f"{name} is for losses that are linear between kinks, which {problem.loss.name} is not; use solver='newton' or 'sdca'."
    return None


def part_size(n: int, columns: int) -> int:
    """Rows that tell enough of n: their model's error and what is left to be corrected balance at about √d n^⅔ (Portnoy & Koenker 1997)."""
    return int(max(2000.0, np.sqrt(columns) * n ** (2 / 3)))


def first_size(n: int, columns: int) -> int:
    """Rows on which a first model is found before all take part: all of them where a part would not be much less work, or would tell little."""
    size = part_size(n, columns)
    if 4 * size < n:
        return size // 2
    few = max(n // 8, _TELLING * columns)
    return few if n * columns >= _LONG and 4 * few <= n else n


def band_size(n: int, columns: int) -> int:
    """Rows to both sides of the kinks that the error of a model of half of ``part_size`` rows may move across them, four times the usual error."""
    return int(part_size(n, columns) * min(2.5, max(1.0, 3.4 / columns**0.25)))


def ridge(problem: Problem) -> np.ndarray:
    """ρ of ½ Σ ρⱼ wⱼ² with the intercept as the last weight: one, and for the intercept 1/s² or zero."""
    rho = np.ones(problem.n_features + (problem.intercept != "none"))
    if problem.intercept != "none":
        rho[-1] = 1.0 / problem.shift if problem.shift else 0.0
    return rho


def decisions(problem: Problem, w: np.ndarray) -> np.ndarray:
    """f of all samples, the intercept being the last entry of w where there is one."""
    d = problem.n_features
    f = problem.expand_weights(w[:d])
    f += w[d] if len(w) > d else 0.0
    return f


def draw(leverage: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """About ``size`` rows, drawn with chances in proportion to their leverage, and the factor by which each stands for others."""
    chance = np.minimum(1.0, leverage * (size / leverage.sum()))
    rows = np.flatnonzero(rng.random(len(leverage)) < chance)
    return rows, 1.0 / chance[rows]


def leverage(problem: Problem) -> np.ndarray:
    """How much one row can move the model: Σⱼ xᵢⱼ² / Σₖ xₖⱼ², and as much for all rows alike."""
    squares = np.zeros(problem.n_features)
    step = max(1, problem.n_samples // _SOME)
    _column_squares(problem.rows, problem.n_samples, step, squares)
    squares *= step
    leverage = np.empty(problem.n_samples)
    _weighted_squares(problem.rows, 1.0 / np.maximum(squares, np.finfo(float).tiny), leverage)
    np.minimum(leverage, 1.0, out=leverage)  # more it cannot be, however rare its features are in the rows above
    leverage += max(float(leverage.mean()), 1.0 / problem.n_samples)
    return leverage


def spread(problem: Problem) -> float:
    """The size of residuals at the start: one for margins; how far the targets are apart, or the largest of them, or one."""
    if problem.loss.task == "classification":
        return 1.0
    p = box_of(problem).p
    return next(float(v) for v in (p.std(), np.abs(p).max(), 1.0) if v > 0)


def least_squares(
    gram: np.ndarray, moment: np.ndarray, decide: Callable[[np.ndarray], np.ndarray], rho: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, float]:
    """A model to begin with, the ridge regression of p from AᵀTA, AᵀTp and what gives Aw, and the size of its residuals."""
    w = factored(gram, rho)(moment)
    width = float(np.abs(p - decide(w)).mean())
    if not (np.isfinite(w).all() and width > 0):
        return np.zeros_like(w), float(np.abs(p).max()) or 1.0
    return w, width


@njit(cache=True, nogil=True, error_model="numpy")
def _column_squares(rows, n, step, squares):
    """Σᵢ xᵢⱼ² over every so many rows; writes squares."""
    for i in range(0, n, step):
        if hasattr(rows, "indptr"):
            for e in range(rows.indptr[i], rows.indptr[i + 1]):
                squares[rows.indices[e]] += rows.values[e] * rows.values[e]
        else:
            for j in range(len(squares)):
                squares[j] += rows.values[i, j] * rows.values[i, j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _weighted_squares(rows, weight, out):
    """Σⱼ weightⱼ xᵢⱼ²; writes out."""
    for i in range(len(out)):
        total = 0.0
        if hasattr(rows, "indptr"):
            for e in range(rows.indptr[i], rows.indptr[i + 1]):
                total += weight[rows.indices[e]] * rows.values[e] * rows.values[e]
        else:
            for j in range(len(weight)):
                total += weight[j] * rows.values[i, j] * rows.values[i, j]
        out[i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def gather(rows, chosen, d, out):
    """Some rows as a dense float64 matrix, a one after each where ``out`` has a column for it; writes out."""
    for k in range(len(chosen)):
        i = chosen[k]
        if hasattr(rows, "indptr"):
            for j in range(d):
                out[k, j] = 0.0
            for e in range(rows.indptr[i], rows.indptr[i + 1]):
                out[k, rows.indices[e]] = rows.values[e]
        else:
            for j in range(d):
                out[k, j] = rows.values[i, j]
        if out.shape[1] > d:
            out[k, d] = 1.0
