"""Crammer and Singer's multiclass machine: one vector of weights a class, all trained together.

The dual has one block βᵢ = (βᵢ₁, …, βᵢₖ) a sample. It follows from the loss, c max over m of (δ(m ≠ y) + f_m − f_y) = max over p in c·simplex of
Σ p_m (δ(m ≠ y) + f_m − f_y): with β_m = −p_m for m ≠ y and β_y = Σ p_m over all m ≠ y, the minimum over W is at w_m = Σ βᵢ_m xᵢ.
"""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np

from gapless.data import check_matrix, check_weights
from gapless.data.products import rmatvec
from gapless.data.rows import row_entries, sealed
from gapless.data.validate import check_codes
from gapless.errors import InvalidInputError
from gapless.losses import Hinge
from gapless.problems.problem import Intercept, Problem


class CrammerSingerProblem(Problem):
    r"""All classes at once: the true class has to score higher than every other by one (Crammer & Singer 2001, LIBLINEAR's ``-s 4``).

    .. math::

        \min_{W, b} \; P = ½ \sum_m ‖w_m‖² + \frac{1}{2s²} \sum_m b_m² + \sum_i c_i \max_m \bigl( [m ≠ y_i] + f_m(x_i) - f_{y_i}(x_i) \bigr),
        \qquad f_m(x) = ⟨w_m, x⟩ + b_m

        \max_{β} \; D = \sum_i β_{i y_i} - ½ \sum_m ‖w_m‖² - \frac{1}{2s²} \sum_m b_m², \qquad w_m = \sum_i β_{im} x_i, \quad b_m = s² \sum_i β_{im},
        \qquad \sum_m β_{im} = 0, \quad β_{i y_i} ≤ c_i, \quad β_{im} ≤ 0 \; (m ≠ y_i)

    ``codes`` are the classes as numbers from 0 to ``n_classes`` − 1. W has a column a class. s is ``intercept_scale``; with ``intercept="none"``
    b = 0. cᵢ is C times the sample's weight.

    >>> import gapless as gl
    >>> from gapless.problems.crammer_singer import CrammerSingerProblem
    >>> problem = CrammerSingerProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2], C=1.0)
    >>> problem
    CrammerSingerProblem(3 x 2 dense, 3 classes, C=1, intercept='regularized')
    >>> result = gl.solve(problem, tol=1e-9)
    >>> result.w.shape, result.predict([[2.0, 0.0], [-2.0, -1.0]]).tolist(), result.certificate.relative_gap <= 1e-9
    ((2, 3), [0, 2], True)
    """

    n_classes: int

    def __init__(
        self,
        X: Any,
        codes: Any,
        n_classes: int | None = None,
        *,
        C: float = 1.0,
        intercept: Intercept = "regularized",
        intercept_scale: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        if intercept not in get_args(Intercept) or intercept == "free":
            raise InvalidInputError(
                f"intercept must be 'regularized' or 'none' for Crammer and Singer's machine; got {intercept!r}."
            )
        for name, value in (("C", C), ("intercept_scale", intercept_scale)):
            if not 0 < value < math.inf:
                raise InvalidInputError(f"{name} must be a positive finite number; got {value!r}.")
        X = check_matrix(X)
        codes, n_classes = check_codes(codes, X.shape[0], n_classes)
        weight = check_weights(sample_weight, X.shape[0])
        object.__setattr__(self, "n_classes", n_classes)
        self._set(
            X=X,
            y=sealed(codes),
            cost=C * weight,
            loss=Hinge(),
            kernel=None,
            intercept=intercept,
            intercept_scale=float(intercept_scale),
            convention="C",
            regularization=float(C),
            total_weight=float(weight.sum()),
            classes=np.arange(n_classes),
        )

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """W = Σ xᵢ βᵢᵀ, a column a class."""
        return np.ascontiguousarray(rmatvec(self.X, beta))

    @property
    def entry_work(self) -> float:
        """The work of one row's products with the weights of all classes, in stored entries of X."""
        return self.n_classes * row_entries(self.rows)

    def __repr__(self) -> str:
        return f"CrammerSingerProblem({self._size}, {self.n_classes} classes, C={self.regularization:g}, intercept={self.intercept!r})"
