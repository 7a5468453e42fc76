from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "native" / "check_compiler.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="CMake finds Visual Studio by itself")


def _complaint(folder: Path, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, SCRIPT], capture_output=True, text=True, check=False, env={"PATH": str(folder), **environment}
    ).stderr


def _fake(folder: Path, name: str, defines: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{defines}'\n")
    path.chmod(0o755)
    return str(path)


def test_a_missing_compiler_is_told_in_a_sentence(tmp_path: Path) -> None:
    needs = "Gapless compiles its core: it needs g++ 12 or clang++ 15, or newer; "
    assert _complaint(tmp_path).startswith(f"{needs}none was found on the PATH.")
    assert _complaint(tmp_path, CXX="g++-99").startswith(f"{needs}CXX names g++-99, which is not there.")


@pytest.mark.parametrize(
    ("defines", "said"),
    [
        ("#define __GNUC__ 11", "is g++ 11."),
        ("#define __GNUC__ 12", ""),
        ("#define __GNUC__ 4\n#define __clang_major__ 14", "is clang++ 14."),
        ("#define __GNUC__ 4\n#define __clang_major__ 15", ""),
        ("", "does not compile."),
    ],
)
def test_an_old_compiler_is_told_in_a_sentence(tmp_path: Path, defines: str, said: str) -> None:
    complaint = _complaint(tmp_path, CXX=_fake(tmp_path, "compiler", defines))
    assert said in complaint and bool(complaint) == bool(said)
