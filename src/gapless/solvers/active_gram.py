"""The kernel entries of the samples that a solver works on: they enter and leave, and what stays is not computed again."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from gapless.kernels import Panels
from gapless.solvers.blocks import compact, widen

_KEPT_BYTES = 160 * 2**20  # of the one table, at most, that is kept for the next solver of this process: fresh memory is slow
_lock = threading.Lock()
_spare: list[np.ndarray] = []


class ActiveGram:
    """At most ``most`` members: ``ids`` in order, ``inside`` marks them among all samples, table[:m, :m] holds their kernel entries plus ``shift``."""

    def __init__(self, panels: Panels, shift: float, most: int) -> None:
        self._panels, self._shift, self._most = panels, shift, most
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
        compact(self.table, kept)
        self.inside[self.ids] = False
        self.ids = self.ids[kept]
        self.inside[self.ids] = True

    def _make_room(self, m: int, limit: int) -> None:
        if limit <= len(self.table):
            return
        stride = _stride(limit)
        if self._flat is None:  # what is not touched of it costs nothing
            self._flat = _take(self._most * _stride(self._most), self._panels.dtype)
        if m:
            widen(self._flat, m, self.table.shape[1], stride)
        self.table = self._flat[: limit * stride].reshape(limit, stride)

    def _give_back(self) -> None:
        flat, self._flat = self._flat, None
        if flat is not None and flat.nbytes <= _KEPT_BYTES:
            with _lock:
                _spare[:] = [max([*_spare, flat.view(np.uint8)], key=len)]

    def __del__(self) -> None:
        self._give_back()


def _stride(side: int) -> int:
    """How far apart rows begin: no two at one place of a cache."""
    return side + 32 - side % 16


def _take(size: int, dtype: Any) -> np.ndarray:
    with _lock:
        spare = _spare.pop() if _spare else np.empty(0, dtype=np.uint8)
    return spare.view(dtype) if spare.nbytes >= size * dtype.itemsize else np.empty(size, dtype=dtype)
