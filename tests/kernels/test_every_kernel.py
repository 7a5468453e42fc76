"""What holds for every exported kernel, those of the future included."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from gapless import kernels
from gapless.kernels import Validity
from tests.kernels import reference
from tests.kernels.samples import cases, exported_kernels

CASES = cases()
every_kernel = pytest.mark.parametrize("case", CASES, ids=str)
OPAQUE = (kernels.Precomputed, kernels.FeatureMapKernel, kernels.FunctionKernel)  # no source text evaluates to them
CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def test_every_exported_kernel_has_a_case():
    assert {type(case.kernel) for case in CASES} == set(exported_kernels())
    assert len(exported_kernels()) >= 17


@every_kernel
def test_block_is_new_contiguous_float64_and_leaves_the_data_alone(case):
    X = case.X.copy()
    K = case.kernel.block(X, X)
    assert K.dtype == np.float64 and K.flags.c_contiguous and K.shape == (len(X), len(X))
    before = K.copy()
    K[:] = np.nan
    diagonal = case.kernel.diag(X)
    diagonal_before = diagonal.copy()
    diagonal[:] = np.nan
    assert_array_equal(case.kernel.block(X, X), before)
    assert_array_equal(case.kernel.diag(X), diagonal_before)
    assert_array_equal(X, case.X)


@every_kernel
def test_gram_is_symmetric_and_its_diagonal_is_diag(case):
    K = case.kernel(case.X)
    assert_allclose(K, K.T, rtol=1e-14, atol=1e-14)
    diagonal = case.kernel.diag(case.X)
    assert diagonal.dtype == np.float64
    assert_allclose(diagonal, np.diag(K), **CLOSE)


@pytest.mark.parametrize("case", [case for case in CASES if reference.knows(case.kernel, case.X[0])], ids=str)
def test_agrees_with_its_formula(case):
    expected = reference.gram(case.kernel, case.X, case.X[2:6])
    assert_allclose(case.kernel.block(case.X, case.X[2:6]), expected, **CLOSE)


@every_kernel
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_dense_and_csr_agree_in_any_mix(case, container):
    X, Z = case.X, case.X[2:7].copy()
    expected = case.kernel.block(X, Z)
    for left, right in [(container(X), container(Z)), (container(X), Z), (X, container(Z))]:
        K = case.kernel.block(left, right)
        assert type(K) is np.ndarray and K.dtype == np.float64 and K.flags.c_contiguous
        assert_allclose(K, expected, **CLOSE)
    S = container(X)
    assert_allclose(case.kernel.block(S, S), case.kernel.block(X, X), **CLOSE)
    assert_allclose(case.kernel.diag(S), case.kernel.diag(X), **CLOSE)


@every_kernel
def test_block_of_slices_is_slice_of_block(case):
    K = case.kernel.block(case.X, case.X)
    rows, columns = slice(1, 7), slice(0, 6)
    assert_allclose(case.kernel.block(case.X[rows], case.X[columns]), K[rows, columns], **CLOSE)
    picked = np.array([5, 0, 5])
    assert_allclose(case.kernel.block(case.X[picked], case.X), K[picked], **CLOSE)


@every_kernel
def test_float32_is_computed_in_float64(case):
    X = case.X.astype(np.float32)
    for data in (X, sp.csr_array(X)):
        K = case.kernel.block(data, data)
        assert K.dtype == np.float64
        assert_allclose(K, case.kernel.block(case.X, case.X), **CLOSE)
        assert_allclose(case.kernel.diag(data), case.kernel.diag(case.X), **CLOSE)


@every_kernel
def test_other_layouts_and_read_only_data(case):
    expected = case.kernel.block(case.X, case.X)
    wide = np.repeat(case.X, 2, axis=1)[:, ::2]
    frozen = case.X.copy()
    frozen.setflags(write=False)
    sparse = sp.csr_array(case.X)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.setflags(write=False)
    for X in (np.asfortranarray(case.X), wide, frozen, sparse):
        assert_allclose(case.kernel.block(X, X), expected, **CLOSE)


@every_kernel
def test_two_vectors_give_a_number(case):
    number = case.kernel(case.X[1], case.X[2])
    assert type(number) is float
    assert number == pytest.approx(case.kernel(case.X)[1, 2], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("case", [case for case in CASES if case.kernel.validity is Validity.BY_CONSTRUCTION], ids=str)
def test_positive_semi_definite_where_it_says_so(case):
    report = kernels.check_valid(case.kernel, case.X, tol=1e-12)
    assert report.valid, report.message


@every_kernel
def test_clone_copy_by_pickle_and_equality(case):
    for twin in (clone(case.kernel), pickle.loads(pickle.dumps(case.kernel))):
        assert twin is not case.kernel
        assert twin == case.kernel and hash(twin) == hash(case.kernel)
        assert_array_equal(twin.block(case.X, case.X), case.kernel.block(case.X, case.X))
    assert case.kernel != "precomputed" and case.kernel != None  # noqa: E711


@every_kernel
def test_parameters_are_the_constructors(case):
    shallow = case.kernel.get_params(deep=False)
    rebuilt = type(case.kernel)(**shallow)
    assert rebuilt == case.kernel
    assert all(getattr(rebuilt, name) is value for name, value in shallow.items())
    assert case.kernel.get_params().items() >= shallow.items()
    assert rebuilt.set_params(**shallow) is rebuilt


@pytest.mark.parametrize("case", [case for case in CASES if not isinstance(case.kernel, OPAQUE)], ids=str)
def test_repr_evaluates_to_the_kernel(case):
    assert eval(repr(case.kernel), {name: getattr(kernels, name) for name in kernels.__all__}) == case.kernel
