"""Products and factors of dense matrices by tiles of a fixed size, each on one core: on all cores, and to the same bits whatever their number."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from gapless.machine import on_all_cores

# The rows and columns of a tile: a product of two takes some 10 ms, which is long beside a thread's start, and three of them lie in a second cache.
_TILE = 512


def _parts(n: int, begin: int = 0) -> list[slice]:
    return [slice(start, min(start + _TILE, n)) for start in range(begin, n, _TILE)]


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


def cholesky(A: np.ndarray) -> np.ndarray:
    """L with A = L Lᵀ, written over A, of which the lower triangle is read; a LinAlgError where A is not positive definite.

    The rows below a tile of the diagonal are multiplied by its inverse: an error of the unit times the tile's condition, which suits a system that is
    well conditioned, such as 1 + √h K √h.

    >>> import numpy as np
    >>> from gapless.data.tiles import cholesky
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    n = len(A)
    for here in _parts(n):
        A[here, here] = la.cholesky(A[here, here], lower=True, check_finite=False)
        A[here, here.stop :] = 0.0
        if here.stop == n:
            break
        inverse = la.solve_triangular(A[here, here], np.eye(here.stop - here.start), lower=True, check_finite=False).T
        below = _parts(n, here.stop)

        def divide(k: int) -> None:
            A[below[k], here] = A[below[k], here] @ inverse  # noqa: B023, called within this round

        on_all_cores(divide, range(len(below)))
        tiles = [(rows, columns) for rows in below for columns in below if columns.start <= rows.start]

        def subtract(k: int) -> None:
            rows, columns = tiles[k]  # noqa: B023
            A[rows, columns] -= A[rows, here] @ A[columns, here].T  # noqa: B023

        on_all_cores(subtract, range(len(tiles)))
    return A
