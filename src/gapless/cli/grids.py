"""The values that ``gapless tune`` tries: lists and ranges from the command line, and grids where none are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.errors import InvalidInputError

VALUES = "values, as 0.1,1,10, or a range, as 1e-3:1e3:7, which has 7 values with a constant ratio"
_COUNT = 7  # the values of a range that does not say how many, and of a default grid
# The default C's: from models that hardly move to models that follow most samples, for features of about unit scale.
_COSTS = {"kernel": (1e-2, 1e4), "linear": (1e-4, 1e2)}
_AROUND = 30.0  # the default γ's reach from the usual one, 1 / (n_features · var X), divided by this, to it times this


def read_values(text: str, flag: str, words: tuple[str, ...] = ()) -> list[Any]:
    """The values of an option: numbers and ranges separated by commas; ``words`` are the words that may stand among them.

    >>> from gapless.cli.grids import read_values
    >>> read_values("0.5,1e-2:1e2:3", "--C"), read_values("scale,2", "--gamma", ("scale",))
    ([0.5, 0.01, 1.0, 100.0], ['scale', 2.0])
    """
    found: list[Any] = []
    for part in (each.strip() for each in text.split(",")):
        if part in words:
            found.append(part)
            continue
        try:
            found += _range(*part.split(":")) if ":" in part else [float(part)]
        except (TypeError, ValueError):
            also = f", {' or '.join(words)}" if words else ""
            raise InvalidInputError(
                f"{flag} takes numbers separated by commas{also}, and ranges such as 1e-3:1e3:7, low to high with a constant ratio; got {part!r}."
            ) from None
    return list(dict.fromkeys(found))


def read_parameter(text: str) -> tuple[str, list[Any]]:
    """(name, values) of ``--param NAME=VALUES``; a value that is no number is a text.

    >>> from gapless.cli.grids import read_parameter
    >>> read_parameter("kernel__left__gamma=0.1,1"), read_parameter("class_weight=balanced,none")
    (('kernel__left__gamma', [0.1, 1.0]), ('class_weight', ['balanced', None]))
    """
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise InvalidInputError(f"--param takes NAME=VALUES, as in kernel__left__gamma=0.1,1; got {text!r}.")
    words = tuple(
        part.strip()
        for part in values.split(",")
        if part.strip().replace("_", "").isalpha() and part.strip() not in ("inf", "nan")
    )
    plain = {"none": None, "true": True, "false": False}
    return name, [
        plain.get(value.lower(), value) if isinstance(value, str) else value
        for value in read_values(values, f"--param {name}", words)
    ]


def default_costs(linear: bool) -> list[float]:
    """The C's that are tried where none are given."""
    return _spaced(*_COSTS["linear" if linear else "kernel"], _COUNT)


def default_gammas(X: Any) -> list[float]:
    """The γ's that are tried on these samples where none are given."""
    total = X.shape[0] * X.shape[1]
    mean, square = float(X.sum()) / total, float((X.multiply(X) if sp.issparse(X) else np.square(X)).sum()) / total
    variance = square - mean**2
    usual = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return _spaced(usual / _AROUND, usual * _AROUND, _COUNT)


def _range(low: str, high: str, count: str = str(_COUNT)) -> list[float]:
    if not (0 < float(low) < float(high) < np.inf and int(count) > 1):
        raise ValueError
    return _spaced(float(low), float(high), int(count))


def _spaced(low: float, high: float, count: int) -> list[float]:
    """Values with a constant ratio, rounded to six digits, so that they can be read and typed again."""
    return [float(f"{value:.6g}") for value in np.geomspace(low, high, count)]
