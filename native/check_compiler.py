"""Prints a sentence where the C++ compiler is missing or too old for Gapless; make runs this before it compiles."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

OLDEST = {"g++": 12, "clang++": 15}  # the first versions with all of C++20 that native/ uses


def compiler() -> list[str] | None:
    """The command that CMake will choose: $CXX, or the first compiler on the PATH; None where there is none."""
    if named := os.environ.get("CXX"):
        words = shlex.split(named)
        return words if words and shutil.which(words[0]) else None
    return next(([name] for name in ("c++", "g++", "clang++") if shutil.which(name)), None)


def macros(command: list[str]) -> dict[str, str]:
    """The macros that the compiler predefines, with their values; empty where it cannot compile."""
    answer = subprocess.run(
        [*command, "-dM", "-E", "-x", "c++", "-"], input="", capture_output=True, text=True, check=False
    )
    lines = [line.split(maxsplit=2) for line in answer.stdout.splitlines()]
    return {words[1]: words[2] for words in lines if len(words) == 3}


def complaint() -> str | None:
    """The sentence about what is missing; None where the compiler will do."""
    if sys.platform == "win32":
        return None  # CMake finds Visual Studio by itself
    needs = "Gapless compiles its core: it needs g++ 12 or clang++ 15, or newer"
    command = compiler()
    if command is None:
        named = os.environ.get("CXX")
        found = f"CXX names {named}, which is not there" if named else "none was found on the PATH"
        return f"{needs}; {found}. On Debian and Ubuntu: apt install g++. On macOS: xcode-select --install."
    defined = macros(command)
    family = "clang++" if "__clang_major__" in defined else "g++"
    version = defined.get("__clang_major__", defined.get("__GNUC__"))
    if version is None:
        return f"{needs}; {command[0]} does not compile."
    if int(version) < OLDEST[family]:
        return f"{needs}; {command[0]} is {family} {version}. Name another one: make CXX=g++-12"
    return None


if __name__ == "__main__":
    sys.exit(complaint())
