"""kill -9 at every step: a process that dies just before, or just after, each of its calls that change a folder or a file."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

CALLS = ("rename", "replace", "unlink", "mkdir", "rmdir", "fsync", "write")


def steps(work: Callable[[], object], moment: str, put_back: Callable[[], object], check: Callable[[], object]) -> int:
    """Kill a process just before (or after) its first call that changes a folder or a file, then at its second, and so on, until it ends by itself;
    returns the number of such calls.
    """
    for at in range(1, 200):
        put_back()
        with warnings.catch_warnings(action="ignore"):  # newer versions of Python warn of forks beside threads
            child = os.fork()
        if child == 0:
            _killed(work, at, moment)
        _, status = os.waitpid(child, 0)
        check()
        if os.waitstatus_to_exitcode(status) == 0:
            return at - 1
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    raise AssertionError("the process does not end")


def _killed(work: Callable[[], object], at: int, moment: str) -> None:
    """In a fork: do the work, and die at the call that is to be the last one."""
    done = 0

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done = mine = done + 1
            if mine == at and moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return original(*arguments, **options)
            finally:
                if mine == at:
                    os.kill(os.getpid(), signal.SIGKILL)

        return call

    code = 1
    try:
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        work()
        code = 0 if done < at else 2
    finally:
        os._exit(code)
