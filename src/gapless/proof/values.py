"""Decision values with a bound on their error: what P and D are computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gapless import _native
from gapless.kernels.rounding import UNIT, sum_depth, terms_of
from gapless.problems.problem import Problem

_MORE = 1.05  # for products of small errors, which the formulas leave out
_ROUNDINGS = 16  # beside those of a sum's terms: of these one is left for the rounding of a multiple of β (native/proof/bounds.cpp)
LEAST = 1e-290
"""What underflows elsewhere."""


@dataclass
class Values:
    """f = ⟨w, φ(xᵢ)⟩ of all samples, off by at most ``factor`` times the sample's ``size`` (and LEAST).

    ``norm`` is ‖w‖² of a linear problem's w as it stands (NaN where K alone is known), off by ``norm_error``, and by ``square_error`` from βᵀKβ;
    ``weights_error`` bounds ‖w − Σ βᵢxᵢ‖. ``largest`` is the largest √k(xᵢ, xᵢ), ``beta`` the coefficients where K alone is known.
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
        """The bound of each sample."""
        return self.factor * self.sizes + LEAST

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """What the native bounds take."""
        return self.norm, self.norm_error, self.square_error, self.largest

    @property
    def square(self) -> float:
        """‖w‖²."""
        return self.norm if self.beta is None else float(self.beta @ self.f)

    def above(self, square: float, scale: float = 1.0) -> float:
        """A number that ‖w‖², computed as ``square``, is not above; of scale·w where f and the coefficients have been multiplied by ``scale``."""
        error = scale * scale * self.norm_error
        if self.beta is not None:
            size = np.abs(self.beta)
            used = size > 0
            error = _MORE * (
                scale * float(size[used] @ self.error[used]) + 2.0 * UNIT * len(size) * float(size @ np.abs(self.f))
            )
        square *= scale * scale
        return square + error + 4.0 * UNIT * abs(square)


@np.errstate(over="ignore", invalid="ignore")
def values_of_weights(problem: Problem, w: np.ndarray, beta: np.ndarray | None = None) -> Values:
    """⟨w, xᵢ⟩; where w was computed as Σ βᵢxᵢ, also how far it is from that."""
    g, _ = problem.magnitudes
    norm = float(w @ w)
    norm_error = _MORE * UNIT * (len(w) + _ROUNDINGS) * norm
    f = problem.expand_weights(w) if norm != 0.0 else np.zeros(problem.n_samples)
    factor = _MORE * UNIT * (terms_of(problem.X) + _ROUNDINGS) * math.sqrt(norm)
    largest = problem.largest
    if beta is None:
        return Values(w, f, g, factor, norm, norm_error, largest=largest)
    reach = float(g @ np.abs(beta))
    lost = _MORE * UNIT * (int(np.count_nonzero(beta)) + _ROUNDINGS) * reach
    square_error = norm_error + _MORE * lost * (2.0 * math.sqrt(norm) + lost)
    return Values(w, f, g, factor, norm, norm_error, square_error, lost, largest)


def expansion_error(beta: np.ndarray, g: np.ndarray, r: np.ndarray, unit: float = UNIT) -> np.ndarray:
    """How far a computed Kβ is from the exact one, by the magnitudes of the kernel (kernels/rounding.py)."""
    terms = sum_depth(int(np.count_nonzero(beta))) + _ROUNDINGS
    return _native.proof_expansion_errors(beta, g, r, _MORE * unit, terms)


def values_of_expansion(problem: Problem, beta: np.ndarray, f: np.ndarray) -> Values:
    """f = Kβ in float64, whose entries and sums round."""
    g, r = problem.magnitudes
    return Values(None, f, expansion_error(beta, g, r), 1.0, math.nan, largest=problem.largest, beta=beta)


def values_of_model(problem: Problem, beta: np.ndarray) -> Values:
    """⟨w, φ(xᵢ)⟩ of the model w = Σ βᵢφ(xᵢ), in exact arithmetic, whose coefficients are all that is stored of it."""
    if not problem.is_linear:
        return values_of_expansion(problem, beta, problem.expand(beta))
    values = values_of_weights(problem, problem.weights(beta), beta)
    values.factor += values.weights_error
    values.norm_error = values.square_error
    return values
