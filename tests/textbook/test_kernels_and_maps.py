"""What the textbooks say of kernels and of the feature maps behind them, beside what the package computes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neural_network import MLPClassifier

import gapless as gl
from tests.textbook.samples import RNG, C, N, X, y


def test_training_and_prediction_touch_data_only_through_the_kernel():
    kernel = gl.kernels.RBF(0.5)
    new = RNG.normal(size=(5, 3))
    gram = kernel(np.vstack([X, new]))
    by_index = gl.solve(gl.Problem(np.arange(N)[:, None], y, C=C, kernel=gl.kernels.Precomputed(gram)), tol=1e-9)
    by_value = gl.solve(gl.Problem(X, y, C=C, kernel=kernel), tol=1e-9)
    expected = by_value.decision_function(new)
    assert_allclose(by_index.decision_function(np.arange(N, N + 5)[:, None]), expected, atol=1e-6)
    assert_allclose(gram[N:, :N] @ (by_value.alpha() * y) + by_value.b, expected, atol=1e-6)


def test_the_map_of_one_plus_dot_plus_dot_squared_has_one_plus_d_plus_d_squared_columns():
    psi = gl.features.Polynomial(degree=2, ordered=True).fit(X)
    Z = psi.transform(X)
    assert Z.shape[1] == 1 + 3 + 3**2
    assert_allclose(Z @ Z.T, 1 + X @ X.T + (X @ X.T) ** 2, rtol=1e-13, atol=1e-13)
    assert_allclose(psi.kernel()(X), Z @ Z.T, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("d", [5, 40, 200])
def test_the_kernel_reads_d_numbers_a_sample_where_the_map_makes_d_squared(d):
    Z = RNG.normal(size=(3, d))
    psi = gl.features.Polynomial(degree=2, ordered=True).fit(Z)
    products = []

    class Counting(gl.kernels.Linear):
        def block(self, X, Z):
            products.append(X.shape[1])
            return super().block(X, Z)

    kernel = psi.kernel().set_params(kernel=Counting())
    assert_allclose(kernel(Z), psi.transform(Z) @ psi.transform(Z).T, rtol=1e-11, atol=1e-11)
    assert products == [d]  # one inner product of length d an entry
    assert psi.n_output_features_ == 1 + d + d * d


def test_the_first_layers_of_a_network_are_a_feature_map():
    network = MLPClassifier((6,), activation="tanh", solver="lbfgs", max_iter=2000, random_state=0).fit(X, y)

    def first_layer(Z: np.ndarray) -> np.ndarray:
        return np.tanh(Z @ network.coefs_[0] + network.intercepts_[0])

    kernel = gl.kernels.FeatureMapKernel(first_layer)
    mapped = gl.solve(gl.Problem(first_layer(X), y, C=C), tol=1e-9)
    assert gl.solve(gl.Problem(X, y, C=C, kernel=kernel), tol=1e-9).certificate.primal == pytest.approx(
        mapped.certificate.primal, rel=1e-8
    )


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize(
    "phi",
    [
        gl.features.Polynomial(degree=2),
        gl.features.Polar(),
        gl.features.Distance(n_prototypes=5, random_state=0),
    ],
    ids=lambda phi: type(phi).__name__,
)
def test_linear_on_the_features_and_their_kernel_have_the_same_optimum(phi, intercept):
    phi = phi.fit(X)
    kernel = gl.kernels.FeatureMapKernel(phi)
    linear = gl.solve(gl.Problem(phi.transform(X), y, C=C, intercept=intercept), tol=1e-9)
    kernelised = gl.solve(gl.Problem(X, y, C=C, intercept=intercept, kernel=kernel), tol=1e-9)
    assert linear.certificate.primal == pytest.approx(kernelised.certificate.primal, rel=1e-8)
    assert_allclose(linear.decision_function(phi.transform(X)), kernelised.decision_function(X), atol=1e-3)
