"""What a fitted estimator keeps of its subproblems, and what ``compact`` leaves of that."""

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
    """What predictions, their intervals and the certificate need of one subproblem."""

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
        # Asked only for what is not there.
        if name in _DROPPED:
            raise DroppedError(f"compact() has dropped {_DROPPED[name]}; fit the model again to have it.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@register
@record
class Solved(Kept):
    """What a fitted estimator keeps of one subproblem: all but its data.

    ``beta`` are the coefficients of w in the samples (of a linear estimator the dual variables, beside its w).
    """

    trace: Trace = field(repr=False)
    beta: np.ndarray = field(repr=False)
    w: np.ndarray | None = field(repr=False)


def compacted(solved: Kept) -> Kept:
    """A subproblem without its trace, dual variables and weights."""
    return Kept(**{each.name: getattr(solved, each.name) for each in fields(Kept)})
