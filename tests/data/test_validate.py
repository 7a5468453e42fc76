from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal

from gapless.data import check_beta, check_labels, check_matrix, check_targets, check_weights
from gapless.errors import InvalidInputError

X = np.array([[1.0, 0.0, -2.0], [0.0, 0.0, 3.0]])
FORMATS = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array]


def refusal(function, *arguments, **named) -> str:
    with pytest.raises(InvalidInputError) as error:
        function(*arguments, **named)
    return str(error.value)


def with_indices(X: sp.csr_array, index: type) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)


# --- matrices


@pytest.mark.parametrize(
    ("given_type", "kept_type"),
    [
        (np.bool_, np.float32),
        (np.int8, np.float32),
        (np.uint8, np.float32),
        (np.int16, np.float32),
        (np.uint16, np.float32),
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.int32, np.float64),
        (np.uint32, np.float64),
        (np.int64, np.float64),
        (np.float64, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_each_type_becomes_the_smallest_float_that_holds_it_exactly(given_type, kept_type):
    info = None if given_type is np.bool_ else np.iinfo(given_type) if np.dtype(given_type).kind in "iu" else None
    values = np.array([[0, 1, info.max if info and info.bits < 64 else 1]]).astype(given_type)
    checked = [check_matrix(values)]
    if given_type is not np.float16:  # SciPy has no half precision matrices
        checked.append(check_matrix(sp.csr_array(values)))
    for matrix in checked:
        assert matrix.dtype == kept_type
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        assert dense.astype(object).tolist() == values.astype(object).tolist()


@given(
    arrays(
        st.sampled_from([np.float32, np.float64, np.int8, np.int64]),
        array_shapes(min_dims=2, max_dims=2),
        elements=st.integers(-9, 9),
    )
)
def test_a_checked_matrix_equals_the_given_one_and_is_contiguous(values):
    for given_matrix in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2], values[::-1][::-1]):
        checked = check_matrix(given_matrix)
        assert checked.flags.c_contiguous and checked.flags.aligned
        assert_array_equal(checked, values)
        assert_array_equal(check_matrix(checked), checked)


def test_a_contiguous_float_matrix_is_kept_not_copied():
    for matrix in (X, X.astype(np.float32)):
        assert np.shares_memory(check_matrix(matrix), matrix)
    stored = sp.csr_array(X)
    assert np.shares_memory(check_matrix(stored).data, stored.data)


def test_a_read_only_memory_map_is_taken_as_it_is(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    checked = check_matrix(mapped)
    assert_array_equal(checked, X)
    assert np.shares_memory(checked, mapped)


def test_an_unaligned_matrix_is_aligned():
    unaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    checked = check_matrix(unaligned)
    assert checked.flags.aligned
    assert_array_equal(checked, X)


@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_becomes_csr(form):
    checked = check_matrix(form(X))
    assert isinstance(checked, sp.csr_array)
    assert checked.has_canonical_format and checked.dtype == np.float64
    assert_array_equal(checked.toarray(), X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_duplicates_are_summed_and_indices_sorted_in_a_copy(index):
    stored = sp.csr_array(
        (np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1], index), np.array([0, 3, 4], index)), shape=(2, 3)
    )
    before = [part.copy() for part in (stored.data, stored.indices, stored.indptr)]
    checked = check_matrix(stored)
    assert_array_equal(checked.toarray(), [[2.0, 0.0, 5.0], [0.0, 8.0, 0.0]])
    assert checked.indices.tolist() == [0, 2, 1]
    for part, old in zip((stored.data, stored.indices, stored.indptr), before, strict=True):
        assert_array_equal(part, old)


def test_unsorted_indices_are_sorted_in_a_copy():
    stored = sp.csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    checked = check_matrix(stored)
    assert checked.indices.tolist() == [0, 2] and checked.data.tolist() == [2.0, 1.0]
    assert stored.indices.tolist() == [2, 0]


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_either_index_type_is_taken(index):
    assert_array_equal(check_matrix(with_indices(sp.csr_array(X), index)).toarray(), X)


def test_a_data_frame_and_lists_become_an_array():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
    for data in (frame, frame.to_numpy().tolist(), tuple(map(tuple, frame.to_numpy().tolist()))):
        checked = check_matrix(data)
        assert checked.dtype == np.float64
        assert_array_equal(checked, [[1.0, 0.5, 1.0], [2.0, 1.5, 0.0]])
    assert frame["c"].tolist() == [True, False]


def test_input_is_never_written_to():
    dense = X.copy()
    dense.flags.writeable = False
    stored = sp.csr_array(X)
    for part in (stored.data, stored.indices, stored.indptr):
        part.flags.writeable = False
    labels, targets = np.array(["a", "b"]), np.array([1.0, 2.0])
    labels.flags.writeable = targets.flags.writeable = False
    check_matrix(dense), check_matrix(stored), check_labels(labels, 2)
    for check in (check_targets, check_weights, check_beta):
        checked = check(targets, 2)
        checked += 1.0  # a copy: the caller's vector would refuse
    assert targets.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[0], "X must have two dimensions (samples, features); got 1."),
        (X[None], "X must have two dimensions (samples, features); got 3."),
        ([1.0, 2.0], "X must have two dimensions (samples, features); got 1."),
        ([], "X must have two dimensions (samples, features); got 1."),
        (3.0, "X must have two dimensions (samples, features); got 0."),
        (None, "X must have two dimensions (samples, features); got 0."),
        (pd.Series([1.0, 2.0]), "X must have two dimensions (samples, features); got 1."),
        (sp.coo_array(X[0]), "X must have two dimensions (samples, features); got 1."),
        (X * 1j, "X must hold real numbers; got the type complex128."),
        ([[1j]], "X must hold real numbers; got the type complex128."),
        (sp.csr_array(X * 1j), "X must hold real numbers; got the type complex128."),
        ([["a", "b"]], "X must hold real numbers; got the type <U1."),
        (np.array([["2020-01-01"]], "datetime64[D]"), "X must hold real numbers; got the type datetime64[D]."),
        (
            pd.DataFrame({"a": [1.0], "b": ["red"]}),
            "X must be a matrix of numbers, dense or CSR; could not convert string to float: 'red'.",
        ),
        ([[10**400]], "X must be a matrix of numbers, dense or CSR; int too large to convert to float."),
        (X[:0], "X must have at least one sample and one feature; got the shape (0, 3)."),
        (X[:, :0], "X must have at least one sample and one feature; got the shape (2, 0)."),
        (sp.csr_array((0, 3)), "X must have at least one sample and one feature; got the shape (0, 3)."),
        (sp.csr_array((1, 2**32)), "X must have fewer than 2³² features; got 4,294,967,296."),
        ([[]], "X must have at least one sample and one feature; got the shape (1, 0)."),
        ([[1.0, 2.0], [3.0, np.nan]], "X must be finite; row 1, column 1 is nan."),
        ([[1.0, -np.inf], [np.nan, 0.0]], "X must be finite; row 0, column 1 is -inf."),
        ([[1.0, None]], "X must be finite; row 0, column 1 is nan."),
        (np.array([[np.inf]], np.float32), "X must be finite; row 0, column 0 is inf."),
        (pd.DataFrame({"a": [1.0, np.nan]}), "X must be finite; row 1, column 0 is nan."),
        (sp.csr_array([[0.0, 1.0], [0.0, 0.0], [0.0, np.nan]]), "X must be finite; row 2, column 1 is nan."),
        (sp.csc_matrix([[0.0, 0.0, 1.0], [0.0, np.inf, 0.0]]), "X must be finite; row 1, column 1 is inf."),
    ],
)
def test_a_wrong_matrix_is_refused_in_words(data, message):
    assert refusal(check_matrix, data) == message


def test_ragged_rows_are_refused():
    assert refusal(check_matrix, [[1.0], [1.0, 2.0]]).startswith(
        "X must be a matrix of numbers, dense or CSR; setting an array element with a sequence."
    )


def test_a_number_beyond_float64_is_refused():
    wide = np.array([[np.longdouble(1e300) * np.longdouble(1e300)]])
    if not np.isfinite(wide[0, 0]):
        pytest.skip("long double is no wider than float64 on this platform")
    assert refusal(check_matrix, wide).startswith("X must be a matrix of numbers, dense or CSR; overflow")


def test_the_name_and_the_number_of_features_are_part_of_the_message():
    assert refusal(check_matrix, X[0], "Z") == "Z must have two dimensions (samples, features); got 1."
    assert refusal(check_matrix, X, n_features=4) == "X must have 4 features as in training; got 3."
    assert check_matrix(X, n_features=3) is not None


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_entries_up_to_the_largest_are_taken_and_others_told_apart_from_infinity(form):
    both = np.array([[1e75, 1e75], [-1e75, -1e75]])
    taken = check_matrix(form(both))
    assert (taken.toarray() if sp.issparse(taken) else taken).tolist() == both.tolist()
    message = "X must have entries of at most 1e+75, since products of larger ones overflow; got 1e+308. Rescale X."
    assert refusal(check_matrix, form(1e233 * both)) == message
    assert check_matrix(form(np.full((2, 2), 3e38, dtype=np.float32))).dtype == np.float32


# --- labels


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes", "no"], ["no", "yes"]),
        ([True, False, True], [False, True]),
        ([3, -7, 3], [-7, 3]),
        ([0.5, 0.25, 0.5], [0.25, 0.5]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        (pd.Series(["x", "y", "x"]), ["x", "y"]),
        (pd.Categorical(["x", "y", "x"]), ["x", "y"]),
        (np.array([[1], [2], [1]]), [1, 2]),
        (np.array([200, 100, 200], np.uint8), [100, 200]),
    ],
)
def test_labels_of_any_type_become_signs(labels, classes):
    signs, found = check_labels(labels, 3)
    assert found.tolist() == classes
    assert signs.dtype == np.float64
    assert set(signs.tolist()) == {-1.0, 1.0}
    assert_array_equal(found[(signs > 0).astype(int)], np.asarray(labels).reshape(3))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 1, 1], "y must have exactly two classes for a margin loss; got 1 class: 1."),
        (["a", "b", "c"], "y must have exactly two classes for a margin loss; got 3 classes: 'a', 'b', 'c'."),
        ([0.0, np.nan, 1.0], "y must be finite; entry 1 is nan."),
        ([0.0, 1.0, np.inf], "y must be finite; entry 2 is inf."),
        (np.array([0.0, 0.0, np.nan], dtype=object), "y must have a label for every sample; entry 2 is nan."),
        (
            np.array([1, "a", 1], dtype=object),
            "y must hold labels of one type; got numbers and text.",
        ),
        (
            ["a", None, "b"],
            "y must have a label for every sample; entry 1 is None.",
        ),
        ([0, 1], "y must have one entry for each of the 3 samples; got 2."),
        ([[0, 1], [1, 0], [1, 1]], "y must be a vector with one entry a sample; got the shape (3, 2)."),
        (1, "y must be a vector with one entry a sample; got the shape ()."),
    ],
)
def test_wrong_labels_are_refused_in_words(labels, message):
    assert refusal(check_labels, labels, 3) == message


def test_only_five_of_many_classes_are_named():
    assert refusal(check_labels, np.arange(7), 7) == (
        "y must have exactly two classes for a margin loss; got 7 classes: 0, 1, 2, 3, 4, …."
    )


def test_ragged_labels_are_refused():
    assert refusal(check_labels, [[0], [0, 1]], 2).startswith("y must be a vector with one entry a sample; setting an")


# --- numbers


def test_numbers_become_float64_vectors():
    for check in (check_targets, check_weights, check_beta):
        for values in ([1, 2], (1, 2), np.array([[1], [2]]), pd.Series([1, 2]), np.array([1, 2], object)):
            checked = check(values, 2)
            assert checked.dtype == np.float64 and checked.tolist() == [1.0, 2.0]
    assert check_weights(None, 3).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("check", "name", "expected"),
    [
        (check_targets, "y", "y must hold numbers for a regression loss"),
        (check_weights, "sample_weight", "sample_weight must hold numbers"),
        (check_beta, "start", "start must be a Result, a Point or numbers"),
    ],
)
def test_wrong_numbers_are_refused_in_words(check, name, expected):
    assert refusal(check, ["a", "b"], 2) == f"{expected}; got the type <U1."
    assert refusal(check, [1j, 2.0], 2) == f"{expected}; got the type complex128."
    assert refusal(check, np.array(["a", 1], object), 2) == f"{expected}; could not convert string to float: 'a'."
    assert refusal(check, [10**400, 1], 2) == f"{expected}; int too large to convert to float."
    assert refusal(check, [1.0, np.nan], 2) == f"{name} must be finite; entry 1 is nan."
    assert refusal(check, [-np.inf, 1.0], 2) == f"{name} must be finite; entry 0 is -inf."
    assert refusal(check, [1.0, None], 2) == f"{name} must be finite; entry 1 is nan."
    assert refusal(check, [1.0], 2) == f"{name} must have one entry for each of the 2 samples; got 1."
    assert refusal(check, [[1.0, 2.0]], 1) == f"{name} must be a vector with one entry a sample; got the shape (1, 2)."


def test_weights_must_be_usable():
    assert refusal(check_weights, [1.0, -0.5], 2) == "sample_weight must not be negative; entry 1 is -0.5."
    assert refusal(check_weights, [0.0, 0.0], 2) == "sample_weight must have a positive entry; all are zero."
    assert check_weights([0.0, 2.0], 2).tolist() == [0.0, 2.0]
