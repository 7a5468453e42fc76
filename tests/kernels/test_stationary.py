from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Laplacian, Matern, pairwise
from tests.kernels import reference
from tests.kernels.samples import matrices

KERNELS = [RBF(0.3), Laplacian(0.3), *(Matern(1.3, nu) for nu in (0.5, 1.5, 2.5, math.inf))]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@given(matrices(), matrices())
def test_agree_with_scikit_learn(X, Z):
    assert_allclose(RBF(0.5)(X, Z), rbf_kernel(X, Z, 0.5), rtol=1e-11)
    assert_allclose(Laplacian(0.5)(X, Z), laplacian_kernel(X, Z, 0.5), rtol=1e-12)
    for nu in (0.5, 1.5, 2.5, math.inf):
        assert_allclose(Matern(0.7, nu)(X, Z), gp.Matern(0.7, nu=nu)(X, Z), rtol=1e-11)


def _spread(shift: float, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(30, 6))
    X[7] = X[3]
    X[11] = X[3] + 1e-9  # nearly equal rows, where the expansion of the square has no digit left
    return X + shift


@every_kernel
@pytest.mark.parametrize("shift", [0.0, 1e4, -1e7])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_accurate_far_from_the_origin(kernel, shift, container):
    X, Z = _spread(shift), _spread(shift, seed=1)
    for left, right in ((X, X), (X, Z), (X[:2], Z)):
        K = kernel.block(container(left), container(right))
        assert_allclose(K, reference.gram(kernel, left, right), rtol=0, atol=1e-10)


def test_centring_leaves_few_pairs_to_differences(monkeypatch):
    by_differences = []
    exact = pairwise._squared_differences
    monkeypatch.setattr(
        pairwise, "_squared_differences", lambda X, Z, i, j: by_differences.append(len(i)) or exact(X, Z, i, j)
    )
    X = _spread(1e7)
    pairwise.squared_distances(X, X)
    assert sum(by_differences) == 30 + 6  # the diagonal, and the pairs among three rows that are nearly equal


@every_kernel
def test_accurate_in_clusters_far_apart(kernel):
    X = np.vstack([_spread(-1e5), _spread(1e5)])
    assert_allclose(kernel.block(X, X), reference.gram(kernel, X), rtol=0, atol=1e-10)


@every_kernel
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_equal_rows_give_exactly_one(kernel, container):
    X = _spread(1e3)
    K = kernel.block(container(X), container(X))
    assert_array_equal(np.diag(K), 1.0)
    assert K[3, 7] == 1.0
    rows = np.arange(5, 15)
    part = kernel.block(container(X[rows]), container(X))
    assert_array_equal(part[np.arange(10), rows], 1.0)
    assert_array_equal(kernel.diag(container(X)), 1.0)


@pytest.mark.parametrize(
    "kernel", [RBF(1.0), Laplacian(1.0), *(Matern(2.0, nu) for nu in (0.5, 1.5, 2.5, np.inf))], ids=str
)
@pytest.mark.parametrize("distance", [1e4, 1e10, 1e100, 1e155, 1e300])
def test_samples_without_end_apart_are_orthogonal(kernel, distance):
    """Matérn kernels were NaN where the square of the distance overflows, so that predictions were."""
    with np.errstate(over="ignore"):
        assert kernel.block(np.array([[0.0], [1.0]]), np.array([[distance]])).tolist() == [[0.0], [0.0]]


def test_gram_is_exactly_symmetric():
    X = _spread(3.0)
    for kernel in KERNELS:
        K = kernel.block(X, X)
        assert_array_equal(K, K.T)


def test_squared_distances_over_many_strips_and_many_close_pairs(monkeypatch):
    monkeypatch.setattr(pairwise, "_STRIP", 64)
    monkeypatch.setattr(pairwise, "_GATHER", 16)
    X, Z = np.vstack([_spread(-1e5), _spread(1e5)]), _spread(1e5, seed=2)
    expected = cdist(X, Z, "sqeuclidean")
    for left, right in ((X, Z), (sp.csr_array(X), sp.csr_array(Z)), (X, sp.csr_array(Z)), (sp.csr_matrix(X), Z)):
        D = pairwise.squared_distances(left, right)
        assert_allclose(D, expected, rtol=1e-10)
        assert (D >= 0).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RBF(gamma=-0.5), "gamma must be a finite number of at least 0; got -0.5."),
        (lambda: RBF(gamma="scale"), "gamma must be a finite number of at least 0; got 'scale'."),
        (lambda: Laplacian(gamma=float("nan")), "gamma must be a finite number of at least 0; got nan."),
        (lambda: Matern(length_scale=0.0), "length_scale must be a finite number above 0; got 0.0."),
        (lambda: Matern(length_scale=float("inf")), "length_scale must be a finite number above 0; got inf."),
        (lambda: Matern(nu=2.0), "nu must be 0.5, 1.5, 2.5 or inf; got 2.0."),
        (lambda: Matern(nu="1.5"), "nu must be 0.5, 1.5, 2.5 or inf; got '1.5'."),
    ],
)
def test_wrong_parameters_are_refused(build, message):
    with pytest.raises(InvalidInputError) as error:
        build()
    assert str(error.value) == message
