"""Products with all rows against NumPy, at every level, for every storage, and on any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from gapless import _native
from gapless.data.distinct import distinct_samples
from gapless.data.rows import CsrRows, DenseRows, OnesRows, Rows, as_rows

STORAGES = ["dense32", "dense64", "csr32", "csr64", "ones"]
# The last is cut into pieces and parts: more than 2¹⁸ entries, and 16 for each feature.
SHAPES = [(1, 1), (3, 0), (7, 5), (65, 17), (130, 33), (70_000, 9)]


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    best = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(best)


def _make(storage: str, shape: tuple[int, int]) -> tuple[Rows, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    if storage.startswith("dense"):
        X = X.astype(np.float32 if storage == "dense32" else np.float64)
        return as_rows(X), X.astype(np.float64)
    X[rng.random(shape) < 0.3] = 0.0
    if storage == "ones":
        X = (X != 0).astype(np.float64)
    matrix = sp.csr_array(X.astype(np.float32 if storage == "csr32" else np.float64))
    rows = as_rows(matrix)
    assert isinstance(rows, CsrRows)
    return (OnesRows(rows.structure) if storage == "ones" else rows), matrix.toarray().astype(np.float64)


@pytest.mark.parametrize("columns", [0, 1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("storage", STORAGES)
def test_products_equal_numpy(storage: str, shape: tuple[int, int], columns: int) -> None:
    rows, X = _make(storage, shape)
    rng = np.random.default_rng(1)
    trailing = (columns,) if columns else ()
    w, beta = rng.normal(size=(shape[1], *trailing)), rng.normal(size=(shape[0], *trailing))
    beta[rng.random(shape[0]) < 0.5] = 0.0
    out, combined = np.full((shape[0], *trailing), np.nan), np.full((shape[1], *trailing), np.nan)
    _native.matvec(rows, shape[1], w, out)
    _native.rmatvec(rows, shape[1], beta, combined)
    # A bound on the rounding of a sum in any order: its length times the sum of absolute values.
    eps = np.finfo(np.float64).eps
    assert (np.abs(out - X @ w) <= 2 * eps * shape[1] * (np.abs(X) @ np.abs(w))).all()
    assert (np.abs(combined - X.T @ beta) <= 2 * eps * shape[0] * (np.abs(X).T @ np.abs(beta))).all()
    norms = np.full(shape[0], np.nan)
    _native.squared_norms(rows, shape[0], 1, norms)
    assert_allclose(norms, (X**2).sum(axis=1), rtol=eps * max(1, shape[1]))


@pytest.mark.parametrize("storage", STORAGES)
def test_threads_change_nothing(storage: str) -> None:
    rows, _ = _make(storage, (70_000, 9))
    rng = np.random.default_rng(2)
    w, beta = rng.normal(size=9), rng.normal(size=70_000)
    limit, found = _native.thread_limit(), []
    try:
        for threads in (1, 2, 5):
            _native.pretend_cores(threads)
            _native.limit_threads(0)
            out, combined, norms = np.empty(70_000), np.empty(9), np.empty(70_000)
            _native.matvec(rows, 9, w, out)
            _native.rmatvec(rows, 9, beta, combined)
            _native.squared_norms(rows, 70_000, 1, norms)
            found.append(np.concatenate([out, combined, norms]))
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("storage", STORAGES)
def test_distinct_samples_equal_numpy(storage: str) -> None:
    rng = np.random.default_rng(3)
    _, X = _make(storage, (60, 6))
    X = X[rng.integers(0, 60, 5000)]
    y, groups = rng.choice([-1.0, 1.0], 5000), rng.integers(0, 3, 5000)
    if storage.startswith("dense"):
        rows: Rows = as_rows(X.astype(np.float32) if storage == "dense32" else X)
    else:
        parts = as_rows(sp.csr_array(X.astype(np.float32) if storage == "csr32" else X))
        rows = OnesRows(parts.structure) if storage == "ones" else parts
    first, which = distinct_samples(rows, y, groups)
    table = np.column_stack([X, y, groups])
    _, leaders, kinds = np.unique(table, axis=0, return_index=True, return_inverse=True)
    assert_array_equal(first, np.sort(leaders))
    assert_array_equal(first[which], leaders[kinds.ravel()])


def test_zeros_of_both_signs_are_one_and_nan_equals_nothing() -> None:
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [np.nan, 1.0]])
    first, which = distinct_samples(DenseRows(X), np.ones(4), np.zeros(4, dtype=np.int64))
    assert first.tolist() == [0, 2, 3]
    assert which.tolist() == [0, 0, 1, 2]


def test_rows_of_another_type_or_order_are_refused() -> None:
    for X in (np.ones((3, 2), order="F"), np.ones((3, 2), dtype=np.int64)):
        with pytest.raises(TypeError, match="contiguous and of its type"):
            _native.squared_norms(DenseRows(X), 3, 1, np.empty(3))
