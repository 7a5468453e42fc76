"""Nystroem: exact on its landmarks, against the textbook formula, and how landmarks come about."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
import gapless.data.memory
from gapless.errors import InvalidInputError, TooLargeError
from gapless.features import Nystroem
from gapless.features.nystroem import pivots
from gapless.kernels import RBF, Linear, Matern, Polynomial, Precomputed, Sigmoid

METHODS = ["uniform", "kmeans", "cholesky"]
KERNELS = [RBF(gamma=0.3), 0.5 * Matern() + Polynomial(degree=2) * Linear()]


def gram(phi: Nystroem, X: np.ndarray) -> np.ndarray:
    Z = phi.transform(X)
    return Z @ Z.T


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 8))
def test_inner_products_are_the_textbook_formula(method, kernel, seed, m):
    X = np.random.default_rng(seed).normal(size=(12, 3))
    for rows in (X, sp.csr_array(X)):
        phi = Nystroem(m, kernel=kernel, method=method, random_state=seed % 1000).fit(rows)
        across, within = kernel(rows, phi.landmarks_), kernel(phi.landmarks_)
        expected = across @ np.linalg.pinv(within, rcond=1e-13, hermitian=True) @ across.T
        np.testing.assert_allclose(gram(phi, rows), expected, rtol=1e-6, atol=1e-6 * kernel.diag(X).max())


@pytest.mark.parametrize("method", ["uniform", "cholesky"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_with_all_samples_as_landmarks_the_kernel_is_exact(method, kernel):
    X = np.random.default_rng(0).normal(size=(30, 3))
    K = kernel(X)
    phi = Nystroem(1000, kernel=kernel, method=method, random_state=0).fit(X)
    np.testing.assert_allclose(gram(phi, X), K, atol=1e-10 * K.max())


def test_the_exact_map_and_its_kernel_have_one_optimum():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where((X**2).sum(axis=1) > 1.5, 1, -1)
    kernel = Polynomial(degree=2)  # six monomials in two variables: six landmarks hold all of it
    phi = Nystroem(20, kernel=kernel, method="cholesky", random_state=0).fit(X)
    assert phi.transform(X).shape == (60, 6)
    mapped = gl.solve(gl.Problem(phi.transform(X), y, intercept="none"), tol=1e-10, max_iter=1e6)
    exact = gl.solve(gl.Problem(X, y, kernel=kernel, intercept="none"), tol=1e-10)
    assert mapped.certificate.primal == pytest.approx(exact.certificate.primal, rel=1e-8)


def test_uniform_landmarks_are_distinct_samples():
    X = np.arange(40.0).reshape(20, 2)
    phi = Nystroem(7, random_state=3).fit(X)
    assert len(np.unique(phi.landmarks_, axis=0)) == 7
    np.testing.assert_array_equal(phi.landmarks_, X[phi.indices_])


def test_kmeans_landmarks_are_the_centres_of_separate_heaps():
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.1, size=(300, 2)) + np.repeat([[0.0], [10.0], [20.0]], 100, axis=0)
    for rows in (X, sp.csr_array(X)):
        phi = Nystroem(3, method="kmeans", random_state=0).fit(rows)
        assert phi.indices_ is None
        centres = phi.landmarks_
        centres = centres[np.argsort(centres[:, 0])]
        np.testing.assert_allclose(centres, X.reshape(3, 100, 2).mean(axis=1), atol=0.05)


def test_pivots_are_drawn_from_what_is_left():
    heaps = np.repeat(np.arange(6.0) * 100, [1000, 1, 1, 1, 1, 1])[:, None]
    chosen = pivots(RBF(gamma=1.0), heaps, 6, np.random.RandomState(0))
    # Of the thousand equal samples one is enough: the others leave nothing, and the five lone ones follow.
    assert sorted(heaps[chosen, 0].tolist()) == [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]


def test_the_first_pivot_has_the_distribution_of_the_diagonal():
    diagonal = np.array([1.0, 2.0, 5.0])
    kernel, X = Precomputed(np.diag(diagonal)), np.arange(3.0)[:, None]
    first = np.array([pivots(kernel, X, 1, np.random.RandomState(seed))[0] for seed in range(2000)])
    np.testing.assert_allclose(np.bincount(first, minlength=3) / 2000, diagonal / 8, atol=0.04)


def test_pivots_beat_uniform_landmarks_where_the_data_is_lopsided():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(scale=0.05, size=(950, 2)), rng.uniform(-6, 6, size=(50, 2))])
    kernel = RBF(gamma=1.0)
    lost = {
        method: np.mean(
            [
                np.trace(kernel(X) - gram(Nystroem(40, kernel=kernel, method=method, random_state=seed).fit(X), X))
                for seed in range(5)
            ]
        )
        for method in ("uniform", "cholesky")
    }
    assert lost["cholesky"] < 0.3 * lost["uniform"]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_map(method):
    X = np.random.default_rng(0).normal(size=(50, 2))
    first, again, other = (Nystroem(8, method=method, random_state=s).fit(X).landmarks_ for s in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("method", ["uniform", "cholesky"])
def test_repeated_samples_leave_fewer_columns(method):
    X = np.repeat(np.eye(3), 10, axis=0)
    phi = Nystroem(15, method=method, kernel=RBF(), random_state=0).fit(X)
    assert phi.transform(X).shape == (30, 3)
    assert phi.get_feature_names_out().tolist() == ["nystroem0", "nystroem1", "nystroem2"]
    np.testing.assert_allclose(gram(phi, X), RBF()(X), atol=1e-12)


def test_kmeans_takes_repeated_samples():
    X = np.repeat(np.eye(3), 10, axis=0)
    phi = Nystroem(15, method="kmeans", kernel=RBF(), random_state=0).fit(X)
    np.testing.assert_allclose(gram(phi, X), RBF()(X), atol=1e-12)


def test_float32_is_multiplied_in_float32_and_stays_close():
    X = np.random.default_rng(0).normal(size=(300, 4))
    exact = gram(Nystroem(60, random_state=0).fit(X), X)
    phi = Nystroem(60, random_state=0).fit(X.astype(np.float32))
    assert phi.projection_.dtype == np.float32
    assert phi.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(gram(phi, X.astype(np.float32)), exact, atol=2e-3)


def test_the_default_kernel_is_as_wide_as_the_data():
    X = np.random.default_rng(0).normal(size=(40, 3)) * 7
    for rows in (X, sp.csr_array(X)):
        assert Nystroem(5).fit(rows).kernel_.gamma == pytest.approx(1 / (3 * X.var()))
    assert Nystroem(1).fit(np.ones((4, 2))).kernel_.gamma == 1.0


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_components": 0}, "n_components must be a natural number of at least 1; got 0."),
        ({"method": "grid"}, "method must be 'uniform', 'kmeans' or 'cholesky'; got 'grid'."),
        ({"kernel": "rbf"}, "kernel must be a kernel of gapless.kernels, or None for RBF; got 'rbf'."),
        (
            {"kernel": Sigmoid()},
            "kernel must be positive semi-definite, since features have inner products; "
            "got Sigmoid(gamma=1.0, coef0=1.0).",
        ),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    with pytest.raises(InvalidInputError) as error:
        Nystroem(**parameters).fit(np.eye(4))
    assert str(error.value) == message


def test_what_does_not_fit_into_memory_is_refused_in_words(monkeypatch):
    X = np.eye(4)
    phi = Nystroem(3, random_state=0).fit(X)
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 95)
    with pytest.raises(TooLargeError) as error:
        phi.transform(X)
    assert str(error.value) == (
        "Nystroem with 3 landmarks makes 3 columns: its output for 4 rows needs 0.00 GiB, "
        "but only 0.00 GiB of memory is available."
    )
    with pytest.raises(TooLargeError, match=r"Cholesky factorisation holds 4 x 3 numbers in float64, which needs"):
        Nystroem(3, method="cholesky").fit(X)
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 71)
    with pytest.raises(TooLargeError, match=r"the kernel between its landmarks: 3 x 3 in float64, which needs"):
        phi.fit(X)


def test_grid_search_reaches_the_kernel():
    phi = Nystroem(kernel=RBF(gamma=0.1)).set_params(kernel__gamma=0.7)
    assert phi.kernel == RBF(gamma=0.7)
