"""BLAS on one thread, wherever a number depends on it: BLAS splits a sum by its number of threads, and rounds it accordingly.

What pays on several cores is cut into fixed pieces, which :func:`gapless.machine.on_all_cores` and the compiled core's pool share among threads
of their own, each with one thread of BLAS.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from dataclasses import dataclass
from typing import Any, Self

from threadpoolctl import LibController, ThreadpoolController

# How the functions of OpenBLAS are called: the wheels of NumPy and SciPy have copies of their own, each with a prefix, a suffix or both.
_PREFIXES, _SUFFIXES = ("", "scipy_"), ("", "64_", "_64")


@dataclass(frozen=True)
class _Library:
    """A copy of BLAS in this process, how its threads are counted and set, and whether each thread of the process has a number of its own."""

    get: Callable[[], int | None]
    set: Callable[[int], Any]
    by_thread: bool = False


def _limit(libraries: list[_Library]) -> list[int | None]:
    """Set all to one thread, and return their numbers of before."""
    before = [library.get() for library in libraries]
    for library, number in zip(libraries, before, strict=True):
        if number != 1:
            library.set(1)
    return before


def _restore(libraries: list[_Library], before: list[int | None]) -> None:
    """Set the numbers of before, but where somebody else has set one since."""
    for library, number in zip(libraries, before, strict=True):
        if number is not None and number != 1 and library.get() == 1:
            library.set(number)


def _library(found: LibController) -> _Library:
    """The functions of a library that threadpoolctl has found.

    Those of OpenBLAS are called directly, since its threads are the process's: threadpoolctl lets the first thread that asks set their number, and
    does nothing, in silence, where another thread asks.
    """
    if found.internal_api == "openblas" and found.threading_layer != "openmp":
        for prefix, suffix in itertools.product(_PREFIXES, _SUFFIXES):
            get = getattr(found.dynlib, f"{prefix}openblas_get_num_threads{suffix}", None)
            set_ = getattr(found.dynlib, f"{prefix}openblas_set_num_threads{suffix}", None)
            if get is not None and set_ is not None:
                get.argtypes, get.restype = [], ctypes.c_int
                set_.argtypes, set_.restype = [ctypes.c_int], None
                return _Library(get, set_)
    by_thread = getattr(found, "threading_layer", None) == "openmp"
    return _Library(found.get_num_threads, found.set_num_threads, by_thread)


class _Held:
    """Who holds BLAS to one thread: each thread of the process by itself, as often as it has entered, and all of them together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.here = threading.local()
        self.threads = 0
        self.shared: list[_Library] | None = None
        self.own: list[_Library] = []
        self.before: list[int | None] = []

    def enter(self) -> None:
        depth = getattr(self.here, "depth", 0)
        with self.lock:
            if self.shared is None:
                found = [_library(each) for each in ThreadpoolController().select(user_api="blas").lib_controllers]
                self.shared, self.own = [e for e in found if not e.by_thread], [e for e in found if e.by_thread]
            # Set anew at each entry: somebody else in the process may have set another number in the meantime.
            shared, own = _limit(self.shared), _limit(self.own)
            if self.threads == 0:
                self.before = shared
            if depth == 0:
                self.here.before = own
                self.threads += 1
            self.here.depth = depth + 1

    def leave(self) -> None:
        self.here.depth -= 1
        if self.here.depth:
            return
        with self.lock:
            _restore(self.own, self.here.before)
            self.threads -= 1
            if self.threads == 0:
                _restore(self.shared or [], self.before)

    def after_fork(self) -> None:
        """The child has one thread, that which forked: what other threads held is let go."""
        self.lock = threading.Lock()
        held = getattr(self.here, "depth", 0) > 0
        if self.threads and not held:
            _restore(self.shared or [], self.before)
        self.threads = int(held)


_held = _Held()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.after_fork)


class one_blas_thread(ContextDecorator):
    """Hold BLAS to one thread, in a ``with`` statement or as a decorator, ``@one_blas_thread()``.

    Several threads may be inside at once, each several times: the first to enter sets the limit, the last to leave restores it.
    """

    def __enter__(self) -> Self:
        _held.enter()
        return self

    def __exit__(self, *_: object) -> None:
        _held.leave()
