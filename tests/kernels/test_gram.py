from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gapless.errors import InvalidInputError, TooLargeError
from gapless.kernels import RBF, Linear, RowCache, blocks

X = np.random.default_rng(0).normal(size=(20, 3))
ROW = 20 * 8


class Counting(Linear):
    """A linear kernel that records the shapes of its blocks."""

    def __init__(self):
        self.shapes = []

    def block(self, X, Z):
        self.shapes.append((X.shape[0], Z.shape[0]))
        return super().block(X, Z)


@given(st.integers(1, 25 * ROW), st.sampled_from([np.asarray, sp.csr_array]), st.booleans())
def test_blocks_cover_the_gram_matrix_within_the_bytes(max_bytes, container, with_Z):
    data, Z = container(X), container(X[:7])
    parts = list(blocks(RBF(0.5), data, Z if with_Z else None, max_bytes=max_bytes))
    starts = [rows.start for rows, _ in parts]
    assert starts == [0, *(rows.stop for rows, _ in parts[:-1])] and parts[-1][0].stop == 20
    assert all(K.shape[0] == rows.stop - rows.start for rows, K in parts)
    assert all(K.nbytes <= max_bytes or len(K) == 1 for _, K in parts)
    whole = RBF(0.5).block(data, Z if with_Z else data)
    assert_allclose(np.vstack([K for _, K in parts]), whole, rtol=1e-11, atol=1e-12)


def test_blocks_are_as_large_as_allowed():
    kernel = Counting()
    list(blocks(kernel, X, max_bytes=8 * ROW))
    assert kernel.shapes == [(8, 20), (8, 20), (4, 20)]
    assert [rows for rows, _ in blocks(kernel, X)] == [slice(0, 20)]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@given(data=st.data())
def test_cached_rows_are_right_after_any_fetches(container, data):
    slots = data.draw(st.integers(2, 22))
    cache = RowCache(Linear(), container(X), max_bytes=slots * ROW + 7)
    slots = min(slots, 20)
    assert cache.rows.shape == (slots, 20)
    K = X @ X.T
    fetched: dict[int, int] = {}  # the number of the fetch that last asked for a sample, of all samples present
    hits = misses = 0
    groups = st.lists(st.integers(0, 19), min_size=1, max_size=slots)
    for number, group in enumerate(data.draw(st.lists(groups, min_size=1, max_size=12))):
        wanted = set(group)
        hits += len(wanted & fetched.keys())
        misses += len(wanted - fetched.keys())
        got = cache.fetch(np.array(group))
        assert_allclose(cache.rows[got], K[group], rtol=1e-13, atol=1e-14)

        present = set(np.flatnonzero(cache.slot_of >= 0).tolist())
        assert wanted <= present <= wanted | fetched.keys()
        assert len(present) == min(slots, len(wanted | fetched.keys()))
        evicted = [fetched[i] for i in fetched.keys() - present]
        kept = [fetched[i] for i in present - wanted]
        assert not (evicted and kept) or max(evicted) <= min(kept)

        fetched = {i: number if i in wanted else fetched[i] for i in present}
        order = sorted(present)
        assert len(set(cache.slot_of[order])) == len(order)
        assert_allclose(cache.rows[cache.slot_of[order]], K[order], rtol=1e-13, atol=1e-14)
    assert (cache.hits, cache.misses) == (hits, misses)


def test_the_least_recently_used_row_goes():
    cache = RowCache(Linear(), X, max_bytes=3 * ROW)
    for i in (0, 1, 2, 0, 3):
        cache.fetch(np.array([i]))
    assert_array_equal(np.flatnonzero(cache.slot_of >= 0), [0, 2, 3])
    cache.fetch(np.array([5, 2]))
    assert_array_equal(np.flatnonzero(cache.slot_of >= 0), [2, 3, 5])


def test_missing_rows_come_in_one_block_and_present_ones_in_none():
    kernel = Counting()
    cache = RowCache(kernel, X, max_bytes=10 * ROW)
    cache.fetch(np.array([4, 4, 9, 1]))
    cache.fetch(np.array([9, 4]))
    cache.fetch(np.array([9, 2, 3, 4]))
    assert kernel.shapes == [(3, 20), (2, 20)]
    assert (cache.hits, cache.misses) == (4, 5)


def test_an_interrupted_fetch_leaves_the_cache_as_it_was():
    class Failing(Linear):
        broken = False

        def block(self, X, Z):
            if self.broken:
                raise KeyboardInterrupt
            return super().block(X, Z)

    kernel = Failing()
    cache = RowCache(kernel, X, max_bytes=2 * ROW)
    cache.fetch(np.array([0, 1]))
    kernel.broken = True
    with pytest.raises(KeyboardInterrupt):
        cache.fetch(np.array([1, 2]))
    kernel.broken = False
    assert_array_equal(np.flatnonzero(cache.slot_of >= 0), [0, 1])
    assert_allclose(cache.rows[cache.fetch(np.array([1, 2]))], X[[1, 2]] @ X.T, rtol=1e-13)


def test_a_single_sample_needs_a_single_row():
    cache = RowCache(Linear(), X[:1], max_bytes=8)
    assert_allclose(cache.rows[cache.fetch(np.array([0]))], X[:1] @ X[:1].T)


def test_wrong_sizes_are_refused():
    with pytest.raises(TooLargeError) as too_large:
        RowCache(Linear(), X, max_bytes=2 * ROW - 1)
    assert str(too_large.value) == (
        "max_bytes of 319 holds 1 kernel rows of 160 bytes; the row cache needs 2, that is at least 320 bytes."
    )
    for build, message in [
        (lambda: RowCache(Linear(), X, max_bytes=0), "max_bytes must be a natural number of at least 1; got 0."),
        (
            lambda: list(blocks(Linear(), X, max_bytes=1.5)),
            "max_bytes must be a natural number of at least 1; got 1.5.",
        ),
        (
            lambda: RowCache(Linear(), X, max_bytes=3 * ROW).fetch(np.arange(4)),
            "indices must name at most 3 rows, the slots; got 4.",
        ),
    ]:
        with pytest.raises(InvalidInputError) as error:
            build()
        assert str(error.value) == message
