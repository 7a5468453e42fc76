"""Weighted Gram matrices of the features over some rows, and how rows are handed to the compiled loops that sum them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gapless import _native
from gapless.data.rows import DenseRows, Rows, row_entries

_SHARE = 0.25  # of entries that are not zero, up to which products of single entries are cheaper than dense tiles


class Samples(NamedTuple):
    """Rows x of d features, as a = x or, with ``ones``, a = (x, 1); ``sparse``: whether they have few enough entries to multiply one by one."""

    rows: Rows
    d: int
    ones: bool
    sparse: bool

    @classmethod
    def of(cls, rows: Rows, d: int, ones: bool) -> Samples:
        """The rows as they are stored."""
        return cls(rows, d, ones, stays_sparse(rows, d + ones))

    @property
    def columns(self) -> int:
        """Entries of a."""
        return self.d + self.ones


def stays_sparse(rows: Rows, columns: int) -> bool:
    """Whether rows with so many columns have few enough entries."""
    return not isinstance(rows, DenseRows) and row_entries(rows) < _SHARE * columns


def weighted_gram(
    samples: Samples, weight: np.ndarray, chosen: np.ndarray | None = None, single: bool = False
) -> np.ndarray:
    """Σ weight · aaᵀ over the chosen rows, or all; ``single``: where they are float32, sums over a cache full may be too."""
    out = np.empty((samples.columns, samples.columns))
    _native.weighted_gram(
        samples.rows, samples.d, chosen, weight, samples.ones, single, samples.sparse, out
    )  # fmt: skip
    return out
