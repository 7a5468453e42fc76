"""Some of the mutations of files of which ``python -m tests.campaign.mutations`` makes tens of thousands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.campaign.mutation_seeds import seeds
from tests.campaign.mutations import ROOM, run

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits and sizes of processes are Linux's"
)


@pytest.mark.parametrize("kind", ["model", "text"])
def test_sound_files_are_read(kind: str, tmp_path: Path) -> None:
    for seed, _ in seeds(kind, tmp_path):
        path = tmp_path / "sound"
        path.write_bytes(seed.content)
        assert seed.read(path) is not None, seed.name


@pytest.mark.parametrize("kind", ["model", "text"])
def test_mutations_end_in_a_sentence_or_in_success(kind: str) -> None:
    outcomes, failures = run(kind, 400)
    assert not failures, "\n".join(f"{each.number} ({each.seed}): {each.what}" for each in failures)
    assert outcomes["sentence"] > 100 and outcomes["loaded"] > 20 and sum(outcomes.values()) == 400
    assert ROOM == 300 * 2**20
