"""The seed of a solve, without NumPy's set-up time for each small solve."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np


class Seed(np.random.bit_generator.ISpawnableSeedSequence):
    """NumPy's seed sequence with cached words: mixing them anew for each subproblem of a fit would be a large part of the time of a small solve."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._parent: np.random.SeedSequence | None = None

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        return _words(self._seed, n_words, np.dtype(dtype).char)

    def spawn(self, n_children: int) -> Any:
        self._parent = self._parent or np.random.SeedSequence(self._seed)
        return self._parent.spawn(n_children)


@lru_cache(maxsize=16)
def _words(seed: int, n_words: int, dtype: str) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(n_words, np.dtype(dtype).type)
