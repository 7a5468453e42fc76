"""What a Newton step on all non-zero weights costs; the step itself is native (``native/l1/newton.hpp``)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

# The most weights, and the most work in entries, of a Newton step: about half a second, during which Ctrl-C is not heard.
_MOST_WEIGHTS = 1000
_MOST_COST = 2e8
_CALLS = 5e3  # what a step costs besides, in the same unit: its calls from Python


def newton_cost(A: Any, support: np.ndarray) -> float:
    """The work of a Newton step, in entries of a descent pass: infinite where it would be too much.

    The factors are measured ratios of times; BLAS and LAPACK take 0.1 and 0.02 of a descent pass's time for each multiplication.
    """
    if len(support) > _MOST_WEIGHTS:
        return math.inf
    if sp.issparse(A):
        entries = float((A.indptr[support + 1] - A.indptr[support]).sum())
        product = entries * (entries / A.shape[1])
    else:
        entries = float(len(support) * A.shape[1])
        product = 0.1 * entries * len(support)
    cost = _CALLS + 5.0 * entries + product + 0.02 * len(support) ** 3
    return cost if cost <= _MOST_COST else math.inf
