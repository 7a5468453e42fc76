"""The Gram matrix in parts: a sweep over blocks of rows, and a cache of single rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gapless.errors import InvalidInputError, TooLargeError
from gapless.kernels.base import Kernel
from gapless.kernels.pairwise import Matrix
from gapless.kernels.parameters import check_natural

_ENTRY_BYTES = 8


def blocks(
    kernel: Kernel, X: Matrix, Z: Matrix | None = None, max_bytes: int = 32 * 2**20
) -> Iterator[tuple[slice, np.ndarray]]:
    r"""Go through the Gram matrix in blocks of rows that fit into a bound on memory.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array or CSR matrix of shape (n_samples, n_features)
        The samples whose rows of the Gram matrix are asked for.
    Z : array or CSR matrix of shape (n_others, n_features), default None
        The samples of the columns; None is X.
    max_bytes : int, default 32 MB
        The most bytes of a block, though a block has one row at least. A kernel's own temporaries come on top.

    Yields
    ------
    tuple (slice, array)
        The rows of X, and the entries :math:`k(x_i, z_j)` of these rows with all of Z, in a new array.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import Linear, blocks
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> for rows, K in blocks(Linear(), X, max_bytes=48):
    ...     print(rows.start, rows.stop, K.tolist())
    0 2 [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]
    2 3 [[3.0, 6.0, 9.0]]
    """
    check_natural("max_bytes", max_bytes)
    Z = X if Z is None else Z
    n = X.shape[0]
    step = max(1, max_bytes // (_ENTRY_BYTES * Z.shape[0]))
    if step >= n:
        yield slice(0, n), kernel.block(X, Z)
        return
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, kernel.block(X[rows], Z)


class RowCache:
    r"""Rows :math:`k(x_i, \cdot)` of the Gram matrix of X, computed when asked for and kept within a budget of bytes.

    Compiled loops read two arrays directly: the row of sample i is ``rows[slot_of[i]]`` where ``slot_of[i]`` is not −1.
    When the slots are full, the rows that were fetched longest ago make room.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array or CSR matrix of shape (n_samples, n_features)
        The samples.
    max_bytes : int
        The budget, which must hold two rows at least.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import Linear, RowCache
    >>> cache = RowCache(Linear(), np.array([[1.0], [2.0], [3.0]]), max_bytes=48)
    >>> slots = cache.fetch(np.array([2, 0]))
    >>> cache.rows[slots]
    array([[3., 6., 9.],
           [1., 2., 3.]])
    >>> slots = cache.fetch(np.array([0, 1]))
    >>> cache.slot_of.tolist(), cache.hits, cache.misses
    ([0, 1, -1], 1, 3)
    """

    def __init__(self, kernel: Kernel, X: Matrix, max_bytes: int) -> None:
        check_natural("max_bytes", max_bytes)
        n = X.shape[0]
        row_bytes = _ENTRY_BYTES * n
        slots = min(n, max_bytes // row_bytes)
        if slots < min(n, 2):
            raise TooLargeError(
                f"max_bytes of {max_bytes} holds {slots} kernel rows of {row_bytes} bytes; "
                f"the row cache needs 2, that is at least {2 * row_bytes} bytes."
            )
        self.rows = np.empty((slots, n))  # pages of memory are claimed only as rows are written
        self.slot_of = np.full(n, -1, dtype=np.int64)
        self.hits = 0
        self.misses = 0
        self._kernel = kernel
        self._X = X
        self._sample_in = np.full(slots, -1, dtype=np.int64)
        self._last_fetch = np.zeros(slots, dtype=np.int64)
        self._fetches = 0

    def fetch(self, indices: np.ndarray) -> np.ndarray:
        """Make the rows of these samples present, all missing ones in a single block, and return their slots."""
        wanted = np.unique(indices)
        if wanted.size > len(self.rows):
            raise InvalidInputError(f"indices must name at most {len(self.rows)} rows, the slots; got {wanted.size}.")
        slots = self.slot_of[wanted]
        missing = wanted[slots < 0]
        self._fetches += 1
        self._last_fetch[slots[slots >= 0]] = self._fetches
        self.hits += wanted.size - missing.size
        self.misses += missing.size
        if missing.size:
            K = self._kernel.block(self._X[missing], self._X)
            # The rows that this very call has found carry the latest number, and there are slots for all wanted rows, so that none of them goes.
            freed = np.sort(np.argpartition(self._last_fetch, missing.size - 1)[: missing.size])
            evicted = self._sample_in[freed]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.rows[freed] = K
            self.slot_of[missing] = freed
            self._sample_in[freed] = missing
            self._last_fetch[freed] = self._fetches
        return self.slot_of[indices]
