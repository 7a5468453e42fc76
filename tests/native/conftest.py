"""Fixtures of the tests of the compiled core."""

from __future__ import annotations

import pytest

from gapless import _native


@pytest.fixture(params=_native.isa_levels())
def every_level(request):
    """The loops of each instruction set that this machine has, one after the other."""
    best = _native.isa()
    _native.use_isa(request.param)
    yield
    _native.use_isa(best)
