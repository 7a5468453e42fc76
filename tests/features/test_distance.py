"""Distance: against the naive double loop, and how prototypes come about."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import gapless.data.memory
from gapless.errors import InvalidInputError, TooLargeError
from gapless.features import Distance


def naive(X: np.ndarray, prototypes: np.ndarray, gamma: float) -> np.ndarray:
    return np.array([[math.exp(-gamma * sum((x - p) ** 2)) for p in prototypes] for x in X])


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 6),
    m=st.integers(1, 5),
    d=st.integers(1, 4),
    gamma=st.floats(0.01, 5),
)
def test_equals_the_naive_loop_dense_and_csr(seed, n, m, d, gamma):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    P = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.5)
    expected = naive(X, P, gamma)
    for prototypes in (P, P.tolist(), sp.csr_array(P)):
        phi = Distance(prototypes, gamma=gamma)
        for rows in (X, sp.csr_array(X)):
            Z = phi.fit(rows).transform(rows)
            assert isinstance(Z, np.ndarray)
            np.testing.assert_allclose(Z, expected, rtol=1e-12, atol=1e-15)
    assert phi.get_feature_names_out().tolist() == [f"distance{j}" for j in range(m)]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_sampled_prototypes_are_distinct_training_rows(container):
    X = np.arange(40.0).reshape(20, 2)
    phi = Distance(n_prototypes=20, random_state=1).fit(container(X))
    assert sp.issparse(phi.prototypes_) == (container is sp.csr_array)
    chosen = phi.prototypes_.toarray() if sp.issparse(phi.prototypes_) else phi.prototypes_
    assert not np.array_equal(chosen, X), "drawn, not merely the first rows"
    np.testing.assert_array_equal(chosen[np.argsort(chosen[:, 0])], X)


def test_kmeans_prototypes_are_the_centres():
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0.0], [10.0], [20.0]], 10, axis=0)
    for rows in (X, sp.csr_array(X)):
        phi = Distance(n_prototypes=3, method="kmeans", random_state=0).fit(rows)
        expected = KMeans(3, random_state=0).fit(rows).cluster_centers_
        np.testing.assert_array_equal(phi.prototypes_, expected)
    centres = X.reshape(3, 10, 2).mean(axis=1)
    np.testing.assert_allclose(phi.prototypes_[np.argsort(phi.prototypes_[:, 0])], centres, rtol=1e-12)


@pytest.mark.parametrize("method", ["sample", "kmeans"])
def test_the_same_seed_gives_the_same_prototypes(method):
    X = np.random.default_rng(0).normal(size=(30, 2))
    first, again, other = (Distance(method=method, random_state=seed).fit(X).prototypes_ for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_given_prototypes_are_copied():
    prototypes = np.zeros((1, 2))
    phi = Distance(prototypes).fit(np.ones((1, 2)))
    prototypes[:] = 1.0
    assert phi.transform([[0.0, 0.0]]) == 1.0


@pytest.mark.parametrize("gamma", [0, -1.0, math.nan, math.inf, "scale", True, None])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(InvalidInputError) as error:
        Distance(gamma=gamma).fit(np.ones((10, 2)))
    assert str(error.value) == f"gamma must be a positive finite number; got {gamma!r}."


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_prototypes": 0}, "n_prototypes must be a natural number of at least 1; got 0."),
        ({"n_prototypes": 5}, "n_prototypes must be at most n_samples=4; got 5."),
        ({"n_prototypes": 5, "method": "kmeans"}, "n_prototypes must be at most n_samples=4; got 5."),
        ({"n_prototypes": 2, "method": "grid"}, "method must be 'sample' or 'kmeans'; got 'grid'."),
        ({"prototypes": np.ones((2, 3))}, "prototypes must have X's 2 features; got 3."),
        ({"prototypes": np.ones(2)}, "prototypes must have two dimensions (samples, features); got 1."),
        ({"prototypes": [[1.0, math.nan]]}, "prototypes must be finite; row 0, column 1 is nan."),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    with pytest.raises(InvalidInputError) as error:
        Distance(**parameters).fit(np.ones((4, 2)))
    assert str(error.value) == message


def test_an_output_that_does_not_fit_into_memory_is_refused_in_words(monkeypatch):
    phi = Distance(np.eye(3)).fit(np.eye(3))
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 71)
    with pytest.raises(TooLargeError) as error:
        phi.transform(np.eye(3))
    assert str(error.value) == (
        "Distance to 3 prototypes makes 3 columns: its output for 3 rows needs 0.00 GiB, "
        "but only 0.00 GiB of memory is available."
    )
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 72)
    assert phi.transform(np.eye(3)).shape == (3, 3)
