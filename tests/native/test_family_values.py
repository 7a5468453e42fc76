"""The values of many families (`_native.SharedFits.values`) against sums in extended precision, and their bounds, at every level."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from gapless import _native
from gapless.kernels.rounding import UNIT

GROUP = 16  # block_group of core/block_sums.hpp
AIM = {"kkt": 1e-3, "ahead": 0.8, "stricter": 0.3, "turns": 2000.0}

extended = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double has no more digits than float64")


pytestmark = pytest.mark.usefixtures("every_level")


def pairs_of(codes):
    """The rows of each pair of classes."""
    return [np.flatnonzero((codes == a) | (codes == b)) for a in range(codes.max() + 1) for b in range(a)]


def families_of(kind, n, rng):
    """The rows of each family, in an order of their own."""
    if kind == "pairs":  # of nine classes of different sizes
        return pairs_of(np.minimum(rng.integers(0, 12, size=n), 8))
    if kind == "overlapping":  # one has a single row in common with another, one shares nothing, and one has all rows
        return [rng.permutation(n)[: n // 2], np.arange(n // 3), np.arange(n // 3 - 1, n // 2), rng.permutation(n)]
    return [rng.permutation(n)]  # "one": all rows, but not in the order of the table


@extended
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kind", "n"), [("pairs", 700), ("overlapping", 300), ("one", 2138)])
def test_sums_are_as_close_as_their_bound_says(kind, n, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4))
    K = rbf_kernel(X, gamma=0.3).astype(dtype)
    families = families_of(kind, n, rng)
    starts = np.cumsum([0, *map(len, families)])
    places = np.concatenate(families)
    p = np.where(X[places, 0] + rng.normal(size=len(places)) > 0, 1.0, -1.0)
    weights = np.array([np.ones(n), rng.choice([0.0, 1.0, 3.0], size=n)])
    g, r, squares = np.ones(n), np.full(n, 2.0), np.ones(n)
    native = _native.SharedFits(K, squares, g, r, places, starts, p, True, weights, np.zeros(2))
    native.advance(np.array([0.3, 20.0]), np.full(2, 1e-2), **{**AIM, "kkt": 0.1})
    assert native.done.all()
    rows = rng.permutation(n)[: n // 3]
    for member in range(2):
        f, low, high = np.full((3, len(rows), len(families)), np.nan)
        longest, beta = np.empty(len(families)), np.empty(len(places))
        native.values(member, rows, np.arange(len(families)), False, f, low, high, longest)
        native.beta(member, beta)
        for a, own in enumerate(families):
            at = a * 2 + member
            c = beta[starts[a] : starts[a + 1]].astype(np.longdouble)
            entries = K[np.ix_(rows, own)].astype(np.longdouble)
            offset = np.longdouble(0.5 * (native.low[at] + native.high[at]))
            exact = entries @ c + offset
            # The rows of a block are in the same families, and each block ends a group.
            blocks = {"pairs": 2, "overlapping": 2 ** (len(families) - 1), "one": 1}[kind]
            within = 2 * GROUP + len(own) // GROUP**2
            roundings = within + blocks + 1
            sizes = entries @ np.abs(c)
            error = np.abs(f[:, a] - exact)
            assert (error <= 1.05 * UNIT * (roundings * sizes + np.abs(exact))).all()
            # Besides the distance of the optimum the bounds count at least the roundings within blocks, and those of the entries.
            reach = np.sqrt(native.apart[at]) * 2.0
            least = reach + UNIT * (within + 4.0) * float(np.abs(c).sum())
            for slack in (high[:, a] - f[:, a], f[:, a] - low[:, a]):
                assert (slack >= least * (1 - 1e-9) - 2.0 * UNIT * np.abs(f[:, a])).all()
            assert longest[a] == 1.0


@pytest.mark.parametrize("flip", [False, True])
def test_some_families_are_summed_as_all_are(flip):
    rng = np.random.default_rng(5)
    n = 200
    X = rng.normal(size=(n, 3))
    families = families_of("pairs", n, rng)
    starts, places = np.cumsum([0, *map(len, families)]), np.concatenate(families)
    p = np.where(X[places, 1] > 0, 1.0, -1.0)
    native = _native.SharedFits(
        rbf_kernel(X), np.ones(n), np.ones(n), np.zeros(n), places, starts, p, True, np.ones((1, n)), np.zeros(1)
    )
    native.advance(np.array([5.0]), np.full(1, 1e-3), **AIM)
    rows = np.array([3, 190, 4, 5, 77])
    whole, part = np.full((2, 3, len(rows), len(families)), np.nan)
    longest = np.full(len(families), np.nan)
    native.values(0, rows, np.arange(len(families)), flip, *whole, longest)
    some = np.array([30, 2, 17, 18])
    native.values(0, rows, some, flip, *part, longest)
    np.testing.assert_allclose(part[..., some], whole[..., some], rtol=1e-12, atol=1e-13)
    assert np.isnan(np.delete(part, some, axis=-1)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "classes", [3, 10, 14, 18, 22, 26, 30, 40]
)  # 40: a class is in more families than are summed at a time
def test_sums_for_any_number_of_families_along_any_rows(classes, dtype):
    """Where all samples have weight the rows that are asked for are read, and where few have, those of the samples."""
    rng = np.random.default_rng(classes)
    n = 10 * classes
    codes = np.arange(n) // 10
    X = rng.normal(size=(n, 3))
    K = rbf_kernel(X).astype(dtype)
    families = pairs_of(codes)
    starts, places = np.cumsum([0, *map(len, families)]), np.concatenate(families)
    p = np.concatenate([np.where(codes[own] == codes[own].max(), 1.0, -1.0) for own in families])
    weights = np.array([np.ones(n), np.arange(n) % 10 == 4])
    native = _native.SharedFits(K, np.ones(n), np.ones(n), np.zeros(n), places, starts, p, True, weights, np.zeros(2))
    native.advance(np.full(2, 0.1), np.full(2, 1e-2), **AIM)
    rows = rng.permutation(20) + 5
    for member in range(2):
        f, low, high = np.full((3, len(rows), len(families)), np.nan)
        beta = np.empty(len(places))
        native.values(member, rows, np.arange(len(families)), False, f, low, high, np.empty(len(families)))
        native.beta(member, beta)
        at = np.arange(len(families)) * 2 + member
        expected = np.array([K[np.ix_(rows, own)] @ beta[starts[a] : starts[a + 1]] for a, own in enumerate(families)])
        expected += (0.5 * (native.low[at] + native.high[at]))[:, None]
        np.testing.assert_allclose(f, expected.T, rtol=1e-12, atol=1e-13)
        assert (low <= f).all() and (f <= high).all()
