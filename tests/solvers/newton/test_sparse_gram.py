"""The Gram matrix of sparse rows against the same in dense NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gapless.data.rows import OnesRows, as_rows, compact
from gapless.solvers.newton.sparse_gram import sparse_gram, stays_sparse


@pytest.mark.parametrize("n", [60, 30_000])  # the larger is cut in two
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("ones", [False, True])
def test_it_is_the_weighted_product_of_the_chosen_rows(n, binary, ones):
    rng = np.random.default_rng(0)
    X = sp.random_array((n, 40), density=0.2, format="csr", rng=rng)
    X.sort_indices()
    if binary:
        X.data[:] = 1.0
    rows = compact(as_rows(X))
    assert isinstance(rows, OnesRows) == binary
    chosen = np.flatnonzero(rng.random(n) < 0.9)
    weight = rng.normal(size=len(chosen))
    A = X[chosen].toarray()
    if ones:
        A = np.hstack([A, np.ones((len(A), 1))])
    found = sparse_gram(rows, chosen, weight, A.shape[1], ones=ones)
    np.testing.assert_allclose(found, A.T @ (weight[:, None] * A), rtol=1e-10, atol=1e-10)


def test_only_rows_with_few_entries_stay_sparse():
    few = as_rows(sp.random_array((50, 100), density=0.05, format="csr", rng=np.random.default_rng(0)))
    assert stays_sparse(few, 100)
    assert not stays_sparse(few, 10)
    assert not stays_sparse(as_rows(np.ones((5, 100))), 100)
