"""The order in which samples are visited: reshuffled epochs, uniform draws, one after the other, or as the caller says; repeatable from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gapless import _native
from gapless.errors import InvalidInputError

SAMPLINGS = ("epochs", "uniform", "cyclic")


class Order:
    """An endless sequence of the indices of n samples, handed out in pieces.

    ``sampling``: ``"epochs"`` (a new permutation each), ``"uniform"`` draws, ``"cyclic"`` (0, 1, …, n − 1, again and again), or indices that are
    repeated when they end.
    """

    def __init__(self, n: int, sampling: str | Sequence[int], rng: np.random.Generator) -> None:
        random = _native.Random(seed_of(rng))
        given = given_order(n, sampling)
        self._again = {"uniform": random.draw, "epochs": random.shuffle}.get(str(sampling))
        # A short order is repeated until it has n entries, so that pieces are not short.
        self._indices = np.arange(n) if given is None else np.tile(given, -(-n // len(given)))
        self._position = len(self._indices)

    def next(self, count: int) -> np.ndarray:
        """At most ``count`` further indices, and never past the end of an epoch."""
        if self._position >= len(self._indices):
            if self._again is not None:
                self._again(self._indices)
            self._position = 0
        piece = self._indices[self._position : self._position + max(1, count)].copy()
        self._position += len(piece)
        return piece


def check_sampling(value: Any) -> str | tuple[int, ...]:
    """The option as a solver keeps it: a name of ``SAMPLINGS``, or a tuple of indices, so that solvers can be compared."""
    if isinstance(value, str) and value in SAMPLINGS:
        return value
    if isinstance(value, Iterable) and not isinstance(value, str):
        indices = tuple(value)
        if indices and all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) and i >= 0 for i in indices):
            return tuple(int(i) for i in indices)
    raise InvalidInputError(f"sampling must be one of {', '.join(SAMPLINGS)}, or indices of samples; got {value!r}.")


def given_order(n: int, sampling: str | Sequence[int]) -> np.ndarray | None:
    """The indices of an order that is not random (all n for ``"cyclic"``); None where each epoch draws its own. Refuses indices beyond n."""
    if isinstance(sampling, str):
        return np.arange(n) if sampling == "cyclic" else None
    if max(sampling) >= n:
        raise InvalidInputError(
            f"sampling names the sample {max(sampling)}, but the {n} samples have the indices 0 to {n - 1}."
        )
    return np.array(sampling, dtype=np.int64)


def seed_of(rng: np.random.Generator) -> int:
    """A seed for a native generator."""
    return int(rng.integers(1, 2**63, dtype=np.uint64))
