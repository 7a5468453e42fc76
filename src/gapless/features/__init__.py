"""Feature maps φ as scikit-learn transformers: a linear model on φ(X) is the kernel model with k(x, z) = ⟨φ(x), φ(z)⟩."""

from gapless.features.distance import Distance
from gapless.features.fourier import RandomFourier
from gapless.features.network import NetworkFeatures
from gapless.features.nystroem import Nystroem
from gapless.features.polar import Polar
from gapless.features.polynomial import Polynomial

__all__ = ["Distance", "NetworkFeatures", "Nystroem", "Polar", "Polynomial", "RandomFourier"]
