"""The versions of Gapless and of the packages that it uses, and the machine, for a report of a bug."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from gapless import _native
from gapless.machine import core_count

# The packages that a fit uses, and those that are used where they are installed.
_PACKAGES = ("gapless", "numpy", "scipy", "scikit-learn", "threadpoolctl", "safetensors")
_OPTIONAL = ("matplotlib", "qpsolvers", "clarabel", "onnx", "torch", "pandas", "pyarrow")


def versions() -> dict[str, str | int | None]:
    """Versions by name, None for an optional package that is not installed; no path and no user is named.

    >>> from gapless.cli.versions import versions
    >>> found = versions()
    >>> list(found)[:2], found["cores"] >= 1
    (['gapless', 'numpy'], True)
    """
    return {
        **{name: metadata.version(name) for name in _PACKAGES},
        **{name: _version(name) for name in _OPTIONAL},
        "python": f"{platform.python_implementation()} {platform.python_version()}" + _threading(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "instruction set": _native.isa(),
        "cores": core_count(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _threading() -> str:
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return "" if locked else ", free-threaded"
