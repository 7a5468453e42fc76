"""Training data by the short way and by scikit-learn's: the same arrays, the same notes on the estimator, the same refusals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

import gapless.estimators.training_data as training_data
from gapless.estimators.training_data import take_features, take_training_data

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])


class Plain(BaseEstimator):
    pass


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("y", [Y, Y.astype(float), Y.astype(bool), None])
def test_plain_arrays_are_taken_as_they_are(dtype, y, monkeypatch):
    monkeypatch.setattr(training_data, "validate_data", None)  # which is not asked
    estimator, theirs = Plain(), Plain()
    estimator.feature_names_in_ = theirs.feature_names_in_ = np.array(
        ["a", "b", "c"], dtype=object
    )  # of an earlier fit
    given = X.astype(dtype)
    taken, targets = take_training_data(estimator, given, y)
    validate_data(theirs, given, skip_check_array=True)
    assert taken is given and targets is y
    assert vars(estimator) == vars(theirs) == {"n_features_in_": 2}


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("y", [Y, Y.astype(float), None])
def test_plain_csr_is_taken_on_indices_of_its_own(kind, y, monkeypatch):
    monkeypatch.setattr(training_data, "validate_data", None)
    estimator, given = Plain(), kind(X)
    taken, targets = take_training_data(estimator, given, y)
    assert taken.data is given.data and targets is y and type(taken) is kind
    assert not np.shares_memory(taken.indices, given.indices)
    assert vars(estimator) == {"n_features_in_": 2}
    assert (take_features(estimator, given, reset=False) != given).nnz == 0
    given.indices[0] = 7
    with pytest.raises(ValueError, match="indices must lie"):
        take_training_data(estimator, given, y)
    with pytest.raises(ValueError, match="indices must lie"):
        take_features(estimator, given, reset=False)


def test_csr_with_duplicates_is_summed():
    given = sp.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    taken, _ = take_training_data(Plain(), given, Y[:2])
    np.testing.assert_array_equal(taken.toarray(), [[0.0, 3.0], [4.0, 0.0]])
    assert taken.has_canonical_format and given.nnz == 3


@pytest.mark.parametrize(
    ("given", "y"),
    [
        (X.tolist(), Y),
        (np.asfortranarray(X), Y),
        (X.astype(int), Y),
        (X, Y.tolist()),
        (X, Y[:, None].astype(object)),
        (X.astype(np.float16), Y),
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_everything_else_is_scikit_learns(given, y):
    expected = validate_data(Plain(), given, y, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
    taken, targets = take_training_data(Plain(), given, y)
    np.testing.assert_array_equal(taken, expected[0])
    np.testing.assert_array_equal(targets, expected[1])
    assert taken.dtype == expected[0].dtype and taken.flags.c_contiguous


@pytest.mark.parametrize(
    ("given", "y", "words"),
    [
        (np.where(X == 5, np.nan, X), Y, "Input X contains NaN"),
        (X, np.where(Y == 1, np.nan, 0.0), "Input y contains NaN"),
        (X, Y[:4], "inconsistent numbers of samples"),
        (X[:0], Y[:0], "Found array with 0 sample"),
        (X[0], Y, "Expected 2D array, got 1D array"),
        (sp.csr_array(np.where(X == 5, np.nan, X)), Y, "Input X contains NaN"),
        (sp.csr_array(X), Y[:4], "inconsistent numbers of samples"),
        (sp.csr_array(X)[:0], Y[:0], "Found array with 0 sample"),
    ],
)
def test_refusals_are_scikit_learns(given, y, words):
    with pytest.raises(ValueError, match=words):
        take_training_data(Plain(), given, y)
