"""Instances of every registered loss, and Hypothesis strategies for targets, decision values and costs."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from gapless.losses import LOSSES, EpsilonInsensitive, Loss, SmoothedHinge, SquaredEpsilonInsensitive

# Parameters that open other branches; every loss also comes with its defaults, so that a new one is tested unasked.
_MORE = [
    SmoothedHinge(2.0),
    SmoothedHinge(0.05),
    EpsilonInsensitive(0.0),
    EpsilonInsensitive(1.5),
    SquaredEpsilonInsensitive(0.0),
    SquaredEpsilonInsensitive(1.5),
]
EVERY_LOSS: list[Loss] = [cls() for cls in LOSSES.values()] + _MORE

# Laws run once for each of these, so that few examples of each make many.
few = settings(max_examples=40)

# Quarters hit the corners of the losses again and again; other numbers are between them.
decisions = st.one_of(st.integers(-16, 16).map(lambda i: i / 4), st.floats(-50.0, 50.0))
costs = st.one_of(st.sampled_from([0.25, 1.0, 3.0]), st.floats(1e-3, 1e3))


def targets(loss: Loss) -> st.SearchStrategy[float]:
    return st.sampled_from([-1.0, 1.0]) if loss.task == "classification" else decisions


def one(value: float) -> np.ndarray:
    return np.array([float(value)])


def scalar(function, *arguments: float) -> float:
    """A vectorised method on single numbers."""
    return float(function(*(one(argument) for argument in arguments))[0])


def random_samples(loss: Loss, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(y, f, cost) of n samples, both classes among them."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) if loss.task == "classification" else 2.0 * rng.normal(size=n)
    return y, 2.0 * rng.normal(size=n), rng.choice([0.5, 1.0, 2.0], n)
