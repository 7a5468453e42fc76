"""Run a call into foreign code that cannot be interrupted, so that Ctrl-C is heard all the same."""

from __future__ import annotations

import atexit
import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# Calls that were interrupted and still run. An interpreter that ends under them would abort, so that it waits.
_abandoned: set[threading.Thread] = set()


def in_background(function: Callable[[], T], seconds: float = math.inf) -> T:
    """``function()`` on a thread of its own, while the caller's stays open to signals.

    After an interruption, and after ``seconds``, which is a :class:`TimeoutError`, the call goes on unseen until it ends, and its result is dropped;
    only the end of the program waits for it.
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
        until = time.monotonic() + seconds
        while not done.wait(0.05):
            if time.monotonic() >= until:
                raise TimeoutError(f"the call took longer than {seconds:g} seconds.")
    except BaseException:
        _abandoned.add(thread)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def in_child(code: str, task: Any, seconds: float = math.inf) -> Any:
    """What Python ``code`` in a process of its own makes of ``task``: it finds it in ``task`` and leaves its answer in ``answer``.

    For calls that hold the interpreter's lock for long, where a thread would not do: an interruption ends the process, and so does the end of its
    ``seconds``, with a :class:`TimeoutError`.
    """
    program = (
        f"import pickle, sys\ntask = pickle.load(sys.stdin.buffer)\n{code}\npickle.dump(answer, sys.stdout.buffer)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        try:
            out, complaint = child.communicate(pickle.dumps(task), None if seconds == math.inf else max(0.0, seconds))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the call took longer than {seconds:g} seconds.") from None
        finally:
            child.kill()
    if child.returncode != 0:
        raise RuntimeError(complaint.decode(errors="replace").strip().splitlines()[-1])
    return pickle.loads(out)


@atexit.register
def _wait() -> None:
    for thread in _abandoned:
        thread.join()
