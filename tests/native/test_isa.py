"""Instruction sets: the objects of one level share no function with those of another, and every level solves the same problems."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gapless
from gapless import _native

BUILDS = Path(__file__).parents[2] / "build"
LEVELS = _native.isa_levels()


@pytest.fixture
def best() -> Iterator[str]:
    level = _native.isa()
    yield level
    _native.use_isa(level)


def _shared_symbols(listing: str, level: str) -> list[str]:
    """The weak symbols outside of the level's namespace: the linker keeps one copy of each for the whole library."""
    found = []
    for line in listing.splitlines():
        words = line.split(maxsplit=2)
        if len(words) == 3 and words[1] in "VWu" and f"gapless::{level}::" not in words[2]:
            found.append(words[2])
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_objects_of_a_level_define_nothing_that_the_linker_may_share(level: str) -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm, which lists the symbols of an object, is not installed")
    # Sanitizers add functions of their own.
    folders = [
        path for path in BUILDS.glob(f"*/CMakeFiles/gapless_{level}.dir") if path.parts[-3] not in ("asan", "tsan")
    ]
    objects = [path for folder in folders for path in folder.rglob("*.isa.cpp.o")]
    if not objects:
        pytest.skip("the objects of a build in build/ are not there: the library was installed from a wheel")
    for path in objects:
        listing = subprocess.run([nm, "-C", path], check=True, capture_output=True, text=True).stdout
        assert _shared_symbols(listing, level) == [], path


def test_a_shared_symbol_would_be_seen() -> None:
    listing = "0 W std::vector<double>::push_back(double)\n0 T gapless::v3::loops\n0 u gapless::v3::power\n U exp\n"
    assert _shared_symbols(listing, "v3") == ["std::vector<double>::push_back(double)"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["SVC", "SVR", "LinearSVC", "LinearSVR"])
def test_every_level_solves_the_same_problem(name: str, dtype: type, best: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 7)).astype(dtype)
    y = X[:, 0] + 0.5 * rng.normal(size=200)
    target = y > 0 if "SVC" in name else y
    proofs = []
    for level in LEVELS:
        _native.use_isa(level)
        proofs.append(getattr(gapless, name)(tol=1e-6).fit(X, target).certificate_)
    # The optimum lies between dual and primal of each, up to the rounding of a sum over the samples.
    rounding = 1 + len(X) * np.finfo(np.float64).eps
    assert max(proof.dual for proof in proofs) <= rounding * min(proof.primal for proof in proofs)
    assert all(proof.relative_gap <= 1e-6 for proof in proofs)


def test_an_instruction_set_that_is_not_there_is_refused(best: str) -> None:
    with pytest.raises(ValueError, match=r"the instruction set must be one of .*; got v1\."):
        _native.use_isa("v1")
    assert _native.isa() == best
