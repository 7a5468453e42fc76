r"""Sums and products rounded outwards, for evaluations in NumPy: numbers that the exact value is certainly not above, or not below.

With $u = 2^{-53}$, n operations in float64 on numbers of one sign change their result by a factor between 1 − 1.05nu and 1 + 1.05nu, and a product
of vectors, in whatever order it is summed, is off by at most 1.05 (terms + 16) u Σ |x_j| |w_j|. Terms that underflow sum to less than ``LEAST``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.kernels.rounding import UNIT, terms_of
from gapless.problems.problem import Problem

LEAST = 1e-290
"""More than a sum of numbers that underflow, each below 1e-307, can be."""
NOTICEABLE = 1e-13
"""A share of P that is below every tol. Where the bound on rounding by the lengths of samples is a larger share, it is computed by their entries."""
FUNCTION = 16
"""A bound on the roundings of NumPy's exponential and logarithm, which are off by 4 units in the last place at most."""

MORE = 1.05
"""A factor for products of small errors, which the formulas leave out: n roundings of u each have (1 + u)ⁿ − 1 ≤ 1.05 nu as long as nu ≤ 0.09."""
ROUNDINGS = 16
"""Roundings of a product of vectors beside those of its terms, generously: one of them is left for the rounding of a multiple of β
(``scaled`` in native/proof/bounds.cpp)."""

_FLAT = 1e-150  # added to lengths: a vector is shorter than this where its squares underflow
_PLAIN: ContextVar[bool] = ContextVar("_PLAIN", default=False)  # whether sums do without the compiled core
_ROWS = 8192  # rows of X whose absolute values are held at a time: some 60 MB of a thousand features


def share(roundings: float) -> float:
    """A bound on the relative error of so many operations on numbers of one sign."""
    return MORE * UNIT * roundings


def sum_above(values: Any) -> float:
    """A number that the exact sum is below; infinite where a term is not finite.

    >>> import numpy as np
    >>> sum_above(np.array([1.0, 1e-30])) > 1.0
    True
    """
    return _sum(values, math.inf)


def sum_below(values: Any) -> float:
    """A number that the exact sum is above; −∞ where a term is not finite."""
    return _sum(values, -math.inf)


@contextmanager
def plain_sums() -> Iterator[None]:
    """Take sums without the compiled core, as the second opinion has to: the same bounds, more slowly.

    >>> with plain_sums():
    ...     sum_below([0.5, 0.25]) < 0.75 < sum_above([0.5, 0.25])
    True
    """
    token = _PLAIN.set(True)
    try:
        yield
    finally:
        _PLAIN.reset(token)


def _sum(values: Any, side: float) -> float:
    values = np.ravel(values)
    if not _PLAIN.get():
        return _native.proof_sum(values, side > 0)
    if not np.isfinite(values).all():
        return side
    try:
        return math.nextafter(math.fsum(values.tolist()), side)
    except OverflowError:
        return side


@np.errstate(over="ignore", invalid="ignore")
def product_errors(problem: Problem, W: np.ndarray, by_entries: bool) -> np.ndarray:
    """A bound on the error of X W as computed: by the lengths of samples and weights or, with ``by_entries`` and one more product, by their entries.

    By the entries the bound is smaller where features are of different scales.
    """
    factor = share(terms_of(problem.X) + ROUNDINGS)
    if by_entries:
        sizes = np.concatenate([rows @ np.abs(W) for rows in _absolute_rows(problem.X)])
    else:
        lengths = np.sqrt(np.einsum("j...,j...->...", W, W)) + _FLAT
        sizes = np.multiply.outer(problem.magnitudes[0] + _FLAT, lengths)
    return not_nan(factor * sizes + LEAST)


@np.errstate(over="ignore", invalid="ignore")
def weight_errors(problem: Problem, beta: np.ndarray, by_entries: bool) -> np.ndarray:
    """A bound on the error of each entry of Xᵀβ as computed: by the lengths of the samples or, with one more product, by their entries."""
    factor = share(int(np.count_nonzero(beta if beta.ndim == 1 else beta.any(axis=1))) + ROUNDINGS)
    if by_entries:
        size, begin = np.zeros((problem.n_features, *beta.shape[1:])), 0
        for rows in _absolute_rows(problem.X):
            size += rows.T @ np.abs(beta[begin : begin + rows.shape[0]])
            begin += rows.shape[0]
        return not_nan(factor * size + LEAST)
    return np.broadcast_to(
        not_nan(factor * np.asarray(reach_of(problem, beta)) + LEAST), (problem.n_features, *beta.shape[1:])
    )


@np.errstate(over="ignore", invalid="ignore")
def expansion_errors(problem: Problem, A: np.ndarray) -> np.ndarray:
    """A bound on the error of K A as computed: the entries of K are rounded (kernels/rounding.py), and so are the sums."""
    g, r = problem.magnitudes
    size = np.abs(A)
    support = size.any(axis=1)
    reach, rough = (g[support] + _FLAT) @ size[support], r[support] @ size[support]
    terms = int(np.count_nonzero(support)) + 2 * ROUNDINGS  # twice: a linear problem computes Xᵀ A, then X (Xᵀ A)
    sizes = np.multiply.outer(g, terms * reach + rough) + np.multiply.outer(r, reach)
    return not_nan(MORE * UNIT * sizes + LEAST)


def reach_of(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """Σ |βᵢ| ‖φ(xᵢ)‖ of each column; its own rounding is small enough for ``MORE`` to cover it."""
    return np.asarray((problem.magnitudes[0] + _FLAT) @ np.abs(beta))


def _absolute_rows(X: Any) -> Iterator[Any]:
    for begin in range(0, X.shape[0], _ROWS):
        rows = X if X.shape[0] <= _ROWS else X[begin : begin + _ROWS]
        yield abs(rows).astype(np.float64, copy=False) if sp.issparse(rows) else np.abs(rows, dtype=np.float64)


def not_nan(errors: np.ndarray) -> np.ndarray:
    """The same bounds, infinite where an overflow has left none."""
    return np.where(np.isnan(errors), math.inf, errors)
