"""Kernels as text: every composition comes back equal, and nothing but kernels and numbers is understood."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless import kernels
from gapless.errors import InvalidInputError
from gapless.kernels import (
    RBF,
    Chi2,
    Constant,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    exp,
    polynomial,
)
from gapless.store import parse_kernel
from gapless.store.kernel_text import kernel_text

_positive = st.floats(0, 1e300)
_any = st.floats(-1e300, 1e300)
_leaves = st.one_of(
    st.just(Linear()),
    st.just(Cosine()),
    st.builds(Polynomial, degree=st.integers(1, 9), gamma=_any, coef0=_any),
    st.builds(Sigmoid, gamma=_any, coef0=_any),
    st.builds(RBF, gamma=_positive | st.floats(0, 1024, width=32).map(np.float32)),
    st.builds(Laplacian, gamma=_positive),
    st.builds(Chi2, gamma=_positive),
    st.builds(Constant, value=_positive | st.integers(0, 99)),
    st.builds(Matern, length_scale=st.floats(1e-9, 1e9), nu=st.sampled_from([0.5, 1.5, 2.5, math.inf])),
)


def _compositions(inner: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(_positive, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(1, 5)).map(lambda pair: pair[0] ** pair[1]),
        inner.map(exp),
        st.tuples(inner, st.lists(_positive, min_size=1, max_size=4)).map(lambda pair: polynomial(*pair)),
    )


_kernels = st.recursive(_leaves, _compositions, max_leaves=8)


@given(kernel=_kernels)
def test_every_composition_comes_back_equal(kernel: Kernel) -> None:
    text = kernel_text(kernel)
    assert text == repr(kernel)
    again = parse_kernel(text)
    assert again == kernel
    assert repr(again) == text


def test_every_public_kernel_that_numbers_describe_has_a_text() -> None:
    classes = [getattr(kernels, name) for name in kernels.__all__]
    concrete = [
        cls for cls in classes if inspect.isclass(cls) and issubclass(cls, Kernel) and not inspect.isabstract(cls)
    ]
    named = {"Scaled": 2.0 * Linear(), "Sum": Linear() + RBF(), "Product": Linear() * RBF(), "Power": Linear() ** 2}
    named |= {"Exp": exp(Linear()), "KernelPolynomial": polynomial(Linear(), (1.0, 2.0))}
    for cls in concrete:
        if cls.__name__ in ("FunctionKernel", "FeatureMapKernel", "Precomputed"):
            continue
        kernel = named.get(cls.__name__) or cls()
        assert type(kernel) is cls
        assert parse_kernel(kernel_text(kernel)) == kernel


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.0",
        "Linear",
        "Linear()()",
        "linear()",
        "(Linear(), RBF())",
        "Linear() - RBF()",
        "Linear() @ RBF()",
        "Linear() / 2",
        "2 * 3 * Linear()",
        "2 ** 9 ** 9 ** 9 * Linear()",
        "Linear() ** RBF()",
        "-Linear()",
        "RBF(gamma=True)",
        "RBF(gamma='0.5')",
        "RBF(0.5, 0.5)",
        "RBF(**{'gamma': 1})",
        "RBF(*(1,))",
        "RBF(depth=1)",
        "RBF(gamma=float('1e5'))",
        "RBF(gamma=(lambda: 1)())",
        "RBF(gamma=Linear)",
        "Kernel()",
        "Stationary()",
        "RowCache(Linear(), 1, 1)",
        "FunctionKernel(exp)",
        "FeatureMapKernel(exp)",
        "Linear().__class__",
        "Linear()[0]",
        "[Linear() for _ in (1,)][0]",
        "__import__('os').getcwd()",
        "exec('1')",
        "Linear(); Linear()",
        "Linear(\0)",
        "(" * 300 + "Linear()" + ")" * 300,
        "exp(" * 5000 + "Linear()" + ")" * 5000,
    ],
)  # fmt: skip
def test_all_else_is_refused(text: str) -> None:
    with pytest.raises(
        InvalidInputError, match=r"^The kernel expression .* is (not understood: it may hold kernels|refused: )"
    ):
        parse_kernel(text)


def test_a_parameter_out_of_range_is_refused_by_the_kernels_own_sentence() -> None:
    message = r"^The kernel expression 'RBF\(gamma=-1\.0\)' is refused: gamma must be a finite number of at least 0; got -1\.0\.$"
    with pytest.raises(InvalidInputError, match=message):
        parse_kernel("RBF(gamma=-1.0)")
