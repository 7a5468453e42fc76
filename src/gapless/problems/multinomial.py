"""Logistic regression of several classes at once, with or without a kernel.

The dual has one block pᵢ a sample: the probabilities of its classes. It follows from log Σ exp f_m = max over p in the simplex of
⟨p, f⟩ − Σ p log p: with β = c (e_y − p) the minimum over W is at w_m = Σ βᵢ_m φ(xᵢ), and free offsets make every column of β sum to zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gapless.data import check_matrix, check_weights
from gapless.data.products import matvec, rmatvec
from gapless.data.rows import sealed
from gapless.data.validate import check_codes
from gapless.errors import InvalidInputError
from gapless.kernels import Kernel
from gapless.kernels.gram import blocks
from gapless.losses import Logistic
from gapless.problems.problem import Intercept, Problem


class MultinomialProblem(Problem):
    r"""Multinomial logistic regression: one function a class; the probabilities of the classes are the softmax of the functions.

    .. math::

        \min_{W, b} \; P = ½ \sum_m ‖w_m‖² + \sum_i c_i \bigl( \log \sum_m \exp f_m(x_i) - f_{y_i}(x_i) \bigr), \qquad f_m(x) = ⟨w_m, φ(x)⟩ + b_m

        \max_{p} \; D = - \sum_i c_i \sum_m p_{im} \log p_{im} - ½ \sum_m β_m^⊤ K β_m, \qquad β_i = c_i (e_{y_i} - p_i), \quad p_i ∈ Δ,
        \qquad \sum_i β_{im} = 0 \text{ where b is free}

    ``codes`` are the classes as numbers from 0 to ``n_classes`` − 1. cᵢ is C times the sample's weight; ``intercept`` is ``"free"`` or ``"none"``.
    A number added to all offsets changes nothing, so that they are taken to sum to zero.

    >>> import gapless as gl
    >>> from gapless.problems.multinomial import MultinomialProblem
    >>> problem = MultinomialProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2], kernel=gl.kernels.RBF(), C=10.0)
    >>> problem
    MultinomialProblem(3 x 2 dense, 3 classes, RBF(gamma=1.0), C=10, intercept='free')
    >>> result = gl.solve(problem, tol=1e-9)
    >>> result.predict([[2.0, 0.0], [-2.0, -1.0]]).tolist(), result.certificate.relative_gap <= 1e-9
    ([0, 2], True)
    """

    n_classes: int

    def __init__(
        self,
        X: Any,
        codes: Any,
        n_classes: int | None = None,
        *,
        kernel: Kernel | None = None,
        C: float = 1.0,
        intercept: Intercept = "free",
        sample_weight: Any = None,
    ) -> None:
        if intercept not in ("free", "none"):
            raise InvalidInputError(
                f"intercept must be 'free' or 'none' for multinomial regression; got {intercept!r}."
            )
        if kernel is not None and not isinstance(kernel, Kernel):
            raise InvalidInputError(f"kernel must be a kernel of gapless.kernels or None for linear; got {kernel!r}.")
        if not 0 < C < math.inf:
            raise InvalidInputError(f"C must be a positive finite number; got {C!r}.")
        X = check_matrix(X)
        codes, n_classes = check_codes(codes, X.shape[0], n_classes)
        weight = check_weights(sample_weight, X.shape[0])
        if intercept == "free" and (np.bincount(codes, weights=weight, minlength=n_classes) == 0).any():
            raise InvalidInputError(
                "codes must name every class: one without samples of positive weight has no best offset."
            )
        object.__setattr__(self, "n_classes", n_classes)
        self._set(
            X=X,
            y=sealed(codes),
            cost=C * weight,
            loss=Logistic(),
            kernel=kernel,
            intercept=intercept,
            intercept_scale=1.0,
            convention="C",
            regularization=float(C),
            total_weight=float(weight.sum()),
            classes=np.arange(n_classes),
        )

    @property
    def targets(self) -> np.ndarray:
        """Σ cᵢ over the samples of each class: at the best offsets column m of cᵢ pᵢₘ has this sum."""
        return np.bincount(self.y, weights=self.cost, minlength=self.n_classes)

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """W = Σ xᵢ βᵢᵀ of a linear problem, a column a class."""
        return np.column_stack([rmatvec(self.X, column) for column in beta.T])

    def expand(self, beta: np.ndarray, X: Any = None) -> np.ndarray:
        """Σⱼ k(xᵢ, xⱼ) βⱼ for each row of X (the training samples if None); the result has a column for each column of β."""
        X = self.X if X is None else X
        if self.kernel is None:
            return np.column_stack([matvec(X, w) for w in self.weights(beta).T])
        out = np.zeros((X.shape[0], beta.shape[1]))
        support = np.flatnonzero(beta.any(axis=1))
        if len(support):
            for part, block in blocks(self.kernel, X, self.X[support]):
                out[part] = block @ beta[support]
        return out

    def __repr__(self) -> str:
        kernel = "linear" if self.kernel is None else repr(self.kernel)
        return f"MultinomialProblem({self._size}, {self.n_classes} classes, {kernel}, C={self.regularization:g}, intercept={self.intercept!r})"
