from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_array_equal
from sklearn.base import clone

from gapless import kernels
from gapless.data import check_matrix
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Constant, Laplacian, Linear, Polynomial, Power, Sigmoid, Validity, exp, polynomial
from tests.kernels.samples import compositions

SCOPE = {name: getattr(kernels, name) for name in kernels.__all__}
X = np.arange(6.0).reshape(3, 2)


@given(compositions)
def test_repr_of_any_composition_evaluates_to_an_equal_kernel(kernel):
    again = eval(repr(kernel), SCOPE)
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == repr(kernel)
    assert clone(kernel) == kernel


@pytest.mark.parametrize(
    "text",
    [
        "0.5 * RBF(gamma=0.1) + Polynomial(degree=2, gamma=1.0, coef0=1.0) * Linear()",
        "(Linear() + RBF(gamma=1.0)) * Linear()",
        "Linear() + (RBF(gamma=1.0) + Linear())",
        "Linear() * (RBF(gamma=1.0) * Linear())",
        "2 * (Linear() * RBF(gamma=1.0))",
        "2 * Linear() * RBF(gamma=1.0)",
        "(Linear() * RBF(gamma=1.0))**2",
        "(Linear()**2)**3",
        "2 * Linear()**3",
        "(2 * Linear())**3",
        "exp(Linear() + RBF(gamma=1.0))",
        "polynomial(Linear() * Linear(), (1.0, 2.0))",
        "polynomial(Linear(), (1.0,))",
        "Linear() + Constant(value=1.0)",
        "Matern(length_scale=1.0, nu=float('inf'))",
    ],
)
def test_repr_has_the_parentheses_that_it_needs_and_no_more(text):
    assert repr(eval(text, SCOPE)) == text


def test_repr_of_numpy_numbers_is_plain():
    assert repr(RBF(np.float64(0.5))) == "RBF(gamma=0.5)"
    assert repr(np.float32(2) * Polynomial(np.int64(2)) ** np.int64(3)) == (
        "2.0 * Polynomial(degree=2, gamma=1.0, coef0=1.0)**3"
    )
    assert repr(polynomial(Linear(), np.array([1, 2]))) == "polynomial(Linear(), (1.0, 2.0))"


def test_equality_is_by_type_and_parameters():
    assert RBF(0.5) == RBF(np.float64(0.5)) and hash(RBF(0.5)) == hash(RBF(np.float64(0.5)))
    assert RBF(0.5) != RBF(0.6)
    assert RBF(0.5) != Laplacian(0.5)
    assert Linear() + RBF() != RBF() + Linear()
    as_tuple, as_array = polynomial(Linear(), (1.0, 2.0)), polynomial(Linear(), np.array([1.0, 2.0]))
    assert as_tuple == as_array and hash(as_tuple) == hash(as_array)
    assert as_tuple != polynomial(Linear(), (1.0, 3.0)) and as_tuple != polynomial(Linear(), (1.0,))
    assert len({RBF(0.5), RBF(0.5), RBF(1.0)}) == 2


class UnhashableMap:
    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, UnhashableMap)

    def transform(self, X):
        return X


def test_a_parameter_without_a_hash_does_not_take_the_kernels():
    one, two = kernels.FeatureMapKernel(UnhashableMap()), kernels.FeatureMapKernel(UnhashableMap())
    assert one == two and hash(one) == hash(two)


def test_nested_parameters_are_read_and_set():
    kernel = 0.5 * RBF(0.1) + exp(Linear()) ** 2
    assert list(kernel.get_params(deep=False)) == ["left", "right"]
    params = kernel.get_params()
    assert params["left__scale"] == 0.5 and params["left__kernel__gamma"] == 0.1
    assert params["right__exponent"] == 2 and params["right__kernel__kernel"] == Linear()
    assert kernel.set_params(left__kernel__gamma=7.0, right__exponent=3) is kernel
    assert kernel == 0.5 * RBF(7.0) + exp(Linear()) ** 3
    # A part and the parameters of the new part, at once, in either order.
    kernel.set_params(left__gamma=2.0, left=Laplacian())
    assert kernel == Laplacian(2.0) + exp(Linear()) ** 3


def test_a_clone_shares_no_part():
    kernel = RBF(1.0) + Linear()
    twin = clone(kernel)
    twin.set_params(left__gamma=2.0)
    assert kernel.left.gamma == 1.0


@pytest.mark.parametrize(
    ("kernel", "params", "message"),
    [
        (RBF(), {"sigma": 1.0}, "RBF has no parameter 'sigma'; its parameters are gamma."),
        (Linear(), {"gamma": 1.0}, "Linear has no parameter 'gamma'; it has no parameters."),
        (RBF() + Linear(), {"middle__gamma": 1.0}, "Sum has no parameter 'middle'; its parameters are left, right."),
        (RBF() + Linear(), {"left__sigma": 1.0}, "RBF has no parameter 'sigma'; its parameters are gamma."),
        (RBF(), {"gamma__x": 1.0}, "gamma__x needs a kernel in 'gamma' of RBF; it holds 1.0."),
        (RBF(), {"gamma": -1.0}, "gamma must be a finite number of at least 0; got -1.0."),
    ],
)
def test_wrong_parameters_are_refused_and_change_nothing(kernel, params, message):
    before = clone(kernel)
    with pytest.raises(InvalidInputError) as error:
        kernel.set_params(**params)
    assert str(error.value) == message
    assert kernel == before


def test_call_takes_lists_and_any_sparse_format():
    K = Linear()(X)
    for data in (X.tolist(), X.astype(int), sp.csc_matrix(X), sp.coo_array(X)):
        assert_array_equal(Linear()(data), K)
        assert_array_equal(Linear()(data, data), K)


def test_call_sums_duplicate_entries_of_a_copy():
    doubled = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert Linear().diag(check_matrix(doubled)) == [9.0]
    assert RBF()(doubled)[0, 0] == 1.0
    assert doubled.nnz == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X[0],), "X must have two dimensions (samples, features); got 1."),
        ((X, X[0]), "Z must have two dimensions (samples, features); got 1."),
        ((X[None],), "X must have two dimensions (samples, features); got 3."),
        ((X, X[:, :1]), "Z must have as many columns as X, 2; got 1."),
        ((X[0], X[0, :1]), "Z must have as many columns as X, 2; got 1."),
        ((X[:0],), "X must have at least one sample and one feature; got the shape (0, 2)."),
        ((X, X[:, :0]), "Z must have at least one sample and one feature; got the shape (3, 0)."),
        (([[1.0, np.nan]],), "X must be finite; row 0, column 1 is nan."),
        ((X, sp.csr_array([[np.inf, 0.0]])), "Z must be finite; row 0, column 0 is inf."),
        (([["a", "b"]],), "X must hold real numbers; got the type <U1."),
        ((X * 1j,), "X must hold real numbers; got the type complex128."),
    ],
)
def test_call_refuses_wrong_data(arguments, message):
    with pytest.raises(InvalidInputError) as error:
        Linear()(*arguments)
    assert str(error.value) == message


def test_call_refuses_ragged_lists():
    with pytest.raises(InvalidInputError, match=r"^X must be a matrix of numbers, dense or CSR; setting an array"):
        Linear()([[1.0], [1.0, 2.0]], [[1.0]])


def test_validity_is_that_of_the_worst_part():
    by_construction, assumed = RBF(), kernels.FunctionKernel(min)
    assert (by_construction * Constant() + Linear()).validity is Validity.BY_CONSTRUCTION
    assert (by_construction + assumed).validity is Validity.ASSUMED
    assert (2.0 * assumed * by_construction).validity is Validity.ASSUMED
    assert exp(polynomial(Power(Sigmoid(), 2), (1.0, 1.0)) + assumed).validity is Validity.NOT_VALID
    assert kernels.FunctionKernel(min, valid=True).validity is Validity.ASSUMED
    assert kernels.FunctionKernel(min, valid=False).validity is Validity.NOT_VALID
    assert kernels.Precomputed(np.eye(2)).validity is Validity.ASSUMED
    assert Polynomial(gamma=0.0, coef0=0.0).validity is Validity.BY_CONSTRUCTION
    assert Polynomial(gamma=-1.0).validity is Validity.NOT_VALID
    assert Polynomial(coef0=-1.0).validity is Validity.NOT_VALID


def test_a_kernel_of_ones_own_is_assumed_valid_and_composes():
    class Least(kernels.Kernel):
        def block(self, X, Z):
            return np.minimum(X, Z.T)

        def diag(self, X):
            return X[:, 0].copy()

    kernel = 2 * Least() + 1
    assert kernel.validity is Validity.ASSUMED
    assert_array_equal(kernel([[1.0], [2.0]]), [[3.0, 3.0], [3.0, 5.0]])
    assert repr(kernel) == "2 * Least() + Constant(value=1)"


def test_a_multiple_a_power_or_an_exponential_takes_the_parameters_of_its_kernel():
    kernel = 0.5 * RBF(gamma=0.1) + exp(Polynomial(degree=2) ** 2)
    assert kernel.set_params(left__gamma=7.0, left__scale=2.0, right__degree=3, right__kernel__exponent=4) is kernel
    assert (kernel.left.scale, kernel.left.kernel.gamma) == (2.0, 7.0)
    assert (kernel.right.kernel.exponent, kernel.right.kernel.kernel.degree) == (4, 3)
    assert (2.0 * (Linear() + RBF())).set_params(right__gamma=3.0).kernel.right.gamma == 3.0
    with pytest.raises(InvalidInputError, match=r"Scaled has no parameter 'sigma'; its parameters are scale, kernel\."):
        kernel.set_params(left__sigma=1.0)
    assert kernel.left.kernel.gamma == 7.0
