"""Replace a file in one stroke, and leave no temporary files behind, even of processes that were killed on the way."""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gapless.data.regular import odd_kind

try:
    import fcntl
except ImportError:  # on Windows nothing tells whether a part is still being written, so that dead parts stay
    fcntl = None  # type: ignore[assignment]


def replace_file(target: Path, content: bytes) -> None:
    """Make ``content`` the whole content of ``target``, as :func:`replacing` does."""
    with replacing(target) as file:
        file.write(content)


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, a part beside ``target``, which becomes ``target`` at the end.

    The part is flushed to disk and then renamed: whatever happens, ``target`` is the old file or the whole new one. The writing process holds a lock
    on its part, and the lock ends with the process, however that ends. A part of the same target without a lock is therefore dead, and is removed.
    """
    odd = odd_kind(target)
    if odd is not None:  # the rename would put a file in the place of the device, for everybody on the machine
        raise OSError(errno.EINVAL, f"it is {odd}, not a file")
    _remove_dead_parts(target)
    part, file = _new_part(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _new_part(target: Path) -> tuple[Path, BinaryIO]:
    while True:
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
        file = open(part, "xb")  # noqa: SIM115  # the caller closes it
        if fcntl is None:
            return part, file
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return part, file
        file.close()  # another process took the part for dead and removed it before it was locked


def _remove_dead_parts(target: Path) -> None:
    if fcntl is None:
        return
    mine = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{32}}\.part")
    for part in target.parent.iterdir():
        if not mine.fullmatch(part.name):
            continue
        try:
            with open(part, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink(missing_ok=True)
        except OSError:  # the part is locked, so that somebody is writing it; or it is gone by now, or may not be read
            continue
