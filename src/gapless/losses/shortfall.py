"""The loss behind the ν-forms and the one-class machine: by how much f falls short of a target, on one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapless.losses.base import DualBox, Loss


@dataclass(frozen=True, eq=False)
class Shortfall(Loss):
    r"""The one-sided loss :math:`\max(0, y_i (t_i - f))`, where each sample has a sign :math:`y_i = ±1` and a target :math:`t_i`.

    The hinge is the case t = y. With t = 0 and a price on the offset, this is the loss of ν-SVC and of the one-class machine. With the targets of
    a regression, and each sample once with either sign, it is the loss of ν-SVR.

    >>> import numpy as np
    >>> Shortfall(np.array([1.0, 1.0])).value(np.array([1.0, -1.0]), np.array([0.25, 1.5]))
    array([0.75, 0.5 ])
    """

    target: np.ndarray
    name: ClassVar[str] = "shortfall"
    task: ClassVar[str] = "classification"
    has_hard_limit: ClassVar[bool] = False

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -self.margin(y, f))

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.where(self.margin(y, f) < 0.0, -y, 0.0)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        m = y * v
        return np.where((m >= -1.0) & (m <= 0.0), v * self.target, np.inf)

    def kinks(self, y: np.ndarray) -> list[np.ndarray]:
        return [self.target]

    def taken(self, places: np.ndarray) -> Shortfall:
        return Shortfall(self.target[places])

    def marks(self, y: np.ndarray) -> np.ndarray:
        return self.target  # the samples of one group have the same sign

    def margin(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y * (f - self.target)

    def slack(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self.value(y, f)

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualBox:
        reach = y * cost
        zero = np.zeros_like(cost)
        return DualBox(self.target.copy(), zero, zero.copy(), np.minimum(reach, 0.0), np.maximum(reach, 0.0))
