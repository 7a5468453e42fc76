from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gapless.errors import InvalidInputError
from gapless.kernels import (
    RBF,
    Constant,
    Exp,
    KernelPolynomial,
    Laplacian,
    Linear,
    Power,
    Product,
    Scaled,
    Sum,
    check_valid,
    exp,
    polynomial,
)
from gapless.kernels.algebra import natural_power
from tests.kernels import reference
from tests.kernels.samples import coefficients, leaves, matrices, scales


def assert_closed(kernel, X):
    """The Gram matrix is that of the formula, and positive semi-definite to rounding."""
    assert_allclose(kernel(X), reference.gram(kernel, X), rtol=1e-10, atol=1e-10)
    assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-10, atol=1e-10)
    report = check_valid(kernel, X, tol=1e-12)
    assert report.valid, report.message


@given(leaves, leaves, matrices())
def test_sums_are_kernels(left, right, X):
    assert_closed(left + right, X)


@given(leaves, leaves, matrices())
def test_products_are_kernels(left, right, X):
    assert_closed(left * right, X)


@given(scales, leaves, matrices())
def test_non_negative_multiples_are_kernels(scale, kernel, X):
    assert_closed(scale * kernel, X)
    assert kernel * scale == scale * kernel


@given(leaves, st.integers(1, 5), matrices())
def test_natural_powers_are_kernels(kernel, exponent, X):
    assert_closed(kernel**exponent, X)


@given(leaves, matrices())
def test_exponentials_are_kernels(kernel, X):
    assert_closed(exp(0.1 * kernel), X)


@given(leaves, coefficients, matrices())
def test_polynomials_with_non_negative_coefficients_are_kernels(kernel, coefficients, X):
    assert_closed(polynomial(kernel, coefficients), X)


@given(st.floats(0.0, 5.0), leaves, matrices())
def test_non_negative_constants_are_kernels(constant, kernel, X):
    assert_closed(kernel + constant, X)
    assert constant + kernel == Sum(Constant(constant), kernel)


@given(matrices(columns=4), matrices(columns=4))
def test_one_plus_dot_plus_dot_squared_is_its_explicit_map(X, Z):
    def psi(X):
        pairs = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
        return np.hstack([np.ones((len(X), 1)), X, pairs])

    d = X.shape[1]
    assert psi(X).shape[1] == 1 + d + d**2
    for kernel in (polynomial(Linear(), (1.0, 1.0, 1.0)), 1 + Linear() + Linear() ** 2):
        assert_allclose(kernel(X, Z), psi(X) @ psi(Z).T, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", range(1, 18))
def test_natural_power_is_the_power(n):
    K = np.random.default_rng(n).normal(size=(3, 4))
    assert_allclose(natural_power(K.copy(), n), K**n, rtol=1e-14)


def test_operators_build_the_classes():
    a, b = RBF(), Linear()
    assert a + b == Sum(a, b)
    assert a * b == Product(a, b)
    assert a**2 == Power(a, 2)
    assert np.float64(0.5) * a == Scaled(0.5, a) == a * np.float32(0.5)
    assert np.int64(1) + a == Sum(Constant(1), a)
    assert a + np.float64(1) == Sum(a, Constant(1.0))
    assert sum([a, b]) == Constant(0) + a + b
    assert exp(a) == Exp(a) and polynomial(a, [1.0]) == KernelPolynomial(a, [1.0])


def test_operands_are_not_changed():
    X = np.arange(6.0).reshape(3, 2)
    a, b = RBF(0.1), Laplacian(0.2)
    before = a(X), b(X)
    (a + b)(X), (a * b)(X), (3 * a)(X), exp(a)(X), polynomial(a, (1.0, 1.0))(X)
    assert_array_equal(a(X), before[0])
    assert_array_equal(b(X), before[1])


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda k: -1.0 * k, "scale must be a finite number of at least 0; got -1.0."),
        (lambda k: k * -1, "scale must be a finite number of at least 0; got -1."),
        (lambda k: NAN * k, "scale must be a finite number of at least 0; got nan."),
        (lambda k: k * INF, "scale must be a finite number of at least 0; got inf."),
        (lambda k: k + -1.0, "value must be a finite number of at least 0; got -1.0."),
        (lambda k: NAN + k, "value must be a finite number of at least 0; got nan."),
        (lambda k: Constant("a"), "value must be a finite number of at least 0; got 'a'."),
        (lambda k: k**0, "exponent must be a natural number of at least 1; got 0."),
        (lambda k: k**2.5, "exponent must be a natural number of at least 1; got 2.5."),
        (lambda k: k**-1, "exponent must be a natural number of at least 1; got -1."),
        (lambda k: Power(k, True), "exponent must be a natural number of at least 1; got True."),
        (lambda k: polynomial(k, (1.0, -2.0)), "coefficients[1] must be a finite number of at least 0; got -2.0."),
        (lambda k: polynomial(k, [NAN]), "coefficients[0] must be a finite number of at least 0; got nan."),
        (
            lambda k: polynomial(k, ()),
            "coefficients must be a sequence of at least one number, the constant first; got ().",
        ),
        (
            lambda k: polynomial(k, 2.0),
            "coefficients must be a sequence of at least one number, the constant first; got 2.0.",
        ),
        (lambda k: Sum(k, 1.0), "right must be a kernel (a constant is Constant(value)); got 1.0."),
        (lambda k: Product("rbf", k), "left must be a kernel; got 'rbf'."),
        (lambda k: exp(None), "kernel must be a kernel; got None."),
        (lambda k: Scaled(1.0, Linear), f"kernel must be a kernel; got {Linear!r}."),
    ],
)
def test_what_is_not_a_kernel_is_refused(build, message):
    with pytest.raises(InvalidInputError) as error:
        build(RBF())
    assert str(error.value) == message


@pytest.mark.parametrize(
    "build",
    [
        lambda k: k + "a",
        lambda k: "a" + k,
        lambda k: k * None,
        lambda k: [2.0] * k,
        lambda k: k**k,
        lambda k: np.ones(2) * k,
        lambda k: True * k,
        lambda k: k - k,
    ],
)
def test_operators_without_meaning_are_type_errors(build):
    with pytest.raises(TypeError):
        build(RBF())
