"""Sparse linear classification: the ℓ₁ penalty with the squared hinge.

The dual follows from c max(0, u)² = max over α ≥ 0 of αu − α²/(4c), by exchanging min and max: with β = yα the minimum of ‖w‖₁ − ⟨w, Σ βᵢxᵢ⟩
is zero where ‖Σ βᵢxᵢ‖∞ ≤ 1 and −∞ elsewhere. At the optimum αᵢ = 2cᵢ max(0, 1 − yᵢf(xᵢ)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gapless.errors import InvalidInputError
from gapless.problems.problem import Intercept, Problem


class L1Problem(Problem):
    r"""The squared hinge under an ℓ₁ penalty, which makes weights exactly zero.

    .. math::

        \min_{w, b} \; P = ‖w‖_1 + |b|/s + \sum_i c_i \max(0, 1 - y_i f(x_i))², \qquad f(x) = ⟨w, x⟩ + b

        \max_{α ≥ 0} \; D = \sum_i α_i - \sum_i \frac{α_i²}{4c_i}, \qquad
        \Bigl\|\sum_i α_i y_i x_i\Bigr\|_∞ ≤ 1, \quad s\,\Bigl|\sum_i α_i y_i\Bigr| ≤ 1

    With ``intercept="regularized"`` b is the weight of one more feature of the constant value s = ``intercept_scale`` (LIBLINEAR's way); with
    ``"none"`` b = 0, and the condition on Σ αᵢyᵢ goes. cᵢ is C times the sample's weight. P is not strongly convex: the certificate bounds
    the objective, and ``distance_bound`` is infinite.

    >>> import gapless as gl
    >>> from gapless.problems.l1 import L1Problem
    >>> problem = L1Problem([[-1.0, 0.1], [-2.0, 0.3], [1.0, 0.2], [3.0, 0.1]], [0, 0, 1, 1], C=1.0, intercept="none")
    >>> problem
    L1Problem(4 x 2 dense, squared_hinge, linear, C=1, intercept='none')
    >>> result = gl.solve(problem, tol=1e-9)
    >>> result.w.round(6), result.certificate.relative_gap <= 1e-9
    (array([0.75, 0.  ]), True)
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        C: float = 1.0,
        intercept: Intercept = "regularized",
        intercept_scale: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        if intercept == "free":
            raise InvalidInputError(
                "intercept must be 'regularized' or 'none' with an l1 penalty, which is on b too; got 'free'."
            )
        if np.isinf(C):
            raise InvalidInputError("C must be finite with an l1 penalty; got inf.")
        super().__init__(
            X, y, loss="squared_hinge", C=C, intercept=intercept, intercept_scale=intercept_scale, sample_weight=sample_weight
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"L1{super().__repr__()}"
