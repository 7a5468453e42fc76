"""The compiled pairs against plain definitions: bounds, sums, f, and the optimum of an independent method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from gapless.losses import EpsilonInsensitive, Hinge, SquaredHinge
from gapless.solvers.smo.pairs import _key, box_pairs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2))
LABELS = np.where(X[:, 0] + RNG.normal(size=90) > 0, 1.0, -1.0)
DUALS = {
    "hinge": Hinge().dual_box(LABELS, np.full(90, 3.0)),
    "squared_hinge": SquaredHinge().dual_box(LABELS, np.full(90, 3.0)),
    "tube": EpsilonInsensitive(epsilon=0.2).dual_box(X[:, 0] * 2.0, np.full(90, 3.0)),
}


def _value(dual, beta):
    return dual.p @ beta - dual.epsilon @ np.abs(beta) - 0.5 * dual.d @ beta**2 - 0.5 * beta @ K @ beta


def _best(dual):
    """β = a − b with a, b ≥ 0, by a general method."""
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
    best = _best(dual)
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_sort_as_numbers_do_and_equal_ones_by_place(dtype):
    numbers = np.array([-1e30, -3.5, -1e-20, 0.0, 1e-20, 2.0, 2.0, 1e30], dtype=dtype)
    keys = [int(_key(x, place, 7)) for place, x in enumerate(numbers)]
    assert sorted(keys, reverse=True) == [keys[k] for k in (7, 5, 6, 4, 3, 2, 1, 0)]
    assert [7 - (key & 7) for key in keys] == list(range(8))
