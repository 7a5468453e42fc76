from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from benchmarks._torchkm import FOLDS, costs, folds_of

SIGMA, LAM = 0.2, 0.01


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1, -1)


def their_objective(X, y, rows, alpha, b, n):
    """λ α'Kα + (1/n) Σ ξ over the rows, with TorchKM's kernel, as its ``objfun`` has it."""
    K = np.exp(-2.0 * SIGMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))[np.ix_(rows, rows)]
    f = K @ alpha
    return LAM * alpha @ f + np.maximum(0.0, 1.0 - y[rows] * (f + b)).sum() / n


@pytest.mark.parametrize("left_out", [0, 6], ids=["all data", "a fold"])
def test_the_optimum_at_c_is_theirs_at_lambda(problem, left_out):
    X, y = problem
    n, rows = len(y), np.arange(left_out, len(y))
    C = costs(np.array([LAM]), n)[0]
    result = gl.solve(gl.Problem(X[rows], y[rows], kernel=gl.kernels.RBF(2.0 * SIGMA), C=C), tol=1e-10)
    best = their_objective(X, y, rows, result.beta, result.b, n)
    assert best == pytest.approx(2.0 * LAM * result.certificate.primal, rel=1e-9)
    rng = np.random.default_rng(2)
    for _ in range(20):
        step = 0.01 * rng.standard_normal(len(rows))
        assert their_objective(X, y, rows, result.beta + step, result.b + step[0], n) >= best * (1 - 1e-9)


def test_costs_grow_as_lambda_falls():
    lam = np.logspace(3, -3, 50)
    C = costs(lam, 10_000)
    assert (np.diff(C) > 0).all()
    np.testing.assert_allclose(C[[0, -1]], [5e-8, 0.05], rtol=1e-12)


@given(n=st.integers(FOLDS, 200), seed=st.integers(0, 99))
def test_every_sample_is_in_one_test_part_and_in_all_other_training_parts(n, seed):
    fold = np.random.default_rng(seed).permutation(n) % FOLDS + 1
    folds = folds_of(fold)
    assert len(folds) == FOLDS
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n))
    for k, (train, test) in enumerate(folds, start=1):
        assert (fold[test] == k).all()
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(n))
        assert not np.intersect1d(train, test).size
