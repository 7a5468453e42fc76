"""The compiled one- and two-variable maximisers of the dual (native/core/dual.hpp) against searches of the dual itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gapless import _native
from gapless.losses import DualBox, Logistic
from tests.losses.samples import EVERY_LOSS, costs, decisions, few, one, scalar, targets

every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
curvatures = st.one_of(st.just(0.0), st.sampled_from([1.0, 2.5]), st.floats(1e-3, 1e3))
shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))


def step_of(dual, f, beta, q):
    return _native.dual_step(dual, 0, f, beta, q)


def box_of(p, epsilon, d, lower, upper) -> DualBox:
    return DualBox(*(np.atleast_1d(np.asarray(part, dtype=float)) for part in (p, epsilon, d, lower, upper)))


def separable(dual: DualBox, i: int, beta: float) -> float:
    return dual.p[i] * beta - dual.epsilon[i] * abs(beta) - 0.5 * dual.d[i] * beta**2


def maximum(function, low: float, high: float) -> float:
    """The largest value of a concave function on an interval: SciPy's bounded search, and the ends."""
    search = minimize_scalar(lambda x: -function(x), bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    return max(-search.fun, function(low), function(high), function(min(max(0.0, low), high)))


# --- one variable


@st.composite
def boxes(draw):
    lower = draw(st.one_of(st.just(0.0), st.floats(-4.0, 0.0)))
    upper = draw(st.one_of(st.just(0.0), st.floats(0.0, 4.0)))
    epsilon, d = draw(st.sampled_from([0.0, 0.1, 1.0])), draw(st.sampled_from([0.0, 0.5, 4.0]))
    return box_of(draw(decisions), epsilon, d, lower, upper)


@given(dual=boxes(), f=decisions, share=shares, q=curvatures)
def test_the_box_step_maximises_the_dual_along_its_coordinate(dual, f, share, q):
    low, high = float(dual.lower[0]), float(dual.upper[0])
    beta = min(max(low + share * (high - low), low), high)

    def gain(new: float) -> float:
        return separable(dual, 0, new) - f * (new - beta) - 0.5 * q * (new - beta) ** 2

    new = step_of(dual, f, beta, q)
    assert low <= new <= high
    best = maximum(gain, low, high)
    assert gain(new) >= best - 1e-10 * (1.0 + abs(best))


@every_loss
@few
@given(data=st.data())
def test_the_step_of_every_loss_maximises_its_dual(loss, data):
    y, cost, f = data.draw(targets(loss)), data.draw(costs), data.draw(decisions)
    q, share = data.draw(curvatures), data.draw(shares)
    dual = loss.dual_box(one(y), one(cost))
    low, high = (float(np.clip(end[0], -1e3 * cost, 1e3 * cost)) for end in (dual.lower, dual.upper))
    beta = min(max(low + share * (high - low), low), high)

    def gain(new: float) -> float:
        return scalar(loss.dual_value, y, cost, new) - f * (new - beta) - 0.5 * q * (new - beta) ** 2

    new = step_of(dual, f, beta, q)
    assert dual.lower[0] <= new <= dual.upper[0]
    best = maximum(gain, low, high)
    assert gain(new) >= best - 1e-9 * (abs(best) + cost * (1.0 + abs(f)))


@given(
    y=st.sampled_from([-1.0, 1.0]),
    cost=st.floats(-8.0, 8.0).map(lambda e: 10.0**e),
    f=st.floats(-1e3, 1e3),
    q=st.one_of(st.just(0.0), st.floats(-8.0, 8.0).map(lambda e: 10.0**e)),
    share=shares,
)
@example(y=1.0, cost=1e8, f=1e3, q=1e8, share=1.0)
@example(y=1.0, cost=1e8, f=-1e3, q=1e-8, share=0.0)
@example(y=-1.0, cost=1e-8, f=1e3, q=1e8, share=0.5)
def test_the_logistic_step_meets_its_optimality_condition_at_any_scale(y, cost, f, q, share):
    """a = σ(−t) with t = y f + q c (a − a₀): checked as a residual, where comparing objective values would see nothing."""
    dual = Logistic().dual_box(one(y), one(cost))
    a0 = share
    new = step_of(dual, f, y * cost * a0, q)
    a = y * new / cost
    assert 0.0 <= a <= 1.0
    pull = q * cost
    t = y * f + pull * (a - a0)
    residual = a - 1.0 / (1.0 + np.exp(min(t, 700.0)))
    # t itself is known to the rounding of its terms, which σ with slope a(1 − a) hands on.
    rounding = 1e-14 * (1.0 + abs(f) + pull)
    assert abs(residual) <= 1e-14 + rounding * (a * (1.0 - a) + 1e-14)


@every_loss
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_a_sample_without_cost_stays_at_zero(loss, y):
    dual = loss.dual_box(one(y), one(0.0))
    assert step_of(dual, 0.3, 0.0, 1.0) == 0.0
    assert _native.dual_slopes(dual, 0, 0.0) == (-np.inf, np.inf)


def test_an_unbounded_coordinate_stays_where_it_is():
    ray = box_of(1.0, 0.0, 0.0, 0.0, np.inf)
    assert step_of(ray, 0.0, 0.75, 0.0) == 0.75
    assert step_of(ray, 1.0, 0.75, 0.0) == 0.75  # flat: any value is best, and none is better
    assert step_of(ray, 2.0, 0.75, 0.0) == 0.0


@every_loss
@few
@given(data=st.data())
def test_a_decision_value_calls_for_the_scaled_derivative(loss, data):
    y, cost, f = data.draw(targets(loss)), data.draw(costs), data.draw(decisions)
    found = _native.dual_called(loss.dual_box(one(y), one(cost)), 0, f)
    # At a kink any sub-gradient will do: Fenchel–Young tells them all.
    value = scalar(loss.value, y, f) + scalar(loss.conjugate, y, -found / cost) + found / cost * f
    assert abs(value) <= 1e-11 * (1.0 + abs(f)) * (1.0 + abs(found / cost))


# --- slopes


@every_loss
@few
@given(data=st.data(), share=st.floats(0.01, 0.99))
def test_compiled_slopes_equal_the_losses_own(loss, data, share):
    y, cost = data.draw(targets(loss)), data.draw(costs)
    dual = loss.dual_box(one(y), one(cost))
    low, high = max(dual.lower[0], -3 * cost), min(dual.upper[0], 3 * cost)
    for beta in (low + share * (high - low), 0.0):
        rise, fall = _native.dual_slopes(dual, 0, beta)
        if low < beta < high:
            expected = loss.dual_slopes(one(y), one(cost), one(beta))
            assert (rise, fall) == pytest.approx((expected[0][0], expected[1][0]), rel=1e-12, abs=1e-12)


def test_slopes_are_infinite_where_a_variable_cannot_move():
    dual = box_of([1.0] * 3, [0.5] * 3, [2.0] * 3, [-1.0] * 3, [3.0] * 3)
    assert _native.dual_slopes(dual, 0, 3.0) == (-np.inf, 1.0 - 6.0 - 0.5)
    assert _native.dual_slopes(dual, 0, -1.0) == (1.0 + 2.0 + 0.5, np.inf)
    assert _native.dual_slopes(dual, 0, 0.0) == (0.5, 1.5)
    assert _native.dual_slopes(dual, 0, 1.0) == (-1.5, -1.5)


# --- pairs


@st.composite
def pairs(draw):
    """A box of two samples and a point in it, often at a bound or at zero."""
    dual = box_of(
        [draw(decisions), draw(decisions)],
        [draw(st.sampled_from([0.0, 0.1, 1.0]))] * 2,
        [draw(st.sampled_from([0.0, 0.5]))] * 2,
        [draw(st.sampled_from([0.0, -1.0, -2.5])) for _ in range(2)],
        [draw(st.sampled_from([0.0, 1.0, 2.5])) for _ in range(2)],
    )
    beta = [
        float(np.clip(draw(st.one_of(st.just(0.0), st.floats(-2.5, 2.5))), dual.lower[k], dual.upper[k]))
        for k in range(2)
    ]
    return dual, beta


@given(pair=pairs(), f=st.tuples(decisions, decisions), eta=st.floats(1e-3, 1e3))
def test_the_pair_step_maximises_the_dual_along_its_direction(pair, f, eta):
    dual, (beta_i, beta_j) = pair
    room = min(dual.upper[0] - beta_i, beta_j - dual.lower[1])

    def gain(delta: float) -> float:
        parts = separable(dual, 0, beta_i + delta) + separable(dual, 1, beta_j - delta)
        return parts - (f[0] - f[1]) * delta - 0.5 * eta * delta**2

    new_i, new_j = _native.dual_pair(dual, 0, 1, f[0], f[1], beta_i, beta_j, eta)
    assert new_i >= beta_i and new_j <= beta_j
    assert new_i <= dual.upper[0] and new_j >= dual.lower[1]
    assert new_i - beta_i == pytest.approx(beta_j - new_j, abs=1e-15)
    best = max(gain(0.0), gain(room), *(gain(kink) for kink in (-beta_i, beta_j) if 0.0 <= kink <= room))
    if room > 0:
        best = max(best, maximum(gain, 0.0, room))
    assert gain(new_i - beta_i) >= best - 1e-10 * (1.0 + abs(best))


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (-2.0, (-1.0, 1.0)),  # no slope from the start
        (1.0, (-1 / 7, 1 / 7)),  # stops before the kinks
        (4.0, (0.0, 0.0)),  # stops at them
        (9.0, (1.0, -1.0)),  # stops behind them
    ],
)
def test_the_pair_step_passes_both_kinks(p, expected):
    """βᵢ = −1 and βⱼ = 1 meet their kinks at the same δ = 1; slope p + 2ε − ηδ before it, p − 2ε − ηδ after."""
    dual = box_of([p, 0.0], [1.0, 1.0], [0.0, 0.0], [-5.0, -5.0], [5.0, 5.0])
    assert _native.dual_pair(dual, 0, 1, 0.0, 0.0, -1.0, 1.0, 3.5) == pytest.approx(expected)


def test_the_pair_step_meets_bounds_exactly():
    dual = box_of([1.0, -1.0], [0.0, 0.0], [0.0, 0.0], [0.0, -0.3], [0.1, 0.0])
    new_i, new_j = _native.dual_pair(dual, 0, 1, 0.0, 0.0, 0.0, 0.0, 1e-3)
    assert new_i == 0.1 and new_j == -0.1
    new_i, new_j = _native.dual_pair(dual, 0, 1, 0.0, 0.0, 0.0, -0.25, 1e-3)
    assert new_j == -0.3 and new_i == pytest.approx(0.05)


@given(
    y=st.tuples(st.sampled_from([-1.0, 1.0]), st.sampled_from([-1.0, 1.0])),
    cost=st.tuples(costs, costs),
    share=st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)),
    f=st.tuples(st.floats(-30, 30), st.floats(-30, 30)),
    eta=st.floats(1e-3, 1e3),
)
def test_the_logistic_pair_step_maximises_the_dual_along_its_direction(y, cost, share, f, eta):
    loss = Logistic()
    signs, weights = np.array(y), np.array(cost)
    dual = loss.dual_box(signs, weights)
    beta = signs * weights * np.array(share)
    room = min(dual.upper[0] - beta[0], beta[1] - dual.lower[1])

    def gain(delta: float) -> float:
        moved = np.clip(beta + np.array([delta, -delta]), dual.lower, dual.upper)
        return float(loss.dual_value(signs, weights, moved).sum()) - (f[0] - f[1]) * delta - 0.5 * eta * delta**2

    new_i, new_j = _native.dual_pair(dual, 0, 1, f[0], f[1], beta[0], beta[1], eta)
    delta = new_i - beta[0]
    assert delta == pytest.approx(beta[1] - new_j, abs=1e-12 * max(cost))
    best = maximum(gain, 0.0, room)
    assert gain(delta) >= best - 1e-9 * (abs(best) + max(cost) * (1.0 + abs(f[0] - f[1])))
