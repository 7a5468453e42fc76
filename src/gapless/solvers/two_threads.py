"""Products with a tall matrix on two threads, by halves of its rows.

BLAS's own threads wait for each other in every call. On a busy machine, or beside other workers, each such wait may last as long as a slice of
time, many times the product itself. So BLAS is held to one thread here, and large products are cut once, by us.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
_LARGE = 1_000_000  # entries of the matrix from which a second thread pays


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _helper(process: int) -> ThreadPoolExecutor:
    # A forked process has none of its parent's threads, and needs one of its own.
    return ThreadPoolExecutor(1, thread_name_prefix="gapless")


_lock = Lock()
_holders: list[Any] = []  # who asked for one thread, by which limit; the first sets it, the last lifts it


@contextmanager
def plain_blas() -> Iterator[None]:
    """Hold BLAS to one thread; inside another such block, of this thread or of another, at no cost."""
    with _lock:
        _holders.append(_holders[-1] if _holders else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _holders.pop()
            if not _holders:
                limit.restore_original_limits()


def by_halves(task: Callable[[slice], T], A: np.ndarray, large: bool | None = None) -> list[T]:
    """``task`` on the rows of A, as one slice or, where A is large, as two at the same time; the results in order."""
    if not (A.size >= _LARGE if large is None else large):
        return [task(slice(0, len(A)))]
    middle = len(A) // 2
    second = _helper(os.getpid()).submit(task, slice(middle, len(A)))
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
