"""The logistic loss, whose dual is an entropy instead of a box with a quadratic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from gapless.losses.base import DualEntropy, Loss


@dataclass(frozen=True)
class Logistic(Loss):
    r"""The logistic loss :math:`\log(1 + \exp(-y f))`; its dual is the entropy of :math:`a_i = y_i β_i / c_i ∈ [0, 1]`.

    >>> import numpy as np
    >>> Logistic().value(np.array([1.0, 1.0]), np.array([0.0, 800.0])).round(4)
    array([0.6931, 0.    ])
    """

    name: ClassVar[str] = "logistic"
    task: ClassVar[str] = "classification"
    has_hard_limit: ClassVar[bool] = False

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def derivative(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return -y * expit(-y * f)

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        a = -y * v
        inside = (a >= 0.0) & (a <= 1.0)
        a = np.where(inside, a, 0.0)
        return np.where(inside, xlogy(a, a) + xlog1py(1.0 - a, -a), np.inf)

    def dual_box(self, y: np.ndarray, cost: np.ndarray) -> DualEntropy:
        return DualEntropy(y.copy(), cost.copy(), np.minimum(y * cost, 0.0), np.maximum(y * cost, 0.0))

    def dual_value(self, y: np.ndarray, cost: np.ndarray, beta: np.ndarray) -> np.ndarray:
        share = np.divide(beta, cost, out=np.zeros_like(beta), where=cost > 0)
        return np.where(cost > 0, -cost * self.conjugate(y, -share), 0.0)

    def dual_slopes(self, y: np.ndarray, cost: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a = np.divide(y * beta, cost, out=np.full_like(beta, 0.5), where=cost > 0)
        with np.errstate(divide="ignore"):
            slope = y * (np.log(1.0 - a) - np.log(a))
        return slope, slope
