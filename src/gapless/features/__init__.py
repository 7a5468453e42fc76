"""Feature maps φ as scikit-learn transformers: linear on φ(X) is the kernel model with k(x, z) = ⟨φ(x), φ(z)⟩."""

from gapless.features.distance import Distance
from gapless.features.polar import Polar
from gapless.features.polynomial import Polynomial

__all__ = ["Distance", "Polar", "Polynomial"]
