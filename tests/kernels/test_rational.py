"""Kernel entries in exact arithmetic, against Python's fractions, pair by pair."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from gapless import kernels as k
from gapless.kernels.rational import rational_block, whole_numbers

X = np.random.default_rng(0).normal(size=(4, 3)) * [1.0, 1e-8, 1e8] * (np.arange(12).reshape(4, 3) % 5 > 0)
GRAM = X @ X.T
GRAM = 0.5 * (GRAM + GRAM.T)


def value(kernel: k.Kernel, x: list[Fraction], z: list[Fraction]) -> Fraction:
    match kernel:
        case k.Linear():
            return sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0))
        case k.Polynomial():
            inner = value(k.Linear(), x, z)
            return (Fraction(kernel.gamma) * inner + Fraction(kernel.coef0)) ** kernel.degree
        case k.Constant():
            return Fraction(kernel.value)
        case k.Sum():
            return value(kernel.left, x, z) + value(kernel.right, x, z)
        case k.Product():
            return value(kernel.left, x, z) * value(kernel.right, x, z)
        case k.Scaled():
            return Fraction(kernel.scale) * value(kernel.kernel, x, z)
        case k.Power():
            return value(kernel.kernel, x, z) ** kernel.exponent
        case k.KernelPolynomial():
            inner = value(kernel.kernel, x, z)
            return sum((Fraction(c) * inner**m for m, c in enumerate(kernel.coefficients)), Fraction(0))
    raise NotImplementedError


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_floats_as_what_they_are(values: list[float]):
    numbers, bits = whole_numbers(np.array(values))
    assert [Fraction(int(each)) / Fraction(2) ** bits for each in numbers] == [Fraction(each) for each in values]


@pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_array], ids=["dense", "float32", "csr"])
@pytest.mark.parametrize(
    "kernel",
    [
        k.Linear(),
        k.Polynomial(degree=3, gamma=0.1, coef0=0.3),
        k.Constant(0.7),
        k.Linear() + 0.1,
        0.3 * k.Linear() * k.Polynomial(degree=2),
        (k.Linear() + 1.0) ** 3,
        k.polynomial(k.Linear(), (0.1, 0.0, 2.0)),
    ],
    ids=repr,
)
def test_entries_are_exact(kernel: k.Kernel, storage: object):
    given = storage(X)  # type: ignore[operator]
    rows = [
        [Fraction(float(each)) for each in row] for row in (given.toarray() if sp.issparse(given) else given).tolist()
    ]
    found = rational_block(kernel, given, given[:2])
    assert found is not None and found.numbers.shape == (4, 2)
    for i in range(4):
        for j in range(2):
            assert Fraction(int(found.numbers[i, j])) / Fraction(2) ** found.bits == value(kernel, rows[i], rows[j])


def test_a_map_a_function_and_a_matrix_give_the_numbers():
    whole = np.round(4 * np.random.default_rng(0).normal(size=(4, 3)))
    index = np.arange(4)[:, None].astype(float)
    for kernel, samples in (
        (k.FeatureMapKernel(lambda Z: Z), whole),
        (k.FunctionKernel(lambda x, z: x @ z), whole),
        (k.Precomputed(whole @ whole.T), index),
    ):
        found = rational_block(kernel, samples, samples)
        assert found is not None
        assert (found.numbers == (whole @ whole.T * 2.0**found.bits).astype(int)).all()


@pytest.mark.parametrize(
    "kernel",
    [k.RBF(), k.Laplacian(), k.Matern(), k.Chi2(), k.Cosine(), k.Sigmoid(), k.exp(k.Linear()), k.Linear() + k.RBF(),
     2.0 * k.RBF(), k.RBF() ** 2, k.polynomial(k.RBF(), (1.0, 1.0)), k.FunctionKernel(lambda x, z: x[0])],
    ids=lambda kernel: type(kernel).__name__,
)  # fmt: skip
def test_other_values_are_not_rational(kernel: k.Kernel):
    assert rational_block(kernel, np.abs(X), np.abs(X)) is None


def test_an_asymmetric_matrix_has_no_exact_kernel():
    G = GRAM.copy()
    G[0, 1] += 1e-10 * np.abs(G).max()
    index = np.arange(4)[:, None].astype(float)
    assert rational_block(k.Precomputed(G), index, index) is None
