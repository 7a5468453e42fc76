"""Samples whose f = Kβ follows β late: one that is far from violating is caught up only when f may have moved as far as that.

How far f moves in a round is seen where it is kept up to date, at the largest; elsewhere it may be more. So the others are no proof of anything, and
a solver whose proof is refused catches all of them up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_MOST = 32  # rounds that are remembered


class Laggards:
    """For each sample the round up to which its f is current, and β before each round."""

    def __init__(self, n: int) -> None:
        self._since = np.zeros(n, dtype=np.int64)
        self._past: list[np.ndarray] = []
        self._drift = [0.0]  # how far f had moved before each round

    def record(self, before: np.ndarray, swing: float) -> None:
        """A round has changed β, and f by ``swing``."""
        self._past.append(before)
        self._drift.append(self._drift[-1] + swing)

    def settle(self, which: np.ndarray | slice) -> None:
        """The f of these samples is current."""
        self._since[which] = len(self._past)

    def among(self, which: np.ndarray | slice) -> np.ndarray:
        """The places of those of ``which`` whose f is not current."""
        if not self._past:
            return np.empty(0, dtype=np.int64)
        return np.arange(len(self._since))[which][self._since[which] < len(self._past)]

    def due(self, slack: np.ndarray) -> np.ndarray:
        """The places of those that f may have brought to violate from as far as ``slack``; of all who wait where many rounds have passed."""
        drift = np.array(self._drift)
        near = ~(slack > drift[-1] - drift[self._since[: len(slack)]])
        return self.among(slice(len(slack)) if len(self._past) >= _MOST else np.flatnonzero(near))

    def batches(self, late: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Those whose f is for the same β, with that β; they are current afterwards."""
        since = self._since[late]
        for s in np.unique(since):
            yield late[since == s], self._past[s]
        self.settle(late)
        if len(self._past) >= _MOST and not len(self.among(slice(None))):
            self.forget()

    def forget(self) -> None:
        """All are current."""
        self._since[:], self._past, self._drift = 0, [], [0.0]
