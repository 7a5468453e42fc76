"""A fixed slice of the checks of what is built on a fit (``python -m tests.campaign --uses 300`` runs more), and that they can fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("flint", reason="the exact referee needs python-flint")

import gapless as gl
from tests.campaign import uses


@pytest.mark.parametrize("kind", uses.CHECKS, ids=lambda kind: kind.__name__)
def test_slice_of_the_checks(kind: Callable):
    rounds = 60 if kind is uses.certified else 8
    wrong = [sentence for index in range(rounds) for sentence in uses.check(0, index, (kind,))]
    assert not wrong, "\n".join(wrong)


def test_the_checks_see_another_problem(monkeypatch: pytest.MonkeyPatch):
    """Bounds of a problem with twice the costs contradict those of the fit."""
    honest = gl.certify

    def doubled(model: object, X: object, y: object, sample_weight: object = None, **options: object) -> object:
        weight = 2.0 * (np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight))
        return honest(model, X, y, sample_weight=weight, **options)

    monkeypatch.setattr(gl, "certify", doubled)
    drawn = [uses.check(0, index, (uses.certified,)) for index in range(20)]
    assert sum(map(bool, drawn)) > 5
