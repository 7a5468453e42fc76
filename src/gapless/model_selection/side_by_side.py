"""Several streams of results at a time, on threads, with each result handed on as soon as it is there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn import config_context, get_config

from gapless.background import interrupt_thread
from gapless.machine import limit_threads_here, solvers_side_by_side, thread_count

Item = TypeVar("Item")

_MOMENT = 0.2  # seconds that nobody notices; most threads end in this time


_here = threading.local()


def use_free_threads() -> None:
    """Compiled calls from the thread of a stream use from now on the threads of streams that have ended, too."""
    if hasattr(_here, "threads"):
        limit_threads_here(_here.threads())


def side_by_side(stream: Callable[[int], Iterator[Item]], count: int, n_jobs: int | None) -> Iterator[Item]:
    """The items of ``stream(0)``, …, ``stream(count − 1)``; of ``n_jobs`` streams at a time, as they come.

    With one job the streams run in the caller's thread, one after the other, and no further than the caller asks. With more they run ahead, on
    threads, since compiled loops do not hold the interpreter's lock. An exception of one stream, which is raised here, Ctrl-C, and closing this
    iterator end all streams: their threads get a KeyboardInterrupt, and are not waited for longer than a moment. No item is None.

    >>> sorted(side_by_side(lambda k: iter(range(k)), 4, n_jobs=2))
    [0, 0, 0, 1, 1, 2]
    """
    jobs = min(effective_n_jobs(n_jobs), count)
    if jobs <= 1:
        for place in range(count):
            yield from stream(place)
        return
    with solvers_side_by_side(jobs):
        yield from _on_threads(stream, count, jobs)


def _on_threads(stream: Callable[[int], Iterator[Item]], count: int, jobs: int) -> Iterator[Item]:
    queue: SimpleQueue[Any] = SimpleQueue()  # of (item, exception); (None, None) at the end of a stream
    settings = get_config()  # which scikit-learn keeps for each thread
    ended = False

    running: set[int] = set()

    def run(place: int) -> None:
        running.add(threading.get_ident())
        _here.threads = lambda: max(most, threads // max(1, len(running)))
        limit_threads_here(most)
        try:
            with config_context(**settings):
                for item in stream(place):
                    if ended:
                        return
                    queue.put((item, None))
                    use_free_threads()
            queue.put((None, None))
        except BaseException as error:
            queue.put((None, error))
        finally:
            running.discard(threading.get_ident())

    threads = thread_count()  # of the caller, which are divided among the jobs
    most = max(1, threads // jobs)
    pool = ThreadPoolExecutor(jobs)
    left = count
    try:
        futures = [pool.submit(run, place) for place in range(count)]
        while left:
            item, error = queue.get()
            if error is not None:
                raise error
            if item is None:
                left -= 1
            else:
                yield item
    finally:
        ended = True
        pool.shutdown(wait=not left, cancel_futures=True)
        if left:
            for thread in list(running):
                interrupt_thread(thread)
            wait(futures, _MOMENT)
