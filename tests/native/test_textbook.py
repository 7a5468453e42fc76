"""The epochs of the textbook solvers beside the same written with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless import _native
from tests.native.storages import STORAGES, stored

N, D = 37, 11
LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive")


def terms(loss: str, n: int = N, seed: int = 1):
    """(y, cost, the loss, its dual)."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) if "insensitive" in loss else np.where(rng.random(n) < 0.5, -1.0, 1.0)
    cost = rng.random(n) + 0.1
    the_loss = gl.losses.as_loss(loss)
    return y, cost, the_loss, the_loss.dual_box(y, cost)


def test_random_is_the_textbooks_generator_and_repeats():
    state, word = 12345, 12345
    expected = []
    for k in range(9, 0, -1):
        word ^= word >> 12
        word = (word ^ (word << 25)) % 2**64
        word ^= word >> 27
        draw = word * 2685821657736338717 % 2**64
        expected.append(((draw >> 32) * (k + 1)) >> 32)
    indices, twin = np.arange(10), list(range(10))
    _native.Random(state).shuffle(indices)
    for k, j in zip(range(9, 0, -1), expected, strict=True):
        twin[k], twin[j] = twin[j], twin[k]
    assert indices.tolist() == twin
    drawn = np.zeros(1000, dtype=np.int64)
    _native.Random(7).draw(drawn)
    assert drawn.min() >= 0 and drawn.max() < 1000 and len(set(drawn.tolist())) < 1000
    again = np.zeros(1000, dtype=np.int64)
    _native.Random(7).draw(again)
    assert (drawn == again).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_coordinate_ascent(loss):
    rng = np.random.default_rng(0)
    *_, dual = terms(loss)
    A = rng.normal(size=(N, 5))
    K = A @ A.T
    piece = rng.integers(0, N, size=60)
    beta, f = np.zeros(N), np.zeros(N)
    _native.ascend_coordinates(dual, K, piece, beta, f)
    twin = np.zeros(N)
    for i in piece:
        twin[i] = _native.dual_step(dual, int(i), float(K[i] @ twin), float(twin[i]), float(K[i, i]))
    np.testing.assert_allclose(beta, twin, atol=1e-10)
    np.testing.assert_allclose(f, K @ beta, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_projected_gradient_step_maximises_its_model(loss):
    """h(β) − fβ − ½L(β − z)² is nowhere larger than at the step."""
    rng = np.random.default_rng(0)
    y, cost, the_loss, dual = terms(loss)
    z, f, L = np.zeros(N), rng.normal(size=N), 3.0
    beta = np.empty(N)
    _native.project_gradient_step(dual, z, f, L, beta)

    def model(b: np.ndarray) -> np.ndarray:
        return the_loss.dual_value(y, cost, b) - f * b - 0.5 * L * (b - z) ** 2

    best = model(beta)
    for share in np.linspace(0, 1, 41):
        low, high = np.maximum(dual.lower, -3.0), np.minimum(dual.upper, 3.0)
        assert (model(low + share * (high - low)) <= best + 1e-9).all()


@pytest.mark.parametrize("storage", STORAGES)
def test_pegasos(storage):
    rows, X = stored(storage, N, D)
    y, cost, *_ = terms("hinge")
    cost = np.where(np.arange(N) % 5 == 0, 0.0, cost)
    shift, piece = 0.25, np.random.default_rng(2).integers(0, N, size=200)
    theta, errors, weighted = np.zeros(D), np.zeros(N), np.zeros(N)
    theta_b, t, harmonic = _native.walk_pegasos(
        rows, y, cost, shift, piece, 0.0, 0.0, 0.0, theta, errors, weighted
    )  # fmt: skip
    twin, twin_b, counts, sums, H = np.zeros(D), 0.0, np.zeros(N), np.zeros(N), 0.0
    for s, i in enumerate(piece, start=1):
        H += 1 / s
        if y[i] * (X[i] @ twin + twin_b) / s < 1 and cost[i] > 0:
            twin += N * cost[i] * y[i] * X[i]
            twin_b += shift * N * cost[i] * y[i]
            counts[i] += 1
            sums[i] += H
    np.testing.assert_allclose(theta, twin, atol=1e-9)
    assert (theta_b, t, harmonic) == pytest.approx((twin_b, 200, H))
    assert (errors == counts).all()
    np.testing.assert_allclose(weighted, sums, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", STORAGES)
def test_sgd(storage, loss):
    rows, X = stored(storage, N, D)
    y, cost, the_loss, dual = terms(loss)
    piece = np.random.default_rng(2).integers(0, N, size=150)
    eta, t0, reach, penalty = 0.3, 20.0, 0.25, 1.0
    v, u, q = np.zeros(D), np.zeros(N), np.zeros(N)
    steps = eta / (np.arange(150) + t0)
    steps[[40, 90]] = 1.0, 2.5  # a becomes zero, and negative
    scale, b, sum_scale, sum_b, made = _native.descend_sgd(
        rows, dual, piece, steps, reach, penalty, 1.0, 0.0, 0.0, 0.0, v, u, q
    )
    w, beta, b_twin, sum_beta, sum_b_twin = np.zeros(D), np.zeros(N), 0.0, np.zeros(N), 0.0
    for rate, i in zip(steps, piece, strict=True):
        g = -N * cost[i] * the_loss.derivative(y[[i]], np.array([w @ X[i] + b_twin]))[0]
        w, beta, b_twin = (
            (1 - rate) * w + rate * g * X[i],
            (1 - rate) * beta,
            b_twin + rate * (reach * g - penalty * b_twin),
        )
        beta[i] += rate * g
        sum_beta, sum_b_twin = sum_beta + beta, sum_b_twin + b_twin
    np.testing.assert_allclose(scale * v, w, atol=1e-9)
    np.testing.assert_allclose(scale * u, beta, atol=1e-9)
    np.testing.assert_allclose(sum_scale * u - q, sum_beta, atol=1e-8)
    assert (b, sum_b) == pytest.approx((b_twin, sum_b_twin))
    assert made == 150


def test_sgd_stops_before_numbers_overflow():
    rows, _ = stored("dense float64", N, D)
    *_, dual = terms("squared_hinge")
    v, u, q = np.ones(D), np.zeros(N + 1), np.zeros(N + 1)
    piece, steps = np.tile(np.arange(N), 30), np.full(30 * N, 1e3)
    scale, b, _, _, made = _native.descend_sgd(rows, dual, piece, steps, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, v, u, q)
    assert 0 < made < len(piece)
    assert np.isfinite(scale * v).all() and np.isfinite(u).all() and np.isfinite(q).all() and np.isfinite(b)
