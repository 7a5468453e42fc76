"""One round of each fault of ``faults.py``; ``make campaign`` runs twenty rounds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("flint", reason="the campaign needs python-flint")

from tests.campaign.faults import FAULTS

pytestmark = pytest.mark.skipif(os.name != "posix" or not Path("/proc").exists(), reason="needs the signals of Linux")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_fault(fault: Callable[[int, Path], list[str]], tmp_path: Path):
    assert fault(1, tmp_path) == []
