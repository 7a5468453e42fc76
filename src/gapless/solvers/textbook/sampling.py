"""The order in which samples are visited: reshuffled epochs or uniform draws, compiled, and repeatable from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

SAMPLINGS = ("epochs", "uniform")


@dataclass
class Order:
    """An endless sequence of sample indices, handed out in pieces."""

    indices: np.ndarray
    word: np.ndarray  # state of the generator, one uint64
    uniform: bool
    position: int

    @classmethod
    def start(cls, n: int, sampling: str, rng: np.random.Generator) -> Order:
        """A sequence over n samples; ``sampling`` is one of ``SAMPLINGS``."""
        word = rng.integers(1, 2**63, size=1, dtype=np.uint64)
        return cls(np.arange(n), word, sampling == "uniform", n)

    def next(self, count: int) -> np.ndarray:
        """At most ``count`` further indices, never past the end of an epoch."""
        n = len(self.indices)
        if self.position >= n:
            if self.uniform:
                _draw(self.indices, self.word)
            else:
                _shuffle(self.indices, self.word)
            self.position = 0
        piece = self.indices[self.position : self.position + max(1, count)]
        self.position += len(piece)
        return piece


@njit(cache=True, inline="always")
def _next_word(word):
    """xorshift64*: a full-period generator of 64 bits."""
    x = word[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    word[0] = x
    return x * np.uint64(2685821657736338717)


@njit(cache=True, inline="always")
def _below(word, n):
    # The upper 32 bits, scaled instead of divided: unbiased to 2⁻³² n.
    return np.int64(((_next_word(word) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _shuffle(indices, word):
    for k in range(len(indices) - 1, 0, -1):
        j = _below(word, k + 1)
        indices[k], indices[j] = indices[j], indices[k]


@njit(cache=True, nogil=True)
def _draw(indices, word):
    n = len(indices)
    for k in range(n):
        indices[k] = _below(word, n)
