"""usage: .ci/oldest.py WHEEL [ARGUMENTS OF PYTEST]

The tests of estimators, of searches and of feature maps with the oldest versions that pyproject.toml declares: those of all dependencies, and of
the extras that the tests use, where they can be installed. They are installed into .venv-oldest, with the newest test tools and with Gapless from
its wheel.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_VENV = _ROOT / ".venv-oldest"
_PYTHON = _VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
_EXTRAS = ("plot", "qp", "onnx")
_TOOLS = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "array-api-compat", "array-api-strict")
_TESTS = ("tests/estimators", "tests/model_selection", "tests/features")


def oldest(requirements: list[str]) -> list[str]:
    """Each requirement at its lower bound: ``numpy>=1.26`` becomes ``numpy==1.26``."""
    found = []
    for requirement in requirements:
        match = re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement)
        if match is None:
            raise SystemExit(
                f"A dependency must be declared by its lower bound, as name>=version; got {requirement!r}."
            )
        found.append(f"{match[1]}=={match[2]}")
    return found


def install(*names: str) -> bool:
    """Whether pip could install these."""
    return (
        subprocess.run([_PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *names]).returncode
        == 0
    )


def main(wheel: str, *arguments: str) -> int:
    """Set the environment up, where it is not there, and run the tests."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = oldest(project["dependencies"])
    if not _PYTHON.exists():
        venv.create(_VENV, with_pip=True)
    if not install(*pins, *_TOOLS):
        print("The oldest versions could not be installed: raise the bounds in pyproject.toml to what exists.")
        return 1
    for extra in _EXTRAS:
        if not install(*oldest(project["optional-dependencies"][extra]), *pins):
            print(f"The oldest versions of the extra {extra} could not be installed: its tests are skipped.")
    if not install("--no-deps", "--force-reinstall", wheel):
        return 1
    subprocess.run([_PYTHON, "-m", "pip", "list", "--disable-pip-version-check"], check=True)
    tests = [] if any((_ROOT / each.split("::")[0]).exists() for each in arguments) else _TESTS
    # Warnings are shown and do not fail a test: old packages use what newer Pythons and tools have deprecated.
    command = [
        _PYTHON,
        "-m",
        "pytest",
        "-n",
        "2",
        "--dist",
        "worksteal",
        "-W",
        "default",
        "-m",
        "not slow",
        *tests,
        *arguments,
    ]
    return subprocess.run(command, cwd=_ROOT).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
