"""The values of a searched parameter: their order along an axis, their scale, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, Literal

import numpy as np

from gapless.record import record

_LONGEST = 24  # characters of a value that are written: a composed kernel may have hundreds
_UNEVEN = 5.0  # a linear axis would squeeze values whose widest step is so many times the narrowest (scikit-learn's number for the same question)
_PLAIN = (1e-3, 1e4)  # a number between these is written out; another one as a power of ten


class _Absent:
    """Stands for the value of a parameter that a candidate does not set: of several grids, one may lack it."""

    def __repr__(self) -> str:
        return "–"


ABSENT: Any = _Absent()


@record
class Values:
    """The different values of one parameter, in the order of an axis: words as they come, then numbers ascending.

    >>> found = values_of("gamma", [1.0, 0.1, "scale", 0.1, 1])
    >>> found.values, found.numeric, found.texts
    (('scale', 0.1, 1.0), False, ['scale', '0.1', '1'])
    >>> found.place(1)
    2
    """

    name: str
    values: tuple[Any, ...]

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return all(_is_number(value) for value in self.values)

    @property
    def texts(self) -> list[str]:
        """How the values are written at an axis."""
        return written(self.values)

    @property
    def scale(self) -> Literal["linear", "log", "symlog"]:
        """The scale of an axis of these numbers on which their steps are of about one length."""
        steps = np.diff(np.asarray(self.values, dtype=float))
        if len(steps) < 2 or steps.max() <= _UNEVEN * steps.min():
            return "linear"
        return "log" if self.values[0] > 0 else "symlog"

    def place(self, value: Any) -> int:
        """The place of a value among them."""
        return [_key(each) for each in self.values].index(_key(value))

    def __len__(self) -> int:
        return len(self.values)


def values_of(name: str, given: Iterable[Any]) -> Values:
    """The different ones of the values that the candidates give a parameter."""
    different: dict[Any, Any] = {}
    for value in given:
        different.setdefault(_key(value), value)
    found = different.values()
    words = [value for value in found if not _is_number(value)]
    return Values(name, (*words, *sorted(value for value in found if _is_number(value))))


def written(values: Iterable[Any]) -> list[str]:
    r"""Texts for the values of one axis: numbers with the digits that tell them apart, powers of two as such where decimals would be long.

    >>> written([0.01, 0.1, 1, 10])
    ['0.01', '0.1', '1', '10']
    >>> written([2.0**-7, 2.0**-3, 2.0, 2.0**9])
    ['$2^{-7}$', '$2^{-3}$', '$2^{1}$', '$2^{9}$']
    >>> written([1e-5, 1.0, 2.5e6]), written(["rbf", None, True, len])
    (['$10^{-5}$', '1', '$2.5\\cdot10^{6}$'], ['rbf', 'None', 'True', 'len'])
    """
    values = list(values)
    numbers = [float(value) for value in values if _is_number(value)]
    base = next((base for base in (2, 10) if _are_long_powers(numbers, base)), None)
    powers = base and [_power("", base, round(math.log(number, base))) for number in numbers]
    texts = iter(powers or _decimals(numbers))
    return [next(texts) if _is_number(value) else _word(value) for value in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)


def _key(value: Any) -> Any:
    """What equal values have in common; objects such as kernels are equal where they are written alike."""
    return value if _is_number(value) else (type(value).__name__, repr(value))


def _are_long_powers(numbers: list[float], base: int) -> bool:
    """Whether all are powers of a base, and decimals would be long."""
    if len(numbers) < 2 or min(numbers) <= 0:
        return False
    exponents = [math.log(number) / math.log(base) for number in numbers]
    if any(abs(exponent - round(exponent)) > 1e-9 for exponent in exponents):
        return False
    return not all(_is_plain(number) and float(f"{number:.3g}") == number for number in numbers)


def _is_plain(number: float) -> bool:
    return number == 0 or _PLAIN[0] <= abs(number) < _PLAIN[1]


def _decimals(numbers: list[float]) -> list[str]:
    """Each number with as few digits as tell all of them apart, three at least."""
    texts: list[str] = []
    for digits in range(3, 17):
        texts = [_decimal(number, digits) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    return texts


def _decimal(number: float, digits: int) -> str:
    if _is_plain(float(f"{number:.{digits}g}")):
        # The exponent that %g takes to from four digits on is not wanted here.
        return f"{float(f'{number:.{digits}g}'):.15g}".replace("-", "−")
    mantissa, _, exponent = f"{number:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return _power(mantissa, 10, int(exponent))


def _power(mantissa: str, base: int, exponent: int) -> str:
    factor = {"": "", "1": "", "-1": "-"}.get(mantissa, rf"{mantissa}\cdot")
    return f"${factor}{base}^{{{exponent}}}$"


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else getattr(value, "__name__", None) or " ".join(str(value).split())
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return text.replace("$", r"\$")
