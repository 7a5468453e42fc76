"""Weighted Gram matrices of the features over some rows, and how rows are handed to the compiled loops that sum them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gapless import _native
from gapless.data.rows import DenseRows, Rows, row_entries

_SHARE = 0.25  # the share of stored entries up to which products of single entries take less time than dense tiles


class Samples(NamedTuple):
    """Rows x of d features, as a = x or, with ``ones``, a = (x, 1); ``sparse`` says that their products are added entry by entry."""

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
    """Whether rows of so many columns have few enough entries to add their products entry by entry."""
    return not isinstance(rows, DenseRows) and row_entries(rows) < _SHARE * columns


def weighted_gram(
    samples: Samples, weight: np.ndarray, chosen: np.ndarray | None = None, single: bool = False
) -> np.ndarray:
    """Σ weight · aaᵀ over the chosen rows, or all; with ``single`` sums over some float32 rows at a time are float32."""
    out = np.empty((samples.columns, samples.columns))
    _native.weighted_gram(
        samples.rows, samples.d, chosen, weight, samples.ones, single, samples.sparse, out
    )  # fmt: skip
    return out
