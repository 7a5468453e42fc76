"""A kernel's formula as a tree, which the compiled core evaluates with twice the digits of float64 (native/proof/twofold_kernel.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapless import _native
from gapless.data.rows import as_rows
from gapless.kernels.algebra import Constant, Exp, KernelPolynomial, Power, Product, Scaled, Sum
from gapless.kernels.base import Kernel
from gapless.kernels.custom import FeatureMapKernel
from gapless.kernels.dot import Chi2, Cosine, Linear, Polynomial, Sigmoid
from gapless.kernels.pairwise import Matrix, as_float64
from gapless.kernels.rounding import terms_of
from gapless.kernels.stationary import RBF, Laplacian, Matern

TWOFOLD_UNIT = 2.0**-92
"""The relative error of one operation with twice the digits, generously, which takes the place of u in kernels/rounding.py."""

# How many products of two features an exponential costs, about; the figure only decides where entries with twice the digits are worth their time.
_FUNCTION_COST = 60.0


def twofold_expansion(kernel: Kernel, X: Matrix, beta: np.ndarray) -> np.ndarray:
    """Kβ with twice the digits: an array of two rows, whose sum is Kβ. Each feature of each pair of samples takes some 5 ns."""
    kernel, X = kernel.formula(X)
    chosen = np.flatnonzero(beta)
    out = np.empty((2, X.shape[0]))
    _native.twofold_expansion(_tree(kernel, X, chosen), chosen, beta[chosen], out)
    return out


def entry_cost(kernel: Kernel, X: Matrix) -> float:
    """The cost of one entry with twice the digits, in products of two features, each of which takes some 5 ns."""
    kernel, X = kernel.formula(X)
    return _cost(kernel, float(terms_of(X)))


def _cost(kernel: Any, terms: float) -> float:
    kind = type(kernel)
    if kind in (Sum, Product):
        return _cost(kernel.left, terms) + _cost(kernel.right, terms)
    if kind in (Scaled, Power, Exp, KernelPolynomial):
        return _cost(kernel.kernel, terms) + (_FUNCTION_COST if kind is Exp else 1.0)
    if kind in (RBF, Laplacian, Matern, Sigmoid):
        return 2.0 * terms + _FUNCTION_COST
    if kind is Chi2:
        return 10.0 * terms + _FUNCTION_COST  # each feature takes a division
    # Cosine takes two norms besides; a feature map may have more features than X.
    return terms if kind in (Linear, Polynomial) else 3.0 * terms


def _tree(kernel: Any, X: Matrix, chosen: np.ndarray) -> tuple[Any, ...]:
    """The tree of a kernel, found by its exact type, since a subclass may mean something else; a kernel without a formula is given by its entries."""
    kind = type(kernel)
    name = kind.__name__.lower()
    if kind in (Linear, Cosine):
        return _node(name, X=X)
    if kind in (Polynomial, Sigmoid):
        return _node(name, kernel.gamma, kernel.coef0, getattr(kernel, "degree", 1), X=X)
    if kind in (RBF, Laplacian, Chi2):
        return _node(name, kernel.gamma, X=X)
    if kind is Matern:
        return _node(name, kernel.length_scale, kernel.nu, X=X)
    if kind is FeatureMapKernel:
        return _node("linear", X=kernel.features(X))
    if kind is Constant:
        return _node(name, kernel.value)
    if kind in (Sum, Product):
        return _node(name, parts=(_tree(kernel.left, X, chosen), _tree(kernel.right, X, chosen)))
    if kind in (Scaled, Power, Exp, KernelPolynomial):
        part = (_tree(kernel.kernel, X, chosen),)
        if kind is KernelPolynomial:
            return _node("series", coefficients=[float(each) for each in kernel.coefficients], parts=part)
        return _node(name, getattr(kernel, "scale", 0.0), degree=getattr(kernel, "exponent", 1), parts=part)
    with np.errstate(over="ignore", invalid="ignore"):
        return _node("given", entries=np.ascontiguousarray(kernel.block(X, X[chosen]), dtype=np.float64))


def _node(
    name: str,
    a: float = 0.0,
    b: float = 0.0,
    degree: int = 1,
    *,
    coefficients: Any = (),
    parts: tuple[Any, ...] = (),
    X: Matrix = None,
    entries: np.ndarray | None = None,
) -> tuple[Any, ...]:
    rows, d = None, 0
    if X is not None:
        rows, d = as_rows(X if X.dtype.char in "fd" else as_float64(X)), X.shape[1]
    return name, float(a), float(b), int(degree), list(coefficients), parts, rows, d, entries
