from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gapless.losses import EpsilonInsensitive, Hinge, SmoothedHinge, SquaredEpsilonInsensitive, SquaredHinge
from gapless.losses.base import weighted_quantile
from tests.losses.samples import EVERY_LOSS, few, random_samples

every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)


def total(loss, y, f, cost, b: float) -> float:
    return float((cost * loss.value(y, f + b)).sum())


def samples_of(loss):
    """(y, f, cost) of two to nine samples, quarters (many ties) or any numbers, both classes present."""

    def build(n):
        numbers = st.one_of(st.integers(-12, 12).map(lambda i: i / 4), st.floats(-20, 20))
        y = st.lists(numbers, min_size=n, max_size=n).map(np.array)
        if loss.task == "classification":
            y = y.map(lambda v: np.concatenate([[1.0, -1.0], np.where(v[2:] > 0, 1.0, -1.0)]))
        cost = st.lists(st.sampled_from([0.1, 0.25, 1 / 3, 1.0, 3.0]), min_size=n, max_size=n).map(np.array)
        return st.tuples(y, st.lists(numbers, min_size=n, max_size=n).map(np.array), cost)

    return st.integers(2, 9).flatmap(build)


@every_loss
@few
@given(data=st.data())
def test_every_b_of_the_interval_is_optimal_and_none_outside_is(loss, data):
    y, f, cost = data.draw(samples_of(loss))
    low, high = loss.best_intercept(y, f, cost)
    assert low <= high
    least = total(loss, y, f, cost, low)
    allowed = 1e-12 * (least + cost.sum())
    for b in np.linspace(low, high, 5):
        assert total(loss, y, f, cost, b) <= least + allowed
    # Convex in b: if no step to either side improves, however small or large, nothing does.
    width = 1.0 + np.abs(f).max() + np.abs(y).max()
    steps = width * np.logspace(-6, 1, 8)
    for b in np.concatenate([low - steps, high + steps]):
        assert total(loss, y, f, cost, b) >= least - allowed
    grid = np.linspace(-60, 60, 121)
    assert min(total(loss, y, f, cost, b) for b in grid) >= least - allowed
    # Outside the interval the slope has left zero: a step of a tenth is worse by more than rounding, unless the loss is all but flat.
    if loss.kinks(y):
        for b in (low - 0.1, high + 0.1):
            assert total(loss, y, f, cost, b) > least + 1e-4 * cost.min()


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_that_of_scalar_minimisation(loss, seed):
    y, f, cost = random_samples(loss, 40, np.random.default_rng(seed))
    low, high = loss.best_intercept(y, f, cost)
    found = total(loss, y, f, cost, 0.5 * (low + high))
    search = minimize_scalar(
        lambda b: total(loss, y, f, cost, b), bounds=(-20, 20), method="bounded", options={"xatol": 1e-10}
    )
    assert found <= search.fun * (1 + 1e-13)
    assert found == pytest.approx(search.fun, rel=1e-6)


@every_loss
def test_weights_are_repetitions(loss):
    y, f, _ = random_samples(loss, 12, np.random.default_rng(5))
    weight = np.random.default_rng(6).integers(1, 4, 12)
    weighted = loss.best_intercept(y, f, weight.astype(float))
    repeated = loss.best_intercept(np.repeat(y, weight), np.repeat(f, weight), np.ones(weight.sum()))
    assert weighted == pytest.approx(repeated, abs=1e-12)


def test_the_hinge_takes_a_weighted_quantile_exactly():
    y, f = np.array([1.0, 1.0, -1.0]), np.array([0.25, 0.5, 0.125])
    # Kinks at b = 0.75, 0.5 and −1.125; the slope is −2 before the first, −1, 0 and 1 after the last.
    assert Hinge().best_intercept(y, f, np.ones(3)) == (0.5, 0.75)
    assert Hinge().best_intercept(y, f, np.array([1.0, 1.0, 2.0])) == (-1.125, 0.5)
    assert Hinge().best_intercept(y, f, np.array([1.0, 3.0, 2.0])) == (0.5, 0.5)


def test_the_tube_takes_a_weighted_median_exactly():
    y, f = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    assert EpsilonInsensitive(0.0).best_intercept(y, f, np.ones(3)) == (2.0, 2.0)
    assert EpsilonInsensitive(0.0).best_intercept(y[:2], f[:2], np.ones(2)) == (1.0, 2.0)
    assert EpsilonInsensitive(1.0).best_intercept(y[:2], f[:2], np.ones(2)) == (1.0, 2.0)
    assert EpsilonInsensitive(0.25).best_intercept(y[:2], f[:2], np.ones(2)) == (1.25, 1.75)


def test_ties_of_rounded_costs_give_the_whole_interval():
    """0.1 + 0.2 and 0.3 differ in the last bit, and still balance."""
    y, f = np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.0, 2.0])
    assert Hinge().best_intercept(y, f, np.array([0.1, 0.2, 0.3])) == (-3.0, 1.0)


@pytest.mark.parametrize("loss", [SquaredHinge(), SmoothedHinge(0.5), Hinge()], ids=repr)
def test_a_zero_loss_leaves_a_whole_interval(loss):
    y, f = np.array([1.0, 1.0, -1.0, -1.0]), np.array([3.0, 5.0, -4.0, -9.0])
    assert loss.best_intercept(y, f, np.ones(4)) == (-2.0, 3.0)


@pytest.mark.parametrize("cls", [EpsilonInsensitive, SquaredEpsilonInsensitive])
def test_a_tube_around_all_residuals_leaves_a_whole_interval(cls):
    assert cls(2.0).best_intercept(np.array([1.0, 2.0, 4.0]), np.zeros(3), np.ones(3)) == (2.0, 3.0)
    assert cls(50.0).best_intercept(np.array([1.0, 2.0]), np.zeros(2), np.ones(2)) == (-48.0, 51.0)


@pytest.mark.parametrize("cost", [1.0, 1 / 3, 0.1])
def test_balanced_straight_parts_of_the_smoothed_hinge_leave_a_whole_interval(cost):
    """One sample of each class, both on the straight part: the slopes −c and c cancel until one of them bends."""
    y, f = np.array([1.0, -1.0]), np.array([-2.0, 3.0])
    low, high = SmoothedHinge(0.5).best_intercept(y, f, np.full(2, cost))
    # y = 1 is straight for b < 1 − 0.5 + 2, y = −1 for b > −1 + 0.5 − 3
    assert (low, high) == (-3.5, 2.5)


def test_weighted_quantile_is_where_the_slope_crosses_zero():
    assert weighted_quantile(np.array([3.0, 1.0, 2.0]), np.ones(3), -1.5) == (2.0, 2.0)
    assert weighted_quantile(np.array([3.0, 1.0, 2.0]), np.ones(3), -1.0) == (1.0, 2.0)
    assert weighted_quantile(np.array([1.0, 1.0, 5.0]), np.ones(3), -2.0) == (1.0, 5.0)
