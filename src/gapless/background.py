"""Run a call into foreign code that cannot be interrupted, so that Ctrl-C is heard all the same."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Calls that were interrupted and still run. An interpreter that ends under them would abort, so that it waits.
_abandoned: set[threading.Thread] = set()


def in_background(function: Callable[[], T]) -> T:
    """``function()`` on a thread of its own, while the caller's stays open to signals.

    After an interruption the call goes on unseen until it ends, and its result is dropped; only the end of the program waits for it.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while not done.wait(0.05):
            pass
    except BaseException:
        _abandoned.add(thread)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


@atexit.register
def _wait() -> None:
    for thread in _abandoned:
        thread.join()
