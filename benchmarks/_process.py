"""A process that answers messages, one at a time, and is ended, with the processes that it has started, where an answer takes too long."""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing as mp
import os
import signal
from collections.abc import Callable
from typing import Any


class Process:
    """A process of its own, in which ``make(*arguments)`` returns the object whose methods answer the messages. It starts with the first message."""

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        self._make, self._arguments = make, arguments
        self._process: Any = None

    @property
    def runs(self) -> bool:
        """Whether the process is there: it is not before the first message, nor after one that took too long."""
        return self._process is not None

    def ask(self, limit: float, message: str, *arguments: Any) -> Any:
        """The answer to a message, or None where it took longer than the limit, in seconds; the process is ended then."""
        if self._process is None:
            context = mp.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            # Not as a daemon, which could not start the processes of joblib.
            self._process = context.Process(target=_serve, args=(self._make, self._arguments, theirs))
            self._process.start()
            theirs.close()
            atexit.register(self.close)
        self._pipe.send((message, *arguments))
        if not self._pipe.poll(limit + 1.0):
            self.close()
            return None
        try:
            answer = self._pipe.recv()
        except EOFError:
            self.close()
            raise RuntimeError(f"The process has died of {message!r}.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):  # it has died by itself
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
            self._process = None
            atexit.unregister(self.close)


def _serve(make: Callable[..., Any], arguments: tuple[Any, ...], pipe: Any) -> None:
    """Answer messages until the other end is gone."""
    os.setpgid(0, 0)  # a group of its own, so that all that it starts can be ended with it
    served = make(*arguments)
    while True:
        try:
            message, *rest = pipe.recv()
        except EOFError:
            return
        try:
            answer = getattr(served, message)(*rest)
        except Exception as error:  # the parent process raises it
            answer = error
        pipe.send(answer)
