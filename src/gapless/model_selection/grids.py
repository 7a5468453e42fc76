"""Grids that are chosen from the data: γ from distances, C from the variance of the kernel's features, ε from the spread of y.

Each grid is in the units of its data: where X, the kernel or y is multiplied by a number, the grid changes with it, and the same models are tried.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel

from gapless.data.products import row_products
from gapless.kernels import Chi2, Kernel, Polynomial
from gapless.kernels.dot import DotProduct
from gapless.kernels.pairwise import as_dense, squared_norms
from gapless.kernels.stationary import Stationary
from gapless.losses.base import weighted_quantile

# The most samples whose distances and kernel entries are looked at: their 131,000 pairs give quantiles to a few percent, in some 20 ms.
PAIRED = 512
# C times the variance of the features. At its low end, with losses of about one for each sample, w hardly leaves zero; at its high end most data sets
# have no errors left, or fit their noise. A grid whose best is at its end is widened.
COST_RANGE = (1e-2, 1e4)
# γ reaches from a tenth of 1/q90 to ten times 1/q10, q10 and q90 being quantiles of what γ multiplies: from kernels that are nearly straight on the
# data to kernels that see the nearest samples alone. Between 1/q90 and 1/q10 lies what kernlab's rule (sigest) draws from.
_QUANTILES = (0.9, 0.1)
_BEYOND = 10.0
# ε in mean absolute deviations of y: from a tube that few samples are inside of to one that leaves the large errors of noisy targets alone.
EPSILON_RANGE = (0.05, 0.8)


def representatives(X: Any, weight: np.ndarray, most: int = PAIRED) -> tuple[np.ndarray, np.ndarray]:
    """(rows, weights): the samples of positive weight, or ``most`` of them where there are more.

    The samples are put in order along one direction, drawn with a fixed seed, and taken at equal steps of their weight. So the choice depends neither
    on their order nor on their scale, and weight 2 counts as the row twice. Samples that are not a matrix are drawn with a fixed seed.

    >>> import numpy as np
    >>> from gapless.model_selection.grids import representatives
    >>> rows, weights = representatives(np.arange(10.0)[:, None], np.ones(10), most=3)
    >>> sorted(rows.tolist()), weights.tolist()
    ([1, 4, 8], [1.0, 1.0, 1.0])
    """
    rows = np.flatnonzero(weight > 0)
    if len(rows) <= most:
        return rows, weight[rows]
    rng = np.random.default_rng(0)
    if getattr(X, "ndim", 1) == 2:
        places = row_products(X, rng.standard_normal(X.shape[1]))[rows]
        rows = rows[np.argsort(places, kind="stable")]
    else:
        rows = rng.permutation(rows)
    reached = np.cumsum(weight[rows])
    steps = (np.arange(most) + 0.5) / most * reached[-1]
    return rows[np.searchsorted(reached, steps)], np.ones(most)


@singledispatch
def spans(kernel: Kernel, X: Any) -> np.ndarray | None:
    """What γ multiplies in a kernel, for all pairs of samples; None where that is not known."""
    return None


@spans.register
def _(kernel: Stationary, X: Any) -> np.ndarray | None:
    return kernel.distances(X, X)


@spans.register
def _(kernel: Chi2, X: Any) -> np.ndarray | None:
    return -additive_chi2_kernel(as_dense(X))


@spans.register
def _(kernel: DotProduct, X: Any) -> np.ndarray | None:
    # Inner products of either sign may all be small; γ‖x‖‖z‖ bounds what is added to the constant term.
    norms = np.sqrt(squared_norms(X))
    return norms[:, None] * norms


def gamma_grid(kernel: Kernel, X: Any, weight: np.ndarray, count: int) -> np.ndarray | None:
    """``count`` values of γ for a kernel on these samples, ascending; None where it is not known what γ multiplies.

    γ of a polynomial without a constant term only multiplies the kernel, as C does: then there is one value.
    """
    found = spans(kernel, X)
    if found is None:
        return None
    if isinstance(kernel, Polynomial) and kernel.coef0 == 0:
        count = 1
    apart = found > 0  # the distance of a sample to itself, or to an equal one, says nothing
    values, weights = found[apart], np.outer(weight, weight)[apart]
    if not len(values):
        return spaced(1 / _BEYOND, _BEYOND, count)
    far, near = (quantile(values, weights, share) for share in _QUANTILES)
    return spaced(1 / (_BEYOND * far), _BEYOND / near, count)


def cost_grid(gram: np.ndarray, weight: np.ndarray, count: int, unit: float = 1.0, power: float = 1.0) -> np.ndarray:
    """``count`` values of C, ascending: those for which C · variance^power / unit spans ``COST_RANGE``.

    The variance is that of the samples in the kernel's feature space, from their Gram matrix.
    """
    scale = unit / feature_variance(gram, weight) ** power
    return spaced(COST_RANGE[0] * scale, COST_RANGE[1] * scale, count)


def feature_variance(gram: np.ndarray, weight: np.ndarray) -> float:
    """The mean squared distance of the samples from their mean, in the feature space of a kernel; where it is zero, a positive number of its size.

    >>> import numpy as np
    >>> from gapless.model_selection.grids import feature_variance
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> feature_variance(np.outer(x, x), np.ones(4)), x.var()
    (1.25, np.float64(1.25))
    """
    share = weight / weight.sum()
    length = float(share @ np.abs(gram.diagonal()))
    variance = float(share @ gram.diagonal()) - float(share @ gram @ share)
    if variance > 1e-12 * length:  # otherwise the samples are equal up to rounding, or the kernel is no inner product
        return variance
    return length if length > 0 else 1.0


def epsilon_grid(y: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """``count`` values of ε for these targets, ascending."""
    spread = deviation(y, weight)
    return spaced(EPSILON_RANGE[0] * spread, EPSILON_RANGE[1] * spread, count)


def deviation(y: np.ndarray, weight: np.ndarray) -> float:
    """The mean absolute deviation of y from its median, which is in proportion to the loss of a constant model; 1 where y is constant."""
    found = float(weight @ np.abs(y - quantile(y, weight, 0.5)) / weight.sum())
    return found if found > 0 else 1.0


def quantile(values: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The smallest value that this share of the weight does not exceed."""
    return weighted_quantile(values, weight, -share * float(weight.sum()))[0]


def spaced(low: float, high: float, count: int) -> np.ndarray:
    """``count`` values from low to high with a constant ratio; a single one is in the middle."""
    return np.geomspace(low, high, count) if count > 1 else np.array([np.sqrt(low * high)])
