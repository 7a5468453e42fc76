"""Run a call into foreign code that cannot be interrupted, so that Ctrl-C is heard all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_background(function: Callable[[], T]) -> T:
    """``function()`` on a daemon thread, while the caller's thread stays open to signals.

    After an interruption the call goes on unseen until it ends: its result is dropped.
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

    threading.Thread(target=run, daemon=True).start()
    while not done.wait(0.05):
        pass
    if failure:
        raise failure[0]
    return outcome[0]
