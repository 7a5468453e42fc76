"""What this process may use of the machine: threads and instruction sets. Set up once, when Gapless is imported.

Threads of the compiled core: as many as the process has cores (affinity and a container's quota count), or fewer where one of these says so:

- the environment variable ``GAPLESS_NUM_THREADS``, and where it is not set ``OMP_NUM_THREADS``, which joblib sets in its worker processes;
  both are read once, at import;
- :func:`threadpoolctl.threadpool_limits`, at any time (``user_api="gapless"``, or no ``user_api`` for all libraries).

The instruction set is the best one that the machine has; the environment variable ``GAPLESS_ISA`` names another one (on x86-64: ``v2``, ``v3``
with AVX2 or ``v4`` with AVX-512), for tests and to compare results between machines.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import LibController, register

from gapless import _native
from gapless.blas import one_blas_thread

_LIMITS = ("GAPLESS_NUM_THREADS", "OMP_NUM_THREADS")  # the first variable that holds a positive number counts


def core_count() -> int:
    """The number of cores that this process may use."""
    return _native.core_count()


def thread_count() -> int:
    """The number of threads that a compiled call from the present thread uses: that of the cores, or a limit where it is less."""
    return _native.thread_count()


def limit_threads_here(most: int) -> None:
    """Bound the threads of compiled calls from the present thread: a job among several takes its part of the cores."""
    _native.limit_threads_here(most)


@contextmanager
def solvers_side_by_side(jobs: int) -> Iterator[None]:
    """So many solvers work at a time, each on a thread: as many tables of kernel entries are kept in memory meanwhile, for the next solvers."""
    _native.work_side_by_side(jobs - 1)
    try:
        yield
    finally:
        _native.work_side_by_side(1 - jobs)


def on_all_cores(work: Callable[[int], None], items: Sequence[int]) -> None:
    """Call ``work(item)`` for all items on all cores, with one core for each call; for work that is NumPy's for the most part.

    The caller waits until all calls are done; the first exception is raised, and the calls that have not begun by then are dropped.
    """
    threads = min(thread_count(), len(items))
    with one_blas_thread():
        if threads <= 1:
            for item in items:
                work(item)
            return
        pool = ThreadPoolExecutor(threads, thread_name_prefix="gapless", initializer=limit_threads_here, initargs=(1,))
        alone = one_blas_thread()(work)
        try:
            for future in [pool.submit(alone, item) for item in items]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


class _Controller(LibController):
    """How threadpoolctl reads and sets the threads of the compiled core: by two functions that the core's library exports."""

    user_api = "gapless"
    internal_api = "gapless"
    filename_prefixes = ("_native",)
    check_symbols = ("gapless_get_num_threads", "gapless_set_num_threads")

    def get_num_threads(self) -> int:
        get = self.dynlib.gapless_get_num_threads
        get.restype = ctypes.c_int
        return int(get())

    def set_num_threads(self, num_threads: int) -> None:
        self.dynlib.gapless_set_num_threads(ctypes.c_int(num_threads))

    def get_version(self) -> None:
        return None

    def set_additional_attributes(self) -> None:
        self.instruction_set = _native.isa()


def _limit_of_environment(environment: os._Environ[str] | dict[str, str]) -> int:
    """The threads that the environment allows; 0 where it says nothing that is a positive number."""
    for name in _LIMITS:
        # OpenMP's variable may be a list with a number for each level of nested parallel regions; the outermost level comes first.
        first = environment.get(name, "").split(",")[0].strip()
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return 0


def _use_instruction_set(wanted: str | None) -> None:
    if not wanted:
        return
    try:
        _native.use_isa(wanted)
    except ValueError as error:
        raise ImportError(f"The environment variable GAPLESS_ISA cannot be followed: {error}") from None


_use_instruction_set(os.environ.get("GAPLESS_ISA"))
_native.limit_threads(_limit_of_environment(os.environ))
register(_Controller)
