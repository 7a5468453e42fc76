r"""Fused panels: kernel entries by tiles that are used while they are in cache, so that no matrix of them is ever in memory.

A tile is one small matrix product, its entries' exponential (or power, or tanh) in place, and its use. Sums, products, multiples and powers of
kernels combine tiles. Tiles are float32 for the solver's steps, or float64 for the proof; what is summed over tiles is float64 always. The
partition into tiles does not depend on the number of threads, and neither does any result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.kernels.algebra import Constant, Power, Product, Scaled, Sum, natural_power
from gapless.kernels.base import Kernel
from gapless.kernels.custom import Precomputed
from gapless.kernels.dot import Linear, Polynomial, Sigmoid
from gapless.kernels.pairwise import Matrix, squared_norms
from gapless.kernels.stationary import RBF, Laplacian
from gapless.kernels.threads import core_count, share
from gapless.kernels.tiles import absolute_differences, exp32, exp64, sparse_products

_TALL, _WIDE = 1024, 128  # a tile: right rows × left rows; half a MiB of float32
_SHARED = 2**18  # entries from which on threads share the work
_LANES = 4  # sums of its own for threads to work on
_NARROW = 32  # its width where a column of features is long
_MANY_FEATURES = 4096
_DENSE_SHARE = 0.25  # a CSR matrix with more entries than this is faster as a dense one
_LARGE_EXPONENT = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e5}  # γ‖x‖² beyond which the expansion of ‖x − z‖² has lost too much


class Panels:
    r"""The kernel of the samples X, in tiles.

    >>> import numpy as np
    >>> from gapless.kernels import RBF, Panels
    >>> panels = Panels(RBF(1.0), np.array([[0.0], [1.0], [3.0]]), np.float64)
    >>> panels.square(np.array([0, 1])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> f = np.zeros(3)
    >>> panels.expand(np.array([0, 1]), np.array([1.0, -1.0]), f)
    >>> f.round(4)
    array([ 0.6321, -0.6321, -0.0182])
    """

    def __init__(self, kernel: Kernel, X: Matrix, dtype: Any = np.float32) -> None:
        self.dtype = np.dtype(dtype)
        self.n = X.shape[0]
        self._node = _plan(kernel, X, self.dtype)
        self._right = self._node.prepare(X)
        self.entries = 0.0  # how many were computed

    @property
    def error(self) -> float:
        """About how far an entry may be from the kernel's, for the choice of precision; the proof does not use it."""
        return self._node.error(self._right)

    def expand(self, left: np.ndarray, coefficients: np.ndarray, out: np.ndarray, begin: int = 0, end: int | None = None) -> None:
        """Add Σ over ``left`` of k(xⱼ, x) · coefficient to out[j], for begin ≤ j < end."""
        end = self.n if end is None else end
        self._accumulate(self._right, begin, end, self._node.left(self._right, left), coefficients, out)
        self.entries += float(len(left)) * (end - begin)

    def apply(self, Z: Matrix, coefficients: np.ndarray) -> np.ndarray:
        """Σ over all samples x of k(z, x) · coefficients, one column a model, for each row z of another matrix."""
        right = self._node.prepare(Z)
        out = np.zeros((Z.shape[0], *coefficients.shape[1:]))
        self._accumulate(right, 0, Z.shape[0], self._node.left(self._right, np.arange(self.n)), coefficients, out)
        return out

    def own(self, coefficients: np.ndarray) -> np.ndarray:
        """Σ over all samples x of k(xⱼ, x) · coefficient for each of them, where an entry serves both its row and its column.

        Four sums, each of its own blocks of rows, are added up in the end, so that threads neither meet nor change the result.
        """
        blocks = list(self._node.left(self._right, np.arange(self.n)))
        weights = coefficients.astype(self.dtype)
        sums = np.zeros((_LANES, self.n))
        starts = range(0, self.n, _TALL)
        parts = min(core_count(), _LANES)

        def work(k: int, stopped: Any) -> None:
            room = _Room(self.dtype)
            for lane in range(k, _LANES, parts):
                out = sums[lane]
                for start in starts[lane::_LANES]:
                    stop, at = min(start + _TALL, self.n), 0
                    for block, width in blocks:
                        if stopped():
                            return
                        if at >= start:
                            tile = self._node.tile(self._right, start, stop, block, width, room)
                            out[start:stop] += tile @ weights[at : at + width]
                            if at >= stop:
                                out[at : at + width] += weights[start:stop] @ tile
                        at += width

        share(work, parts)
        return sums.sum(axis=0)

    @property
    def has_bounds(self) -> bool:
        """Whether ``apply_bounded`` knows its error: for RBF, whose entries' errors are relative to the entries."""
        return self._node.rounding(self._right) is not None

    def apply_bounded(self, Z: Matrix, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``apply``, and how far at most each value is from the exact one.

        The exponent of k(z, x) is a sum of m terms in the tiles' precision u, off by at most (m + 4) u ‖a‖‖b‖, with a and b the rows whose product it
        is; so k is off by that share of itself, and a sum of 128 entries by another 140 u Σ |c| k.
        """
        right = self._node.prepare(Z)
        own, terms = self._node.rounding(self._right)
        others, _ = self._node.rounding(right)
        both = np.concatenate([coefficients, np.abs(coefficients) * own[:, None]], axis=1)
        out = np.zeros((Z.shape[0], both.shape[1]))
        self._accumulate(right, 0, Z.shape[0], self._node.left(self._right, np.arange(self.n)), both, out)
        values, weights = np.split(out, 2, axis=1)
        unit = float(np.finfo(self.dtype).eps) / 2
        return values, 1.01 * unit * ((terms + 4) * others + 140.0)[:, None] * weights

    def square(self, chosen: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """k of the chosen samples among themselves, in full; not to be written to, as it may be a given matrix."""
        m = len(chosen)
        right = self._node.take(self._right, chosen)
        given = self._node.whole(right) if isinstance(self._node, _Lookup) else None
        if given is not None:
            return given
        out = np.empty((m, m), dtype=self.dtype) if out is None else out
        blocks = self._node.left(right, np.arange(m))
        tall = min(_TALL // 2, -(-m // core_count()))
        starts = range(0, m, tall)
        parts = _parts(m * m, len(starts))

        def work(k: int, stopped: Any) -> None:
            room = _Room(self.dtype)
            for begin in starts[k::parts]:
                end = min(begin + tall, m)
                at = 0
                for block, width in blocks:
                    if stopped():
                        return
                    out[begin:end, at : at + width] = self._node.tile(right, begin, end, block, width, room)
                    at += width

        share(work, parts)
        self.entries += float(m) * m
        return out

    def _accumulate(self, right: Any, begin: int, end: int, blocks: Any, coefficients: np.ndarray, out: np.ndarray) -> None:
        starts = range(begin, end, _TALL)
        parts = _parts((end - begin) * len(coefficients), len(starts))
        weights = coefficients.astype(self.dtype)

        def work(k: int, stopped: Any) -> None:
            room = _Room(self.dtype)
            for start in starts[k::parts]:
                stop = min(start + _TALL, end)
                at = 0
                for block, width in blocks:
                    if stopped():
                        return
                    tile = self._node.tile(right, start, stop, block, width, room)
                    out[start:stop] += tile @ weights[at : at + width]
                    at += width

        share(work, parts)


class _Room:
    """Tiles of one thread, by depth of the expression that needs them."""

    def __init__(self, dtype: np.dtype) -> None:
        self._dtype = dtype
        self._tiles: list[np.ndarray] = []

    def tile(self, tall: int, wide: int, depth: int) -> np.ndarray:
        while len(self._tiles) <= depth:
            self._tiles.append(np.empty(_TALL * _WIDE, dtype=self._dtype))
        return self._tiles[depth][: tall * wide].reshape(tall, wide)


class _Node(ABC):
    """A kernel as work on tiles. ``prepare`` makes an operand of a matrix, ``left`` its rows in the other form, by blocks of a tile's width."""

    @abstractmethod
    def prepare(self, X: Matrix) -> Any: ...

    @abstractmethod
    def take(self, operand: Any, chosen: np.ndarray) -> Any: ...

    @abstractmethod
    def left(self, operand: Any, chosen: np.ndarray) -> Any: ...

    @abstractmethod
    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray: ...

    def error(self, operand: Any) -> float:
        return 4 * float(np.finfo(np.float32).eps)

    def rounding(self, operand: Any) -> Any:
        """(‖a‖ ≥ 1 of each row, number of terms) where the error of an entry is a share of it; else None."""
        return None


class _DenseDot(_Node):
    """A function of ⟨x, z⟩ (and, for RBF, of the norms, as two more columns), by BLAS."""

    def __init__(self, kernel: Kernel, X: np.ndarray, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype
        self._centre = X.mean(axis=0, dtype=np.float64) if isinstance(kernel, RBF) else None

    def prepare(self, X: Matrix) -> np.ndarray:
        X = X.toarray() if sp.issparse(X) else X
        if not isinstance(self._kernel, RBF):
            return np.ascontiguousarray(X, dtype=self._dtype)
        out = np.empty((X.shape[0], X.shape[1] + 2), dtype=self._dtype)
        scale = np.sqrt(2.0 * self._kernel.gamma)
        for begin in range(0, X.shape[0], _TALL):
            rows = slice(begin, begin + _TALL)
            part = (X[rows] - self._centre) * scale
            out[rows, :-2] = part
            out[rows, -1] = -0.5 * np.einsum("ij,ij->i", part, part)
        out[:, -2] = 1.0
        return out

    def take(self, operand: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return operand[chosen]

    def left(self, operand: np.ndarray, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        if isinstance(self._kernel, RBF):
            rows[:, [-2, -1]] = rows[:, [-1, -2]]
        return [(rows[at : at + _WIDE].T, len(rows[at : at + _WIDE])) for at in range(0, len(rows), _WIDE)]

    def tile(self, right: np.ndarray, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        np.matmul(right[begin:end], block, out=tile)
        return _profile(self._kernel, tile)

    def rounding(self, operand: np.ndarray) -> Any:
        if not isinstance(self._kernel, RBF):
            return None
        return np.sqrt(np.einsum("ij,ij->i", operand, operand, dtype=np.float64)), operand.shape[1]

    def error(self, operand: np.ndarray) -> float:
        if not isinstance(self._kernel, RBF):
            return super().error(operand) * max(1.0, float(np.abs(operand).max(initial=0.0)) ** 2 * operand.shape[1])
        return super().error(operand) * (1.0 - 2.0 * float(operand[:, -1].mean(dtype=np.float64)))


class _SparseDot(_Node):
    """The same for CSR rows: a dense block of left rows, as columns, is read at the places of a right row's entries."""

    def __init__(self, kernel: Kernel, X: Matrix, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype
        self._wide = _WIDE if X.shape[1] <= _MANY_FEATURES else _NARROW

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
        return _Columns(X[chosen], norms[chosen], 2.0 * self._kernel.gamma if isinstance(self._kernel, RBF) else 1.0, self._wide)

    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        X, norms = right
        dense, others = block
        sparse_products(X.data, X.indices, X.indptr, begin, norms, dense, others, tile)
        return _profile(self._kernel, tile)

    def rounding(self, operand: Any) -> Any:
        X, norms = operand
        if not isinstance(self._kernel, RBF):
            return None
        return (1.0 + np.sqrt(-norms.astype(np.float64))) ** 2, int(np.diff(X.indptr).max(initial=0)) + 2

    def error(self, operand: Any) -> float:
        X, norms = operand
        return super().error(operand) * (1.0 + 2.0 * float(np.abs(norms).mean(dtype=np.float64)))


class _Columns:
    """Blocks of sparse rows as dense columns, made when they are needed; kept where they are small."""

    def __init__(self, rows: Any, norms: np.ndarray, scale: float, wide: int) -> None:
        self._rows, self._norms, self._scale, self._wide = rows, norms, scale, wide
        self._kept = [self._make(at) for at in self._starts] if rows.shape[1] <= _MANY_FEATURES else None

    @property
    def _starts(self) -> range:
        return range(0, self._rows.shape[0], self._wide)

    def _make(self, at: int) -> Any:
        part = self._rows[at : at + self._wide]
        dense = np.ascontiguousarray(part.toarray().T)
        dense *= dense.dtype.type(self._scale)
        return (dense, self._norms[at : at + self._wide]), part.shape[0]

    def __iter__(self) -> Any:
        return iter(self._kept) if self._kept is not None else (self._make(at) for at in self._starts)


class _Manhattan(_Node):
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
        parts = [np.ascontiguousarray(rows[at : at + _WIDE].T) for at in range(0, len(rows), _WIDE)]
        return [(part, part.shape[1]) for part in parts]

    def tile(self, right: np.ndarray, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        absolute_differences(right, begin, block, tile)
        return _exponential(tile)


class _Fixed(_Node):
    """A constant."""

    def __init__(self, value: float) -> None:
        self._value = value

    def prepare(self, X: Matrix) -> int:
        return int(X.shape[0])

    def take(self, operand: int, chosen: np.ndarray) -> int:
        return len(chosen)

    def left(self, operand: int, chosen: np.ndarray) -> Any:
        return _widths(len(chosen), _WIDE)

    def tile(self, right: int, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        tile[:] = self._value
        return tile


class _Whole(_Node):
    """Any other kernel, through its own ``block``."""

    def __init__(self, kernel: Kernel, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype

    def prepare(self, X: Matrix) -> Matrix:
        return X

    def take(self, operand: Matrix, chosen: np.ndarray) -> Matrix:
        return operand[chosen]

    def left(self, operand: Matrix, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        return [(rows[at : at + _WIDE], min(_WIDE, len(chosen) - at)) for at in range(0, len(chosen), _WIDE)]

    def tile(self, right: Matrix, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        tile[:] = self._kernel.block(right[begin:end], block)
        return tile


class _Lookup(_Node):
    """Entries of a given Gram matrix; operands are indices."""

    def __init__(self, kernel: Precomputed, dtype: np.dtype) -> None:
        self._kernel, self._dtype = kernel, dtype

    def prepare(self, X: Matrix) -> np.ndarray:
        return self._kernel.indices(X)

    def take(self, operand: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return operand[chosen]

    def left(self, operand: np.ndarray, chosen: np.ndarray) -> Any:
        rows = operand[chosen]
        return [(rows[at : at + _WIDE], len(rows[at : at + _WIDE])) for at in range(0, len(rows), _WIDE)]

    def tile(self, right: np.ndarray, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        tile[:] = self._kernel.gram[np.ix_(right[begin:end], block)]
        return tile

    def whole(self, right: np.ndarray) -> np.ndarray | None:
        """The matrix itself, where all of it is asked for."""
        gram = self._kernel.gram
        usable = gram.dtype == self._dtype and gram.flags.c_contiguous and gram.flags.writeable
        return gram if usable and np.array_equal(right, np.arange(len(gram))) else None


class _Scaled(_Node):
    """c · k, or k to a natural power: tiles of one node, changed in place."""

    def __init__(self, node: _Node, kernel: Scaled | Power) -> None:
        self._node, self._kernel = node, kernel
        self.prepare, self.take, self.left = node.prepare, node.take, node.left  # type: ignore[method-assign]

    prepare = take = left = None  # type: ignore[assignment]

    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        tile = self._node.tile(right, begin, end, block, width, room, depth)
        if isinstance(self._kernel, Scaled):
            tile *= tile.dtype.type(self._kernel.scale)
            return tile
        return natural_power(tile, self._kernel.exponent)

    def error(self, operand: Any) -> float:
        return self._node.error(operand) * (self._kernel.scale if isinstance(self._kernel, Scaled) else self._kernel.exponent)


class _Pair(_Node):
    """k₁ + k₂ or k₁ · k₂: two tiles become one. Blocks of both have one width."""

    def __init__(self, first: _Node, second: _Node, product: bool) -> None:
        self._first, self._second, self._product = first, second, product

    def prepare(self, X: Matrix) -> Any:
        return self._first.prepare(X), self._second.prepare(X)

    def take(self, operand: Any, chosen: np.ndarray) -> Any:
        return self._first.take(operand[0], chosen), self._second.take(operand[1], chosen)

    def left(self, operand: Any, chosen: np.ndarray) -> Any:
        return _Zipped(self._first.left(operand[0], chosen), self._second.left(operand[1], chosen))

    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: _Room, depth: int = 0) -> np.ndarray:
        one = self._first.tile(right[0], begin, end, block[0], width, room, depth)
        two = self._second.tile(right[1], begin, end, block[1], width, room, depth + 1)
        return np.multiply(one, two, out=one) if self._product else np.add(one, two, out=one)

    def error(self, operand: Any) -> float:
        return self._first.error(operand[0]) + self._second.error(operand[1])


class _Zipped:
    def __init__(self, first: Any, second: Any) -> None:
        self._first, self._second = first, second

    def __iter__(self) -> Any:
        for (one, width), (two, _) in zip(self._first, self._second, strict=True):
            yield (one, two), width


def _parts(entries: int, pieces: int) -> int:
    """On how many threads to work: few entries are not worth a second one."""
    return min(core_count(), pieces) if entries >= _SHARED else 1


def _widths(m: int, wide: int) -> list[tuple[None, int]]:
    return [(None, min(wide, m - at)) for at in range(0, m, wide)]


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


def _plan(kernel: Kernel, X: Matrix, dtype: np.dtype) -> _Node:
    """The node of an expression, by exact type: a subclass may mean something else."""
    kind = type(kernel)
    if kind in (Linear, Polynomial, Sigmoid, RBF):
        if kind is RBF and _largest_exponent(kernel, X) > _LARGE_EXPONENT[dtype]:
            return _Whole(kernel, dtype)
        if sp.issparse(X) and X.nnz < _DENSE_SHARE * X.shape[0] * X.shape[1]:
            return _SparseDot(kernel, X, dtype)
        return _DenseDot(kernel, X, dtype)
    if kind is Laplacian and not (sp.issparse(X) and X.shape[1] > _MANY_FEATURES):
        return _Manhattan(kernel, dtype)
    if isinstance(kernel, Precomputed):
        return _Lookup(kernel, dtype)
    if kind is Constant:
        return _Fixed(kernel.value)
    if kind in (Scaled, Power):
        return _Scaled(_plan(kernel.kernel, X, dtype), kernel)
    if kind in (Sum, Product) and not (sp.issparse(X) and X.shape[1] > _MANY_FEATURES):
        return _Pair(_plan(kernel.left, X, dtype), _plan(kernel.right, X, dtype), kind is Product)
    return _Whole(kernel, dtype)


def _largest_exponent(kernel: RBF, X: Matrix) -> float:
    if sp.issparse(X):
        return kernel.gamma * float(squared_norms(X).max(initial=0.0))
    spread = np.maximum(X.max(axis=0) - X.mean(axis=0), X.mean(axis=0) - X.min(axis=0)).astype(np.float64)
    return kernel.gamma * float(spread @ spread)
