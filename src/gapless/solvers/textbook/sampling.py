"""The order in which samples are visited: reshuffled epochs or uniform draws, repeatable from a seed."""

from __future__ import annotations

import numpy as np

from gapless import _native

SAMPLINGS = ("epochs", "uniform")


class Order:
    """An endless sequence of the indices of n samples, handed out in pieces; ``sampling`` is one of ``SAMPLINGS``."""

    def __init__(self, n: int, sampling: str, rng: np.random.Generator) -> None:
        random = _native.Random(seed_of(rng))
        self._again = random.draw if sampling == "uniform" else random.shuffle
        self._indices = np.arange(n)
        self._position = n

    def next(self, count: int) -> np.ndarray:
        """At most ``count`` further indices, never past the end of an epoch."""
        if self._position >= len(self._indices):
            self._again(self._indices)
            self._position = 0
        piece = self._indices[self._position : self._position + max(1, count)]
        self._position += len(piece)
        return piece


def seed_of(rng: np.random.Generator) -> int:
    """What a native generator begins with."""
    return int(rng.integers(1, 2**63, dtype=np.uint64))
