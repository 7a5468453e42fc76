"""What a kernel does on a tile: one node for each kind of kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.kernels.algebra import natural_power
from gapless.kernels.base import Kernel
from gapless.kernels.custom import Precomputed
from gapless.kernels.dot import Polynomial, Sigmoid
from gapless.kernels.pairwise import Matrix, squared_norms
from gapless.kernels.stationary import RBF, Laplacian
from gapless.kernels.threads import core_count, share
from gapless.kernels.tiles import (
    absolute_differences,
    exp32,
    exp64,
    picked,
    picked_products,
    scaled_rows,
    sparse_products,
)

TALL, WIDE = 1024, 256  # a tile: right rows × left rows; a MiB of float32
_NARROW = 32  # its width where a column of features is long
MANY_FEATURES = 4096
_STRETCH = 128  # features of a long sum in float32 that are summed by themselves first, so that its error is small
_COSTLY = 400  # entries of a row from which on a product takes many times as long as reading its result


class Room:
    """Tiles of one thread, by depth of the expression that needs them."""

    def __init__(self, dtype: np.dtype) -> None:
        self._dtype = dtype
        self._tiles: list[np.ndarray] = []

    def tile(self, tall: int, wide: int, depth: int) -> np.ndarray:
        while len(self._tiles) <= depth:
            self._tiles.append(np.empty(TALL * WIDE, dtype=self._dtype))
        return self._tiles[depth][: tall * wide].reshape(tall, wide)


class Node(ABC):
    """A kernel as work on tiles. ``prepare`` makes an operand of a matrix, ``left`` its rows in the other form, by blocks of a tile's width."""

    @abstractmethod
    def prepare(self, X: Matrix) -> Any: ...

    @abstractmethod
    def take(self, operand: Any, chosen: np.ndarray) -> Any: ...

    @abstractmethod
    def left(self, operand: Any, chosen: np.ndarray) -> Any: ...

    @abstractmethod
    def tile(
        self, right: Any, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0
    ) -> np.ndarray: ...

    def costly(self, operand: Any) -> bool:
        """Whether an entry takes many times as long to compute as to read."""
        return True

    def rounding(self, operand: Any) -> Any:
        """(‖a‖ ≥ 1 of each row, number of terms) where the error of an entry is a share of it; else None."""
        return None


class DenseDot(Node):
    """A function of ⟨x, z⟩ (and, for RBF, of the norms, as two more columns, of rows less their ``centre``), by BLAS."""

    def __init__(self, kernel: Kernel, dtype: np.dtype, centre: np.ndarray | None) -> None:
        self._kernel, self._dtype, self._centre = kernel, dtype, centre

    def prepare(self, X: Matrix, chosen: np.ndarray | None = None) -> np.ndarray:
        X = X.toarray() if sp.issparse(X) else X
        if not isinstance(self._kernel, RBF):
            return np.ascontiguousarray(X if chosen is None else X[chosen], dtype=self._dtype)
        chosen = np.arange(X.shape[0]) if chosen is None else chosen
        n, scale = len(chosen), np.sqrt(2.0 * self._kernel.gamma)
        out = np.empty((n, X.shape[1] + 2), dtype=self._dtype)
        starts = range(0, n, TALL)
        parts = min(core_count(), len(starts))

        def work(k: int, stopped: Any) -> None:
            for start in starts[k::parts]:
                if stopped():
                    return
                scaled_rows(X, chosen, start, min(start + TALL, n), self._centre, scale, out)

        share(work, parts)
        return out

    def take(self, operand: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return operand[chosen]

    def left(self, operand: np.ndarray, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        if isinstance(self._kernel, RBF):
            rows[:, [-2, -1]] = rows[:, [-1, -2]]
        return [(rows[at : at + WIDE].T, len(rows[at : at + WIDE])) for at in range(0, len(rows), WIDE)]

    def tile(
        self, right: np.ndarray, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0
    ) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        if self._dtype == np.float64 or right.shape[1] <= 2 * _STRETCH:
            np.matmul(right[begin:end], block, out=tile)
            return _profile(self._kernel, tile)
        part = room.tile(end - begin, width, depth + 1)
        for at in range(0, right.shape[1], _STRETCH):
            features = slice(at, at + _STRETCH)
            np.matmul(right[begin:end, features], block[features], out=part if at else tile)
            if at:
                np.add(tile, part, out=tile)
        return _profile(self._kernel, tile)

    def costly(self, operand: np.ndarray) -> bool:
        return operand.shape[1] > _COSTLY

    def rounding(self, operand: np.ndarray) -> Any:
        if not isinstance(self._kernel, RBF):
            return None
        columns = operand.shape[1]
        terms = columns if columns <= 2 * _STRETCH else _STRETCH + -(-columns // _STRETCH)
        return np.sqrt(np.einsum("ij,ij->i", operand, operand, dtype=np.float64)), terms


class SparseDot(Node):
    """The same for CSR rows: a dense block of left rows, as columns, is read at the places of a right row's entries."""

    def __init__(self, kernel: Kernel, X: Matrix, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype
        self._wide = WIDE if X.shape[1] <= MANY_FEATURES else _NARROW
        self._scale = dtype.type(2.0 * kernel.gamma if isinstance(kernel, RBF) else 1.0)

    def prepare(self, X: Matrix) -> Any:
        X = sp.csr_array(X)
        norms = np.zeros(X.shape[0], dtype=self._dtype)
        if isinstance(self._kernel, RBF):
            norms[:] = -self._kernel.gamma * squared_norms(X)
        return sp.csr_array((X.data.astype(self._dtype), X.indices, X.indptr.astype(np.int64)), shape=X.shape), norms

    def take(self, operand: Any, chosen: np.ndarray) -> Any:
        X, norms = operand
        rows = X[chosen]
        rows.indptr = rows.indptr.astype(np.int64)
        return rows, norms[chosen]

    def left(self, operand: Any, chosen: np.ndarray) -> Any:
        X, norms = operand
        return _Columns(X[chosen], norms[chosen], self._wide)

    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        X, norms = right
        dense, others = block
        sparse_products(X.data, X.indices, X.indptr, begin, norms, self._scale, dense, others, tile)
        return _profile(self._kernel, tile)

    def costly(self, operand: Any) -> bool:
        X, _ = operand
        return X.nnz > _COSTLY * X.shape[0]

    def rounding(self, operand: Any) -> Any:
        X, norms = operand
        if not isinstance(self._kernel, RBF):
            return None
        # Products of small whole numbers and their sums are exact.
        exact = (X.data == np.rint(X.data)).all() and (X.multiply(X)).sum(axis=1).max(initial=0.0) < 2**23
        return 1.0 - norms.astype(np.float64), 3 if exact else int(np.diff(X.indptr).max(initial=0)) + 3


class _Columns:
    """Blocks of sparse rows as dense columns, made when they are needed; kept where they are small."""

    def __init__(self, rows: Any, norms: np.ndarray, wide: int) -> None:
        self._rows, self._norms, self._wide = rows, norms, wide
        self._kept = [self._make(at) for at in self._starts] if rows.shape[1] <= MANY_FEATURES else None

    @property
    def _starts(self) -> range:
        return range(0, self._rows.shape[0], self._wide)

    def _make(self, at: int) -> Any:
        part = self._rows[at : at + self._wide]
        dense = np.ascontiguousarray(part.toarray().T)
        return (dense, self._norms[at : at + self._wide]), part.shape[0]

    def __iter__(self) -> Any:
        return iter(self._kept) if self._kept is not None else (self._make(at) for at in self._starts)


class Manhattan(Node):
    """Laplacian: sums of absolute differences, then the exponential."""

    def __init__(self, kernel: Laplacian, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype

    def prepare(self, X: Matrix) -> np.ndarray:
        X = X.toarray() if sp.issparse(X) else X
        return np.ascontiguousarray(X.astype(np.float64) * self._kernel.gamma, dtype=self._dtype)

    def take(self, operand: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return operand[chosen]

    def left(self, operand: np.ndarray, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        parts = [np.ascontiguousarray(rows[at : at + WIDE].T) for at in range(0, len(rows), WIDE)]
        return [(part, part.shape[1]) for part in parts]

    def tile(
        self, right: np.ndarray, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0
    ) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        absolute_differences(right, begin, block, tile)
        return _exponential(tile)


class Whole(Node):
    """Any other kernel, through its own ``block``."""

    def __init__(self, kernel: Kernel, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype

    def prepare(self, X: Matrix) -> Matrix:
        return X

    def take(self, operand: Matrix, chosen: np.ndarray) -> Matrix:
        return operand[chosen]

    def left(self, operand: Matrix, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        return [(rows[at : at + WIDE], min(WIDE, len(chosen) - at)) for at in range(0, len(chosen), WIDE)]

    def tile(
        self, right: Matrix, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0
    ) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        tile[:] = self._kernel.block(right[begin:end], block)
        return tile


class Lookup(Node):
    """Entries of a given Gram matrix; operands are indices."""

    def __init__(self, kernel: Precomputed, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype

    def prepare(self, X: Matrix) -> np.ndarray:
        return self._kernel.indices(X)

    def take(self, operand: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return operand[chosen]

    def left(self, operand: np.ndarray, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        return [(rows[at : at + WIDE], len(rows[at : at + WIDE])) for at in range(0, len(rows), WIDE)]

    def tile(
        self, right: np.ndarray, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0
    ) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        tile[:] = self._kernel.gram[np.ix_(right[begin:end], block)]
        return tile

    def costly(self, operand: np.ndarray) -> bool:
        return False

    @property
    def is_plain(self) -> bool:
        """Whether compiled loops may read the matrix as it is."""
        gram = self._kernel.gram
        return gram.dtype == self._dtype and gram.flags.c_contiguous and gram.flags.writeable

    def whole(self, right: np.ndarray) -> np.ndarray | None:
        """The matrix itself, where all of it is asked for."""
        gram = self._kernel.gram
        return gram if len(right) == len(gram) and self.is_plain and (right == np.arange(len(gram))).all() else None

    def square(self, right: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The entries of some samples among themselves, where they are few."""
        return picked(self._kernel.gram, right, out)

    def products(self, right: np.ndarray, left: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Σ over ``left`` of the entries of each of ``right`` times the coefficients, one column a model; for few entries."""
        columns = np.ascontiguousarray(coefficients.reshape(len(left), -1), dtype=np.float64)
        return picked_products(self._kernel.gram, right, left, columns).reshape(len(right), *coefficients.shape[1:])


def _exponential(tile: np.ndarray) -> np.ndarray:
    (exp32 if tile.dtype == np.float32 else exp64)(tile.ravel())
    return tile


def _profile(kernel: Kernel, tile: np.ndarray) -> np.ndarray:
    """From what a product left in the tile to the kernel's entries, in place."""
    if isinstance(kernel, RBF):
        return _exponential(tile)
    if isinstance(kernel, Polynomial | Sigmoid):
        tile *= tile.dtype.type(kernel.gamma)
        tile += tile.dtype.type(kernel.coef0)
        return np.tanh(tile, out=tile) if isinstance(kernel, Sigmoid) else natural_power(tile, kernel.degree)
    return tile
