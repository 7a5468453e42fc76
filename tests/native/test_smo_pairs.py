"""The compiled pairs at every instruction set against plain definitions: bounds, sums, f, and the optimum of an independent method."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from gapless import _native
from gapless.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2))
LABELS = np.where(X[:, 0] + RNG.normal(size=90) > 0, 1.0, -1.0)
DUALS = {
    "hinge": Hinge().dual_box(LABELS, np.full(90, 3.0)),
    "squared_hinge": SquaredHinge().dual_box(LABELS, np.full(90, 3.0)),
    "tube": EpsilonInsensitive(epsilon=0.2).dual_box(X[:, 0] * 2.0, np.full(90, 3.0)),
}


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request):
    """Every test runs at each instruction set that this machine has."""
    before = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(before)


def box_pairs(dual, diagonal, K, starts, second_order, target, max_steps, beta, f):
    return _native.smo_pairs(dual, diagonal, K, starts, True, second_order, target, max_steps, beta, f)


def _value(dual, beta):
    return dual.p @ beta - dual.epsilon @ np.abs(beta) - 0.5 * dual.d @ beta**2 - 0.5 * beta @ K @ beta


@cache
def _best(name):
    """β = a − b with a, b ≥ 0, by a general method."""
    dual = DUALS[name]
    n = len(dual.p)
    bounds = [(0.0, up) for up in np.minimum(dual.upper, 1e3)] + [(0.0, -low) for low in np.maximum(dual.lower, -1e3)]

    def loss(z):
        beta = z[:n] - z[n:]
        slope = dual.p - K @ beta - dual.d * beta
        value = dual.p @ beta - dual.epsilon @ (z[:n] + z[n:]) - 0.5 * dual.d @ beta**2 - 0.5 * beta @ K @ beta
        return -value, -np.concatenate([slope - dual.epsilon, -slope - dual.epsilon])

    total = {"type": "eq", "fun": lambda z: z[:n].sum() - z[n:].sum(), "jac": lambda z: np.repeat([1.0, -1.0], n)}
    options = {"maxiter": 500, "ftol": 1e-12}
    found = minimize(loss, np.zeros(2 * n), jac=True, bounds=bounds, constraints=total, method="SLSQP", options=options)
    return -found.fun


@pytest.mark.parametrize("second_order", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", DUALS)
def test_it_ends_at_the_optimum(name, dtype, second_order):
    dual = DUALS[name]
    beta, f, target = np.zeros(90), np.zeros(90), 1e-3
    steps = box_pairs(
        dual, K.diagonal().copy(), K.astype(dtype), np.array([0, 90]), second_order, target, 10**5, beta, f
    )
    assert 0 < steps < 10**5
    assert (beta >= dual.lower).all() and (beta <= dual.upper).all()
    assert abs(beta.sum()) < 1e-12
    np.testing.assert_allclose(f, K @ beta, atol=1e-10 if dtype == np.float64 else 1e-4)
    slope = dual.p - f - dual.d * beta
    rise = np.where(beta < dual.upper, slope - np.where(beta >= 0, dual.epsilon, -dual.epsilon), -np.inf)
    fall = np.where(beta > dual.lower, slope - np.where(beta > 0, dual.epsilon, -dual.epsilon), np.inf)
    assert rise.max() - fall.min() <= 1.01 * target
    best = _best(name)
    assert _value(dual, beta) == pytest.approx(best, rel=2e-4)
    assert _value(dual, beta) <= best * (1 + 1e-6)


def test_pairs_stay_inside_their_group():
    dual, starts = DUALS["hinge"], np.array([0, 40, 40, 90])
    beta, f = np.zeros(90), np.zeros(90)
    assert box_pairs(dual, K.diagonal().copy(), K, starts, True, 1e-3, 10**5, beta, f) > 0
    assert abs(beta[:40].sum()) < 1e-12 and abs(beta[40:].sum()) < 1e-12
    np.testing.assert_allclose(f, K @ beta, atol=1e-10)
    residual = dual.p - f
    for part in (slice(0, 40), slice(40, 90)):
        rise = residual[part][beta[part] < dual.upper[part]].max()
        assert rise - residual[part][beta[part] > dual.lower[part]].min() <= 1.01e-3


def test_of_equal_violations_the_first_moves():
    same = np.eye(4)
    dual = Hinge().dual_box(np.array([-1.0, 1.0, 1.0, -1.0]), np.ones(4))
    for second_order in (True, False):
        beta, f = np.zeros(4), np.zeros(4)
        assert box_pairs(dual, np.ones(4), same, np.array([0, 4]), second_order, 1e-3, 1, beta, f) == 1
        assert np.flatnonzero(beta).tolist() == [0, 1]


def test_numbers_that_are_none_move_nothing_for_ever():
    dual = DUALS["hinge"]
    for bad in (np.nan, np.inf):
        beta, f = np.zeros(90), np.zeros(90)
        f[7] = bad
        steps = box_pairs(dual, K.diagonal().copy(), K, np.array([0, 90]), True, 1e-3, 10**5, beta, f)
        assert steps < 10**5


def test_equal_samples_do_not_end_it_early():
    """A sample and its copy have no violation between them, not even one of rounding, which no step could mend."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = np.repeat(rng.normal(size=(12, 3)), 3, axis=0)
        gram = rows @ rows.T
        labels = np.where(rows[:, 0] + np.repeat(rng.normal(size=12), 3) > 0, 1.0, -1.0)
        dual = Hinge().dual_box(labels, np.full(36, 0.7))
        beta, f = np.zeros(36), np.zeros(36)
        box_pairs(dual, gram.diagonal().copy(), gram, np.array([0, 36]), True, 1e-12, 10**5, beta, f)
        residual = dual.p - gram @ beta
        violation = residual[beta < dual.upper].max(initial=-np.inf) - residual[beta > dual.lower].min(initial=np.inf)
        assert violation <= 1e-11, seed


def twin(dual, K, target, max_steps, second_order, dtype):
    """The same pairs in plain NumPy, with f less its value at the margin in the precision of K."""
    n = len(dual.p)
    beta = np.zeros(n)
    slopes = [(p - e, p + e) for p, e in zip(dual.p, dual.epsilon, strict=True)]
    middle = 0.5 * (max(rise for rise, _ in slopes) + min(fall for _, fall in slopes)) if dtype == np.float32 else 0.0
    near = dual.p - middle if dtype == np.float32 else np.zeros(n)
    g = (-near).astype(dtype)
    for step in range(max_steps):
        smooth = dual.p - dual.d * beta
        rise = np.where(
            beta < dual.upper, smooth - np.where(beta >= 0, dual.epsilon, -dual.epsilon) - near, -1e30
        ).astype(dtype)
        fall = np.where(
            beta > dual.lower, smooth - np.where(beta > 0, dual.epsilon, -dual.epsilon) - near, 1e30
        ).astype(dtype)
        i, j = int(np.argmax(rise - g)), int(np.argmin(fall - g))
        up = rise[i] - g[i]
        if up - (fall[j] - g[j]) <= target:
            return beta, step
        if second_order:
            slope = np.maximum(up - (fall - g), 0)
            curvature = (K.diagonal() + dual.d)[i] + (K.diagonal() + dual.d) - 2 * K[i].astype(dtype)
            j = int(np.argmax(slope**2 / np.maximum(curvature, 1e-12)))
        eta = K[i, i] + K[j, j] - 2 * K[i, j]
        new = _native.dual_pair(dual, i, j, float(g[i]) + near[i], float(g[j]) + near[j], beta[i], beta[j], float(eta))
        g += dtype(new[0] - beta[i]) * K[i].astype(dtype) + dtype(new[1] - beta[j]) * K[j].astype(dtype)
        beta[[i, j]] = new
    return beta, max_steps


@pytest.mark.parametrize("second_order", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", DUALS)
def test_the_first_pairs_are_those_of_plain_numpy(name, dtype, second_order):
    """Rounding may decide between two pairs later on."""
    beta, f = np.zeros(90), np.zeros(90)
    steps = box_pairs(
        DUALS[name], K.diagonal().copy(), K.astype(dtype), np.array([0, 90]), second_order, 1e-2, 25, beta, f
    )
    expected, taken = twin(DUALS[name], K, 1e-2, 25, second_order, dtype)
    assert steps == taken
    np.testing.assert_allclose(beta, expected, atol=1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("q", [3, 8, 17, 31, 33, 64, 90])
def test_blocks_of_any_width(q):
    """Vectors, what is left over of them, and columns of zeros that fill up the last one: the same pairs."""
    dual = Hinge().dual_box(LABELS[:q], np.full(q, 3.0))
    part = np.ascontiguousarray(K[:q, :q])
    beta, f = np.zeros(q), np.zeros(q)
    steps = box_pairs(dual, part.diagonal().copy(), part, np.array([0, q]), True, 1e-3, 10**5, beta, f)
    wide = np.zeros((q, (q + 15) // 16 * 16))
    wide[:, :q] = part
    again, g = np.zeros(q), np.zeros(q)
    assert box_pairs(dual, part.diagonal().copy(), wide, np.array([0, q]), True, 1e-3, 10**5, again, g) == steps
    np.testing.assert_array_equal(beta, again)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_variables_reach_the_optimum_of_a_problem_without_constraint(loss, dtype):
    dual = loss.dual_box(LABELS, np.full(90, 3.0))
    beta = 1.5 * LABELS if loss.name == "logistic" else np.zeros(90)
    f = K @ beta
    steps = _native.smo_pairs(
        dual, K.diagonal().copy(), K.astype(dtype), np.array([0, 90]), False, True, 1e-5, 10**5, beta, f
    )
    assert 0 < steps < 10**5
    np.testing.assert_allclose(f, K @ beta, atol=1e-4 if dtype == np.float32 else 1e-10)
    for k in range(90):
        assert abs(_native.dual_step(dual, k, float(f[k]), beta[k], 1.0) - beta[k]) <= 2e-5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [8, 20, 90])
@pytest.mark.parametrize("n_groups", [1, 2])
def test_blocks_reach_the_optimum_whatever_their_size(size, dtype, n_groups):
    dual, groups = DUALS["hinge"], np.arange(90) % n_groups
    beta, f = np.zeros(90), np.zeros(90)
    arguments = (K.diagonal().copy(), K.astype(dtype), groups, n_groups, True, True, size, 1e-3, 0.1, 10**6)
    assert _native.smo_blocks(dual, *arguments, beta, f) > 0
    np.testing.assert_allclose(f, K @ beta, atol=1e-4 if dtype == np.float32 else 1e-10)
    up, down = np.empty(90), np.empty(90)
    assert _native.smo_survey(dual, K.diagonal().copy(), beta, K @ beta, groups, n_groups, True, up, down)[1] <= 1.1e-3
    for g in range(n_groups):
        assert abs(beta[groups == g].sum()) < 1e-12
