"""Some rows of a linear problem in the place of all: which rows to draw, and how they become a dense matrix with the intercept as its last column."""

from __future__ import annotations

import math

import numpy as np

from gapless import _native
from gapless.data import require_memory
from gapless.data.rows import Rows
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.newton.weighted_gram import Samples, weighted_gram

_LONG = 4_000_000  # entries from which on a pass over all rows is long
_TELLING = 24  # rows for each column that still tell the model
_SOME = 10_000  # rows that tell how long the columns are
NEAR = 0.1  # share of the rows that is near a kink in a round
_MANY = 1000  # columns, or the root of entries, from which memory is asked for: asking takes as long as a step


def box_of(problem: Problem) -> DualBox:
    """The dual of a problem whose loss has a box for one."""
    dual = problem.dual
    assert isinstance(dual, DualBox)
    return dual


def refuse_smooth(problem: Problem, name: str) -> str | None:
    """The refusal of a problem by solvers whose loss must be linear between kinks; None where it is."""
    if problem.is_nu or problem.is_hard:
        return f"{name} needs a finite C and one offset without a price; use solver='smo' or 'qp'."
    if not isinstance(problem.dual, DualBox) or problem.dual.d.any():
        return f"{name} is for losses that are linear between kinks, which {problem.loss.name} is not; use solver='newton' or 'sdca'."
    return None


def part_size(n: int, columns: int) -> int:
    """The size of a sample of n rows: the work on it and that of correcting its model balance at about √d n^⅔ rows (Portnoy & Koenker 1997)."""
    return int(max(2000.0, math.sqrt(columns) * n ** (2 / 3)))


def first_size(n: int, columns: int) -> int:
    """The number of rows for a first model: all n where a part would not be much less work, or would have too few rows for each column."""
    size = part_size(n, columns)
    if 4 * size < n:
        return size // 2
    few = max(n // 8, _TELLING * columns)
    return few if n * columns >= _LONG and 4 * few <= n else n


def band_size(n: int, columns: int) -> int:
    """The number of rows near a kink that the error of a sample's model may bring to its other side, with room for four times the usual error.

    The sample has half of ``part_size`` rows.
    """
    return int(part_size(n, columns) * min(2.5, max(1.0, 3.4 / columns**0.25)))


def ridge(problem: Problem) -> np.ndarray:
    """ρ of ½ Σ ρⱼ wⱼ², where the intercept is the last weight: one for each weight, and 1/s² or zero for the intercept."""
    rho = np.ones(problem.n_features + (problem.intercept != "none"))
    if problem.intercept != "none":
        rho[-1] = 1.0 / problem.shift if problem.shift else 0.0
    return rho


def samples_of(problem: Problem) -> Samples:
    """All rows as they are stored; a = (x, 1) where there is an intercept."""
    return Samples.of(problem.rows, problem.n_features, problem.intercept != "none")


def decisions(problem: Problem, w: np.ndarray) -> np.ndarray:
    """f of all samples, the intercept being the last entry of w where there is one."""
    d = problem.n_features
    f = problem.expand_weights(w[:d])
    f += w[d] if len(w) > d else 0.0
    return f


def draw(leverage: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(rows, factor): about ``size`` rows, drawn with probabilities in proportion to their leverage, and 1 over the probability of each."""
    chance = np.minimum(1.0, leverage * (size / leverage.sum()))
    rows = np.flatnonzero(rng.random(len(leverage)) < chance)
    return rows, 1.0 / chance[rows]


def leverage(problem: Problem) -> np.ndarray:
    """An estimate of how much each row can move the model: Σⱼ xᵢⱼ² / Σₖ xₖⱼ², plus its mean, so that every row has some leverage."""
    n = problem.n_samples
    leverage = np.empty(n)
    _native.leverage(problem.rows, problem.n_features, max(1, n // _SOME), leverage)
    leverage += max(float(leverage.mean()), 1.0 / n)
    return leverage


def spread(problem: Problem) -> float:
    """The size of the residuals at the start: one for margins; for targets their standard deviation, or the largest of them, or one."""
    if problem.loss.task == "classification":
        return 1.0
    p = box_of(problem).p
    off = p - p.sum() / len(p)
    return math.sqrt(float(off @ off) / len(p)) or float(np.abs(p).max()) or 1.0


def least_squares(
    samples: Samples, price: np.ndarray, rho: np.ndarray, p: np.ndarray, single: bool = False
) -> tuple[np.ndarray, float]:
    """(w, width): the ridge regression of p with weights ``price``, as a model to begin with, and the mean size of its residuals."""
    bend = np.divide(1.0, price, out=np.zeros_like(price), where=price > 0)
    everything = np.full_like(p, np.inf)
    box = DualBox(p, np.zeros_like(p), bend, -everything, everything)
    objective = _native.Piecewise(*samples, box, rho, np.zeros(len(rho)), 0.0, None)
    w = _native.Factored(weighted_gram(samples, price, single=single), rho).solve(-objective.slope)
    if np.isfinite(w).all():
        objective.step(w)
        width = float(np.abs(p - objective.f).mean())
        if width > 0:
            return w, width
    return np.zeros_like(w), float(np.abs(p).max()) or 1.0


def factoring_work(problem: Problem, share: float) -> float:
    """What it costs to form a Newton system from a share of the rows and to factor it, in entries touched, one being 60 products."""
    columns, entries = problem.n_features + 1, problem.entry_work + 1
    return (0.5 * share * problem.n_samples * entries**2 + columns**3 / 3) / 60


def require_system(name: str, columns: int) -> None:
    """Refuse a system of so many columns where memory does not hold it."""
    if columns > _MANY:
        require_memory(
            32 * columns * columns,
            f"{name} factors a matrix of the features: {columns:,} x {columns:,} in float64, which",
        )


def require_rows(name: str, count: int, columns: int) -> None:
    """Refuse a dense copy of so many rows where memory does not hold it."""
    if count * columns > _MANY**2:
        require_memory(8 * count * columns, f"{name} holds {count:,} rows of {columns:,} entries in float64, which")


def gathered(name: str, rows: Rows, chosen: np.ndarray, d: int, columns: int) -> np.ndarray:
    """The chosen rows as a dense float64 matrix of d columns, or of d + 1 with a last column of ones; refused where memory does not hold them."""
    require_rows(name, len(chosen), columns)
    out = np.empty((len(chosen), columns))
    _native.gather_rows(rows, d, chosen, out)
    return out


def model_point(problem: Problem, w: np.ndarray, beta: np.ndarray) -> Point:
    """A copy of a model whose intercept, where there is one, is the last weight, and of its β."""
    d = problem.n_features
    return Point(beta=beta.copy(), w=w[:d].copy(), b=float(w[d]) if len(w) > d else 0.0)
