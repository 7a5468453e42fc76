"""Whether a value that was read is of the kind that a declaration names: a file can put anything in any place."""

from __future__ import annotations

import types
from dataclasses import fields
from typing import Any, Union, get_args, get_origin, get_type_hints


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a declared kind: a class, a union of kinds, a list of one kind, or a tuple. Other declarations hold for any value.

    >>> from gapless.store.kinds import fits
    >>> fits([1.0, 2], list[float]), fits(["1.0"], list[float]), fits(None, str | None), fits(True, float)
    (True, False, True, False)
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is list:
        return isinstance(value, list) and all(fits(each, parts[0]) for each in value)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        expected = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return len(expected) == len(value) and all(map(fits, value, expected))
    if kind in (int, float):
        return not isinstance(value, bool) and (isinstance(value, int) or (kind is float and isinstance(value, float)))
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def check_fields(record: Any) -> None:
    """Refuse a dataclass whose fields are not of the kinds that its class declares."""
    try:
        declared = get_type_hints(type(record))
    except NameError:  # the annotations of a user's class may use names that only a type checker knows
        return
    for each in fields(record):
        value = getattr(record, each.name)
        if not fits(value, declared[each.name]):
            raise TypeError(f"{type(record).__name__}.{each.name} is of the type {type(value).__name__}")
