"""Kernels of the inner product ⟨x, z⟩, and two kernels for directions and histograms."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import additive_chi2_kernel

from gapless.errors import InvalidInputError
from gapless.kernels.algebra import natural_power
from gapless.kernels.base import Kernel, Validity
from gapless.kernels.pairwise import Matrix, as_dense, inner_products, squared_norms
from gapless.kernels.parameters import MOST_POWER, check_finite, check_natural, check_nonnegative


class DotProduct(Kernel):
    r"""The base of kernels :math:`k(x, z) = g(\langle x, z\rangle)`: a subclass defines g as ``profile``, and its ``validity``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import DotProduct, Validity
    >>> class Cosh(DotProduct):
    ...     validity = Validity.BY_CONSTRUCTION
    ...     def profile(self, G):
    ...         return np.cosh(G, out=G)
    >>> Cosh()([[0.0, 1.0]])
    array([[1.54308063]])
    """

    @abstractmethod
    def profile(self, G: np.ndarray) -> np.ndarray:
        """g of every inner product in the array G, which may be overwritten."""

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        return self.profile(inner_products(X, Z))

    def diag(self, X: Matrix) -> np.ndarray:
        return self.profile(squared_norms(X))


class Linear(DotProduct):
    r""":math:`k(x, z) = \langle x, z\rangle`.

    >>> from gapless.kernels import Linear
    >>> Linear()([[1.0, 2.0], [3.0, 0.0]])
    array([[5., 3.],
           [3., 9.]])
    """

    validity = Validity.BY_CONSTRUCTION

    def profile(self, G: np.ndarray) -> np.ndarray:
        return G


class Polynomial(DotProduct):
    r""":math:`k(x, z) = (\gamma\langle x, z\rangle + c_0)^p`: its features are all monomials up to degree p, when :math:`\gamma, c_0 \ge 0`.

    With a negative γ or c₀ the kernel is not valid (``validity`` says so), and no dual value bounds the optimum.

    Parameters
    ----------
    degree : int, default 3
        p, at least 1.
    gamma : float, default 1.0
        γ, the factor of the inner product.
    coef0 : float, default 1.0
        c₀, the constant term.

    Examples
    --------
    >>> from gapless.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0], [3.0, 0.0]])
    array([[ 36.,  16.],
           [ 16., 100.]])
    >>> Polynomial(degree=2, coef0=-1.0).validity.value
    'not positive semi-definite in general'
    """

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        check_natural("degree", degree, MOST_POWER)
        check_finite("gamma", gamma)
        check_finite("coef0", coef0)
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def validity(self) -> Validity:
        return Validity.BY_CONSTRUCTION if self.gamma >= 0 and self.coef0 >= 0 else Validity.NOT_VALID

    def profile(self, G: np.ndarray) -> np.ndarray:
        G *= self.gamma
        G += self.coef0
        return natural_power(G, self.degree)


class Sigmoid(DotProduct):
    r""":math:`k(x, z) = \tanh(\gamma\langle x, z\rangle + c_0)`, which is not positive semi-definite in general.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, the factor of the inner product.
    coef0 : float, default 1.0
        c₀, the constant term.

    Examples
    --------
    >>> from gapless.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5, coef0=0.0)([[1.0, 1.0]])
    array([[0.76159416]])
    """

    validity = Validity.NOT_VALID

    def __init__(self, gamma: float = 1.0, coef0: float = 1.0) -> None:
        check_finite("gamma", gamma)
        check_finite("coef0", coef0)
        self.gamma = gamma
        self.coef0 = coef0

    def profile(self, G: np.ndarray) -> np.ndarray:
        G *= self.gamma
        G += self.coef0
        return np.tanh(G, out=G)


class Cosine(Kernel):
    r""":math:`k(x, z) = \langle x, z\rangle / (\lVert x\rVert\lVert z\rVert)`, and 0 where x or z is zero.

    >>> from gapless.kernels import Cosine
    >>> Cosine()([[3.0, 0.0], [4.0, 4.0], [0.0, 0.0]])
    array([[1.        , 0.70710678, 0.        ],
           [0.70710678, 1.        , 0.        ],
           [0.        , 0.        , 0.        ]])
    """

    validity = Validity.BY_CONSTRUCTION

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        K = inner_products(X, Z)
        K /= _norms_or_one(X)[:, None]
        K /= _norms_or_one(Z)
        return K

    def diag(self, X: Matrix) -> np.ndarray:
        return (squared_norms(X) > 0).astype(np.float64)


class Chi2(Kernel):
    r""":math:`k(x, z) = \exp\bigl(-\gamma\sum_j (x_j - z_j)^2 / (x_j + z_j)\bigr)` for non-negative data, such as histograms.

    A term with :math:`x_j = z_j = 0` counts as 0. Sparse data is made dense, a block at a time.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, at least 0: the larger, the narrower the kernel.

    Examples
    --------
    >>> from gapless.kernels import Chi2
    >>> Chi2(gamma=0.5)([[1.0, 0.0], [0.0, 1.0]])
    array([[1.        , 0.36787944],
           [0.36787944, 1.        ]])
    """

    validity = Validity.BY_CONSTRUCTION

    def __init__(self, gamma: float = 1.0) -> None:
        check_nonnegative("gamma", gamma)
        self.gamma = gamma

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        _check_no_negative_entry(X)
        _check_no_negative_entry(Z)
        K = additive_chi2_kernel(_writable(X), _writable(Z))
        K *= self.gamma
        return np.exp(K, out=K)

    def diag(self, X: Matrix) -> np.ndarray:
        _check_no_negative_entry(X)
        return np.ones(X.shape[0])


def _norms_or_one(X: Matrix) -> np.ndarray:
    norms = np.sqrt(squared_norms(X))
    norms[norms == 0] = 1.0
    return norms


def _writable(X: Matrix) -> np.ndarray:
    # scikit-learn's loop refuses read-only arrays, though it only reads them.
    return np.require(as_dense(X), requirements="W")


def _check_no_negative_entry(X: Matrix) -> None:
    entries = X.data if sp.issparse(X) else X
    if entries.size and entries.min() < 0:
        raise InvalidInputError(f"Chi2 needs data without negative entries; the smallest is {entries.min():g}.")
