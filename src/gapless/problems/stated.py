"""Values of P, D and the Lagrangian at any point, in the convention that a problem was stated in."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from gapless.data import require_memory
from gapless.data.validate import check_shape
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.kernels import Linear
from gapless.problems.conventions import Convention, unit_cost
from gapless.problems.objective import dual_value, lagrangian, primal_value


class StatedValues:
    """P, D, Q and the Lagrangian of a problem, and its values in other conventions."""

    def primal(self: Any, w: Any, b: Any = 0.0) -> float:
        """P(w, b), for every w and b; with a kernel, w is given by its coefficients in the samples.

        >>> import gapless as gl
        >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], lam_sum=3.0, intercept="none")
        >>> problem.primal([0.5])  # (3/2) 0.5² + 2 · 0.5
        1.375
        """
        size = self.n_features if self.is_linear else self.n_samples
        offsets = np.broadcast_to(np.asarray(b, dtype=np.float64), (len(self.totals),))
        return self.scale * primal_value(self, check_shape(w, "w", (size,)), offsets)

    def dual_function(self: Any, alpha: Any, *, anywhere: bool = False) -> float:
        """D(α) in the scaling of the stated problem, Σα − (1/2λ) αᵀQα for (λ/2)‖w‖² + Σξ: −∞ outside of the feasible set.

        With ``anywhere`` it is the number that the formula gives there too. In a regression the argument is β, which is signed.

        >>> import gapless as gl
        >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], lam_sum=3.0, intercept="none")
        >>> problem.dual_function([1.0, 0.5]), problem.dual_function([2.0, 1.0]), problem.dual_function([2.0, 1.0], anywhere=True)
        (1.125, -inf, 1.5)
        """
        return self.scale * dual_value(self, self.signed(alpha), anywhere)

    def signed(self: Any, alpha: Any) -> np.ndarray:
        """β in the internal scaling from α in the stated one: βᵢ = yᵢ αᵢ / ``scale``; in a regression, whose α is signed, βᵢ = αᵢ / ``scale``."""
        alpha = check_shape(alpha, "alpha", (self.n_samples,))
        return (alpha if self.classes is None else self.y * alpha) / self.scale

    @property
    def Q(self: Any) -> np.ndarray:
        """The matrix of the dual, yᵢ yⱼ k(xᵢ, xⱼ), with s² of a regularised intercept added to k: n × n, computed anew each time.

        >>> import gapless as gl
        >>> gl.Problem([[-1.0], [2.0]], [0, 1], intercept="none").Q
        array([[1., 2.],
               [2., 4.]])
        """
        n = self.n_samples
        require_memory(8 * n * n, f"Q has {n:,} x {n:,} entries in float64, which")
        kernel = Linear() if self.kernel is None else self.kernel
        signs = np.ones(n) if self.classes is None else np.asarray(self.y)
        return signs[:, None] * (kernel(self.X, self.X) + self.shift) * signs

    def lagrangian(self: Any, w: Any, b: float, xi: Any, alpha: Any, mu: Any) -> float:
        """L(w, b, ξ, α, μ) of the hinge loss: the stated objective with slacks ξ, less Σ αᵢ(yᵢ f(xᵢ) − 1 + ξᵢ) and Σ μᵢξᵢ.

        >>> import gapless as gl
        >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], C=2.0)
        >>> problem.lagrangian([1.0], 0.0, [0.0, 0.0], [0.5, 0.5], [1.5, 1.5])
        0.5
        """
        if self.loss.name != "hinge":
            raise UnsupportedError(
                f"lagrangian is that of the hinge loss with slacks; this problem has {self.loss.name}."
            )
        n = (self.n_samples,)
        w = check_shape(w, "w", (self.n_features,) if self.is_linear else n)
        xi, alpha, mu = (check_shape(v, name, n) for v, name in ((xi, "xi"), (alpha, "alpha"), (mu, "mu")))
        return self.scale * lagrangian(self, w, float(b), xi, alpha / self.scale, mu / self.scale)

    # --- conventions

    @property
    def unit_cost(self: Any) -> float:
        """The C of the equivalent ½‖w‖² + C Σξ, for a sample of weight one."""
        return unit_cost(self.convention, self.regularization, self.total_weight)

    @property
    def scale(self: Any) -> float:
        """The factor from the value of ½‖w‖² + Σ cᵢ ℓ to the value of the objective as it was stated: λ for (λ/2)‖w‖² + Σξ.

        >>> import gapless as gl
        >>> gl.Problem([[-1.0], [1.0]], [0, 1], lam_sum=3.0).scale
        3.0
        """
        if self.convention in ("C", "C_mean"):
            return 1.0
        return 2.0 * self.regularization if self.convention == "lam_mean_full" else self.regularization

    def in_convention(self: Any, value: float, convention: Convention = "C") -> float:
        """An objective value (or a gap) of the problem as stated, as the formula of another convention gives it.

        >>> import gapless as gl
        >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], C=2.0)
        >>> problem.in_convention(1.0, "lam_mean")
        0.25
        """
        value /= self.scale
        if convention in ("C", "C_mean"):
            return value
        if convention == "lam_sum":
            return value / self.unit_cost
        if convention in ("lam_mean", "lam_mean_full"):
            return value / (self.unit_cost * self.total_weight)
        raise InvalidInputError(f"convention must be one of {', '.join(get_args(Convention))}; got {convention!r}.")
