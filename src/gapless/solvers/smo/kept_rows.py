"""Kernel rows of the samples that move, kept where an entry takes longer to compute than to read."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapless.kernels import Panels
from gapless.kernels.threads import core_count, share
from gapless.kernels.tiles import add_rows

_PIECE = 2048  # columns that a thread adds up at a time, whatever the number of threads


class KeptRows:
    """At most ``most`` rows of the first samples' kernel matrix; what does not fit is computed when it is needed."""

    def __init__(self, panels: Panels, most: int) -> None:
        self._panels = panels
        self._rows = np.empty((most, panels.n), dtype=panels.dtype)  # what is not touched of it costs nothing
        self._slot = np.full(panels.n, -1, dtype=np.int64)
        self._owners = np.empty(most, dtype=np.int64)
        self._count, self._reach = 0, 0

    def expand(
        self, moved: np.ndarray, change: np.ndarray, out: np.ndarray, to: np.ndarray | slice, reach: int
    ) -> None:
        """``Panels.expand``, where ``to`` is among the first ``reach`` samples."""
        self._widen(reach)
        self._add(moved[self._slot[moved] < 0])
        kept = self._slot[moved] >= 0
        if not kept.all():
            self._panels.expand(moved[~kept], change[~kept], out, to)
        chosen, coefficients = self._slot[moved[kept]], change[kept]
        begin, end, _ = to.indices(reach) if isinstance(to, slice) else (0, reach, 1)
        sums = np.zeros(reach)
        starts = range(begin, end, _PIECE)
        parts = min(core_count(), len(starts)) if len(chosen) * (end - begin) >= 2**18 else 1

        def work(k: int, stopped: Any) -> None:
            for start in starts[k::parts]:
                if stopped():
                    return
                add_rows(self._rows, chosen, coefficients, start, min(start + _PIECE, end), sums)

        share(work, parts)
        out[to] += sums[to]

    def _widen(self, reach: int) -> None:
        if reach > self._reach and self._count:
            self._panels.rows(self._owners[: self._count], self._reach, reach, self._rows, 0)
        self._reach = max(reach, self._reach)

    def _add(self, new: np.ndarray) -> None:
        new = new[: len(self._owners) - self._count]
        if len(new):
            self._panels.rows(new, 0, self._reach, self._rows, self._count)
            self._owners[self._count : self._count + len(new)] = new
            self._slot[new] = np.arange(self._count, self._count + len(new))
            self._count += len(new)
