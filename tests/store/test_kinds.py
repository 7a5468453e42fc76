"""What is of a declared kind, and what is not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from gapless.result import Status
from gapless.store.kinds import check_fields, fits

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1.5, float, True),
        (math.inf, float, True),
        (3, float, True),
        (True, float, False),
        ("1", float, False),
        (3, int, True),
        (3.0, int, False),
        (True, int, False),
        (True, bool, True),
        (1, bool, False),
        (None, float | None, True),
        ("x", float | None, False),
        ([1.0, 2], list[float], True),
        ([1.0, None], list[float], False),
        ((1.0,), list[float], False),
        (((0.0, 1.0),), tuple[tuple[float, float], ...], True),
        ((), tuple[tuple[float, float], ...], True),
        (((0.0,),), tuple[tuple[float, float], ...], False),
        ([0.0], tuple[float, ...], False),
        (np.zeros(2), np.ndarray | None, True),
        ([0.0], np.ndarray, False),
        (Status.CONVERGED, Status, True),
        ("CONVERGED", Status, False),
        ("anything", Literal["else"], True),
        (object(), Any, True),
    ],
)
def test_fits(value: Any, kind: Any, expected: bool) -> None:
    assert fits(value, kind) is expected


@dataclass
class Pair:
    """Two fields of different kinds."""

    left: float
    right: list[str]


@dataclass
class Unresolved:
    """A declaration that cannot be looked up."""

    left: Unknown


def test_fields_are_held_against_their_declarations() -> None:
    check_fields(Pair(1, ["a"]))
    check_fields(Unresolved(3))  # of which nothing is known
    with pytest.raises(TypeError, match=r"^Pair\.right is of the type tuple$"):
        check_fields(Pair(1.0, ("a",)))
