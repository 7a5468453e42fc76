"""What fits take, counted and not timed, so that what a search does with it depends neither on the machine nor on its load.

The unit is roughly a nanosecond: a kernel entry of few features. The numbers are by hand, of fits of 300 to 6,700 samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

SHARE = 0.2
"""What the proof of a choice may take of the work that the fits have taken, unless all of it is asked for."""

FIT = 1e6
"""The objects and checks of a fit, of each of its subproblems where it goes on with them one by one."""

_ENTRY, _FEATURE = 1.0, 0.03  # a kernel entry, and what each feature adds to it
_PAIR, _SAMPLE, _BLOCK = (
    100.0,
    0.5,
    2000,
)  # a pair of variables, and what each sample adds to it up to the size of the blocks that pairs are solved in


class Work(NamedTuple):
    """What a fit takes: ``proof`` for its certificate, and ``step`` for each of its ``steps``; ``spared`` is what it would take by itself besides."""

    proof: float
    steps: float
    step: float
    spared: float = 0.0

    @property
    def total(self) -> float:
        """What the share of a proof is counted of. Objects and checks do not count unless they are spared: a proof that goes on takes them, too."""
        return self.spared + self.proof + self.steps * self.step


def features_of(X: Any) -> float:
    """The mean number of features that a row has, of sparse rows of those that are stored."""
    if sp.issparse(X):
        return float(X.nnz / max(1, X.shape[0]))
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return float(shape[1]) if len(shape) > 1 else 1.0


def kernel_work(support: float, samples: float, features: float, steps: float) -> Work:
    """The work of a fit with so many support vectors, on so many samples, that has taken so many pairs of variables."""
    pair = _PAIR + _SAMPLE * min(samples, _BLOCK)
    return Work(support * samples * (_ENTRY + _FEATURE * features), steps, pair)


def steps_within(most: float, samples: float) -> float:
    """The pairs of variables that a fit on so many samples may take for so much work."""
    return most / kernel_work(0.0, samples, 0.0, 0.0).step


def steps_of(last: Any) -> float:
    """The iterations of a fitted estimator, of all its subproblems; 0 where it tells none."""
    steps = getattr(last, "n_iter_", None)
    return 0.0 if steps is None else float(np.sum(steps))


def work_of(last: Any, samples: int, features: float) -> Work:
    """The work of a fitted estimator, by its iterations; linear ones read the rows in each of them."""
    steps = steps_of(last)
    if hasattr(last, "kernel"):
        return kernel_work(float(np.sum(getattr(last, "n_support_", 0))), samples, features, steps)
    machines = np.atleast_2d(getattr(last, "coef_", 0.0)).shape[0]
    row = machines * samples * features
    return Work(3.0 * row, steps, 1.0 + row)
