"""The bytes of a sound model file, and a folder for what is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.crafting import DENSE, stored_bytes


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return stored_bytes(DENSE, tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")
