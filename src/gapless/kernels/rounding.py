r"""How large a kernel's entries are, and how far computed entries may be from the exact ones: two numbers for each sample.

With u the relative error of one operation, :math:`2^{-53}` in float64, :func:`magnitudes` returns g and r such that for all samples

.. math::  |k(x, z)| ≤ g(x) g(z), \qquad |\hat k(x, z) - k(x, z)| ≤ u (r(x) g(z) + g(x) r(z)),

where k̂ are the entries that the panels (or ``Kernel.block``) compute or, with another u, the entries with twice the digits
(native/proof/twofold_kernel.hpp). From g and r, a bound on the error of Kβ takes two sums over the samples. The bounds are generous: an inner product
of d terms errs by at most (d + 2) u ‖x‖ ‖z‖; squares come from Cauchy and Schwarz, as in (γ‖x‖‖z‖ + |c|)² ≤ (γ‖x‖² + |c|)(γ‖z‖² + |c|). The values of
a function that the user gives are exact by definition.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np
import scipy.sparse as sp

from gapless.data import rows
from gapless.kernels.algebra import Constant, Exp, KernelPolynomial, Power, Product, Scaled, Sum
from gapless.kernels.base import Kernel
from gapless.kernels.custom import FeatureMapKernel, Precomputed
from gapless.kernels.dot import Chi2, Cosine, Linear, Polynomial, Sigmoid
from gapless.kernels.pairwise import CLOSE, Matrix, as_float64, squared_norms
from gapless.kernels.stationary import RBF, Laplacian, Matern

UNIT = 2.0**-53
"""u: the relative error of one operation in float64."""

_MORE = 1.05  # covers the products of two small errors, which the formulas below leave out
_ROUNDINGS = 12.0  # the roundings of an inner product besides its terms': moving the origin, scaling, adding norms
_FUNCTION = 16.0  # the roundings of an exponential or a hyperbolic tangent, of the compiled core or of NumPy
_CANCELLATION = 1.0 / CLOSE  # by how much cancellation enlarges the error of a distance at most, see pairwise.py

# A smaller bound is looked for where the error of the exponent is this many times the error of the exponential itself; by hand: it only saves time.
_MUCH = 1000.0
_FEW = 32  # the mean of so many rows serves in place of the mean of all rows: any origin gives a valid bound, a near one a small bound
_LOST = 0.01  # where the exponent has a larger error than this, no bound is given: the series behind the bound needs a small error

Magnitudes = tuple[np.ndarray, np.ndarray]


@singledispatch
def magnitudes(kernel: Kernel, X: Matrix, unit: float = UNIT) -> Magnitudes:
    """The numbers (g, r) of each row of X, as the head of this module defines them.

    >>> import numpy as np
    >>> from gapless.kernels import Linear
    >>> g, r = magnitudes(Linear(), np.array([[3.0, 4.0]]))
    >>> g, bool(r[0] > 0)
    (array([5.]), True)
    """
    g = np.sqrt(np.maximum(kernel.diag(X), 0.0))
    return g, np.zeros_like(g)


def terms_of(X: Matrix) -> int:
    """The largest number of terms in an inner product of two rows."""
    if sp.issparse(X):
        return int(np.diff(X.indptr).max(initial=0))
    return int(X.shape[1])


def _half(X: Matrix) -> float:
    """Half of the roundings of an inner product: each of its two samples accounts for one half."""
    return 0.5 * (terms_of(X) + _ROUNDINGS) * _MORE


@magnitudes.register
def _(kernel: Linear, X: Matrix, unit: float = UNIT) -> Magnitudes:
    return linear_magnitudes(X, squared_norms(X))


def linear_magnitudes(X: Matrix, squared_norms: np.ndarray) -> Magnitudes:
    """(g, r) of the linear kernel, where the squared norms of the rows are known already."""
    g = np.sqrt(squared_norms)
    return g, _half(X) * g


@magnitudes.register
def _(kernel: Polynomial, X: Matrix, unit: float = UNIT) -> Magnitudes:
    size = abs(float(kernel.gamma)) * squared_norms(X) + abs(float(kernel.coef0))
    with np.errstate(over="ignore"):
        g = size ** (0.5 * kernel.degree)
    return g, kernel.degree * (_half(X) + 2.0) * g


@magnitudes.register
def _(kernel: Sigmoid, X: Matrix, unit: float = UNIT) -> Magnitudes:
    size = abs(float(kernel.gamma)) * squared_norms(X) + abs(float(kernel.coef0))
    return np.ones_like(size), np.minimum(_half(X) * size + _FUNCTION, 1.0 / unit)


@magnitudes.register
def _(kernel: RBF, X: Matrix, unit: float = UNIT) -> Magnitudes:
    """Panels expand the square of a distance, so that its error is relative to the norms; an error of the exponent is a relative error of k."""
    g = np.ones(X.shape[0])
    if unit != UNIT:
        return g, _by_differences(X)
    roundings = 2.0 * _half(X) * float(kernel.gamma)
    r = _MORE * (roundings * _far(X, _MUCH * _FUNCTION / max(roundings, UNIT)) + _FUNCTION)
    return g, np.minimum(r, 1.0 / unit)  # no error is larger than the largest entry, which is 1


def _by_differences(X: Matrix) -> np.ndarray:
    """r of exp(−t) where t is a sum over the features of differences, as it is with twice the digits; t exp(−t) ≤ 1/e bounds the error."""
    return np.full(X.shape[0], 2.0 * (X.shape[1] + _ROUNDINGS) + _FUNCTION)


def distance_magnitudes(X: Matrix) -> Magnitudes:
    """(g, r) of a Gaussian kernel whose entries are computed from squared distances (native/kernels/distances.hpp).

    A sum of d squared differences has a relative error of (d + 3) u, the product with γ adds 2 u, and t exp(−t) ≤ 1/e; the exponential is off by 3 u.
    """
    n, d = X.shape
    return np.ones(n), np.full(n, 0.5 * _MORE * ((d + 5.0) / np.e + 3.0))


def _far(X: Matrix, enough: float) -> np.ndarray:
    """A bound on ‖x − c‖² for every origin c that the panels may choose: zero for sparse rows; for dense rows a mean of some of them, or zero.

    Any mean of rows is no further from another point (here the mean of a few rows) than the row that is furthest from that point, which gives the
    bound. Where the norms themselves are at most ``enough``, the point zero is as good.
    """
    squares = _squared_norms(X)
    if not sp.issparse(X) and 4.0 * float(squares.max(initial=0.0)) > enough:
        squares = _squared_norms(X - X[:: 1 + len(X) // _FEW].mean(axis=0, dtype=np.float64))
    norms = np.sqrt(squares)
    norms += float(norms.max(initial=0.0))
    return np.square(norms, out=norms)


def _squared_norms(X: Matrix) -> np.ndarray:
    return rows.squared_norms(rows.as_rows(X if X.dtype.char in "fd" else as_float64(X)), X.shape[0])


@magnitudes.register
def _(kernel: Laplacian, X: Matrix, unit: float = UNIT) -> Magnitudes:
    """Panels scale the rows before they take differences (sums, of sparse rows), so that errors are relative to the rows and not to the distance."""
    g, r = np.ones(X.shape[0]), _by_differences(X)
    if unit != UNIT:
        return g, r
    norms = np.asarray(abs(X).sum(axis=1, dtype=np.float64)).ravel()
    roundings = 2.0 * _half(X) if sp.issparse(X) else 6.0
    return g, np.minimum(_MORE * (roundings * float(kernel.gamma) * norms + r), 1.0 / unit)


@magnitudes.register
def _(kernel: Matern, X: Matrix, unit: float = UNIT) -> Magnitudes:
    g = np.ones(X.shape[0])
    return g, np.full_like(g, _CANCELLATION * 2.0 * _half(X) + _FUNCTION)


@magnitudes.register
def _(kernel: Cosine, X: Matrix, unit: float = UNIT) -> Magnitudes:
    g = np.ones(X.shape[0])
    return g, np.full_like(g, 2.0 * _half(X) + _FUNCTION)


@magnitudes.register
def _(kernel: Chi2, X: Matrix, unit: float = UNIT) -> Magnitudes:
    g = np.ones(X.shape[0])
    return g, np.full_like(g, 0.5 * (X.shape[1] + _ROUNDINGS) + _FUNCTION)


@magnitudes.register
def _(kernel: Constant, X: Matrix, unit: float = UNIT) -> Magnitudes:
    g = np.full(X.shape[0], np.sqrt(float(kernel.value)) * (1.0 + 4.0 * UNIT))
    return g, np.zeros_like(g)


@magnitudes.register
def _(kernel: Precomputed, X: Matrix, unit: float = UNIT) -> Magnitudes:
    """The entries are given; the difference between an entry and its mirror image counts as an error of both."""
    places, gram = kernel.indices(X), kernel.gram
    # |K_ij| is at most the largest entry of either row.
    g = np.sqrt(np.maximum(gram.max(axis=1), -gram.min(axis=1)).astype(np.float64)[places])
    if kernel.asymmetry == 0:
        return g, np.zeros_like(g)
    return g, np.divide(0.5 * kernel.asymmetry / unit, g, out=np.full_like(g, np.inf), where=g > 0)


@magnitudes.register
def _(kernel: FeatureMapKernel, X: Matrix, unit: float = UNIT) -> Magnitudes:
    """The features are exact as the map returns them; their inner products round."""
    return magnitudes(Linear(), kernel.features(X), unit)


@magnitudes.register
def _(kernel: Sum, X: Matrix, unit: float = UNIT) -> Magnitudes:
    (g, r), (h, s) = magnitudes(kernel.left, X, unit), magnitudes(kernel.right, X, unit)
    both = np.hypot(g, h)
    return both, np.hypot(r, s) + both


@magnitudes.register
def _(kernel: Product, X: Matrix, unit: float = UNIT) -> Magnitudes:
    return _product(magnitudes(kernel.left, X, unit), magnitudes(kernel.right, X, unit))


def _product(one: Magnitudes, other: Magnitudes) -> Magnitudes:
    (g, r), (h, s) = one, other
    with np.errstate(over="ignore", invalid="ignore"):
        return g * h, np.nan_to_num(_MORE * (g * s + h * r) + g * h, nan=np.inf, posinf=np.inf)


@magnitudes.register
def _(kernel: Scaled, X: Matrix, unit: float = UNIT) -> Magnitudes:
    g, r = magnitudes(kernel.kernel, X, unit)
    root = np.sqrt(float(kernel.scale)) * (1.0 + 4.0 * UNIT)
    return root * g, root * (r + g)


@magnitudes.register
def _(kernel: Power, X: Matrix, unit: float = UNIT) -> Magnitudes:
    return _power(magnitudes(kernel.kernel, X, unit), int(kernel.exponent))


def _power(part: Magnitudes, exponent: int) -> Magnitudes:
    g, r = part
    with np.errstate(over="ignore", invalid="ignore"):
        return g**exponent, np.nan_to_num(
            _MORE * exponent * g ** (exponent - 1) * (r + 2.0 * g), nan=np.inf, posinf=np.inf
        )


@magnitudes.register
def _(kernel: KernelPolynomial, X: Matrix, unit: float = UNIT) -> Magnitudes:
    part = magnitudes(kernel.kernel, X, unit)
    g2, r2 = np.zeros(X.shape[0]), np.zeros(X.shape[0])
    for m, coefficient in enumerate(kernel.coefficients):
        root = np.sqrt(float(coefficient))
        g, r = _power(part, m) if m else (np.ones_like(part[0]), np.zeros_like(part[0]))
        g2 += (root * g) ** 2
        r2 += (root * (r + 2.0 * len(kernel.coefficients) * g)) ** 2
    return np.sqrt(g2), np.sqrt(r2)


@magnitudes.register
def _(kernel: Exp, X: Matrix, unit: float = UNIT) -> Magnitudes:
    g, r = magnitudes(kernel.kernel, X, unit)
    largest, roughest = float(g.max(initial=0.0)), float(r.max(initial=0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.exp(0.5 * g * g)
        if not unit * roughest * largest < _LOST:
            return size, np.full_like(size, np.inf)
        # The bound r(x) g(z) ≤ ½ (r(x)²/t + t g(z)²), for any t > 0, splits the product into a part of each sample.
        t = roughest / largest if largest > 0 and roughest > 0 else 1.0
        return size, np.nan_to_num(
            size * (_MORE * 0.5 * (r * r / t + t * g * g) + _FUNCTION), nan=np.inf, posinf=np.inf
        )


def sum_depth(terms: int) -> int:
    """The most roundings that one term goes through in a sum of panels: within a tile of up to 256 terms, then in the sum of the tiles (node.cpp)."""
    return min(terms, 400 + terms // 64)
