"""The grids that are chosen from the data follow its units, and depend on nothing else: neither on the order of samples nor on repeated rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from gapless.kernels import RBF, Chi2, Laplacian, Linear, Matern, Polynomial, Sigmoid
from gapless.model_selection import grids

SCALES = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
SEEDS = st.integers(0, 2**32 - 1)


def samples(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    return np.abs(rng.normal(size=(n, d))) * rng.uniform(0.1, 10, size=d)


# The power of X's scale that γ times that power does not change.
@pytest.mark.parametrize(
    "kernel, power",
    [(RBF(), 2), (Laplacian(), 1), (Chi2(), 1), (Polynomial(2, coef0=1.0), 2), (Sigmoid(), 2)],
    ids=str,
)
@given(seed=SEEDS, scale=SCALES)
def test_gamma_follows_the_scale_of_X(kernel, power, seed, scale):
    X = samples(seed)
    weight = np.ones(len(X))
    np.testing.assert_allclose(
        grids.gamma_grid(kernel, scale * X, weight, 5) * scale**power,
        grids.gamma_grid(kernel, X, weight, 5),
        rtol=1e-6,
    )


@given(seed=SEEDS, scale=SCALES)
def test_C_follows_the_scale_of_the_kernel_and_not_its_offset(seed, scale):
    X = samples(seed)
    gram, weight = X @ X.T, np.ones(len(X))
    found = grids.cost_grid(gram, weight, 7)
    np.testing.assert_allclose(grids.cost_grid(scale * gram, weight, 7) * scale, found, rtol=1e-9)
    moved = X + 5.0
    np.testing.assert_allclose(grids.cost_grid(moved @ moved.T, weight, 7), found, rtol=1e-9)
    variance = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose(found[[0, -1]] * variance, [1e-2, 1e4], rtol=1e-9)


@given(seed=SEEDS, scale=SCALES, shift=st.floats(-100, 100))
def test_epsilon_follows_the_scale_of_y(seed, scale, shift):
    y = np.random.default_rng(seed).normal(size=50)
    found = grids.epsilon_grid(y, np.ones(50), 3)
    np.testing.assert_allclose(grids.epsilon_grid(scale * (y + shift), np.ones(50), 3), scale * found, rtol=1e-6)


@given(seed=SEEDS)
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_removed(seed):
    rng = np.random.default_rng(seed)
    X, weight = samples(seed), rng.integers(0, 4, size=40)
    weight[:2] = 1
    again = X.repeat(weight, axis=0)
    rows, weights = grids.representatives(X, weight.astype(float))
    ones = np.ones(len(again))
    np.testing.assert_allclose(
        grids.gamma_grid(RBF(), X[rows], weights, 5), grids.gamma_grid(RBF(), again, ones, 5), rtol=1e-9
    )
    np.testing.assert_allclose(
        grids.cost_grid(X[rows] @ X[rows].T, weights, 5), grids.cost_grid(again @ again.T, ones, 5), rtol=1e-9
    )
    y = rng.normal(size=40)
    assert grids.deviation(y, weight.astype(float)) == pytest.approx(grids.deviation(y.repeat(weight), ones))


@given(seed=SEEDS, scale=SCALES)
def test_the_samples_that_are_looked_at_depend_neither_on_order_nor_on_scale(seed, scale):
    X = samples(seed, n=200)
    order = np.random.default_rng(seed).permutation(200)
    rows, weights = grids.representatives(X, np.ones(200), most=20)
    assert len(rows) == len(set(rows)) == 20 and (weights == 1).all()
    shuffled, _ = grids.representatives(X[order], np.ones(200), most=20)
    assert set(order[shuffled]) == set(rows)
    scaled, _ = grids.representatives(scale * X, np.ones(200), most=20)
    assert set(scaled) == set(rows)
    sparse, _ = grids.representatives(sp.csr_array(X), np.ones(200), most=20)
    assert set(sparse) == set(rows)


def test_repeated_rows_and_their_weight_give_the_same_samples():
    X = samples(0, n=200)
    weight = np.random.default_rng(1).integers(0, 4, size=200)
    by_weight, _ = grids.representatives(X, weight.astype(float), most=50)
    repeated, _ = grids.representatives(X.repeat(weight, axis=0), np.ones(weight.sum()), most=50)
    np.testing.assert_array_equal(np.arange(200).repeat(weight)[repeated], by_weight)


def test_gamma_spans_the_distances():
    X = samples(0, n=60)
    apart = pairwise_distances(X, metric="sqeuclidean")
    near, far = np.quantile(apart[apart > 0], [0.1, 0.9])
    found = grids.gamma_grid(RBF(), X, np.ones(60), 7)
    assert found[0] * far == pytest.approx(0.1, rel=0.02) and found[-1] * near == pytest.approx(10, rel=0.02)
    np.testing.assert_allclose(found[1:] / found[:-1], found[1] / found[0])


def test_gamma_that_only_scales_the_kernel_has_one_value():
    X = samples(0)
    assert len(grids.gamma_grid(Polynomial(3, coef0=0.0), X, np.ones(40), 7)) == 1
    assert len(grids.gamma_grid(Polynomial(3, coef0=1.0), X, np.ones(40), 7)) == 7
    assert grids.spans(0.5 * RBF() + Linear(), X) is None


def test_equal_samples_and_equal_targets_have_grids_too():
    X, weight = np.ones((5, 2)), np.ones(5)
    for kernel in (RBF(), Laplacian(), Matern()):
        found = grids.gamma_grid(kernel, X, weight, 3)
        assert (found > 0).all() and np.isfinite(found).all()
        assert np.isfinite(grids.cost_grid(kernel(X), weight, 3)).all()
    assert np.isfinite(grids.cost_grid(np.zeros((5, 5)), weight, 3)).all()
    assert (grids.epsilon_grid(np.zeros(5), weight, 3) > 0).all()
