"""How much memory is left, and the error that is raised before an array is allocated that would not fit."""

from __future__ import annotations

import os
from pathlib import Path

from gapless.errors import TooLargeError


def available_bytes() -> int:
    """Bytes that can be allocated now without swapping, a container's limit included."""
    return min(_machine_bytes(), _container_bytes())


def require_memory(n_bytes: int, what: str) -> None:
    """Raise :class:`~gapless.errors.TooLargeError` when ``what`` (a noun phrase) needs more than is available.

    >>> require_memory(10**15, "the 11,180,340 x 11,180,340 kernel matrix")
    Traceback (most recent call last):
    ...
    gapless.errors.TooLargeError: the 11,180,340 x 11,180,340 kernel matrix needs 931,323 GiB, but only ... GiB of memory is available.
    """
    available = available_bytes()
    if n_bytes > available:
        raise TooLargeError(f"{what} needs {_gib(n_bytes)} GiB, but only {_gib(available)} GiB of memory is available.")


def _gib(n_bytes: int) -> str:
    gib = n_bytes / 2**30
    return f"{gib:,.0f}" if gib >= 100 else f"{gib:.2f}"


def _machine_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**62


def _container_bytes() -> int:
    folder = Path("/sys/fs/cgroup")
    for limit, usage in (
        ("memory.max", "memory.current"),  # control groups, version 2
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),  # version 1
    ):
        try:
            return max(0, int((folder / limit).read_text()) - int((folder / usage).read_text()))
        except (OSError, ValueError):  # no such controller, or the limit reads "max"
            continue
    return 2**62
