"""Rays that prove, in exact arithmetic, that no hard margin exists.

A ray β has the signs that the dual's box allows, a positive gain Σ pᵢβᵢ − εᵢ|βᵢ|, and Σ βᵢφ(xᵢ) = 0; with an intercept it has Σ βᵢ = 0 as well. Then
Σ βᵢ f(xᵢ) = 0 for every f, while under a hard margin (or in a hard tube) this sum is at least the gain: no f holds it. Both sums must be exactly zero
for the numbers as given, since a small remainder would only prove that ‖w‖ is large. So β is a vector of whole numbers here, and nothing is rounded.

For a kernel whose values are rational the equations are Kβ = 0: where K is positive semi-definite, ‖Σ βᵢφ(xᵢ)‖² = βᵀKβ is zero exactly when Kβ is
zero. Under every kernel equal rows have equal features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.data.distinct import distinct_samples
from gapless.data.rows import as_rows
from gapless.kernels import Validity
from gapless.kernels.rational import rational_block, whole_numbers, whole_rows
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.exact_program import exact_solution
from gapless.proof.null_vector import null_vector

_MOST_NUMBERS = 10**7  # entries of the equations as Python's integers: some hundred bytes each, 1 GB in all
_MOST_SAMPLES = 500  # samples of a problem that may be solved in exact arithmetic altogether (``exact_program.py``)


@dataclass(frozen=True)
class ExactRay:
    """A ray: βᵢ = ``numbers[k]`` for i = ``samples[k]``, zero elsewhere. Any positive multiple is the same ray."""

    samples: np.ndarray
    numbers: list[int]

    def rounded(self, n: int) -> np.ndarray:
        """β of n samples with Σ|βᵢ| = 1, each entry rounded once to float64."""
        ray, total = np.zeros(n), sum(abs(number) for number in self.numbers)
        ray[self.samples] = [number / total for number in self.numbers]
        return ray


def equal_rows_ray(problem: Problem) -> ExactRay | None:
    """The ray on two equal rows whose labels differ, or whose targets are more than 2ε apart, if there are such rows: a proof under every kernel."""
    which = _kinds(problem)
    kinds = int(which.max()) + 1
    if kinds == len(which):
        return None
    box = _box(problem)
    up, down = np.flatnonzero(box.upper > 0), np.flatnonzero(box.lower < 0)
    # For each kind of equal rows: the sample of the largest p among those whose β may rise, and of the smallest p among those whose β may fall.
    ups, downs = np.full(kinds, -1), np.full(kinds, -1)
    up, down = up[np.argsort(box.p[up], kind="stable")], down[np.argsort(-box.p[down], kind="stable")]
    ups[which[up]], downs[which[down]] = up, down
    both = np.flatnonzero((ups >= 0) & (downs >= 0))
    if not len(both):
        return None
    gains = (box.p[ups[both]] - box.p[downs[both]]) - (box.epsilon[ups[both]] + box.epsilon[downs[both]])
    best = both[int(gains.argmax())]
    ray = ExactRay(np.array([ups[best], downs[best]]), [1, -1])
    return ray if ups[best] != downs[best] and _gains(problem, ray) else None


def has_equations(problem: Problem) -> bool:
    """Whether Σ βᵢφ(xᵢ) = 0 can be written in rational numbers."""
    kernel, X = problem.formula
    if kernel is None:
        return True
    return kernel.validity is not Validity.NOT_VALID and rational_block(kernel, X[:1], X[:1]) is not None


def ray_on(
    problem: Problem, samples: np.ndarray, guess: Sequence[Fraction], until: float = math.inf
) -> ExactRay | None:
    """An exact ray with weights on these samples alone, near the weights ``guess``; None where none was found."""
    equations = _equations(problem, samples)
    numbers = None if equations is None else null_vector(equations, guess, until)
    if equations is None or numbers is None:
        return None
    return _checked(problem, ExactRay(samples, numbers), equations)


def ray_anywhere(problem: Problem, columns: np.ndarray, signs: np.ndarray, until: float = math.inf) -> ExactRay | None:
    """An exact ray of a small problem on any of its samples. ``columns`` are the samples whose β may have these ``signs``, the likeliest first."""
    if problem.n_samples > _MOST_SAMPLES:
        return None
    samples, which = np.unique(columns, return_inverse=True)
    equations = _equations(problem, samples)
    if equations is None:
        return None
    box, whole = _box(problem), signs.astype(np.int64).astype(object)
    gains = [
        Fraction(float(box.p[i])) * int(sign) - Fraction(float(box.epsilon[i]))
        for i, sign in zip(columns, whole, strict=True)
    ]
    unit = math.lcm(*(gain.denominator for gain in gains))
    gain = np.array([int(gain * unit) for gain in gains], dtype=object)
    x = exact_solution(equations[:, which] * whole, gain, until)
    if x is None:
        return None
    numbers = [0] * len(samples)
    for place, sign, value in zip(which.tolist(), whole, x, strict=True):
        numbers[place] += int(sign) * value
    used = [k for k, number in enumerate(numbers) if number]
    divisor = math.gcd(*numbers)
    ray = ExactRay(samples[used], [numbers[k] // divisor for k in used])
    return _checked(problem, ray, equations[:, used])


def is_exact_ray(problem: Problem, beta: np.ndarray) -> bool:
    """Whether β is a ray, with its float64 numbers taken as exact."""
    samples = np.flatnonzero(beta)
    if not len(samples):
        return False
    ray = ExactRay(samples, [int(number) for number in whole_numbers(beta[samples]).numbers])
    equations = _equations(problem, samples)
    if equations is None:
        return _gains(problem, ray) and _cancels_by_equal_rows(problem, ray)
    return _checked(problem, ray, equations) is not None


def _checked(problem: Problem, ray: ExactRay, equations: np.ndarray) -> ExactRay | None:
    """The given ray where it proves that no hard margin exists, else None."""
    if not _gains(problem, ray) or (equations @ np.array(ray.numbers, dtype=object)).any():
        return None
    return ray if _vanishes_everywhere(problem, ray) else None


def _box(problem: Problem) -> DualBox:
    assert isinstance(problem.dual, DualBox)
    return problem.dual


def _kinds(problem: Problem) -> np.ndarray:
    """For each sample the number of its kind of equal rows."""
    X = problem.formula[1]
    if X is problem.X:
        return problem.distinct[1]
    n = problem.n_samples
    return distinct_samples(as_rows(X), np.zeros(n), np.zeros(n, dtype=np.int64))[1]


def _cancels_by_equal_rows(problem: Problem, ray: ExactRay) -> bool:
    """Whether the weights of every kind of equal rows add up to zero."""
    rows = problem.formula[1][ray.samples]
    if rows.shape[0] * rows.shape[1] > _MOST_NUMBERS:
        return False
    dense = rows.toarray() if sp.issparse(rows) else rows
    _, which = np.unique(dense + 0.0, axis=0, return_inverse=True)
    totals: dict[int, int] = {}
    for kind, number in zip(which.ravel().tolist(), ray.numbers, strict=True):
        totals[kind] = totals.get(kind, 0) + number
    return not any(totals.values())


def _gains(problem: Problem, ray: ExactRay) -> bool:
    """Whether the dual box is unbounded in the direction of the ray, and the dual's linear term is positive along it."""
    box, gain = _box(problem), Fraction(0)
    for i, number in zip(ray.samples.tolist(), ray.numbers, strict=True):
        if number and (box.d[i] != 0 or (box.upper[i] if number > 0 else -box.lower[i]) != np.inf):
            return False
        gain += Fraction(float(box.p[i])) * number - Fraction(float(box.epsilon[i])) * abs(number)
    return gain > 0


def _equations(problem: Problem, samples: np.ndarray) -> np.ndarray | None:
    """The matrix M of whole numbers, a column a sample, such that Mβ = 0 states Σ βᵢφ(xᵢ) = 0 and, with an intercept, Σ βᵢ = 0.

    None where M would be too large, or where the kernel has no rational values.
    """
    kernel, X = problem.formula
    rows: Any = X[samples]
    if kernel is None:
        if sp.issparse(rows):
            rows = rows[:, np.unique(rows.indices)]
        if rows.shape[0] * rows.shape[1] > _MOST_NUMBERS:
            return None
        matrix = whole_rows(rows).numbers.T
    else:
        if len(samples) * max(rows.shape) > _MOST_NUMBERS or kernel.validity is Validity.NOT_VALID:
            return None
        block = rational_block(kernel, rows, rows)
        if block is None:
            return None
        matrix = block.numbers
    if problem.intercept != "none":  # a regularised intercept is a feature of one value: it asks for the same equation
        matrix = np.vstack([matrix, np.ones((1, len(samples)), dtype=object)])
    return matrix


def _vanishes_everywhere(problem: Problem, ray: ExactRay) -> bool:
    """Whether Σ βᵢk(xᵢ, x) = 0 at all samples. It follows for a kernel that is positive semi-definite by construction; for others it is computed."""
    kernel, X = problem.formula
    if kernel is None or kernel.validity is Validity.BY_CONSTRUCTION:
        return True
    if X.shape[0] * len(ray.samples) > _MOST_NUMBERS:
        return False
    block = rational_block(kernel, X, X[ray.samples])
    return block is not None and not (block.numbers @ np.array(ray.numbers, dtype=object)).any()
