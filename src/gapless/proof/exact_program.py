"""Whole numbers x ≥ 0 with Mx = 0 and gain · x > 0, by the simplex method without rounding.

The first phase of the simplex method looks for a basic solution of Mx = 0, gain · x = 1. Bland's rule ("New finite pivoting rules for the simplex
method", 1977) keeps it from cycling, and the tableau holds whole numbers over one common denominator, the last pivot (Edmonds; Bareiss). The method
is for small problems whose numbers are too close to each other for a linear program in floating point.
"""

from __future__ import annotations

import math

import numpy as np

from gapless.proof.null_vector import hurry, independent_rows

_MOST_ENTRIES = 2 * 10**4  # entries of a tableau: a pivot then takes a few milliseconds
_MOST_WORK = 5e5  # entries that all pivots together update, each counted once for every thousand bits of its length: a second or two


def exact_solution(M: np.ndarray, gain: np.ndarray, until: float = math.inf) -> list[int] | None:
    """A basic x as whole numbers; None where no x exists, or where the problem is too large.

    M and ``gain`` hold Python's integers. Columns that come first are tried first. A clock past ``until`` raises a :class:`TimeoutError`.

    >>> import numpy as np
    >>> M = np.array([[1, -2, 1], [0, 1, 1]], dtype=object)
    >>> exact_solution(M, np.array([1, 1, 1], dtype=object)) is None
    True
    >>> exact_solution(M[:1], np.array([1, 1, 1], dtype=object))
    [2, 1, 0]
    """
    if M.shape[0] * M.shape[1] > 20 * _MOST_ENTRIES:
        return None
    M = independent_rows(M, until)
    m, n = M.shape
    if m == n or (m + 2) * (n + 1) > _MOST_ENTRIES:  # for m = n the columns are independent, and only x = 0 has Mx = 0
        return None
    # A row for each equation, and as the last row their sum, whose right-hand side is the sum of the artificial variables.
    T = np.zeros((m + 2, n + 1), dtype=object)
    T[:m, :n], T[m, :n], T[m, n] = M, gain, 1
    T[m + 1] = T[: m + 1].sum(axis=0)
    basis, denominator, work = [n + i for i in range(m + 1)], 1, 0.0
    while T[m + 1, n]:
        hurry(until)
        (entering,) = np.nonzero(T[m + 1, :n] > 0)
        work += T.size * (1.0 + denominator.bit_length() / 1000)
        if not len(entering) or work > _MOST_WORK:
            return None
        j = int(entering[0])
        i = _leaving(T, j, basis)
        pivot, row = T[i, j], T[i].copy()
        T = (T * pivot - np.multiply.outer(T[:, j], row)) // denominator
        T[i], basis[i], denominator = row, j, pivot
    x = [0] * n
    for i, j in enumerate(basis):
        if j < n:
            x[j] = int(T[i, n])
    return x


def _leaving(T: np.ndarray, j: int, basis: list[int]) -> int:
    """The row whose basic variable is the first to become zero as the variable of column j grows; of several the one that comes first (Bland)."""
    best = -1
    for i in range(len(basis)):
        if T[i, j] > 0:
            order = T[i, -1] * T[best, j] - T[best, -1] * T[i, j] if best >= 0 else -1
            if order < 0 or (order == 0 and basis[i] < basis[best]):
                best = i
    return best  # such a row exists: in column j the sum over the rows is positive
