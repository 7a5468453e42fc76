"""Losses of the margin y f: the hinge, the squared hinge and the smoothed hinge."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from gapless.errors import InvalidInputError
from gapless.losses.base import DualBox, Loss


def _margin_box(y: np.ndarray, cost: np.ndarray, bound: np.ndarray, d: np.ndarray) -> DualBox:
    """The dual box 0 ≤ yᵢβᵢ ≤ boundᵢ with the curvatures d; a sample whose cost is zero has βᵢ = 0."""
    reach = bound if bound is cost else np.where(cost > 0.0, bound, 0.0)
    signed = y * reach
    return DualBox(y.copy(), np.zeros(len(y)), d, np.minimum(signed, 0.0), np.maximum(signed, 0.0))


def ridge(factor: float, cost: np.ndarray) -> np.ndarray:
    """The curvatures d = factor / cost of a squared loss's dual: zero where the cost is infinite (hard margin) or zero (βᵢ = 0 there anyway)."""
    return np.divide(factor, cost, out=np.zeros_like(cost), where=cost > 0)


@dataclass(frozen=True)
class Hinge(Loss):
    r"""The hinge loss :math:`\max(0, 1 - y f)`; its dual box is :math:`0 ≤ y_i β_i ≤ c_i`.

    >>> import numpy as np
    >>> Hinge().value(np.array([1.0, -1.0]), np.array([0.25, 0.25]))
    array([0.75, 1.25])
    """

    name: ClassVar[str] = "hinge"
    task: ClassVar[str] = "classification"

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - y * f)

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.where(y * f < 1.0, -y, 0.0)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        m = y * v
        return np.where((m >= -1.0) & (m <= 0.0), m, np.inf)

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualBox:
        return _margin_box(y, cost, cost, np.zeros(len(cost)))

    def kinks(self, y: np.ndarray) -> list[np.ndarray]:
        return [y]


@dataclass(frozen=True)
class SquaredHinge(Loss):
    r"""The squared hinge loss :math:`\max(0, 1 - y f)^2` (LIBLINEAR's scaling, no ½).

    >>> import numpy as np
    >>> SquaredHinge().value(np.array([1.0, -1.0]), np.array([0.5, 1.0]))
    array([0.25, 4.  ])
    """

    name: ClassVar[str] = "squared_hinge"
    task: ClassVar[str] = "classification"

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        short = y * f
        np.subtract(1.0, short, out=short)
        np.maximum(0.0, short, out=short)
        short *= short
        return short

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        m = y * v
        return np.where(m <= 0.0, m + m * m / 4.0, np.inf)

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualBox:
        return _margin_box(y, cost, np.full_like(cost, np.inf), ridge(0.5, cost))

    def knots(self, y: np.ndarray) -> list[np.ndarray]:
        return [y]


@dataclass(frozen=True)
class SmoothedHinge(Loss):
    r"""The hinge with its corner rounded over a width :math:`s`: :math:`0` for :math:`m ≥ 1`, :math:`(1-m)^2/2s` for
    :math:`1-s ≤ m ≤ 1`, :math:`1 - m - s/2` below, where :math:`m = y f`.

    >>> import numpy as np
    >>> SmoothedHinge(smoothing=0.5).value(np.ones(3), np.array([2.0, 0.75, 0.0]))
    array([0.    , 0.0625, 0.75  ])
    """

    smoothing: float = 0.5
    name: ClassVar[str] = "smoothed_hinge"
    task: ClassVar[str] = "classification"

    def __post_init__(self) -> None:
        if not (isinstance(self.smoothing, Real) and 0 < self.smoothing < np.inf):
            raise InvalidInputError(f"smoothing must be a positive number; got {self.smoothing!r}.")

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        short = np.maximum(0.0, 1.0 - y * f)
        return np.where(short < self.smoothing, short**2 / (2.0 * self.smoothing), short - self.smoothing / 2.0)

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return -y * np.clip((1.0 - y * f) / self.smoothing, 0.0, 1.0)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        m = y * v
        return np.where((m >= -1.0) & (m <= 0.0), m + 0.5 * self.smoothing * m * m, np.inf)

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualBox:
        return _margin_box(y, cost, cost, ridge(self.smoothing, cost))

    def knots(self, y: np.ndarray) -> list[np.ndarray]:
        return [y, y * (1.0 - self.smoothing)]
