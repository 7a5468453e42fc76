"""Several streams of results at a time, on threads, with each result handed on as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn import config_context, get_config

from gapless.machine import core_count, limit_threads_here

Item = TypeVar("Item")


def side_by_side(stream: Callable[[int], Iterator[Item]], count: int, n_jobs: int | None) -> Iterator[Item]:
    """The items of ``stream(0)``, …, ``stream(count − 1)``; of ``n_jobs`` streams at a time, as they come.

    With one job the streams run in the caller's thread, one after the other, and no further than the caller asks. With more they run ahead, on
    threads, since compiled loops do not hold the interpreter's lock. An exception ends all streams at their next item, and is raised here; closing
    this iterator ends them, too. No item is None.

    >>> sorted(side_by_side(lambda k: iter(range(k)), 4, n_jobs=2))
    [0, 0, 0, 1, 1, 2]
    """
    jobs = min(effective_n_jobs(n_jobs), count)
    if jobs <= 1:
        for place in range(count):
            yield from stream(place)
        return
    queue: SimpleQueue[Any] = SimpleQueue()  # of (item, exception); (None, None) at the end of a stream
    settings = get_config()  # which scikit-learn keeps for each thread
    ended = False

    def run(place: int) -> None:
        try:
            with config_context(**settings):
                for item in stream(place):
                    if ended:
                        return
                    queue.put((item, None))
            queue.put((None, None))
        except BaseException as error:
            queue.put((None, error))

    # The cores are divided among the jobs.
    pool = ThreadPoolExecutor(jobs, initializer=limit_threads_here, initargs=(max(1, core_count() // jobs),))
    try:
        for place in range(count):
            pool.submit(run, place)
        left = count
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
        pool.shutdown(cancel_futures=True)
