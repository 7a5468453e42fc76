"""Run a call into foreign code that cannot be interrupted, so that Ctrl-C is heard all the same."""

from __future__ import annotations

import atexit
import ctypes
import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# The threads of calls that were interrupted and still run. An interpreter that ends while such a thread is inside foreign code would abort, so the
# interpreter waits for these threads before it ends.
_abandoned: set[threading.Thread] = set()

# How often the waiting caller wakes to hear a signal and to look at the clock: a delay that a person at the keyboard does not notice.
_POLL_SECONDS = 0.05


def in_background(function: Callable[[], T], seconds: float = math.inf) -> T:
    """Return ``function()``, called on a thread of its own, while the caller's thread stays open to signals.

    An interruption and, after ``seconds``, a :class:`TimeoutError` reach the caller at once. The call itself cannot be stopped: it goes on in its
    thread, its result is dropped, and only the end of the program waits for it.
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
        while not done.wait(_POLL_SECONDS):
            if time.monotonic() >= until:
                raise TimeoutError(f"the call took longer than {seconds:g} seconds.")
    except BaseException:
        _abandoned.add(thread)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def interrupt_thread(thread: int) -> None:
    """Raise a KeyboardInterrupt in the thread of this identity, as soon as it runs Python code: what Ctrl-C does in the main thread."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


def in_child(code: str, task: Any, seconds: float = math.inf) -> Any:
    """Run Python ``code`` in a process of its own; the code finds ``task`` in the variable ``task`` and leaves its answer in ``answer``.

    This is for calls that hold the interpreter's lock for long, during which a thread could not hear a signal either. An interruption ends the
    process; so do the ``seconds`` when they are over, which is a :class:`TimeoutError`.
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
        said = complaint.decode(errors="replace").strip().splitlines()
        # A process that the system ends (for want of memory, say) leaves no traceback.
        raise RuntimeError(said[-1] if said else f"the process of the call ended with code {child.returncode}.")
    return pickle.loads(out)


@atexit.register
def _wait() -> None:
    for thread in _abandoned:
        thread.join()
