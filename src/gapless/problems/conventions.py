"""The five ways in which texts state the trade-off between ‖w‖² and the losses, and the C that each of them amounts to."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from gapless.errors import InvalidInputError

Convention = Literal["C", "C_mean", "lam_mean", "lam_mean_full", "lam_sum"]


def one_of(**given: float | None) -> tuple[Convention, float]:
    """(convention, value) of the one regularisation that is given; C = 1 where none is."""
    named = {name: value for name, value in given.items() if value is not None}
    if not named:
        return "C", 1.0
    if len(named) > 1:
        raise InvalidInputError(f"exactly one regularisation may be given; got {', '.join(named)}.")
    ((name, value),) = named.items()
    if not isinstance(value, (int, float, np.number)) or not value > 0:
        raise InvalidInputError(f"{name} must be a positive number; got {value!r}.")
    if value == math.inf and name != "C":
        raise InvalidInputError(f"{name} must be finite; got inf (C=inf is the hard margin).")
    return name, float(value)  # type: ignore[return-value]


def unit_cost(convention: Convention, value: float, total_weight: float) -> float:
    """The C of the equivalent ½‖w‖² + C Σξ, for a sample of weight one."""
    match convention:
        case "C":
            return value
        case "C_mean":
            return value / total_weight
        case "lam_mean":
            return 1.0 / (value * total_weight)
        case "lam_mean_full":
            return 1.0 / (2.0 * value * total_weight)
        case "lam_sum":
            return 1.0 / value
