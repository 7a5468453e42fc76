from __future__ import annotations

from pathlib import Path

import pytest

import gapless
from gapless import _native

stubgen = pytest.importorskip("nanobind.stubgen", reason="nanobind, which writes the stubs, is not installed")


def test_the_stubs_are_those_of_the_compiled_module() -> None:
    writer = stubgen.StubGen(_native)
    writer.put(_native)
    stored = Path(gapless.__file__).with_name("_native.pyi").read_text()
    assert writer.get().strip() == stored.strip(), "the stubs are of another build: make stubs writes them anew"
