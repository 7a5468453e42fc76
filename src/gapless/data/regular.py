"""Files that end: what a device gives is endless, and a pipe without a writer keeps its reader waiting for ever."""

from __future__ import annotations

import os
import stat

_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def odd_kind(path: str | os.PathLike[str] | int, pipes: bool = False) -> str | None:
    """What there is instead of a file, in words: None for a file, for nothing at all, and with ``pipes`` for a pipe. A number is an open file's.

    >>> odd_kind("/dev/null"), odd_kind(__file__), odd_kind("no such file")
    ('a device', None, None)
    """
    try:
        mode = stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError):  # who opens the file says what is wrong with it
        return None
    return None if pipes and mode == stat.S_IFIFO else _KINDS.get(mode)
