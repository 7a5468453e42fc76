"""Products with a tall matrix on two threads, by halves of its rows.

BLAS's own threads wait for each other in every call. On a busy machine, or beside other workers, each such wait may last as long as a slice of
time, many times the product itself. So BLAS is held to one thread in linear solves, and large products are cut once, by us.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gapless.data.second_thread import second_thread

T = TypeVar("T")
_LARGE = 1_000_000  # entries of the matrix from which a second thread pays


def by_halves(task: Callable[[slice], T], A: np.ndarray, large: bool | None = None) -> list[T]:
    """``task`` on the rows of A, as one slice or, where A is large, as two at the same time; the results in order."""
    if not (A.size >= _LARGE if large is None else large):
        return [task(slice(0, A.shape[0]))]
    middle = A.shape[0] // 2
    second = second_thread().submit(task, slice(middle, A.shape[0]))
    return [task(slice(0, middle)), second.result()]


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x."""
    out = np.empty(len(A))
    by_halves(lambda rows: np.dot(A[rows], x, out=out[rows]), A)
    return out


def transposed_times(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Aᵀ v."""
    first, *second = by_halves(lambda rows: A[rows].T @ v[rows], A)
    return first + second[0] if second else first
