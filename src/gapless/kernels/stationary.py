"""Kernels that depend on x and z only through their distance."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from gapless.errors import InvalidInputError
from gapless.kernels.base import Kernel, Validity
from gapless.kernels.pairwise import Matrix, euclidean_distances, manhattan_distances, squared_distances
from gapless.kernels.parameters import check_nonnegative, check_positive, is_number

# Distances are cut to this one: exp(-1000) is zero in float64, so that the kernel is zero from here on, but zero times the polynomial of an infinite
# distance would be NaN.
_FAR = 1e3


class Stationary(Kernel):
    r"""The base of kernels :math:`k(x, z) = g(d(x, z))` of a distance d: a subclass defines g as ``profile``.

    The distance is Euclidean; a subclass sets another one by ``distances = staticmethod(…)``, a function of X and Z.

    Examples
    --------
    >>> from gapless.kernels import Stationary
    >>> class InverseQuadratic(Stationary):
    ...     def profile(self, D):
    ...         return 1 / (1 + D * D)
    >>> InverseQuadratic()([[0.0], [2.0]])
    array([[1. , 0.2],
           [0.2, 1. ]])
    """

    validity = Validity.BY_CONSTRUCTION
    distances = staticmethod(euclidean_distances)

    @abstractmethod
    def profile(self, D: np.ndarray) -> np.ndarray:
        """g of every distance in the array D, which may be overwritten."""

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        return self.profile(self.distances(X, Z))

    def diag(self, X: Matrix) -> np.ndarray:
        return self.profile(np.zeros(X.shape[0]))


class RBF(Stationary):
    r""":math:`k(x, z) = \exp(-\gamma\lVert x - z\rVert^2)`, also called Gaussian.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, at least 0: the larger, the narrower the kernel.

    Examples
    --------
    >>> from gapless.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]])
    array([[1.        , 0.36787944],
           [0.36787944, 1.        ]])
    """

    distances = staticmethod(squared_distances)

    def __init__(self, gamma: float = 1.0) -> None:
        check_nonnegative("gamma", gamma)
        self.gamma = gamma

    def profile(self, D: np.ndarray) -> np.ndarray:
        D *= -self.gamma
        return np.exp(D, out=D)


class Laplacian(Stationary):
    r""":math:`k(x, z) = \exp(-\gamma\lVert x - z\rVert_1)`, with the sum of absolute differences.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, at least 0: the larger, the narrower the kernel.

    Examples
    --------
    >>> from gapless.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]])
    array([[1.        , 0.36787944],
           [0.36787944, 1.        ]])
    """

    distances = staticmethod(manhattan_distances)

    def __init__(self, gamma: float = 1.0) -> None:
        check_nonnegative("gamma", gamma)
        self.gamma = gamma

    def profile(self, D: np.ndarray) -> np.ndarray:
        D *= -self.gamma
        return np.exp(D, out=D)


class Matern(Stationary):
    r"""The Matérn kernel of smoothness ν, with :math:`r = \lVert x - z\rVert / \ell`.

    The kernel is :math:`e^{-r}` for ν = ½, :math:`(1 + \sqrt3 r)e^{-\sqrt3 r}` for 3/2, :math:`(1 + \sqrt5 r + \tfrac53 r^2)e^{-\sqrt5 r}`
    for 5/2, and in the limit :math:`e^{-r^2/2}` for ν = ∞.

    Parameters
    ----------
    length_scale : float, default 1.0
        ℓ, above 0: the larger, the wider the kernel.
    nu : {0.5, 1.5, 2.5, inf}, default 1.5
        ν, the smoothness.

    Examples
    --------
    >>> from gapless.kernels import Matern
    >>> Matern(length_scale=2.0, nu=0.5)([[0.0], [2.0]])
    array([[1.        , 0.36787944],
           [0.36787944, 1.        ]])
    """

    def __init__(self, length_scale: float = 1.0, nu: float = 1.5) -> None:
        check_positive("length_scale", length_scale)
        if not _is_matern_order(nu):
            raise InvalidInputError(f"nu must be 0.5, 1.5, 2.5 or inf; got {nu!r}.")
        self.length_scale = length_scale
        self.nu = nu

    def profile(self, D: np.ndarray) -> np.ndarray:
        D /= self.length_scale
        if math.isinf(self.nu):
            D *= D
            D *= -0.5
            return np.exp(D, out=D)
        D *= math.sqrt(2 * self.nu)
        np.minimum(D, _FAR, out=D)
        K = np.exp(-D)
        if self.nu == 1.5:
            D += 1
            K *= D
        elif self.nu == 2.5:
            K *= 1 + D + D * D / 3
        return K


def _is_matern_order(nu: Any) -> bool:
    return is_number(nu) and nu in (0.5, 1.5, 2.5, math.inf)
