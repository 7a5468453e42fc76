"""The proof's compiled sums against exact rationals and plain NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gapless import _native
from gapless.losses import DualBox, DualEntropy, EpsilonInsensitive, Hinge, Logistic, Shortfall
from tests.losses.samples import EVERY_LOSS, random_samples

every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
every_seed = pytest.mark.parametrize("seed", range(4))


def exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def one_group(n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.int64)


def random_box(n: int, rng: np.random.Generator) -> DualBox:
    """Terms of no loss in particular: steps, ramps, and sides that are closed."""
    lower, upper = -rng.choice([0.0, 0.5, 2.0], n), rng.choice([0.0, 0.25, 3.0], n)
    return DualBox(rng.normal(size=n), rng.choice([0.0, 0.3], n), rng.choice([0.0, 0.5, 2.0], n), lower, upper)


# --- the loss, from its dual terms


@every_loss
def test_the_loss_is_the_conjugate_of_its_dual_term(loss):
    y, f, cost = random_samples(loss, 400, np.random.default_rng(0))
    cost[::7] = 0.0
    found = _native.proof_losses(loss.dual_box(y, cost), f)
    np.testing.assert_allclose(found, cost * loss.value(y, f), rtol=1e-15, atol=0)


def test_the_loss_of_a_group_is_that_of_its_targets():
    rng = np.random.default_rng(0)
    loss, y, f, cost = Shortfall(rng.normal(size=50)), rng.choice([-1.0, 1.0], 50), rng.normal(size=50), rng.random(50)
    np.testing.assert_allclose(_native.proof_losses(loss.dual_box(y, cost), f), cost * loss.value(y, f), rtol=1e-15)


@every_seed
def test_no_product_is_contracted(seed):
    """The very numbers that NumPy gives, which rounds each product and each sum."""
    rng = np.random.default_rng(seed)
    box, f = random_box(500, rng), 3 * rng.normal(size=500)
    p, epsilon, d, lower, upper = box
    s, u = np.abs(p - f) - epsilon, np.where(p > f, upper, -lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        twin = np.where(s < d * u, 0.5 * s * (s / d), s * u - 0.5 * d * u * u)
    np.testing.assert_array_equal(_native.proof_losses(box, f), np.where((s > 0) & (u > 0), twin, 0.0))


@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=repr)
def test_what_is_no_number_is_no_loss(loss):
    box = loss.dual_box(np.ones(2), np.ones(2))
    assert np.isnan(_native.proof_losses(box, np.array([np.nan, 0.0]))).tolist() == [True, False]
    above, *_ = _native.proof_loss_bounds(box, one_group(2), np.zeros(1), np.array([np.nan, 0.0]), np.zeros(2), 1.0)
    assert np.isnan(above)
    assert np.isnan(_native.proof_losses_at(box, one_group(2), np.zeros(1), np.array([np.nan, 0.0])))


@every_loss
def test_the_sum_of_losses_is_rounded_upwards_by_what_it_says(loss):
    y, f, cost = random_samples(loss, 3000, np.random.default_rng(1))
    f *= 10.0 ** np.random.default_rng(2).uniform(-6, 6, 3000)
    box, groups = loss.dual_box(y, cost), np.arange(3000) % 2
    offsets = np.array([0.25, -0.5])
    each = _native.proof_losses(box, f + offsets[groups])
    above, rounding, plain = _native.proof_loss_bounds(box, groups, offsets, f, np.zeros(3000), 1.0)
    found = float(sum(exact(each)))
    assert found <= above <= found * (1 + 1e-8)
    assert above - rounding <= found * (1 + 1e-15)
    assert plain == _native.proof_losses_at(box, groups, offsets, f) == pytest.approx(found, rel=1e-14)
    wide = np.abs(np.random.default_rng(3).normal(size=3000))
    ends = [_native.proof_losses(box, f + offsets[groups] + side * wide) for side in (-1.0, 1.0)]
    above, rounding, same = _native.proof_loss_bounds(box, groups, offsets, f, 0.5 * wide, 2.0)
    assert same == plain
    assert above >= float(sum(exact(np.maximum(*ends)))) and above - rounding <= found


# --- feasible points


@every_seed
@pytest.mark.parametrize("coupled", [True, False])
def test_a_feasible_point_is_in_its_box_and_has_its_sum(seed, coupled):
    rng = np.random.default_rng(seed)
    lower, upper = -rng.choice([0.0, 1.0, 2.0], 40), rng.choice([0.0, 1.0, 2.0], 40)
    beta = 2 * rng.normal(size=40)
    found, outside, off = _native.proof_feasible(lower, upper, one_group(40), np.zeros(1), coupled, beta)
    clipped = np.clip(beta, lower, upper)
    assert outside == np.abs(beta - clipped).max()
    if not coupled:
        assert off == 0.0 and (found == clipped).all()
        return
    total = sum(exact(clipped))
    assert off == abs(float(total))
    heavy = clipped > 0 if total > 0 else clipped < 0
    assert (found[~heavy] == clipped[~heavy]).all()
    kept = 1 - abs(total) / abs(sum(exact(clipped[heavy])))
    np.testing.assert_allclose(found[heavy], [float(kept * value) for value in exact(clipped[heavy])], rtol=1e-15)
    assert abs(sum(exact(found))) <= 40 * 2.3e-16 * 2


def test_a_total_out_of_reach_moves_all_towards_their_bounds_alike():
    lower, upper, groups = np.zeros(4), np.array([1.0, 1.0, 3.0, 2.0]), np.array([0, 0, 0, 1])
    found, outside, off = _native.proof_feasible(
        lower, upper, groups, np.array([2.0, 1.0]), True, np.array([0.5, 0.0, 0.0, 1.0])
    )
    assert (outside, off) == (0.0, 1.5)
    np.testing.assert_allclose(found, [0.5 + 0.5 / 3, 1 / 3, 1.0, 1.0], rtol=1e-15)


# --- the dual side


@every_seed
def test_the_best_multiple_is_that_of_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    box = random_box(30, rng)
    beta, square = box.lower + rng.random(30) * (box.upper - box.lower), float(rng.uniform(1e-3, 10.0))
    b, p, epsilon, d, lower, upper = (exact(values) for values in (beta, *box))
    linear = sum(pk * bk - ek * abs(bk) for pk, ek, bk in zip(p, epsilon, b, strict=True))
    bend = Fraction(square) + sum(dk * bk * bk for dk, bk in zip(d, b, strict=True))
    scale, value = _native.proof_best_multiple(box, beta, square)
    if linear <= 0:
        assert (scale, value) == (0.0, 0.0)
        return
    room = min((u if bk > 0 else low) / bk for bk, low, u in zip(b, lower, upper, strict=True) if bk)
    best = min(linear / bend, room)
    assert scale == pytest.approx(float(best), rel=1e-14)
    assert value == pytest.approx(float(best * linear - best * best * bend / 2), rel=1e-13)


def test_multiples_at_their_limits():
    box = Hinge().dual_box(np.ones(2), np.ones(2))
    assert _native.proof_best_multiple(box, np.zeros(2), 0.0) == (1.0, 0.0)
    assert _native.proof_best_multiple(box, np.array([0.5, 0.25]), 0.0) == (2.0, 1.5)  # no curvature: up to the box
    ray = Hinge().dual_box(np.ones(2), np.full(2, np.inf))
    assert _native.proof_best_multiple(ray, np.ones(2), 0.0) == (1.0, np.inf)
    near = 1.0 + 1e-12
    assert _native.proof_best_multiple(ray, np.ones(2), 2.0 * near)[0] == 1.0


def prove(dual, groups, totals, free, multiple, beta, f, norm=np.nan, shift=0.0):
    """proof_bounds of decision values that are exact, and of samples of length one."""
    weights = (norm, 0.0, 0.0, 1.0)
    return _native.proof_bounds(
        dual, groups, totals, free, multiple, True, True, beta, f, np.zeros(len(f)), 1.0, weights, shift
    )


def outwards(primal, dual, above, below, least, most, share=1e-11):
    """Both values are rounded outwards from the formulas', by what they say and by little."""
    assert least <= primal <= least + share * abs(least) and 0 <= above <= share * abs(least)
    assert most >= dual >= most - share * max(abs(most), abs(least)) and 0 <= below <= share * max(
        abs(most), abs(least)
    )


@every_seed
@pytest.mark.parametrize("free", [True, False])
def test_bounds_are_those_of_the_formulas(seed, free):
    """Every part of the one call against NumPy: the multiple, D, LIBSVM's violation, offsets and P."""
    rng = np.random.default_rng(seed)
    box = random_box(60, rng)
    beta = np.clip(rng.normal(size=60), box.lower, box.upper)
    beta, _, _ = _native.proof_feasible(box.lower, box.upper, one_group(60), np.zeros(1), free, beta)
    K = (lambda A: A @ A.T)(rng.normal(size=(60, 5)))
    f, shift = K @ beta, 0.0 if free else 0.75
    b = shift * float(beta.sum())
    found, scale, dual, violation, primal, ((low, high),), below, above, *plain = prove(
        box, one_group(60), np.zeros(1), free, True, (scaled := beta.copy()), (values := f.copy()), shift=shift
    )
    square = float(sum(bk * fk for bk, fk in zip(exact(beta), exact(f), strict=True))) + b * float(beta.sum())
    assert found == pytest.approx(square, rel=1e-15)
    np.testing.assert_array_equal(scaled, np.clip(scale * beta, box.lower, box.upper))
    np.testing.assert_array_equal(values, scale * f)
    best = _native.proof_best_multiple(box, beta, found)
    assert scale == best[0]
    slope = box.p - box.d * scaled - (values + scale * b)
    width = 1e-12 * (box.upper - box.lower)
    rises = (slope - np.where(scaled >= 0, box.epsilon, -box.epsilon))[scaled < box.upper - width]
    falls = (slope - np.where(scaled > 0, box.epsilon, -box.epsilon))[scaled > box.lower + width]
    worst = rises.max() - falls.min() if free else max(rises.max(), -falls.min())
    assert violation == pytest.approx(max(0.0, worst), rel=1e-13)
    if free:
        assert ((low, high),) == _native.proof_best_offsets(box, one_group(60), np.zeros(1), values)
    else:
        assert low == high == pytest.approx(scale * b, rel=1e-14)
    losses = sum(exact(_native.proof_losses(box, values + 0.5 * (low + high))))
    outwards(primal, dual, above, below, float(losses) + 0.5 * scale * scale * square, best[1])
    assert dual <= primal
    # And of β itself, as it stands.
    own_dual, own_primal, own_below, own_above, ((low, high),) = plain
    terms = box.p * beta - box.epsilon * np.abs(beta) - 0.5 * box.d * beta**2
    assert own_dual == pytest.approx(float(sum(exact(terms))) - 0.5 * square, rel=1e-12, abs=1e-12 * abs(square))
    if free:
        assert ((low, high),) == _native.proof_best_offsets(box, one_group(60), np.zeros(1), f)
    else:
        assert low == high == pytest.approx(b, rel=1e-14)
    losses = sum(exact(_native.proof_losses(box, f + 0.5 * (low + high))))
    assert own_primal == pytest.approx(float(losses) + 0.5 * square, rel=1e-14)
    most = float(sum(exact(terms))) - 0.5 * square
    outwards(own_above, own_below, own_above - own_primal, own_dual - own_below, float(losses) + 0.5 * square, most)


def test_groups_have_bounds_and_prices_of_their_own():
    rng = np.random.default_rng(3)
    y, groups = np.repeat([1.0, -1.0], 30), np.repeat(np.array([0, 1]), 30)
    box, totals = Shortfall(np.zeros(60)).dual_box(y, np.ones(60)), np.array([9.0, -9.0])
    beta, f = 0.3 * y, rng.normal(size=60)
    square, scale, dual, violation, primal, intervals, below, above, own_dual, own_primal, _, _, own = prove(
        box, groups, totals, True, False, beta, f, norm=2.0
    )
    assert (square, scale) == (2.0, 1.0)
    slopes = [-f[groups == g] for g in (0, 1)]
    assert violation == max(slope.max() - slope.min() for slope in slopes)
    middles = np.array([0.5 * (low + high) for low, high in intervals])
    least = 1.0 + np.maximum(0.0, -y * (f + middles[groups])).sum() + totals @ middles
    outwards(primal, dual, above, below, least - 1e-13, -1.0)
    assert own == intervals and (own_dual, own_primal) == pytest.approx((-1.0, least), rel=1e-14)
    for g in (0, 1):
        alone = groups == g
        part = DualBox(*(values[alone] for values in box))
        assert intervals[g] == _native.proof_best_offsets(part, one_group(30), totals[g : g + 1], f[alone])[0]


# --- offsets


def exact_quantile(loss, y: np.ndarray, f: np.ndarray, cost: np.ndarray) -> tuple[float, float]:
    """Where the slope of Σ c ℓ(y, f + b) reaches and passes zero, in rationals, for a loss with kinks."""
    start = sum(exact(cost * loss.derivative(y, np.full_like(f, -np.inf))))
    jumps: dict[Fraction, Fraction] = {}
    for kink in loss.kinks(y):
        for at, value, c in zip(exact(kink), exact(f), exact(cost), strict=True):
            jumps[at - value] = jumps.get(at - value, Fraction(0)) + c
    slope, reached = start, None
    for x in sorted(jumps):
        slope += jumps[x]
        if slope >= 0 and reached is None:
            reached = x
        if slope > 0:
            return float(reached), float(x)
    raise AssertionError("the slope ends above zero")


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.25), EpsilonInsensitive(0.0)], ids=repr)
@pytest.mark.parametrize("n", [2, 7, 60, 900])
def test_an_offset_is_the_exact_weighted_quantile(loss, n):
    """Quarters everywhere: no rounding, and many ties."""
    rng = np.random.default_rng(n)
    y, _, cost = random_samples(loss, n, rng)
    y, f = np.round(4 * y) / 4, rng.integers(-12, 13, n) / 4
    (found,) = _native.proof_best_offsets(loss.dual_box(y, cost), one_group(n), np.zeros(1), f)
    assert found == exact_quantile(loss, y, f, cost)


@every_loss
@pytest.mark.parametrize("n", [2, 31, 500, 5000])
@pytest.mark.parametrize("pull", [0.0, 0.3])
def test_an_offset_is_that_of_the_loss(loss, n, pull):
    rng = np.random.default_rng(n)
    y, f, cost = random_samples(loss, n, rng)
    cost[3::5] = 0.0
    (found,) = _native.proof_best_offsets(loss.dual_box(y, cost), one_group(n), np.array([pull]), f)
    assert found == pytest.approx(loss.best_intercept(y, f, cost, pull), rel=1e-10, abs=1e-12)


@every_seed
def test_no_step_from_an_offset_improves_on_it(seed):
    """Steps and ramps in one box, which no loss has."""
    rng = np.random.default_rng(seed)
    box, f = random_box(200, rng), 2 * rng.normal(size=200)
    groups, zero = one_group(200), np.zeros(1)

    def total(b: float) -> Fraction:
        return sum(exact(_native.proof_losses(box, f + b)), Fraction(0))

    ((low, high),) = _native.proof_best_offsets(box, groups, zero, f)
    least = total(0.5 * (low + high))
    for step in (1e-9, 1e-6, 1e-3, 1.0):
        assert total(low - step) >= least * (1 - Fraction(1, 10**14))
        assert total(high + step) >= least * (1 - Fraction(1, 10**14))


def test_without_a_crossing_the_interval_ends_at_the_outermost_sample():
    box = Shortfall(np.zeros(3)).dual_box(np.ones(3), np.ones(3))
    f = np.array([1.0, 3.0, 2.0])
    assert _native.proof_best_offsets(box, one_group(3), np.array([3.0]), f) == ((-3.0, -3.0),)
    nobody = Shortfall(np.zeros(3)).dual_box(np.ones(3), np.zeros(3))
    assert _native.proof_best_offsets(nobody, one_group(3), np.zeros(1), f) == ((0.0, 0.0),)


def test_values_without_a_bound_give_no_offset_and_no_primal_value():
    box, f = Hinge().dual_box(np.array([1.0, -1.0]), np.ones(2)), np.array([np.inf, 0.0])
    ((low, high),) = _native.proof_best_offsets(box, one_group(2), np.zeros(1), f)
    assert np.isnan(low) and np.isnan(high)
    square, _, dual, _, primal, *_ = prove(box, one_group(2), np.zeros(1), True, True, np.zeros(2), f, norm=0.0)
    assert np.isnan(square) and dual == -np.inf and primal == np.inf
    for wild in (np.nan, np.inf):
        beta = np.array([0.5, wild])
        assert np.isnan(_native.proof_feasible(box.lower, box.upper, one_group(2), np.zeros(1), True, beta)[1])


@every_seed
def test_the_entropy_has_the_bounds_of_its_formulas(seed):
    rng = np.random.default_rng(seed)
    loss = Logistic()
    y, f, cost = random_samples(loss, 80, rng)
    entropy = loss.dual_box(y, cost)
    assert isinstance(entropy, DualEntropy)
    beta = y * cost * rng.random(80)
    beta, _, _ = _native.proof_feasible(entropy.lower, entropy.upper, one_group(80), np.zeros(1), True, beta)
    _, scale, dual, violation, primal, ((low, high),), below, above, *_ = prove(
        entropy, one_group(80), np.zeros(1), True, True, beta, f.copy(), norm=4.0
    )
    assert scale == 1.0 and np.isnan(violation) and low == high
    most = math.fsum(loss.dual_value(y, cost, beta)) - 2.0
    outwards(primal, dual, above, below, math.fsum(cost * loss.value(y, f + low)) + 2.0 - 1e-13, most + 1e-13)


@every_loss
def test_many_samples_prove_the_same_on_any_number_of_threads(loss):
    """More samples than one piece of the work holds: the parts are joined in one order, and the sum is that of all."""
    n, rng = 100_000, np.random.default_rng(0)
    y, f, cost = random_samples(loss, n, rng)
    dual, found = loss.dual_box(y, cost), []
    beta = np.clip(0.1 * rng.normal(size=n), dual.lower, dual.upper)
    for threads in (1, 2, 3):
        _native.limit_threads(threads)
        try:
            bounds = prove(dual, one_group(n), np.zeros(1), True, True, beta.copy(), f.copy())
        finally:
            _native.limit_threads(0)
        found.append(repr(bounds))
    assert found[0] == found[1] == found[2]
    scale, ((low, high),) = bounds[1], bounds[5]
    losses = _native.proof_losses(dual, scale * f + 0.5 * (low + high))
    assert bounds[0] == pytest.approx(math.fsum(beta * f), rel=1e-15)
    least = 0.5 * scale * scale * bounds[0] + math.fsum(losses)
    assert least * (1 - 1e-15) <= bounds[4] <= least * (1 + 1e-9)


@pytest.mark.parametrize("level", _native.isa_levels())
@every_loss
def test_losses_are_bounded_alike_at_every_instruction_set(loss, level):
    """Lanes add in another order; what is lost is kept with each, so that the sums differ by roundings of themselves alone."""
    y, f, cost = random_samples(loss, 1003, np.random.default_rng(4))
    box, groups, offsets = loss.dual_box(y, cost), np.arange(1003) % 2, np.array([0.5, -0.25])
    sizes = np.abs(np.random.default_rng(5).normal(size=1003))
    best = _native.isa()
    expected = _native.proof_loss_bounds(box, groups, offsets, f, sizes, 1e-3)
    try:
        _native.use_isa(level)
        found = _native.proof_loss_bounds(box, groups, offsets, f, sizes, 1e-3)
        plain = _native.proof_losses_at(box, groups, offsets, f)
    finally:
        _native.use_isa(best)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert (
        found[2] == plain == pytest.approx(float(sum(exact(_native.proof_losses(box, f + offsets[groups])))), rel=1e-14)
    )


# --- arrays of one call


def calls(n: int = 6):
    """Calls of the proof with arrays of n samples; each takes the length of some of them."""
    rng = np.random.default_rng(0)
    box, v, groups, totals = random_box(n, rng), np.ones, one_group(n), np.zeros(1)
    square, plain = (1.0, 0.0), (1.0, 0.0, 0.0, 1.0)

    def bounds(beta=n, f=n, sizes=n, of=n):
        return _native.proof_bounds(
            box, one_group(of), totals, True, True, True, True, np.zeros(beta), v(f), v(sizes), 1e-15, plain, 0.0
        )

    return {
        "bounds": lambda k: bounds(beta=k),
        "bounds, values": lambda k: bounds(f=k),
        "bounds, sizes": lambda k: bounds(sizes=k),
        "bounds, groups": lambda k: bounds(of=k),
        "feasible": lambda k: _native.proof_feasible(-v(n), v(n), groups, totals, True, v(k)),
        "best multiple": lambda k: _native.proof_best_multiple(box, v(k), 1.0),
        "best offsets": lambda k: _native.proof_best_offsets(box, groups, totals, v(k)),
        "loss bounds": lambda k: _native.proof_loss_bounds(box, groups, totals, v(k), v(n), 0.0),
        "losses": lambda k: _native.proof_losses(box, v(k)),
        "losses at": lambda k: _native.proof_losses_at(box, groups, totals, v(k)),
        "expansion errors": lambda k: _native.proof_expansion_errors(v(n), v(n), v(k), 1e-16, 1.0),
        "twofold dual": lambda k: _native.twofold_dual(
            box, groups, totals, True, np.zeros(n), v((2, k)), v(n), square, 0.0, 0.0, 1.0
        ),
        "twofold primal": lambda k: _native.twofold_primal(
            box, groups, totals, np.zeros(1), v((2, n)), v(k), square, 0.0, 0.0
        ),
        "twofold offsets": lambda k: _native.twofold_offsets(box, groups, totals, v((2, k)), np.zeros(1)),
        "twofold margin": lambda k: _native.twofold_margin(v(n), v(n), True, 0.0, v((2, k)), v(n)),
        "twofold room": lambda k: _native.twofold_room(box, v(n), 0.0, v((2, k)), v(n)),
        "twofold dot": lambda k: _native.twofold_dot(v((2, n)), v((2, k))),
    }


@pytest.mark.parametrize("which", calls())
def test_arrays_of_one_proof_fit_together(which):
    """X may get another shape after a problem was stated: a proof reads nothing outside of its arrays then."""
    call = calls()[which]
    call(6)
    for wrong in (5, 7):
        with pytest.raises(ValueError, match=r"there must be [567] entries, one for each sample"):
            call(wrong)
