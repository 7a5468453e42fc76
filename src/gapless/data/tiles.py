"""The product of a dense matrix with itself by tiles of a fixed size, each on one core: on all cores, and to the same bits whatever their number."""

from __future__ import annotations

import numpy as np

from gapless.machine import on_all_cores

# The rows and columns of a tile: a product of two takes some 10 ms, which is long beside a thread's start, and three of them lie in a second cache.
_TILE = 512


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + _TILE, n)) for start in range(0, n, _TILE)]


def gram(A: np.ndarray) -> np.ndarray:
    """AᵀA.

    >>> import numpy as np
    >>> from gapless.data.tiles import gram
    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]])).tolist()
    [[1.0, 2.0], [2.0, 5.0]]
    """
    m = A.shape[1]
    out = np.empty((m, m))
    tiles = [(rows, columns) for rows in _parts(m) for columns in _parts(rows.stop)]

    def fill(k: int) -> None:
        rows, columns = tiles[k]
        out[rows, columns] = A[:, rows].T @ A[:, columns]
        out[columns, rows] = out[rows, columns].T

    on_all_cores(fill, range(len(tiles)))
    return out
