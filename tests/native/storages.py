"""The same samples in every storage that compiled loops know."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gapless.data.rows import OnesRows, Rows, as_rows

STORAGES = ("dense float64", "dense float32", "csr float64", "csr float32", "ones")


def stored(storage: str, n: int, d: int, seed: int = 0) -> tuple[Rows, np.ndarray]:
    """(the rows, the same as a dense float64 matrix); an empty row and an empty column are among them."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.4, np.round(8 * rng.normal(size=(n, d))) / 8, 0.0)
    X[n // 2], X[:, d // 2] = 0.0, 0.0
    if storage == "ones":
        X = (X != 0).astype(float)
        rows = as_rows(sp.csr_array(X))
        return OnesRows(rows.structure), X
    kind, dtype = storage.split()
    return as_rows(X.astype(dtype) if kind == "dense" else sp.csr_array(X.astype(dtype))), X
