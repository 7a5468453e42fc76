"""docs/architecture.md tells the truth: what it names exists, the layers hold, and the engines' protocol is what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gapless.solvers import SOLVERS, Advance, Engine, Outcome

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:src|native|tests)/[\w/.]*|pyproject\.toml)`", PAGE)))


def test_the_page_names_paths():
    assert len(PATHS) > 15


@pytest.mark.parametrize("path", PATHS)
def test_what_the_page_names_exists(path):
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


def test_every_folder_of_the_core_is_on_the_page():
    folders = {
        f"native/{path.name}/" for path in (ROOT / "native").iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders <= set(PATHS)


def test_every_folder_of_the_core_has_one_file_in_bind():
    for folder in (ROOT / "native").iterdir():
        if folder.name != "bind" and any(folder.glob("*.cpp")):
            assert (ROOT / "native" / "bind" / f"{folder.name}.cpp").is_file(), folder.name


def test_an_engine_is_what_the_page_says():
    assert [outcome.name for outcome in Outcome] == ["RUNNING", "READY", "STALLED"]
    assert Advance._fields == ("iterations", "work", "outcome")
    assert Engine.__abstractmethods__ == {"step", "point"}
    for solver in SOLVERS.values():
        assert {"unsupported", "init"} <= set(dir(solver))


def test_the_layers_hold():
    tool = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("import-linter is not installed")
    found = subprocess.run([tool], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
