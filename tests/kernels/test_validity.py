from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Constant, FunctionKernel, Linear, Precomputed, Sigmoid, ValidityReport, check_valid

X = np.random.default_rng(0).normal(size=(40, 3))


def test_a_valid_kernel_passes(capsys):
    report = check_valid(RBF(0.5), X)
    eigenvalues = np.linalg.eigvalsh(RBF(0.5)(X))
    assert report.valid and report.asymmetry == 0.0
    assert report.smallest_eigenvalue == pytest.approx(eigenvalues[0], abs=1e-12)
    assert report.largest_eigenvalue == pytest.approx(eigenvalues[-1])
    assert report.message == (
        "The kernel is positive semi-definite on 40 rows, to rounding: "
        f"the Gram matrix has eigenvalues from {eigenvalues[0]:.3g} to {eigenvalues[-1]:.3g}."
    )
    assert capsys.readouterr() == ("", "")
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.valid = False


def test_a_singular_gram_matrix_and_a_zero_one_are_valid():
    assert check_valid(Linear(), X).valid
    assert check_valid(Constant(0.0), X) == ValidityReport(
        True,
        0.0,
        0.0,
        0.0,
        "The kernel is positive semi-definite on 40 rows, to rounding: the Gram matrix has eigenvalues from 0 to 0.",
    )


def test_a_negative_eigenvalue_is_found():
    indefinite = Precomputed(np.array([[1.0, 2.0], [2.0, 1.0]]))
    report = check_valid(indefinite, [[0], [1]])
    assert not report.valid
    assert report.smallest_eigenvalue == pytest.approx(-1.0) and report.largest_eigenvalue == pytest.approx(3.0)
    assert report.message == (
        "The kernel is not positive semi-definite on 2 rows: the Gram matrix has eigenvalues from -1 to 3."
    )
    assert check_valid(indefinite, [[0], [1]], tol=0.5).valid
    assert not check_valid(Sigmoid(1.0, -1.0), X).valid


def test_asymmetry_is_found():
    report = check_valid(FunctionKernel(lambda x, z: float(x[0] - 2 * z[0])), [[0.0], [1.0]])
    assert not report.valid and report.asymmetry == 3.0
    assert report.message == "The kernel is not symmetric on 2 rows: k(x, z) and k(z, x) differ by up to 3."


def test_values_that_are_not_finite_are_found():
    report = check_valid(FunctionKernel(lambda x, z: float("nan")), X)
    assert not report.valid and report.message == "The kernel is not finite on 40 rows."
    assert np.isnan([report.smallest_eigenvalue, report.largest_eigenvalue, report.asymmetry]).all()


def test_rows_are_sampled_by_the_seed():
    report = check_valid(RBF(), X, max_rows=10)
    assert "on 10 of 40 rows" in report.message
    assert report == check_valid(RBF(), X, max_rows=10, seed=0) != check_valid(RBF(), X, max_rows=10, seed=1)
    assert report.largest_eigenvalue < check_valid(RBF(), X).largest_eigenvalue


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": X[0]}, "X must have two dimensions (samples, features); got 1."),
        ({"tol": -1.0}, "tol must be a finite number of at least 0; got -1.0."),
        ({"max_rows": 0}, "max_rows must be a natural number of at least 1; got 0."),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInputError) as error:
        check_valid(RBF(), **{"X": X, **arguments})
    assert str(error.value) == message
