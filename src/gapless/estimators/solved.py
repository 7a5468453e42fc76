"""What a fitted estimator keeps of its subproblems, and what remains of it after ``compact``."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

import numpy as np

from gapless.errors import DroppedError
from gapless.proof.certificate import Certificate
from gapless.proof.interval import Reach
from gapless.record import record
from gapless.result import Status
from gapless.store import register
from gapless.trace import Trace

register(Reach)

_DROPPED = {
    "trace": "the history of the fit (trace_, traces_)",
    "beta": "the dual variables of all samples (alpha_)",
    "w": "the weights of the subproblems, which coef_ holds in the estimator's layout,",
}


@register
@record
class Kept:
    """What predictions, their intervals and the certificate need of one subproblem: all that remains after ``compact``."""

    solver: str
    status: Status
    proven: bool
    iterations: float
    seconds: float
    certificate: Certificate
    offsets: np.ndarray = field(repr=False)
    reach: Reach

    @property
    def b(self) -> float:
        """The intercept: the mean of the offsets."""
        return float(self.offsets.sum()) / len(self.offsets)

    def __getattr__(self, name: str) -> Any:
        # Python calls this method only for attributes that the object does not have.
        if name in _DROPPED:
            raise DroppedError(f"compact() has dropped {_DROPPED[name]}; fit the model again to have it.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@register
@record
class Solved(Kept):
    """What a fitted estimator keeps of one subproblem: everything except the data.

    ``beta`` are the coefficients of w in the samples; of a linear estimator, which keeps w too, they are the dual variables.
    """

    trace: Trace = field(repr=False)
    beta: np.ndarray = field(repr=False)
    w: np.ndarray | None = field(repr=False)


def compacted(solved: Kept) -> Kept:
    """A subproblem without its trace, dual variables and weights."""
    return Kept(**{each.name: getattr(solved, each.name) for each in fields(Kept)})
