"""A soft margin whose optimum has no losses is certified as a hard margin is: by a model that is stretched to a smallest margin of one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from gapless.kernels import RBF
from tests.campaign.judge import Referee, Verdict, hold_values
from tests.proof.test_exact_regressions import refutations, stated


def separable(seed=0, n=40, apart=3.0, d=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + apart * np.where(y, 1.0, -1.0)[:, None], y


@pytest.mark.parametrize("kernel", [None, RBF(0.1)], ids=repr)
@pytest.mark.parametrize("C", [1e5, 1e8])
def test_a_margin_that_is_missed_by_little_costs_little(C, kernel):
    X, y = separable(apart=1.0, d=10)
    rough = gl.solve(gl.Problem(X, y, C=C, kernel=kernel), "smo", tol=1e-2)
    beta = rough.beta * (1 + 1e-4 * np.cos(np.arange(len(y))))
    problem = gl.Problem(X, y, C=C, kernel=kernel)
    certificate = gl.certify(problem, gl.Point(beta=beta))
    assert certificate.relative_gap < 0.1
    # P in plain NumPy of the point that is certified, and of the same β without the stretch.
    K = X @ X.T if kernel is None else kernel(X, X)
    point = certificate.point
    f = X @ point.w if kernel is None else K @ point.expansion
    square = point.w @ point.w if kernel is None else point.expansion @ f
    margins = np.where(y, 1.0, -1.0) * (f + point.offsets[0])
    assert margins.min() >= 1 - 1e-12
    assert 0.5 * square <= certificate.primal <= 0.5 * square * (1 + 1e-6)
    plain = 0.5 * beta @ K @ beta + C * np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * (K @ beta + rough.b)).sum()
    assert plain > 1.05 * certificate.primal


def test_losses_that_pay_are_kept():
    """With C small the optimum has losses, and no stretch is better."""
    X, y = separable(apart=0.5)
    for C in (1e-3, 0.1):
        problem = gl.Problem(X, y, C=C)
        certificate = gl.solve(problem, tol=1e-9).certificate
        assert certificate.relative_gap <= 1e-9
        margins = np.where(y, 1.0, -1.0) * (X @ certificate.point.w + certificate.point.offsets[0])
        assert margins.min() < 0.9


@given(st.integers(0, 10**6), st.sampled_from([1.0, 30.0, 1e4, 1e9]), st.sampled_from(["free", "regularized", "none"]))
def test_what_is_proven_is_true(seed, C, intercept):
    """Against exact rational arithmetic, of rough points of separable data."""
    X, y = separable(seed, n=8)
    problem = gl.Problem(X, y, C=C, intercept=intercept)
    rng = np.random.default_rng(seed)
    beta = gl.solve(problem, "smo", tol=1e-1).beta * (1 + 0.01 * rng.normal(size=8))
    certificate = gl.certify(problem, gl.Point(beta=beta))
    verdict = Verdict({})
    point = certificate.point
    hold_values(verdict, Referee(stated(problem, ["linear"])), certificate, (point.w, point.offsets), point.beta, [])
    assert verdict.failures == []


def test_a_polynomial_whose_coefficients_round_more_than_the_margin_is_wide():
    """β as numbers of float64 misses margins by 1e-5, times C more than ½‖w‖²: stretched, with twice the digits, it is within 1e-3."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(30, 4))) * [1.0, 30.0, 300.0, 3000.0]
    y = (X[:, 1] > np.median(X[:, 1])).astype(int)
    kernel = gl.kernels.Polynomial(3, 0.25)
    result = gl.solve(gl.Problem(X, y, kernel=kernel, C=1e3), "interior_point", tol=1e-3, kkt_tol=1e-3)
    assert result.certificate.relative_gap <= 1e-3
    assert refutations(result.certified, ["polynomial", 0.25, 3, 1.0]) == []


@pytest.mark.parametrize("kernel", [None, RBF(0.1)], ids=repr)
def test_the_model_of_a_result_is_that_of_its_own_beta(kernel):
    """Where the stretched point is what was proven, β is stretched with it: f = Σ βᵢ k(x, xᵢ) + b to rounding, and β is feasible."""
    X, y = separable(apart=1.0, d=10)
    result = gl.solve(gl.Problem(X, y, C=1e6, kernel=kernel), "smo", tol=1e-4)
    assert not result.certificate.own_weights
    K = X @ X.T if kernel is None else kernel(X, X)
    np.testing.assert_allclose(result.decision_function(X), K @ result.beta + result.b, rtol=1e-9, atol=1e-9)
    assert result.beta.sum() == pytest.approx(0.0, abs=1e-12 * np.abs(result.beta).sum())
    assert (np.where(y, 1, -1) * result.beta >= 0).all() and np.abs(result.beta).max() <= 1e6
