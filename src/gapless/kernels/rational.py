"""Kernel entries without rounding: floats are whole numbers over a power of two, and so are the sums and products of floats."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gapless.kernels.algebra import Constant, KernelPolynomial, Power, Product, Scaled, Sum
from gapless.kernels.base import Kernel
from gapless.kernels.custom import FeatureMapKernel, FunctionKernel, Precomputed
from gapless.kernels.dot import Linear, Polynomial
from gapless.kernels.pairwise import Matrix


class Dyadic(NamedTuple):
    """An array of ``numbers`` · 2^−bits; the numbers are Python's integers, which cannot overflow, and ``bits`` may be negative.

    >>> import numpy as np
    >>> whole_numbers(np.array([0.5, 3.0]))
    Dyadic(numbers=array([1, 6], dtype=object), bits=1)
    """

    numbers: np.ndarray
    bits: int

    def plus(self, other: Dyadic) -> Dyadic:
        """The sum, entry by entry."""
        bits = max(self.bits, other.bits)
        left, right = (each.numbers << (bits - each.bits) for each in (self, other))
        return Dyadic(left + right, bits)

    def times(self, other: Dyadic) -> Dyadic:
        """The product, entry by entry."""
        return Dyadic(self.numbers * other.numbers, self.bits + other.bits)

    def power(self, n: int) -> Dyadic:
        """The natural power of every entry."""
        return Dyadic(self.numbers**n, self.bits * n)

    def at(self, other: Dyadic) -> Dyadic:
        """The matrix product."""
        return Dyadic(self.numbers @ other.numbers, self.bits + other.bits)


def whole_numbers(values: np.ndarray) -> Dyadic:
    """The exact values of finite floats (float32 or float64), over their smallest common power of two."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    used = whole != 0
    if not used.any():
        return Dyadic(whole.astype(object), 0)
    zeros = np.where(used, np.frexp((whole & -whole).astype(np.float64))[1] - 1, 0)  # trailing zeros in binary
    whole >>= zeros
    exponents = exponents.astype(np.int64) - 53 + zeros
    least = int(exponents[used].min())
    return Dyadic(whole.astype(object) << np.where(used, exponents - least, 0).astype(object), -least)


def whole_rows(X: Matrix) -> Dyadic:
    """The rows of a matrix as whole numbers; a sparse matrix is made dense."""
    return whole_numbers(X.toarray() if sp.issparse(X) else X)


@singledispatch
def rational_block(kernel: Kernel, X: Matrix, Z: Matrix) -> Dyadic | None:
    """k(xᵢ, zⱼ) for all rows in exact arithmetic, or None where the kernel's values are not rational.

    The features that a map returns, the values of a function and the entries of a Gram matrix count as exact; a function or a Gram matrix that is not
    symmetric gives None.

    >>> import numpy as np
    >>> from gapless.kernels import RBF, Polynomial
    >>> X = np.array([[0.5], [1.0]])
    >>> rational_block(Polynomial(degree=2), X, X)
    Dyadic(numbers=array([[25, 36],
           [36, 64]], dtype=object), bits=4)
    >>> rational_block(RBF(), X, X) is None
    True
    """
    return None


def _number(value: float) -> Dyadic:
    return whole_numbers(np.array(float(value)).reshape(1, 1))


@rational_block.register
def _(kernel: Linear, X: Matrix, Z: Matrix) -> Dyadic | None:
    if sp.issparse(X) and sp.issparse(Z):
        used = np.unique(Z.indices)
        X, Z = X[:, used], Z[:, used]
    rows = whole_rows(Z)
    return whole_rows(X).at(Dyadic(rows.numbers.T, rows.bits))


@rational_block.register
def _(kernel: Polynomial, X: Matrix, Z: Matrix) -> Dyadic | None:
    inner = rational_block(Linear(), X, Z)
    assert inner is not None
    return inner.times(_number(kernel.gamma)).plus(_number(kernel.coef0)).power(kernel.degree)


@rational_block.register
def _(kernel: Constant, X: Matrix, Z: Matrix) -> Dyadic | None:
    value = _number(kernel.value)
    return Dyadic(np.full((X.shape[0], Z.shape[0]), value.numbers[0, 0], dtype=object), value.bits)


@rational_block.register
def _(kernel: Precomputed, X: Matrix, Z: Matrix) -> Dyadic | None:
    return None if kernel.asymmetry else whole_numbers(kernel.block(X, Z))


@rational_block.register
def _(kernel: FunctionKernel, X: Matrix, Z: Matrix) -> Dyadic | None:
    K = kernel.block(X, Z)
    return whole_numbers(K) if np.isfinite(K).all() and np.array_equal(K, kernel.block(Z, X).T) else None


@rational_block.register
def _(kernel: FeatureMapKernel, X: Matrix, Z: Matrix) -> Dyadic | None:
    return rational_block(Linear(), kernel.features(X), kernel.features(Z))


@rational_block.register(Sum)
@rational_block.register(Product)
def _(kernel: Sum | Product, X: Matrix, Z: Matrix) -> Dyadic | None:
    left, right = rational_block(kernel.left, X, Z), rational_block(kernel.right, X, Z)
    if left is None or right is None:
        return None
    return left.plus(right) if isinstance(kernel, Sum) else left.times(right)


@rational_block.register
def _(kernel: Scaled, X: Matrix, Z: Matrix) -> Dyadic | None:
    inner = rational_block(kernel.kernel, X, Z)
    return None if inner is None else inner.times(_number(kernel.scale))


@rational_block.register
def _(kernel: Power, X: Matrix, Z: Matrix) -> Dyadic | None:
    inner = rational_block(kernel.kernel, X, Z)
    return None if inner is None else inner.power(kernel.exponent)


@rational_block.register
def _(kernel: KernelPolynomial, X: Matrix, Z: Matrix) -> Dyadic | None:
    inner = rational_block(kernel.kernel, X, Z)
    if inner is None:
        return None
    total = Dyadic(np.zeros_like(inner.numbers), 0)
    for coefficient in reversed(kernel.coefficients):
        total = total.times(inner).plus(_number(coefficient))
    return total
