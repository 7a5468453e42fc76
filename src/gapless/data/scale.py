"""How large the numbers of a problem may be: P and D must stay within float64, or no bound could be proven.

The largest terms of P and D are products of four numbers, c² x² (the square of w = Σ βx with |β| ≤ c). With costs and entries of at most
LARGEST = 1e75 these terms are at most 1e300, so that sums of 1e8 of them stay below the largest float, 1.8e308. The duals of squared losses divide
by c, which therefore is at least 1 / LARGEST.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.data.memory import require_memory
from gapless.data.rows import DenseRows, squared_norms
from gapless.errors import InvalidInputError

LARGEST = 1e75
# Solvers of linear problems keep about eight vectors with an entry a feature (w, its gradient, a direction, their best and former values).
_VECTORS = 8
# Up to so many features these vectors take at most 1 GiB, and the system is not asked how much memory is left.
_WIDE = 2**24
# Up to so many numbers OpenBLAS computes an inner product on one thread (its own limit is 10,000).
_SHORT = 2**13


def is_moderate(values: np.ndarray) -> bool:
    """Whether all numbers are finite and their squares sum to at most LARGEST², by one pass without a temporary.

    False does not mean that a number is too large: many moderate ones may have too large a sum.
    """
    flat = values.reshape(-1) if values.flags.c_contiguous else values.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        if flat.size <= _SHORT or flat.dtype.char not in "fd":
            return float(np.dot(flat, flat)) <= LARGEST**2
        # BLAS shares longer sums among its threads, and to wake them may take longer than the sum itself.
        n = flat.size // _SHORT
        rest = flat[n * _SHORT :]
        squares = squared_norms(DenseRows(flat[: n * _SHORT].reshape(n, _SHORT)), n)
        return float(squares.sum()) + float(np.dot(rest, rest)) <= LARGEST**2


def check_scale(values: np.ndarray, name: str) -> None:
    """Refuse numbers beyond LARGEST; infinite ones and NaN are the caller's to refuse."""
    if values.size == 0 or is_moderate(values):
        return
    largest = float(np.abs(values).max())
    if largest > LARGEST:
        raise InvalidInputError(
            f"{name} must have entries of at most {LARGEST:g}, since products of larger ones overflow; got {largest:g}. Rescale {name}."
        )


def check_cost(cost: np.ndarray) -> None:
    """Refuse costs (C times the samples' weights) that float64 cannot square or divide by; zero (no sample) and infinity (a hard margin) pass."""
    if not cost.size:
        return
    low, high = float(cost.min()), float(cost.max())
    if high > LARGEST and high == math.inf:
        high = float(np.max(cost, initial=0.0, where=cost < math.inf))
    if low == 0:
        low = float(np.min(cost, initial=math.inf, where=cost > 0))
    if high > LARGEST:
        raise InvalidInputError(
            f"C times sample_weight must be at most {LARGEST:g}, since its square overflows beyond; got {high:g}. C=inf is the hard margin."
        )
    if low < 1 / LARGEST:
        raise InvalidInputError(
            f"C times sample_weight must be zero or at least {1 / LARGEST:g}, since what is divided by it overflows below; got {low:g}."
        )


def check_width(X: Any) -> None:
    """Refuse, before anything is allocated, so many features that the solver's vectors would not fit into memory."""
    d = X.shape[1]
    if d > _WIDE and sp.issparse(X):
        require_memory(8 * _VECTORS * d, f"training on {d:,} features, with {_VECTORS} vectors of that length,")
