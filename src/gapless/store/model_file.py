"""The format of a model file: safetensors with a JSON description in its metadata, and a SHA-256 checksum over every byte.

    8 bytes   length of the header
    header    JSON: the place, type and shape of each array, and under ``__metadata__`` three strings:
              ``gapless_format`` (the version of the format), ``checksum``, ``model`` (the description, itself JSON)
    arrays    their bytes

The checksum is taken of the whole file with zeros in place of the checksum's own 64 digits, so that it covers every byte. It guards against damage,
not against malice: a file made with malice can hold wrong numbers, but nothing in it is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from gapless.data.regular import odd_kind
from gapless.data.replacing import replace_file
from gapless.errors import ModelFileError

FORMAT = 1  # the version of the format that this version of Gapless writes
_ZEROS = "0" * 64  # what stands in place of the checksum while it is computed: SHA-256 has 64 hexadecimal digits
# A pickle begins with the byte 0x80, then its protocol, one of these, then an operation, which is not zero.
_PICKLES = (b"\2", b"\3", b"\4", b"\5")


def write(path: str | os.PathLike[str], description: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a model file in one stroke: whatever happens, ``path`` holds the old file or the whole new one."""
    from safetensors.numpy import save

    model = json.dumps(description, allow_nan=False)
    content = save(arrays, metadata={"gapless_format": str(FORMAT), "checksum": _ZEROS, "model": model})
    content = content.replace(_checksum_entry(_ZEROS), _checksum_entry(hashlib.sha256(content).hexdigest()), 1)
    target = Path(os.path.realpath(path))
    try:
        replace_file(target, content)
    except OSError as error:
        raise ModelFileError(f"The model file {str(path)!r} cannot be written: {error.strerror}.") from None


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(description, arrays) of a model file whose checksum holds; ModelFileError for every other file."""
    odd = odd_kind(path)
    if odd is not None:
        raise ModelFileError(f"The model file {str(path)!r} cannot be read: it is {odd}, not a file.")
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"There is no model file {str(path)!r}.") from None
    except OSError as error:
        raise ModelFileError(f"The model file {str(path)!r} cannot be read: {error.strerror}.") from None
    name = f"The file {str(path)!r}"
    metadata = _metadata(content, name)
    _check_format(metadata, name)
    checksum = metadata.get("checksum", "")
    blank = content.replace(_checksum_entry(checksum), _checksum_entry(_ZEROS), 1)
    if hashlib.sha256(blank).hexdigest() != checksum:
        raise ModelFileError(
            f"{name} is damaged: its checksum does not fit its content, so that bytes were changed or lost. "
            "Save the model again, or fetch another copy."
        )
    return _parse(content, metadata, name)


def _checksum_entry(checksum: str) -> bytes:
    # Quotes inside of the description are escaped, so that only the metadata's own entry reads like this.
    return f'"checksum":"{checksum}"'.encode()


def _metadata(content: bytes, name: str) -> dict[str, str]:
    """The strings under ``__metadata__``, from a header that may be anything."""
    if not content:
        raise ModelFileError(f"{name} is empty.")
    length = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + length].decode("utf-8"))
    except (ValueError, RecursionError):
        header = None
    if len(content) < 8 + length or not isinstance(header, dict):
        # In a damaged safetensors file these bytes are the header's length, whose third byte is zero for a header below 64 KB.
        if content[0] == 0x80 and content[1:2] in _PICKLES and content[2:3] != b"\0":
            raise ModelFileError(
                f"{name} looks like a pickle, which Gapless does not load, since loading a pickle runs the code in it. "
                "Load it where you trust it and save the model by its method save."
            )
        raise ModelFileError(f"{name} is not a model file of Gapless, or its header is damaged or cut short.")
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        return {}
    return metadata


def _check_format(metadata: dict[str, str], name: str) -> None:
    version = metadata.get("gapless_format")
    if version is None:
        raise ModelFileError(
            f"{name} is a safetensors file, but not a model that Gapless has saved: it does not say its gapless_format."
        )
    if not (version.isascii() and version.isdigit() and len(version) < 10) or int(version) < 1:
        raise ModelFileError(f"{name} is damaged: its gapless_format is {version!r}, not a number.")
    if int(version) > FORMAT:
        raise ModelFileError(
            f"{name} has the format version {int(version)}, and this version of Gapless reads up to {FORMAT}; install a newer one."
        )


def _parse(content: bytes, metadata: dict[str, str], name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from safetensors.numpy import load

    try:
        description = json.loads(metadata["model"])
        arrays = {key: np.array(array) for key, array in load(content).items()}
    except Exception:  # the checksum holds, so that the file was written with this content
        description = None
    if not isinstance(description, dict):
        raise ModelFileError(
            f"{name} was not written by Gapless: its checksum holds, but its content is not that of a model."
        )
    return description, arrays
