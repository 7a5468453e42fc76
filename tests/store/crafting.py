"""Model files that were changed after they were written, and sealed anew so that their checksums hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import gapless as gl
from tests.store.models import Case, fitted

DENSE = Case("SVC", "composite", 3, False)
SPARSE = Case("SVC", "rbf", 2, True)


def stored_bytes(case: Case, folder: Path) -> bytes:
    path = folder / "sound.safetensors"
    fitted(case).model.save(path)
    return path.read_bytes()


def load_bytes(content: bytes, folder: Path) -> Any:
    path = folder / "model.safetensors"
    path.write_bytes(content)
    return gl.load(path)


def sealed(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """A file with a checksum that holds, whatever else is in it."""
    entry = '"checksum":"{}"'
    content = save_tensors(tensors, metadata={"gapless_format": "1", "checksum": "0" * 64, **metadata})
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(entry.format("0" * 64).encode(), entry.format(digest).encode(), 1)


def changed(content: bytes, change: Any) -> bytes:
    """The file with another description, sealed anew."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    description = json.loads(header["__metadata__"]["model"])
    tensors = load_tensors(content)
    change(description, tensors)
    return sealed(tensors, {"model": json.dumps(description)})
