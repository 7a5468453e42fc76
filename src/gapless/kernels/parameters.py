"""Checks of the parameters of kernels and feature maps: one sentence for each way in which a number can be wrong."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from gapless.errors import InvalidInputError


def is_number(value: Any) -> bool:
    """True for a real number of Python or NumPy; booleans are not numbers here."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_finite(name: str, value: Any) -> None:
    """Raise unless value is a finite real number."""
    if not (is_number(value) and math.isfinite(value)):
        raise InvalidInputError(f"{name} must be a finite number; got {value!r}.")


def check_nonnegative(name: str, value: Any) -> None:
    """Raise unless value is a finite real number of at least 0."""
    if not (is_number(value) and math.isfinite(value) and value >= 0):
        raise InvalidInputError(f"{name} must be a finite number of at least 0; got {value!r}.")


def check_positive(name: str, value: Any) -> None:
    """Raise unless value is a finite real number above 0."""
    if not (is_number(value) and math.isfinite(value) and value > 0):
        raise InvalidInputError(f"{name} must be a finite number above 0; got {value!r}.")


MOST_POWER = 2**31 - 1  # the largest degree or exponent: compiled code counts in 32 bits


def check_natural(name: str, value: Any, most: int | None = None) -> int:
    """The value as an int; raise unless it is a natural number, counted from 1 and up to ``most``."""
    if most is not None and is_number(value) and isinstance(value, Integral) and int(value) > most:
        raise InvalidInputError(f"{name} must be a natural number of at most {most:,}; got {value!r}.")
    if not (is_number(value) and isinstance(value, Integral) and int(value) >= 1):
        raise InvalidInputError(f"{name} must be a natural number of at least 1; got {value!r}.")
    return int(value)
