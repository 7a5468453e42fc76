"""The same data and the same seed give the same model, to the last bit, wherever it is fitted and whatever the number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GAPLESS_NUM_THREADS")


def _digests(where: str, **threads: str) -> dict[str, list[str]]:
    """The digests of all fits of ``fits_to_compare.py``, from a process of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in _LIMITS}
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.estimators.fits_to_compare", where],
        env={**kept, **threads}, cwd=_ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def alone() -> dict[str, str]:
    """The digests of fits in the main thread of a process that has one thread for everything."""
    return {name: each[0] for name, each in _digests("main", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1").items()}


@pytest.mark.parametrize(
    ("where", "threads"),
    [
        ("main", {"OPENBLAS_NUM_THREADS": "2"}),
        ("main", {"OPENBLAS_NUM_THREADS": "4", "GAPLESS_NUM_THREADS": "1"}),
        ("thread", {}),
        ("several", {}),
        ("workers", {}),
    ],
)
def test_the_model_is_the_same_to_the_bit(where: str, threads: dict[str, str], alone: dict[str, str]) -> None:
    found = _digests(where, **threads)
    assert {name: each for name, each in found.items() if set(each) != {alone[name]}} == {}
