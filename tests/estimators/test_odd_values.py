"""Values that no fit can use: complex numbers, whole numbers beyond 32 bits, kernel functions with side effects, views larger than the memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless import features, kernels
from gapless.errors import InvalidInputError, TooLargeError, UnsupportedError

X = np.random.default_rng(0).random((40, 3))
Y = np.arange(40) % 2
MACHINES = [gl.SVC, gl.NuSVC, gl.LinearSVC, gl.SVR, gl.NuSVR, gl.LinearSVR, gl.OneClassSVM, gl.KernelLogisticRegression]
CLASSIFIERS = [gl.SVC, gl.NuSVC, gl.LinearSVC, gl.KernelLogisticRegression]


def refused(message: str) -> Any:
    return pytest.raises(InvalidInputError, match=f"^{re.escape(message)}")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "weight", [np.ones(40, complex), [1 + 1j] * 40, np.full(40, 1j)], ids=["real", "list", "imaginary"]
)
def test_complex_weights_are_refused(machine: type, weight: Any) -> None:
    with refused("sample_weight must hold real numbers; got the type complex128."):
        machine().fit(X, Y, sample_weight=weight)


def test_complex_numbers_elsewhere_are_refused() -> None:
    problem = gl.Problem(X, Y)
    with refused("sample_weight must hold numbers; got the type complex128."):
        gl.Problem(X, Y, sample_weight=np.ones(40, complex))
    with refused("nu must be a number above 0 and at most 1; got (0.5+0j)."):
        gl.nu.nu_classification(X, Y, nu=0.5 + 0j)
    with refused("beta must hold real numbers; got the type complex128."):
        gl.certify(problem, gl.Point(beta=np.ones(40, complex)))
    for seed in (1j, -1, 0.5):
        with refused(f"random_state must be a whole number of at least 0; got {seed!r}."):
            gl.solve(problem, random_state=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("machine", CLASSIFIERS)
@pytest.mark.parametrize(
    "value", [1 + 1j, np.complex128(1), 10**400, "a", None], ids=["complex", "numpy", "huge", "text", "None"]
)
def test_class_weights_are_numbers(machine: type, value: Any) -> None:
    with refused(f"class_weight must hold numbers of at most 1e+75; that of the class 0 is {value!r:.50}."):
        machine(class_weight={0: value}).fit(X, Y)


@pytest.mark.parametrize("huge", [2**31, 2**63, 10**30], ids=["2^31", "2^63", "10^30"])
def test_powers_beyond_32_bits_are_refused(huge: int) -> None:
    for machine in (gl.SVC, gl.NuSVC, gl.SVR, gl.NuSVR, gl.OneClassSVM, gl.KernelLogisticRegression):
        name = machine.__name__
        with refused(
            f"The 'degree' parameter of {name} must be a whole number of at least 0 and at most 2,147,483,647; got {huge}"
        ):
            machine(kernel="poly", degree=huge).fit(X, Y)
    with refused(f"degree must be a natural number of at most 2,147,483,647; got {huge}."):
        kernels.Polynomial(degree=huge)
    with refused(f"exponent must be a natural number of at most 2,147,483,647; got {huge}."):
        kernels.RBF(1.0) ** huge
    with refused(f"degree must be a natural number of at most 1,023; got {huge}."):
        features.Polynomial(degree=huge).fit(X)


def test_the_largest_power_is_computed() -> None:
    problem = gl.Problem(X, Y, kernel=kernels.Cosine() ** (2**31 - 1))
    assert gl.solve(problem).certificate.relative_gap <= 1e-6


# --- functions of the user's


def writes(A: Any, B: Any) -> Any:
    K = A @ B.T
    B[:] = 0
    return K


@pytest.mark.parametrize(
    "machine", [gl.SVC, gl.SVR, gl.OneClassSVM, gl.KernelLogisticRegression, gl.KernelFisherDiscriminant]
)
def test_a_kernel_that_writes_to_its_arguments_is_refused_and_harms_nobody(machine: type) -> None:
    given = X.copy()
    with refused(
        "kernel must not write to its arguments; it has changed the first one."
    ):  # the same as the second one in a fit
        machine(kernel=writes).fit(given, Y)
    np.testing.assert_array_equal(given, X)


@pytest.mark.parametrize("vectorized", [True, False])
def test_a_function_kernel_that_writes_to_its_arguments_is_refused(vectorized: bool) -> None:
    given = X.copy()
    function = writes if vectorized else lambda x, z: z.__setitem__(0, 7.0) or float(x @ z)
    with refused("function must not write to its arguments; it has changed the"):
        gl.solve(gl.Problem(given, Y, kernel=kernels.FunctionKernel(function, vectorized=vectorized)))
    np.testing.assert_array_equal(given, X)


def test_what_a_function_kernel_returns_is_told() -> None:
    def solve(function: Any, vectorized: bool = True) -> None:
        gl.solve(gl.Problem(X, Y, kernel=kernels.FunctionKernel(function, vectorized=vectorized)))

    with refused("function must return an array; got a csr_array: return K.toarray()."):
        solve(lambda A, B: sp.csr_array(A @ B.T))
    with refused("function must return an array of real numbers; it has returned complex ones."):
        solve(lambda A, B: A @ B.T + 0j)
    with refused("function must return an array of real numbers; could not convert string to float"):
        solve(lambda A, B: np.full((len(A), len(B)), "a"))
    with refused("function must return a real number; got 'a'."):
        solve(lambda x, z: "a", vectorized=False)
    with refused("function must return a real number; got"):
        solve(lambda x, z: complex(x @ z), vectorized=False)
    with refused("kernel must return a matrix of real numbers; it has returned complex ones."):
        gl.SVC(kernel=lambda A, B: A @ B.T + 0j).fit(X, Y)


def test_a_map_may_work_in_place() -> None:
    scaler = StandardScaler(copy=False).fit(X)
    given = X.copy()
    result = gl.solve(gl.Problem(given, Y, kernel=kernels.FeatureMapKernel(scaler)))
    expected = gl.solve(gl.Problem(StandardScaler().fit_transform(X), Y))
    assert result.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-5)
    np.testing.assert_array_equal(given, X)


# --- views that are larger than the memory


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_a_view_whose_copy_does_not_fit_is_refused_before_it_is_copied(dtype: type) -> None:
    wide = np.broadcast_to(dtype(1), (10**6, 10**9))
    with pytest.raises(
        TooLargeError, match=r"^X, of the shape \(1000000, 1000000000\), is copied, and its copy needs .* GiB"
    ):
        gl.Problem(wide, np.arange(10**6) % 2)
    for machine in (gl.SVC, gl.LinearSVC, gl.OneClassSVM):
        with pytest.raises(TooLargeError, match=r"^X, of the shape"):
            machine().fit(wide, np.arange(10**6) % 2)
    long = np.broadcast_to(dtype(1), (10**13, 3))
    for machine in (gl.SVC, gl.LinearSVC, gl.LinearSVR):
        with pytest.raises(TooLargeError, match=r"^X, of the shape"):
            machine().fit(X, Y).predict(long)


def test_a_small_broadcast_view_is_used() -> None:
    view = np.broadcast_to(np.arange(40.0)[:, None], (40, 3))
    assert (gl.SVC().fit(view, Y).predict(view) == gl.SVC().fit(view.copy(), Y).predict(view)).all()


def test_the_features_of_a_high_degree_are_refused_by_their_number() -> None:
    with pytest.raises((InvalidInputError, UnsupportedError, TooLargeError)):
        features.Polynomial(degree=1023).fit(X).transform(X)
