"""Sample instances of every exported kernel, data for them, and Hypothesis strategies."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gapless import kernels as k

_rng = np.random.default_rng(7)
# Eighths are exact in float32; zeros make it worth storing sparse, and a zero row and a repeated row are the odd ones.
CASE_DATA = np.where(_rng.random((12, 5)) < 0.4, 0.0, _rng.integers(0, 17, (12, 5)) / 8)
CASE_DATA[3] = 0.0
CASE_DATA[9] = CASE_DATA[1]
_GRAM = (lambda A: A @ A.T)(_rng.normal(size=(12, 12)))


def squares(X):
    """A feature map that takes dense and CSR matrices."""
    return X.multiply(X).tocsr() if hasattr(X, "multiply") else X * X


def smallest(x, z):
    return float(np.minimum(x, z).sum())


def inner(X, Z):
    return X @ Z.T


# Kernels whose constructors need arguments, or whose parameters open other branches; all others are built by default.
_INSTANCES = {
    k.Exp: [k.Exp(k.RBF(0.5))],
    k.FeatureMapKernel: [k.FeatureMapKernel(squares)],
    k.FunctionKernel: [
        k.FunctionKernel(smallest),
        k.FunctionKernel(inner, vectorized=True),
        k.FunctionKernel(smallest, valid=False),
    ],
    k.KernelPolynomial: [k.KernelPolynomial(k.Cosine(), (1.0, 0.0, 2.0)), k.KernelPolynomial(k.Linear(), [0.5])],
    k.Matern: [k.Matern(0.7, nu) for nu in (0.5, 1.5, 2.5, math.inf)],
    k.Polynomial: [k.Polynomial(), k.Polynomial(2, 0.5, 0.0), k.Polynomial(1, -1.0, -0.5)],
    k.Power: [k.Power(k.Linear(), 1), k.Power(k.Linear(), 2), k.Power(k.Cosine(), 7)],
    k.Precomputed: [k.Precomputed(_GRAM)],
    k.Product: [k.Product(k.Linear(), k.RBF(0.5))],
    k.RBF: [k.RBF(), k.RBF(0), k.RBF(np.float32(0.25))],
    k.Scaled: [k.Scaled(0.5, k.Laplacian()), k.Scaled(0, k.Linear())],
    k.Sum: [k.Sum(k.Linear(), k.Chi2(0.5))],
}


@dataclass(frozen=True)
class Case:
    kernel: k.Kernel
    X: np.ndarray

    def __str__(self) -> str:
        name = type(self.kernel).__name__
        return name if name.startswith(("Function", "Feature", "Precomputed")) else repr(self.kernel)


def exported_kernels() -> list[type[k.Kernel]]:
    exports = (getattr(k, name) for name in k.__all__)
    classes = [each for each in exports if inspect.isclass(each) and issubclass(each, k.Kernel)]
    return [each for each in classes if not inspect.isabstract(each)]


def cases() -> list[Case]:
    indices = np.array([[4.0], [0.0], [11.0], [7.0], [7.0], [1.0], [3.0], [2.0]])
    return [
        Case(kernel, indices if cls is k.Precomputed else CASE_DATA)
        for cls in exported_kernels()
        for kernel in _INSTANCES.get(cls) or [cls()]
    ]


def matrices(columns: int = 3):
    """Matrices of two to seven rows, with entries in [−1, 1]."""
    entries = st.integers(-8, 8).map(lambda i: i / 8)
    return st.integers(2, 7).flatmap(lambda n: arrays(np.float64, (n, columns), elements=entries))


_positive = st.floats(0.01, 4.0)

leaves = st.one_of(
    st.just(k.Linear()),
    st.just(k.Cosine()),
    st.builds(k.Constant, st.floats(0.0, 4.0)),
    st.builds(k.RBF, _positive),
    st.builds(k.Laplacian, _positive),
    st.builds(k.Matern, _positive, st.sampled_from([0.5, 1.5, 2.5, math.inf])),
    st.builds(k.Polynomial, st.integers(1, 3), _positive, st.floats(0.0, 2.0)),
)

scales = st.one_of(st.integers(0, 5), st.floats(0.0, 10.0))
coefficients = st.lists(st.floats(0.0, 3.0), min_size=1, max_size=4).map(tuple)


def _composed(parts):
    return st.one_of(
        st.builds(k.Sum, parts, parts),
        st.builds(k.Product, parts, parts),
        st.builds(k.Scaled, scales, parts),
        st.builds(k.Power, parts, st.integers(1, 4)),
        st.builds(k.exp, parts),
        st.builds(k.polynomial, parts, coefficients),
    )


compositions = st.recursive(st.one_of(leaves, st.just(k.Sigmoid(0.1, -1.0))), _composed, max_leaves=8)
