"""The interior point on a Gram matrix: every box loss, intercept and ν-form to the last digits, whatever the scales are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gapless as gl
from gapless.kernels import RBF, Polynomial
from gapless.solvers.interior_point.kernel_active_set import pin
from gapless.solvers.interior_point.scaled_dual import ScaledDual


def data(scales=(1.0, 1.0, 1.0)):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    return X * scales, X[:, 0] + 0.5 * rng.normal(size=60)


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize(
    "loss", ["hinge", "squared_hinge", "smoothed_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]
)
def test_every_box_loss(loss, C, intercept):
    X, target = data()
    y = target if "epsilon" in loss else target > 0
    problem = gl.Problem(X, y, loss=loss, kernel=RBF(0.3), C=C, intercept=intercept)
    result = gl.solve(problem, "interior_point", tol=1e-8)
    assert result.status is gl.Status.CONVERGED and result.iterations <= 60
    rival = gl.solve(problem, "qp", tol=1e-6).certificate
    assert rival.dual <= result.certificate.primal * (1 + 1e-12) and result.certificate.dual <= rival.primal


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_features_of_very_different_scales(power, C):
    X, target = data((1.0, 10.0**power, 10.0**-power))
    problem = gl.Problem(X, target > 0, kernel=Polynomial(2, 1.0, 1.0), C=C)
    result = gl.solve(problem, "interior_point", tol=1e-3, kkt_tol=1e-3)
    assert result.certificate.relative_gap <= 1e-3


@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
def test_the_nu_forms(nu):
    X, target = data()
    problems = [
        gl.nu.one_class(X, nu=nu, kernel=RBF(0.3)),
        gl.nu.nu_regression(X, target, nu=nu, C=10.0, kernel=RBF(0.3)),
        gl.nu.nu_classification(X, target > np.median(target), nu=min(nu, 0.9), kernel=RBF(2.0)),
        gl.nu.one_class(X + 3.0, nu=nu),
    ]
    for problem in problems:
        result = gl.solve(problem, "interior_point", tol=1e-6)
        rival = gl.solve(problem, "smo", tol=1e-6)
        assert result.status.proven and rival.status.proven
        assert rival.certificate.dual <= result.certificate.primal + 1e-9 * abs(result.certificate.primal)
        assert result.certificate.dual <= rival.certificate.primal + 1e-9 * abs(rival.certificate.primal)


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 200)) + 50.0 * rng.normal(size=200)
    problem = gl.Problem(X, np.arange(40) % 2, C=1e4)
    result = gl.solve(problem, "interior_point", tol=1e-6)
    assert result.status is gl.Status.CONVERGED and result.w.shape == (200,)


def test_samples_without_weight_and_equal_ones():
    X, target = data()
    X, y = np.vstack([X, X[:5], np.zeros((2, 3))]), np.append(target > 0, [*(target[:5] > 0), True, False])
    weight = np.where(np.arange(67) % 9 == 4, 0.0, 1.0)
    problem = gl.Problem(X, y, kernel=RBF(0.3), C=5.0, sample_weight=weight)
    result = gl.solve(problem, "interior_point", tol=1e-8)
    assert result.status is gl.Status.CONVERGED
    assert not result.beta[weight == 0].any()


def test_a_scaled_dual_is_the_dual():
    X, target = data((1.0, 1e4, 1e-3))
    problem = gl.Problem(X, target, loss="epsilon_insensitive", kernel=Polynomial(2, 1.0, 1.0), C=3.0)
    scaled = ScaledDual(problem, "it")
    assert_allclose(scaled.Q.diagonal(), 1.0)
    assert len(scaled.parts.sample) == 120  # a rise and a fall of each
    rng = np.random.default_rng(0)
    x = scaled.parts.upper * rng.uniform(size=120)
    x[60:][rng.uniform(size=60) < 0.5] = 0.0
    x[:60][x[60:] > 0] = 0.0  # one part of a sample at a time
    beta = scaled.joined(x)
    own = scaled.stated(beta)
    K = problem.kernel(X, X)
    dual = target @ own - 0.1 * np.abs(own).sum() - 0.5 * own @ K @ own
    assert_allclose(-scaled.value(x, beta) * scaled.unit**2, dual, rtol=1e-9)


def test_an_active_set_by_hand():
    """x = ∓1 and 3: of the two parts inside of their box β = ½ and −½ are the hard margin's; the third is at zero."""
    problem = gl.Problem([[-1.0], [1.0], [3.0]], [0, 1, 1], C=10.0)
    scaled = ScaledDual(problem, "it")
    order = scaled.parts.sample.argsort()
    low = np.zeros(3, dtype=bool)
    low[order[2]] = True
    x, _ = pin(scaled, low, np.zeros(3, dtype=bool))
    assert_allclose(scaled.stated(scaled.joined(x)), [-0.5, 0.5, 0.0], atol=1e-12)
    assert pin(scaled, np.ones(3, dtype=bool), np.zeros(3, dtype=bool)) is None  # nothing is free


@pytest.mark.parametrize("target", [0.0, 1e-300])
def test_targets_of_zero(target):
    problem = gl.Problem(
        [[0.0], [1.0], [1.0]], [target] * 3, loss="epsilon_insensitive", kernel=RBF(1.0), C=2.0, intercept="none"
    )
    result = gl.solve(problem, "interior_point", tol=1e-3, max_iter=50)
    assert np.isfinite(result.beta).all() and result.certificate.primal <= 6 * target
