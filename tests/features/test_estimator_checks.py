"""scikit-learn's own checks, all of them, none expected to fail; and what the checks do not look at."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import clone, config_context
from sklearn.base import TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapless as gl
import gapless.features as features
from gapless.features import Distance, NetworkFeatures, Nystroem, Polar, Polynomial, RandomFourier
from gapless.kernels import FeatureMapKernel, Laplacian, Linear, Matern

MAPS = [
    Polynomial(),
    Polynomial(degree=3, ordered=True, include_bias=False),
    Polynomial(degree=4, scaled=False),
    Polar(),
    Polar(columns=(1, 0)),
    Distance(random_state=0),
    Distance(method="kmeans", n_prototypes=3, random_state=0),
    Nystroem(5, random_state=0),
    Nystroem(5, method="kmeans", kernel=Matern(), random_state=0),
    Nystroem(5, method="cholesky", kernel=Linear() + 1.0, random_state=0),
    RandomFourier(5, random_state=0),
    RandomFourier(5, kernel=Matern(nu=2.5), orthogonal=True, random_state=0),
    NetworkFeatures(np.tanh, batch_size=7),
]
# Its frequencies have no bounds: a rounded sample may be anywhere on the circle.
UNSTEADY = [RandomFourier(5, kernel=Laplacian(), random_state=0)]
NAMES = ["length", "width", "height"]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(20, 3))


@pytest.fixture(params=MAPS, ids=str)
def phi(request) -> TransformerMixin:
    return clone(request.param)


@parametrize_with_checks(MAPS + UNSTEADY)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_public_name_is_under_test():
    assert {type(phi).__name__ for phi in MAPS} == set(features.__all__)


def test_pandas_output_has_the_values_and_the_names(phi, X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES, index=np.arange(20) + 100)
    plain = phi.fit_transform(X)
    by_choice = clone(phi).set_output(transform="pandas").fit_transform(frame)
    with config_context(transform_output="pandas"):
        by_config = phi.fit_transform(frame)
    assert phi.n_features_in_ == 3
    assert phi.feature_names_in_.tolist() == NAMES
    for Z in (by_choice, by_config):
        assert Z.columns.tolist() == phi.get_feature_names_out().tolist()
        assert Z.index.tolist() == frame.index.tolist()
        np.testing.assert_array_equal(Z.to_numpy(), plain)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_of_the_input_is_kept(phi, X, dtype):
    Z = phi.fit(X).transform(X.astype(dtype))  # fitted in float64 either way
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, phi.transform(X), rtol=1e-4, atol=1e-6)


def test_the_input_is_left_alone_and_the_fitted_map_pickles(phi, X):
    before = X.copy()
    Z = phi.fit(X).transform(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi)).transform(X), Z)


def test_maps_compose_in_a_pipeline_with_names(X):
    pipe = make_pipeline(Polar(columns=(0, 2)), Polynomial(degree=2, include_bias=False)).fit(X)
    assert pipe.get_feature_names_out(NAMES)[:4].tolist() == [
        "radius(length, height)",
        "width",
        "angle(length, height)",
        "radius(length, height)^2",
    ]


@pytest.mark.parametrize(
    "phi",
    [
        Polynomial(),
        Polynomial(ordered=True),
        Distance(n_prototypes=2, random_state=0),
        Nystroem(2, random_state=0),
        RandomFourier(2, random_state=0),
        NetworkFeatures(np.tanh),
    ],
    ids=str,
)
def test_csr_with_duplicate_and_unsorted_entries_means_their_sum(phi):
    X = np.array([[0.5, 0.0, 2.0], [0.0, -1.0, 0.0], [1.0, 1.0, 1.0]])
    data, indices, indptr = [1.5, 0.25, 0.25, 0.5, -1.0, 1.0, 1.0, 1.0], [2, 0, 0, 2, 1, 1, 2, 0], [0, 4, 5, 8]
    messy = sp.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=(3, 3))
    Z = phi.fit(messy).transform(messy)
    np.testing.assert_allclose(Z.toarray() if sp.issparse(Z) else Z, phi.fit(X).transform(X), rtol=1e-14)
    assert messy.nnz == 8


def test_linear_on_the_features_and_the_kernel_of_the_features_have_one_optimum(phi, X):
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    phi = phi.fit(X)
    options = {"C": 1.0, "intercept": "none"}
    linear = gl.solve(gl.Problem(phi.transform(X), y, **options), "sdca", tol=1e-10, max_iter=100_000)
    kernel = gl.solve(gl.Problem(X, y, kernel=FeatureMapKernel(phi), **options), "smo", tol=1e-10)
    assert linear.certificate.primal == pytest.approx(kernel.certificate.primal, rel=1e-8)
