r"""Fused panels: kernel entries by tiles that are used while they are in cache, so that no matrix of them is ever in memory.

A tile is one small matrix product, its entries' exponential (or power, or tanh) in place, and its use. Sums, products, multiples and powers of
kernels combine tiles. Tiles are float32 for the solver's steps, or float64 for the proof; what is summed over tiles is float64 always. The
partition into tiles does not depend on the number of threads, and neither does any result.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gapless.kernels.base import Kernel
from gapless.kernels.nodes import TALL, WIDE, DenseDot, Lookup, Room
from gapless.kernels.pairwise import Matrix
from gapless.kernels.plan import plan
from gapless.kernels.threads import core_count, share
from gapless.kernels.tiles import fold, put, put_mirrored

_SHARED = 2**18  # entries from which on threads share the work
_SOME = 128  # samples whose entries tell the error
_SLAB = 4096  # rows of another matrix that are prepared at a time
_LANES, _STRIP = 4, 512  # pieces for threads to share at least; strips of rows in sums of their own


class Panels:
    r"""The kernel of the samples X (or of chosen rows of X), in tiles.

    >>> import numpy as np
    >>> from gapless.kernels import RBF, Panels
    >>> panels = Panels(RBF(1.0), np.array([[0.0], [1.0], [3.0]]), np.float64)
    >>> panels.square(np.array([0, 1])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> f = np.zeros(3)
    >>> panels.expand(np.array([0, 1]), np.array([1.0, -1.0]), f, slice(None))
    >>> f.round(4)
    array([ 0.6321, -0.6321, -0.0182])
    """

    def __init__(self, kernel: Kernel, X: Matrix, dtype: Any = np.float32, rows: np.ndarray | None = None) -> None:
        self.dtype = np.dtype(dtype)
        self.n = X.shape[0] if rows is None else len(rows)
        self._kernel, self._X, self._rows = kernel, X, rows
        self._node = plan(kernel, X, self.dtype, rows)
        self._right = self._prepare(X, rows)
        self.entries = 0.0  # how many were computed

    def _prepare(self, X: Matrix, rows: np.ndarray | None) -> Any:
        """The operand of the chosen rows of X (all if None)."""
        if rows is None:
            return self._node.prepare(X)
        if isinstance(self._node, DenseDot) and isinstance(X, np.ndarray):
            return self._node.prepare(X, rows)  # without a copy of X
        return self._node.prepare(X[rows])

    @cached_property
    def error(self) -> float:
        """How far an entry is from the kernel's in the mean (of squares), as some of them show; for the choice of precision, no proof."""
        if self.dtype == np.float64:
            return 0.0
        some = np.linspace(0, self.n - 1, min(self.n, _SOME)).astype(np.int64)
        exact = Panels(self._kernel, self._X[some if self._rows is None else self._rows[some]], np.float64)
        difference = self.square(some) - exact.square(np.arange(len(some)))
        return float(np.sqrt(np.mean(difference**2)))

    def expand(self, left: np.ndarray, coefficients: np.ndarray, out: np.ndarray, to: np.ndarray | slice) -> None:
        """Add Σ over ``left`` of k(xⱼ, x) · coefficient to out[j], for each j of ``to``: a slice, or places in order."""
        if isinstance(to, slice):
            begin, end, _ = to.indices(self.n)
            self._accumulate(self._right, begin, end, self._node.left(self._right, left), coefficients, out)
            self.entries += float(len(left)) * (end - begin)
            return
        sums = np.zeros(len(to))
        self._accumulate(
            self._node.take(self._right, to), 0, len(to), self._node.left(self._right, left), coefficients, sums
        )
        out[to] += sums
        self.entries += float(len(left)) * len(to)

    def apply(self, Z: Matrix, coefficients: np.ndarray) -> np.ndarray:
        """Σ over all samples x of k(z, x) · coefficients, one column a model, for each row z of another matrix."""
        if isinstance(self._node, Lookup) and self._node.is_plain and Z.shape[0] * self.n < _SHARED:
            return self._node.products(self._node.prepare(Z), self._right, coefficients)
        out = np.zeros((Z.shape[0], *coefficients.shape[1:]))
        blocks = self._node.left(self._right, np.arange(self.n))
        for begin in range(0, Z.shape[0], _SLAB):  # little memory at a time
            right = self._node.prepare(Z[begin : begin + _SLAB])
            self._accumulate(
                right, 0, len(out[begin : begin + _SLAB]), blocks, coefficients, out[begin : begin + _SLAB]
            )
        return out

    def own(self, coefficients: np.ndarray) -> np.ndarray:
        """Σ over all samples x of k(xⱼ, x) · coefficient for each of them, where an entry serves both its row and its column.

        Four sums, each of its own blocks of rows, are added up in the end, so that threads neither meet nor change the result.
        """
        blocks = list(self._node.left(self._right, np.arange(self.n)))
        weights = coefficients.astype(self.dtype)
        sums = np.zeros((_LANES, self.n))
        starts = range(0, self.n, _STRIP)
        parts = min(core_count(), _LANES)

        def work(k: int, stopped: Any) -> None:
            room = Room(self.dtype)
            for lane in range(k, _LANES, parts):
                out = sums[lane]
                for start in starts[lane::_LANES]:
                    stop, at = min(start + _STRIP, self.n), 0
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

    def apply_bounded(
        self, Z: Matrix, coefficients: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """``apply`` to Z (or to chosen rows of it), and how far at most each value is from the exact one.

        The exponent of k(z, x) is a sum of m terms in the tiles' precision u, off by at most (m + 4) u ‖a‖‖b‖, with a and b the rows whose product it
        is; so k is off by that share of itself, and by 3 u for the exponential. One model's sum is float64; of several, a sum of
        ``WIDE`` entries is off by another (WIDE + 9) u Σ |c| k.
        """
        own, terms = self._node.rounding(self._right)
        both = np.concatenate([coefficients, np.abs(coefficients) * own[:, None]], axis=1)
        single = both.shape[1] == 2
        n = Z.shape[0] if rows is None else len(rows)
        out, share = np.zeros((n, both.shape[1])), np.empty(n)
        blocks = self._node.left(self._right, np.arange(self.n))
        unit = float(np.finfo(self.dtype).eps) / 2
        for begin in range(0, n, _SLAB):  # little memory at a time
            part = slice(begin, begin + _SLAB)
            right = self._prepare(Z[part], None) if rows is None else self._prepare(Z, rows[part])
            others, most = self._node.rounding(right)
            self._accumulate(right, 0, len(others), blocks, both, out[part], exact=single)
            share[part] = unit * (max(terms, most) + 4) * others
        values, weights = np.split(out, 2, axis=1)
        vanished = 2.0 * float(np.finfo(np.float32).tiny) * np.abs(coefficients).sum(axis=0)  # exponents that underflow
        worst = share * float(own.max(initial=1.0))
        share *= np.expm1(np.minimum(worst, 500.0)) / worst  # e to the power of an error, not the error itself
        return values, 1.01 * (share + (3.0 if single else WIDE + 12.0) * unit)[:, None] * weights + vanished

    def square(self, chosen: np.ndarray) -> np.ndarray:
        """k of the chosen samples among themselves, in full; not to be written to, as it may be a given matrix."""
        given = self._node.whole(self._node.take(self._right, chosen)) if isinstance(self._node, Lookup) else None
        if given is not None:
            return given
        out = np.empty((len(chosen), len(chosen)), dtype=self.dtype)
        if isinstance(self._node, Lookup) and self._node.is_plain and out.size < _SHARED:
            return self._node.square(self._node.take(self._right, chosen), out)
        self.extend(chosen, 0, out)
        return out

    def extend(self, chosen: np.ndarray, known: int, out: np.ndarray, shift: float = 0.0) -> None:
        """Fill out[:m, :m] with k + shift of the m chosen samples among themselves, of which the first ``known`` have theirs already."""
        m = len(chosen)
        right = self._node.take(self._right, chosen)
        blocks = self._node.left(right, np.arange(known, m))
        # Whole blocks, so that one half of what is new mirrors the other.
        tall = _height(m)
        starts = [*range(0, known, tall), *range(known, m, tall)]
        parts = _parts((m - known) * m, len(starts))
        offset = self.dtype.type(shift)

        def work(k: int, stopped: Any) -> None:
            room = Room(self.dtype)
            for begin in starts[k::parts]:
                end, at = min(begin + tall, known if begin < known else m), known
                for block, width in blocks:
                    if stopped():
                        return
                    if at >= begin:
                        tile = self._node.tile(right, begin, end, block, width, room)
                        put(tile, offset, out, begin, at)
                        if at >= end:
                            put_mirrored(tile, offset, out, at, begin)
                    at += width

        share(work, parts)
        self.entries += float(m - known) * 0.5 * (m + known)

    def rows(self, chosen: np.ndarray, begin: int, end: int, out: np.ndarray, top: int) -> None:
        """out[top + i, begin:end] = k of the i-th chosen sample with the samples from begin to end."""
        blocks = self._node.left(self._right, chosen)
        tall = _height(end - begin)
        starts = range(begin, end, tall)
        parts = _parts((end - begin) * len(chosen), len(starts))

        def work(k: int, stopped: Any) -> None:
            room = Room(self.dtype)
            for start in starts[k::parts]:
                stop, at = min(start + tall, end), top
                for block, width in blocks:
                    if stopped():
                        return
                    tile = self._node.tile(self._right, start, stop, block, width, room)
                    put_mirrored(tile, self.dtype.type(0), out, at, start)
                    at += width

        share(work, parts)
        self.entries += float(len(chosen)) * (end - begin)

    @property
    def costly(self) -> bool:
        """Whether an entry takes many times as long to compute as to read."""
        return self._node.costly(self._right)

    def _accumulate(
        self,
        right: Any,
        begin: int,
        end: int,
        blocks: Any,
        coefficients: np.ndarray,
        out: np.ndarray,
        exact: bool = False,
    ) -> None:
        """Add tiles times coefficients to out; ``exact``: two columns, summed in float64."""
        tall = _height(end - begin)
        starts = range(begin, end, tall)
        parts = _parts((end - begin) * len(coefficients), len(starts))
        weights = np.ascontiguousarray(coefficients.T) if exact else coefficients.astype(self.dtype)

        def work(k: int, stopped: Any) -> None:
            room = Room(self.dtype)
            for start in starts[k::parts]:
                stop = min(start + tall, end)
                at = 0
                for block, width in blocks:
                    if stopped():
                        return
                    tile = self._node.tile(right, start, stop, block, width, room)
                    if exact:
                        fold(tile, weights[0, at : at + width], weights[1, at : at + width], out[start:stop])
                    else:
                        out[start:stop] += tile @ weights[at : at + width]
                    at += width

        share(work, parts)


def _height(rows: int) -> int:
    """Rows of a tile, whatever the number of threads: ``TALL``, or less where there would be few tiles to share; a multiple of ``WIDE``."""
    return min(TALL, -(-rows // (WIDE * _LANES)) * WIDE)


def _parts(entries: int, pieces: int) -> int:
    """On how many threads to work: few entries are not worth a second one."""
    return min(core_count(), pieces) if entries >= _SHARED else 1
