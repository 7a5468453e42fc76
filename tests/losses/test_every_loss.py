from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gapless.errors import InvalidInputError
from gapless.losses import (
    LOSSES,
    DualBox,
    EpsilonInsensitive,
    Hinge,
    Loss,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    as_loss,
)
from tests.losses.samples import EVERY_LOSS, costs, decisions, few, one, random_samples, scalar, targets

every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)


@every_loss
@few
@given(data=st.data())
def test_fenchel_young(loss, data):
    """ℓ(f) + ℓ*(v) ≥ v f for all f and v, with equality where v is the derivative at f."""
    y, f, v = data.draw(targets(loss)), data.draw(decisions), data.draw(decisions)
    value, conjugate = scalar(loss.value, y, f), scalar(loss.conjugate, y, v)
    assert value >= 0.0
    assert value + conjugate >= v * f - 1e-12 * (1.0 + abs(v * f) + value)
    slope = scalar(loss.derivative, y, f)
    exact = value + scalar(loss.conjugate, y, slope) - slope * f
    assert abs(exact) <= 1e-12 * (1.0 + abs(slope * f) + value)


@every_loss
@few
@given(data=st.data())
def test_the_derivative_is_a_subgradient(loss, data):
    y, f, g = data.draw(targets(loss)), data.draw(decisions), data.draw(decisions)
    below = scalar(loss.value, y, f) + scalar(loss.derivative, y, f) * (g - f)
    assert scalar(loss.value, y, g) >= below - 1e-12 * (1.0 + abs(below) + scalar(loss.value, y, f))


@every_loss
@few
@given(data=st.data())
def test_the_conjugate_is_the_supremum_over_a_grid(loss, data):
    y, v = data.draw(targets(loss)), data.draw(st.integers(-24, 24).map(lambda i: i / 8))
    conjugate = scalar(loss.conjugate, y, v)
    # The supremum over [−R, R] grows with R where the conjugate is infinite, and is attained where it is finite.
    grid = np.concatenate([np.linspace(-80, 80, 32001), [y - 1.5, y - 0.1, y, y + 0.1, y + 1.5]])
    wide = np.array([-1e4, 1e4])
    found = float((v * grid - loss.value(np.full_like(grid, y), grid)).max())
    beyond = float((v * wide - loss.value(np.full_like(wide, y), wide)).max())
    if conjugate == np.inf:
        assert beyond > found + 100.0
    else:
        assert max(found, beyond) <= conjugate + 1e-10 * (1.0 + abs(conjugate))
        assert found >= conjugate - 2e-3


@every_loss
def test_the_conjugate_has_the_domain_of_the_slopes(loss):
    """v is inside the domain exactly if it lies between the limits of the derivative."""
    for y in (-1.0, 1.0):
        steep = [scalar(loss.derivative, y, f) for f in (-1e9, 1e9)]
        low, high = (limit if abs(limit) <= 1.0 else np.copysign(np.inf, limit) for limit in steep)
        for v in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0):
            assert np.isfinite(scalar(loss.conjugate, y, v)) == (low <= v <= high)


@every_loss
@few
@given(data=st.data(), share=st.floats(0.0, 1.0))
def test_dual_value_is_minus_the_scaled_conjugate(loss, data, share):
    y, cost = data.draw(targets(loss)), data.draw(costs)
    box = loss.dual_box(one(y), one(cost))
    low, high = max(box.lower[0], -3 * cost), min(box.upper[0], 3 * cost)
    assert low <= 0.0 <= high
    beta = min(max(low + share * (high - low), low), high)
    expected = -cost * scalar(loss.conjugate, y, -beta / cost)
    assume(np.isfinite(expected))  # −β/c may leave the domain by rounding
    assert scalar(loss.dual_value, y, cost, beta) == pytest.approx(expected, rel=1e-11, abs=1e-11 * cost)
    if isinstance(box, DualBox):
        by_box = box.p * beta - box.epsilon * abs(beta) - 0.5 * box.d * beta**2
        assert by_box[0] == pytest.approx(expected, rel=1e-11, abs=1e-11 * cost * (1 + abs(y)))


@every_loss
def test_outside_the_box_the_conjugate_is_infinite(loss):
    for y in (-1.0, 1.0):
        box = loss.dual_box(one(y), one(2.0))
        for end, outwards in ((box.lower[0], -1.0), (box.upper[0], 1.0)):
            if np.isfinite(end):
                assert np.isfinite(scalar(loss.conjugate, y, -end / 2.0))
                assert scalar(loss.conjugate, y, -(end + 1e-9 * outwards) / 2.0) == np.inf


@every_loss
@few
@given(data=st.data(), share=st.floats(0.05, 0.95))
def test_dual_slopes_are_one_sided_derivatives(loss, data, share):
    y, cost = data.draw(targets(loss)), data.draw(costs)
    box = loss.dual_box(one(y), one(cost))
    low, high = max(box.lower[0], -3 * cost), min(box.upper[0], 3 * cost)
    beta = low + share * (high - low)
    points = [beta] if low == 0.0 or high == 0.0 else [beta, 0.0]  # zero is inside: the kink of |β|
    step = 1e-6 * cost
    for at in points:
        assume(at == 0.0 or abs(at) > 2 * step)
        value = scalar(loss.dual_value, y, cost, at)
        rise, fall = (float(slope[0]) for slope in loss.dual_slopes(one(y), one(cost), one(at)))
        up = (scalar(loss.dual_value, y, cost, at + step) - value) / step
        down = (value - scalar(loss.dual_value, y, cost, at - step)) / step
        assert rise <= fall
        assert rise == pytest.approx(up, rel=1e-3, abs=1e-4 * (1 + abs(y)))
        assert fall == pytest.approx(down, rel=1e-3, abs=1e-4 * (1 + abs(y)))


@every_loss
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_a_sample_without_cost_is_absent_from_the_dual(loss, y):
    box = loss.dual_box(one(y), one(0.0))
    assert box.lower[0] == 0.0 == box.upper[0]
    assert scalar(loss.dual_value, y, 0.0, 0.0) == 0.0
    if isinstance(box, DualBox):
        assert box.d[0] == 0.0


@pytest.mark.parametrize("loss", [loss for loss in EVERY_LOSS if loss.has_hard_limit], ids=repr)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_limit_of_an_infinite_cost_is_a_hard_constraint(loss, y):
    hard, near = loss.dual_box(one(y), one(np.inf)), loss.dual_box(one(y), one(1e12))
    assert hard.d[0] == 0.0 and near.d[0] <= 1e-11
    assert hard.p[0] == near.p[0] and hard.epsilon[0] == near.epsilon[0]
    for limit, large in ((hard.lower[0], near.lower[0]), (hard.upper[0], near.upper[0])):
        assert limit == (0.0 if large == 0.0 else np.copysign(np.inf, large))
    assert scalar(loss.dual_value, y, np.inf, y) == pytest.approx(scalar(loss.dual_value, y, 1e12, y), abs=1e-11)


@every_loss
def test_methods_are_vectorised_and_leave_their_arguments_alone(loss):
    y, f, cost = random_samples(loss, 6, np.random.default_rng(1))
    box = loss.dual_box(y, cost)
    beta = 0.3 * np.where(np.isfinite(box.lower), box.lower, -cost) + 0.2 * np.where(
        np.isfinite(box.upper), box.upper, cost
    )
    for array in (y, f, cost, beta):
        array.flags.writeable = False
    for method, arguments in (
        (loss.value, (y, f)),
        (loss.derivative, (y, f)),
        (loss.conjugate, (y, -beta / cost)),
        (loss.dual_value, (y, cost, beta)),
    ):
        single = [scalar(method, *(float(argument[i]) for argument in arguments)) for i in range(6)]
        assert np.array_equal(method(*arguments), single)
    for part in box:
        assert not np.shares_memory(part, y) and not np.shares_memory(part, cost)


@every_loss
def test_extreme_decision_values_overflow_nowhere(loss):
    f = np.array([-1e3, 1e3, -1e100, 1e100])
    for y in (-1.0, 1.0):
        values = loss.value(np.full(4, y), f)
        assert np.isfinite(values).all() and (values >= 0).all()
        assert np.isfinite(loss.derivative(np.full(4, y), f)).all()


def test_logistic_conjugate_keeps_its_digits_at_tiny_shares():
    """a log a + (1 − a) log(1 − a) = a log a − a + O(a²): the second term is lost where 1 − a rounds to one."""
    a = 1e-18
    assert scalar(LOSSES["logistic"]().conjugate, 1.0, -a) == pytest.approx(a * np.log(a) - a, rel=1e-14)


# --- by name


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_found_by_its_name_and_compares_by_value(name):
    loss = as_loss(name)
    assert loss.name == name and loss.task in ("classification", "regression")
    assert loss == LOSSES[name]() and hash(loss) == hash(LOSSES[name]())
    assert as_loss(loss) is loss
    assert isinstance(loss, Loss)


@pytest.mark.parametrize("wrong", ["Hinge", None, Hinge, ["hinge"]])
def test_an_unknown_loss_is_refused_in_words(wrong):
    with pytest.raises(InvalidInputError) as error:
        as_loss(wrong)
    assert str(error.value) == f"loss must be a Loss or one of {', '.join(sorted(LOSSES))}; got {wrong!r}."


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "wide", None])
def test_smoothing_must_be_positive(value):
    with pytest.raises(InvalidInputError) as error:
        SmoothedHinge(value)
    assert str(error.value) == f"smoothing must be a positive number; got {value!r}."


@pytest.mark.parametrize("cls", [EpsilonInsensitive, SquaredEpsilonInsensitive])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "wide", None])
def test_epsilon_must_not_be_negative(cls, value):
    with pytest.raises(InvalidInputError) as error:
        cls(value)
    assert str(error.value) == f"epsilon must be a number of at least 0; got {value!r}."
