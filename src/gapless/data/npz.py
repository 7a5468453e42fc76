"""The arrays of a .npz file. A header's shape is compared with the bytes that follow it before any array of that shape is allocated."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.lib import format as npy

# The errors of zipfile: the first four for damaged files, then one each for an unknown compression, for encryption, and for a missing member.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, KeyError)


def read_arrays(content: bytes, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of these names, as far as the file has them; a ValueError with a sentence where it is no .npz file of plain arrays."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {member.removesuffix(".npy"): member for member in archive.namelist()}
            return {name: _array(archive.read(members[name])) for name in names if name in members}
    except _UNREADABLE as error:
        raise ValueError(str(error)) from error


def _array(content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array has the format version {version}")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = read(stream)
    if kind.hasobject:
        raise ValueError("Object arrays cannot be loaded, since they would be code")
    begin, count = stream.tell(), math.prod(shape)
    if min(shape, default=0) < 0 or len(content) - begin != count * kind.itemsize:
        raise ValueError(
            f"an array of the shape {shape} and the type {kind} takes {count * kind.itemsize:,} bytes, but {len(content) - begin:,} are there"
        )
    flat = np.frombuffer(content, kind, count, begin) if count and kind.itemsize else np.empty(count, kind)
    return flat.reshape(shape, order="F" if by_columns else "C").copy()
