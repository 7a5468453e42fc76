from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from gapless.data import CsrRows, DenseRows, check_matrix
from gapless.data.products import matvec, rmatvec
from gapless.data.rows import as_rows, row_entries, squared_norms

# Halves and small integers: sums are exact in float64, so that equality is equality.
ENTRIES = st.integers(-16, 16).map(lambda i: i / 2)
MATRICES = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=ENTRIES)
)
FORMS = ["dense", "csr"]


def stored(X: np.ndarray, form: str, dtype: type, index: type = np.int32):
    if form == "dense":
        return check_matrix(X.astype(dtype))
    X = sp.csr_array(X.astype(dtype))
    return check_matrix(sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(X=MATRICES, data=st.data())
def test_compiled_rows_equal_naive_numpy(form, dtype, index, X, data):
    n, d = X.shape
    matrix = stored(X, form, dtype, index)
    w = data.draw(arrays(np.float64, d, elements=ENTRIES))
    scales = data.draw(arrays(np.float64, n, elements=ENTRIES))
    step = data.draw(st.integers(1, n))
    assert_array_equal(matvec(matrix, w), X @ w)
    assert_array_equal(rmatvec(matrix, scales), X.T @ scales)
    assert_array_equal(squared_norms(as_rows(matrix), n), (X**2).sum(axis=1))
    assert_array_equal(squared_norms(as_rows(matrix), n, step), (X[::step] ** 2).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(X=MATRICES, data=st.data())
def test_products_equal_naive_numpy_in_float64(form, dtype, X, data):
    matrix = stored(X, form, dtype)
    w = data.draw(arrays(np.float64, X.shape[1], elements=ENTRIES))
    beta = data.draw(arrays(np.float64, X.shape[0], elements=ENTRIES))
    for found, expected in ((matvec(matrix, w), X @ w), (rmatvec(matrix, beta), X.T @ beta)):
        assert found.dtype == np.float64
        assert_array_equal(found, expected)


@pytest.mark.parametrize("form", FORMS)
def test_float32_data_is_summed_in_float64(form):
    X = np.array([[1e8, 1.0, -1e8]], np.float32)
    matrix = stored(X, form, np.float32)
    rows = as_rows(matrix)
    assert matvec(matrix, np.ones(3))[0] == 1.0  # 0 in float32
    assert squared_norms(rows, 1)[0] == 2e16 + 1.0
    assert_array_equal(rmatvec(matrix, np.array([1e-9])), X[0].astype(np.float64) * 1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_read_only_views_of_the_given_values(form):
    matrix = stored(np.eye(3), form, np.float64)
    rows = as_rows(matrix)
    values = matrix if form == "dense" else matrix.data
    assert isinstance(rows, DenseRows if form == "dense" else CsrRows)
    assert np.shares_memory(rows.values, values)
    for part in [rows.values] if form == "dense" else [rows.values, rows.indices, rows.indptr]:
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 0
    assert values.flags.writeable


def test_one_index_type_serves_every_csr_matrix():
    for index in (np.int32, np.int64):
        rows = as_rows(stored(np.eye(3), "csr", np.float64, index))
        assert rows.indices.dtype == np.uint32 and rows.indptr.dtype == np.int64
    for last in (2**31, 2**32 - 2):
        rows = as_rows(
            check_matrix(sp.csr_array((np.ones(1), np.array([last]), np.array([0, 1])), shape=(1, last + 1)))
        )
        assert rows.indices.tolist() == [last]


def test_row_entries_is_the_mean_number_of_stored_entries():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    assert row_entries(as_rows(stored(X, "dense", np.float64))) == 3.0
    assert row_entries(as_rows(stored(X, "csr", np.float64))) == 1.0
