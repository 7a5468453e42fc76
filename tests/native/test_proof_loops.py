"""The loops of a proof for samples of one group, at every instruction set, against those for several groups, and the window of the best offset."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native
from gapless.losses import DualBox, EpsilonInsensitive, Hinge
from tests.losses.samples import EVERY_LOSS, random_samples

pytestmark = pytest.mark.usefixtures("every_level")
every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
losses_of_steps = pytest.mark.parametrize(
    "loss", [Hinge(), EpsilonInsensitive(0.25), EpsilonInsensitive(0.0)], ids=repr
)


def prove(dual, n_groups: int, beta, f, sizes, multiple=True):
    """proof_bounds of samples that all belong to the first of the groups, and of lengths up to two."""
    n = len(f)
    return _native.proof_bounds(
        *(dual, np.zeros(n, dtype=np.int64), np.zeros(n_groups), True, multiple, True, True),
        *(beta, f, sizes, 1.0, (np.nan, 0.0, 0.0, 2.0), 0.0),
    )


def assert_same(found, expected, rtol=1e-12):
    """All numbers of two proofs; those of the groups that have no samples are left out."""
    for one, other in zip(found, expected, strict=True):
        one, other = (value[0] if isinstance(value, tuple) else value for value in (one, other))
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-300)


@every_loss
@pytest.mark.parametrize("n", [1, 7, 8, 61, 227])
@pytest.mark.parametrize("off", [0.0, 1e-13, 1e-4])
def test_one_group_is_proven_as_one_of_several(loss, n, off):
    """Each number of a proof, with errors of f that are seen in it, where the sum of β is off by a rounding and by more."""
    rng = np.random.default_rng(n)
    y, f, cost = random_samples(loss, n, rng)
    cost[2::5] = 0.0
    dual = loss.dual_box(y, cost)
    beta = np.clip(cost * rng.normal(size=n), 0.9 * dual.lower, 0.9 * dual.upper) * (rng.random(n) < 0.6)
    for groups in (1, 2):
        zeros, totals = np.zeros(n, dtype=np.int64), np.zeros(groups)
        point, outside, sums_off = _native.proof_feasible(dual.lower, dual.upper, zeros, totals, True, 1.2 * beta)
        if groups == 1:
            first = point, outside, sums_off
    np.testing.assert_allclose(point, first[0], rtol=1e-15, atol=0)
    assert (outside, sums_off) == first[1:]
    point *= 1 + off * (point > 0)
    sizes = 1e-6 * rng.random(n)
    results, points = [], []
    for groups in (1, 2):
        points.append((point.copy(), f.copy()))
        results.append(prove(dual, groups, *points[-1], sizes))
    np.testing.assert_array_equal(points[0], points[1])
    assert_same(results[0], results[1], rtol=1e-9)  # D is a difference of two sums, each of which is right to 1e-15
    parts = [3, 4, 6, 7]  # the violation and the parts that were added for rounding, and P
    assert_same([results[0][k] for k in parts], [results[1][k] for k in parts], rtol=1e-11)


def test_boxes_without_bounds_and_with_ramps_are_proven_alike():
    rng = np.random.default_rng(0)
    n = 100
    bounds = [rng.choice([0.0, 0.5, 2.0, np.inf], n) for _ in range(2)]
    box = DualBox(rng.normal(size=n), rng.choice([0.0, 0.3], n), rng.choice([0.5, 2.0], n), -bounds[0], bounds[1])
    beta, f = np.clip(rng.normal(size=n), box.lower, box.upper), rng.normal(size=n)
    beta, *_ = _native.proof_feasible(box.lower, box.upper, np.zeros(n, dtype=np.int64), np.zeros(1), True, beta)
    one, two = (prove(box, groups, beta.copy(), f.copy(), 1e-6 * np.ones(n)) for groups in (1, 2))
    assert_same(one, two, rtol=1e-10)


@losses_of_steps
@pytest.mark.parametrize("n", [2, 9, 60, 400, 3000])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("optimal", [False, True])
def test_the_offset_of_a_window_is_that_of_all_steps(loss, n, ties, optimal):
    """Whether the point leads to the offset, as an optimal one does, or to a window that is far too wide."""
    rng = np.random.default_rng(n)
    y, f, cost = random_samples(loss, n, rng)
    cost[3::5] = 0.0
    if ties:
        y, f, cost = np.round(4 * y) / 4, rng.integers(-12, 13, n) / 4, np.sign(cost)
    box, groups, totals = loss.dual_box(y, cost), np.zeros(n, dtype=np.int64), np.zeros(1)
    ((low, high),) = _native.proof_best_offsets(box, groups, totals, f)
    apart, beta = box.p - f - 0.5 * (low + high), 0.5 * (box.lower + box.upper)
    if optimal:
        beta = np.where(apart > box.epsilon, box.upper, np.where(apart < -box.epsilon, box.lower, 0.0))
    scaled, values = beta.copy(), f.copy()
    bounds = prove(box, 1, scaled, values, np.zeros(n))
    assert bounds[-1] == ((low, high),)
    assert bounds[5] == _native.proof_best_offsets(box, groups, totals, values)
    assert prove(box, 1, beta.copy(), f.copy(), np.zeros(n), multiple=False)[5] == ((low, high),)
