from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from gapless import _native
from tests import everywhere

ROOT = Path(__file__).resolve().parents[1]


def test_its_examples_hold():
    assert doctest.testmod(everywhere).failed == 0


@pytest.mark.parametrize("levels", [["v2"], ["v2", "v3"], ["v2", "v3", "v4"], _native.isa_levels()], ids=str)
def test_each_level_and_each_kernel_is_run_or_left_out_with_a_sentence(levels):
    runs, said = everywhere.runs(levels), everywhere.left_out(levels)
    assert {level for level, _ in runs} == set(levels)
    for level in everywhere.LEVELS:
        assert (level in levels) != any(f"GAPLESS_ISA={level} " in sentence for sentence in said)
    for kernels in everywhere.KERNELS:
        assert (kernels in {each for _, each in runs}) != any(f"CORETYPE={kernels} " in sentence for sentence in said)


def test_it_names_what_exists():
    assert [path for path in (*everywhere.ARITHMETIC, *everywhere._LEFT_OUT) if not (ROOT / path).exists()] == []
