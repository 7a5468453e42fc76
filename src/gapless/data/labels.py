"""Checks of labels that are Python objects: none may be missing, and all must be of one kind, so that they can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np

from gapless.errors import InvalidInputError

_MISSING = ("NAType", "NaTType")  # the types of pandas' own missing values, which compare with nothing


def check_objects(y: Any, name: str = "y") -> None:
    """Refuse None, NA and NaN among objects, and text beside numbers, which cannot be sorted together; arrays of numbers are not looked at."""
    objects = _objects(y)
    if objects is None:
        return
    missing = next(((i, each) for i, each in enumerate(objects) if _is_missing(each)), None)
    if missing is not None:
        raise InvalidInputError(f"{name} must have a label for every sample; entry {missing[0]} is {missing[1]!r}.")
    kinds = sorted({_kind(each) for each in objects})
    if len(kinds) > 1:
        raise InvalidInputError(f"{name} must hold labels of one type; got {' and '.join(kinds)}.")


def _objects(y: Any) -> Iterable[Any] | None:
    """The labels in a flat list where they are Python objects, else None."""
    if isinstance(y, (list, tuple)):
        return None if {type(each) for each in y} <= {int, bool, float} else [e for each in y for e in _flat(each)]
    kind = getattr(getattr(y, "dtype", None), "kind", None)
    if kind is None or (isinstance(y, np.ndarray) and kind != "O"):
        return None
    if isinstance(y, np.ndarray) or kind == "O" or not isinstance(y.dtype, np.dtype):
        values = np.asarray(y)
        return values.ravel().tolist() if values.dtype.kind == "O" else None
    return None


def _flat(each: Any) -> list[Any]:
    return list(each) if isinstance(each, (list, tuple)) else [each]


def _is_missing(each: Any) -> bool:
    return each is None or type(each).__name__ in _MISSING or (isinstance(each, (float, np.floating)) and each != each)


def _kind(each: Any) -> str:
    if isinstance(each, (Number, np.generic)) and not isinstance(each, (np.str_, np.bytes_)):
        return "numbers"
    return "text" if isinstance(each, str) else type(each).__name__
