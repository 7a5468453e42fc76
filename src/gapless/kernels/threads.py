"""Pieces of one product on several cores, with BLAS on one thread for each piece."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_pool: tuple[int, ThreadPoolExecutor] | None = None
_controller: ThreadpoolController | None = None
_depth = 0
_limit: object = None


def core_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread, for all who are inside at the same time: the first sets it, the last restores it."""
    global _controller, _depth, _limit
    with _lock:
        _depth += 1
        if _depth == 1:
            _controller = _controller or ThreadpoolController()
            _limit = _controller.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _limit.restore_original_limits()  # type: ignore[attr-defined]


def share(work: Callable[[int, Callable[[], bool]], None], parts: int) -> None:
    """``work(k, stopped)`` for each k below ``parts``, the first by the caller itself; ``stopped()`` tells that another part failed.

    An interruption reaches the caller between two of its pieces; the others then stop after their own.
    """
    if parts <= 1:
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            work(0, lambda: False)
        return
    failed = threading.Event()

    def guarded(k: int) -> None:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is seen in the result, by the caller
                work(k, failed.is_set)
        except BaseException:
            failed.set()
            raise

    with one_blas_thread():
        futures = [_workers().submit(guarded, k) for k in range(1, parts)]
        try:
            guarded(0)
        finally:
            _settle(futures, failed)
    for future in futures:
        future.result()


def _settle(futures: list[Future[None]], failed: threading.Event) -> None:
    while not all(future.done() for future in futures):
        try:
            for future in futures:
                future.exception()
        except KeyboardInterrupt:
            failed.set()
            raise


def _workers() -> ThreadPoolExecutor:
    """The pool of this process: threads do not survive a fork."""
    global _pool
    with _lock:
        if _pool is None or _pool[0] != os.getpid():
            _pool = (os.getpid(), ThreadPoolExecutor(max(1, core_count() - 1), thread_name_prefix="gapless"))
        return _pool[1]
