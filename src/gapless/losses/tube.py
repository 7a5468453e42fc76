"""Losses of the residual y − f that forgive errors up to ε: the ε-insensitive loss and its square."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from gapless.errors import InvalidInputError
from gapless.losses.base import DualBox, Loss
from gapless.losses.margin import ridge


@dataclass(frozen=True)
class _Tube(Loss):
    """What both losses share: the tube |y − f| ≤ ε, inside of which nothing is paid."""

    epsilon: float = 0.1
    task: ClassVar[str] = "regression"

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, Real) and 0 <= self.epsilon < np.inf):
            raise InvalidInputError(f"epsilon must be a number of at least 0; got {self.epsilon!r}.")

    def _excess(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def margin(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self.epsilon - np.abs(y - f)

    def slack(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self._excess(y, f)

    def _box(self, y: np.ndarray, cost: np.ndarray, bound: np.ndarray, d: np.ndarray) -> DualBox:
        """The dual box |βᵢ| ≤ boundᵢ with the curvatures d; a sample whose cost is zero has βᵢ = 0."""
        reach = np.where(cost > 0, bound, 0.0)
        return DualBox(y.copy(), np.full_like(y, self.epsilon), d, -reach, reach)


@dataclass(frozen=True)
class EpsilonInsensitive(_Tube):
    r"""The ε-insensitive loss :math:`\max(0, |y - f| - ε)`; its dual box is :math:`-c_i ≤ β_i ≤ c_i`.

    >>> import numpy as np
    >>> EpsilonInsensitive(epsilon=0.5).value(np.array([1.0, 1.0]), np.array([1.25, 3.0]))
    array([0. , 1.5])
    """

    name: ClassVar[str] = "epsilon_insensitive"

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self._excess(y, f)

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.where(np.abs(f - y) > self.epsilon, np.sign(f - y), 0.0)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.where(np.abs(v) <= 1.0, v * y + self.epsilon * np.abs(v), np.inf)

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualBox:
        return self._box(y, cost, cost, np.zeros_like(cost))

    def kinks(self, y: np.ndarray) -> list[np.ndarray]:
        return [y - self.epsilon, y + self.epsilon]


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(_Tube):
    r"""The squared ε-insensitive loss :math:`\max(0, |y - f| - ε)^2`.

    >>> import numpy as np
    >>> SquaredEpsilonInsensitive(epsilon=0.5).value(np.array([1.0, 1.0]), np.array([1.25, 3.0]))
    array([0.  , 2.25])
    """

    name: ClassVar[str] = "squared_epsilon_insensitive"

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self._excess(y, f) ** 2

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return 2.0 * np.sign(f - y) * self._excess(y, f)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        return v * y + self.epsilon * np.abs(v) + v * v / 4.0

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualBox:
        return self._box(y, cost, np.full_like(cost, np.inf), ridge(0.5, cost))

    def knots(self, y: np.ndarray) -> list[np.ndarray]:
        return [y - self.epsilon, y + self.epsilon]
