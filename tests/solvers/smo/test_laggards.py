"""Samples whose f follows late: a solver which uses them proves what it says."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl


@pytest.mark.parametrize("intercept", ["free", "regularized"])
def test_smo_proves_its_gap_where_most_samples_follow_late(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=6000) > 0.5).astype(int)
    problem = gl.Problem(X, y, kernel=gl.kernels.RBF(0.5), C=20.0, intercept=intercept)
    result = gl.solve(problem, "smo", tol=1e-5, kkt_tol=1e-3)
    assert result.status is gl.Status.CONVERGED
    assert gl.certify(problem, result).kkt_violation <= 1e-3
