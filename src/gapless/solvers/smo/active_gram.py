"""The kernel entries of the samples that a solver works on: they enter and leave, and what stays is not computed again."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numba import njit

from gapless.kernels import Panels

# One table of up to so many bytes stays for the next solver of this process, since fresh memory is slow.
_KEPT_BYTES = 160 * 2**20
_SMALL = 4 * 2**20  # below this a table gets no more than it asks for
_lock = threading.Lock()
_spare: list[np.ndarray] = []


class ActiveGram:
    """``ids`` are the members in order, ``inside`` marks them among all samples, table[:m, :m] holds their kernel entries plus ``shift``.

    From the start rows begin ``wide`` entries apart, or as far as all samples need, so that they hardly ever move as more members enter.
    """

    def __init__(self, panels: Panels, shift: float, wide: int = 0) -> None:
        self._panels, self._shift, self._wide = panels, shift, min(wide, panels.n)
        self._flat: np.ndarray | None = None
        self.table = np.empty((0, 0), dtype=panels.dtype)
        self.ids = np.empty(0, dtype=np.int64)
        self.inside = np.zeros(panels.n, dtype=bool)

    def enter(self, new: np.ndarray, limit: int) -> None:
        """New members, after the others; there is room for ``limit`` at least."""
        if not len(new):
            return
        m = len(self.ids)
        self.ids = np.concatenate([self.ids, new])
        self.inside[new] = True
        if m == 0 and len(new) == self._panels.n:  # all at once: a given matrix need not be copied
            self.table = self._panels.square(self.ids)
            if self._shift:
                self.table = self.table + self._shift
            return
        self._make_room(m, max(limit, len(self.ids)))
        self._panels.extend(self.ids, m, self.table, self._shift)

    def keep(self, kept: np.ndarray) -> None:
        """Only these places, in ascending order, stay."""
        _compact(self.table, kept)
        self.inside[self.ids] = False
        self.ids = self.ids[kept]
        self.inside[self.ids] = True

    def _make_room(self, m: int, limit: int) -> None:
        if limit <= len(self.table):
            return
        stride = _stride(max(limit, self._wide))
        if self._flat is None or self._flat.size < limit * stride:
            old, self._flat = self._flat, _take(limit * stride, self._panels.dtype)
            self._flat[: m * self.table.shape[1]] = self.table[:m].ravel()
            _give_back(old)
        if stride > self.table.shape[1]:
            _widen(self._flat, m, self.table.shape[1], stride)
        self.table = self._flat[: limit * stride].reshape(limit, stride)

    def __del__(self) -> None:
        _give_back(self._flat)


def _give_back(flat: np.ndarray | None) -> None:
    if flat is not None and flat.nbytes <= _KEPT_BYTES:
        with _lock:
            _spare[:] = [max([*_spare, flat.view(np.uint8)], key=len)]


def _stride(side: int) -> int:
    """How far apart rows begin: no two at one place of a cache."""
    return side + 32 - side % 16


def _take(size: int, dtype: Any) -> np.ndarray:
    with _lock:
        spare = _spare.pop() if _spare else np.empty(0, dtype=np.uint8)
    if spare.nbytes >= size * dtype.itemsize:
        return spare.view(dtype)
    # What is not touched of it costs nothing.
    return np.empty(max(size, _KEPT_BYTES // dtype.itemsize) if size * dtype.itemsize > _SMALL else size, dtype=dtype)


@njit(cache=True, nogil=True, error_model="numpy")
def _compact(K, kept):
    """Move the rows and columns ``kept`` (in ascending order) of K to its beginning."""
    for i in range(len(kept)):
        row, source = K[i], K[kept[i]]
        for j in range(len(kept)):
            row[j] = source[kept[j]]


@njit(cache=True, nogil=True, error_model="numpy")
def _widen(flat, rows, old, new):
    """Move rows that begin ``old`` entries apart to where they begin ``new`` (more) entries apart."""
    row = np.empty(old, dtype=flat.dtype)  # the two places of a row may overlap
    for i in range(rows - 1, 0, -1):
        row[:] = flat[i * old : (i + 1) * old]
        flat[i * new : i * new + old] = row
