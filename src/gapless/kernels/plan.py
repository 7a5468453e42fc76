"""From a kernel's expression to the node that computes it on tiles, and the nodes of what combines kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.kernels.algebra import Constant, Power, Product, Scaled, Sum, natural_power
from gapless.kernels.custom import Precomputed
from gapless.kernels.dot import Linear, Polynomial, Sigmoid
from gapless.kernels.nodes import MANY_FEATURES, WIDE, DenseDot, Lookup, Manhattan, Node, Room, SparseDot, Whole
from gapless.kernels.pairwise import Matrix, squared_norms
from gapless.kernels.stationary import RBF, Laplacian
from gapless.kernels.tiles import largest_norm

_DENSE_SHARE = 0.25  # a CSR matrix with more entries than this is faster as a dense one
_SOME = 1024  # rows that tell the centre of all
# γ‖x‖² of the row farthest out, beyond which the expansion of ‖x − z‖² has lost too much: in float32, entries between two such rows are off by
# 1e-3 of themselves. Rows far out are few as a rule (a rare category, standardised), and should not cost all others the fast way.
_LARGE_EXPONENT = {np.dtype(np.float32): 1e4, np.dtype(np.float64): 1e5}


def plan(kernel: Any, X: Matrix, dtype: np.dtype, rows: np.ndarray | None = None) -> Node:
    """The node of an expression on the chosen rows of X, by exact type: a subclass may mean something else."""
    kind = type(kernel)
    if kind in (Linear, Polynomial, Sigmoid, RBF):
        centre = _centre(X, rows) if kind is RBF else None
        if centre is not None and kernel.gamma * _largest_norm(X, rows, centre) > _LARGE_EXPONENT[dtype]:
            return Whole(kernel, dtype)
        if sp.issparse(X) and X.nnz < _DENSE_SHARE * X.shape[0] * X.shape[1]:
            return SparseDot(kernel, X, dtype)
        return DenseDot(kernel, dtype, centre)
    if kind is Laplacian and not (sp.issparse(X) and X.shape[1] > MANY_FEATURES):
        return Manhattan(kernel, dtype)
    if isinstance(kernel, Precomputed):
        return Lookup(kernel, dtype)
    if kind is Constant:
        return _Fixed(kernel.value)
    if kind in (Scaled, Power):
        return _Scaled(plan(kernel.kernel, X, dtype, rows), kernel)
    if kind in (Sum, Product) and not (sp.issparse(X) and X.shape[1] > MANY_FEATURES):
        return _Pair(plan(kernel.left, X, dtype, rows), plan(kernel.right, X, dtype, rows), kind is Product)
    return Whole(kernel, dtype)


def _centre(X: Matrix, rows: np.ndarray | None) -> np.ndarray:
    """About the mean of the rows, to be subtracted from all: of many, some tell it."""
    step = max(1, (X.shape[0] if rows is None else len(rows)) // _SOME)
    some = X[slice(None, None, step) if rows is None else rows[::step]]
    return np.asarray(some.mean(axis=0, dtype=np.float64)).ravel()


def _largest_norm(X: Matrix, rows: np.ndarray | None, centre: np.ndarray) -> float:
    """The largest ‖x − centre‖²."""
    if sp.issparse(X):
        return float(squared_norms(X).max(initial=0.0))
    return float(largest_norm(X, np.arange(X.shape[0]) if rows is None else rows, centre))


class _Fixed(Node):
    """A constant."""

    def __init__(self, value: float) -> None:
        self._value = value

    def prepare(self, X: Matrix) -> int:
        return int(X.shape[0])

    def take(self, operand: int, chosen: np.ndarray) -> int:
        return len(chosen)

    def left(self, operand: int, chosen: np.ndarray) -> Any:
        return [(None, min(WIDE, len(chosen) - at)) for at in range(0, len(chosen), WIDE)]

    def costly(self, operand: int) -> bool:
        return False

    def tile(self, right: int, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0) -> np.ndarray:
        tile = room.tile(end - begin, width, depth)
        tile[:] = self._value
        return tile


class _Scaled(Node):
    """c · k, or k to a natural power: tiles of one node, changed in place."""

    def __init__(self, node: Node, kernel: Scaled | Power) -> None:
        self._node, self._kernel = node, kernel

    def prepare(self, X: Matrix) -> Any:
        return self._node.prepare(X)

    def take(self, operand: Any, chosen: np.ndarray) -> Any:
        return self._node.take(operand, chosen)

    def left(self, operand: Any, chosen: np.ndarray) -> Any:
        return self._node.left(operand, chosen)

    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0) -> np.ndarray:
        tile = self._node.tile(right, begin, end, block, width, room, depth)
        if isinstance(self._kernel, Scaled):
            tile *= tile.dtype.type(self._kernel.scale)
            return tile
        return natural_power(tile, self._kernel.exponent)

    def costly(self, operand: Any) -> bool:
        return self._node.costly(operand)


class _Pair(Node):
    """k₁ + k₂ or k₁ · k₂: two tiles become one. Blocks of both have one width."""

    def __init__(self, first: Node, second: Node, product: bool) -> None:
        self._first, self._second, self._product = first, second, product

    def prepare(self, X: Matrix) -> Any:
        return self._first.prepare(X), self._second.prepare(X)

    def take(self, operand: Any, chosen: np.ndarray) -> Any:
        return self._first.take(operand[0], chosen), self._second.take(operand[1], chosen)

    def left(self, operand: Any, chosen: np.ndarray) -> Any:
        return _Zipped(self._first.left(operand[0], chosen), self._second.left(operand[1], chosen))

    def tile(self, right: Any, begin: int, end: int, block: Any, width: int, room: Room, depth: int = 0) -> np.ndarray:
        one = self._first.tile(right[0], begin, end, block[0], width, room, depth)
        two = self._second.tile(right[1], begin, end, block[1], width, room, depth + 1)
        return np.multiply(one, two, out=one) if self._product else np.add(one, two, out=one)

    def costly(self, operand: Any) -> bool:
        return self._first.costly(operand[0]) or self._second.costly(operand[1])


class _Zipped:
    def __init__(self, first: Any, second: Any) -> None:
        self._first, self._second = first, second

    def __iter__(self) -> Any:
        for (one, width), (two, _) in zip(self._first, self._second, strict=True):
            yield (one, two), width
