from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gapless.data.distinct import distinct_samples
from gapless.data.rows import as_rows


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_equal_rows_with_equal_targets_and_groups_are_one(storage):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(400, 3)).astype(np.float64)
    y, groups = rng.choice([-1.0, 1.0], 400), rng.integers(0, 2, 400)
    first, which = distinct_samples(as_rows(storage(X)), y, groups)
    table = np.column_stack([X, y, groups])
    assert len(first) == len(np.unique(table, axis=0)) < 400
    np.testing.assert_array_equal(table[first][which], table)
    assert (np.diff(first) > 0).all() and all(first[which[i]] <= i for i in range(400))


def test_all_different():
    X = np.arange(10.0)[:, None]
    first, which = distinct_samples(as_rows(X), np.ones(10), np.zeros(10, dtype=np.int64))
    np.testing.assert_array_equal(first, np.arange(10))
    np.testing.assert_array_equal(which, np.arange(10))
