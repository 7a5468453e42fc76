"""Convex losses with their conjugates. A new loss is one class and one line here."""

from __future__ import annotations

from gapless.errors import InvalidInputError
from gapless.losses.base import DualBox, DualEntropy, DualTerms, Loss
from gapless.losses.logistic import Logistic
from gapless.losses.margin import Hinge, SmoothedHinge, SquaredHinge
from gapless.losses.shortfall import Shortfall
from gapless.losses.tube import EpsilonInsensitive, SquaredEpsilonInsensitive

__all__ = [
    "LOSSES",
    "DualBox",
    "DualEntropy",
    "DualTerms",
    "EpsilonInsensitive",
    "Hinge",
    "Logistic",
    "Loss",
    "Shortfall",
    "SmoothedHinge",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "as_loss",
]

LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (Hinge, SquaredHinge, SmoothedHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive)
}
"""The class of each loss, by the name that :class:`~gapless.Problem` takes; a loss that is added here is known to it."""


def as_loss(loss: str | Loss) -> Loss:
    """A loss by its name, with its default parameters, or the loss itself.

    >>> as_loss("hinge")
    Hinge()
    """
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]()
    if isinstance(loss, Loss):
        return loss
    raise InvalidInputError(f"loss must be a Loss or one of {', '.join(sorted(LOSSES))}; got {loss!r}.")
