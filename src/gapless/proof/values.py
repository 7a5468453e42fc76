"""Decision values with a bound on their error, from which P and D are computed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gapless import _native
from gapless.kernels.rounding import UNIT, sum_depth, terms_of
from gapless.problems.problem import Problem
from gapless.proof.outward import LEAST, MORE, ROUNDINGS


@dataclass
class Values:
    """f = ⟨w, φ(xᵢ)⟩ of all samples, off by at most ``factor`` · ``sizes[i]`` + LEAST.

    In a linear problem ``norm`` is ‖w‖² as computed, within ``norm_error`` of the exact ‖w‖² and within ``square_error`` of βᵀKβ; ``weights_error``
    bounds ‖w − Σ βᵢxᵢ‖. With a kernel ``norm`` is NaN and ``beta`` holds the coefficients of w. ``largest`` is at least every √k(xᵢ, xᵢ).
    """

    w: np.ndarray | None
    f: np.ndarray
    sizes: np.ndarray
    factor: float = 0.0
    norm: float = 0.0
    norm_error: float = 0.0
    square_error: float = 0.0
    weights_error: float = 0.0
    largest: float = 0.0
    beta: np.ndarray | None = None

    @property
    def error(self) -> np.ndarray:
        """The bound on the error of each sample's f."""
        return self.factor * self.sizes + LEAST

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """The four numbers of w that ``_native.proof_bounds`` takes (``Weights`` in native/proof/bounds.hpp)."""
        return self.norm, self.norm_error, self.square_error, self.largest

    @property
    def square(self) -> float:
        """‖w‖² as computed."""
        return self.norm if self.beta is None else float(self.beta @ self.f)

    def above(self, square: float, scale: float = 1.0) -> float:
        """A number that ‖w‖², computed as ``square``, is not above; of scale·w where f and the coefficients have been multiplied by ``scale``."""
        error = scale * scale * self.norm_error
        if self.beta is not None:
            size = np.abs(self.beta)
            used = size > 0
            error = MORE * (
                scale * float(size[used] @ self.error[used]) + 2.0 * UNIT * len(size) * float(size @ np.abs(self.f))
            )
        square *= scale * scale
        return square + error + 4.0 * UNIT * abs(square)


@np.errstate(over="ignore", invalid="ignore")
def values_of_weights(problem: Problem, w: np.ndarray, beta: np.ndarray | None = None) -> Values:
    """The values ⟨w, xᵢ⟩ of a linear problem; where w was computed as Σ βᵢxᵢ, with bounds on the error of that too."""
    g, _ = problem.magnitudes
    norm = float(w @ w)
    norm_error = MORE * UNIT * (len(w) + ROUNDINGS) * norm
    f = problem.expand_weights(w) if norm != 0.0 else np.zeros(problem.n_samples)
    factor = MORE * UNIT * (terms_of(problem.X) + ROUNDINGS) * math.sqrt(norm)
    largest = problem.largest
    if beta is None:
        return Values(w, f, g, factor, norm, norm_error, largest=largest)
    reach = float(g @ np.abs(beta))
    lost = MORE * UNIT * (int(np.count_nonzero(beta)) + ROUNDINGS) * reach
    square_error = norm_error + MORE * lost * (2.0 * math.sqrt(norm) + lost)
    return Values(w, f, g, factor, norm, norm_error, square_error, lost, largest)


def expansion_error(beta: np.ndarray, g: np.ndarray, r: np.ndarray, unit: float = UNIT) -> np.ndarray:
    """A bound on the error of each entry of Kβ as computed, from the magnitudes g and r of the kernel (kernels/rounding.py)."""
    terms = sum_depth(int(np.count_nonzero(beta))) + ROUNDINGS
    return _native.proof_expansion_errors(beta, g, r, MORE * unit, terms)


def values_of_expansion(problem: Problem, beta: np.ndarray, f: np.ndarray) -> Values:
    """The values f = Kβ of a kernel in float64, with a bound on what its entries and sums were rounded by."""
    g, r = problem.magnitudes
    return Values(None, f, expansion_error(beta, g, r), 1.0, math.nan, largest=problem.largest, beta=beta)


def values_of_model(problem: Problem, beta: np.ndarray) -> Values:
    """The values ⟨w, φ(xᵢ)⟩ of a model that is stored as β: w is Σ βᵢφ(xᵢ) in exact arithmetic, and the error bounds are relative to this w."""
    if not problem.is_linear:
        return values_of_expansion(problem, beta, problem.expand(beta))
    values = values_of_weights(problem, problem.weights(beta), beta)
    values.factor += values.weights_error
    values.norm_error = values.square_error
    return values
