"""Factors for the classes that balance the flows between them: each class sends to the others as much as it receives.

Samples of class l send a_lm ≥ 0 to class m. There are factors x > 0, one a class and unique up to a common factor, with
x_l Σ_m a_lm = Σ_m x_m a_ml for every l: the stationary weights of a Markov chain with the rates a. Grassmann, Taksar & Heyman's elimination
("Regenerative analysis and steady state distributions for Markov chains", Operations Research 33, 1985) finds them by sums, products and
quotients of positive numbers, so that each factor is known to a relative error.

The size of that error follows from the Markov chain tree theorem: x_l is proportional to a sum of products of k − 1 rates, so that a relative
error ε of the rates changes the factors, up to a common one, by at most 2(k − 1)ε. A step of the elimination leaves the rates of a smaller chain,
each rounded k + 4 times at most; k steps and the way back make less than (k + 2)³ roundings.
"""

from __future__ import annotations

import numpy as np

from gapless.proof.outward import share

# Smaller factors are refused. Products of two factors and a rate occur on the way: with 1e-100 they stay far above 1e-307, where digits are lost.
_LEAST_FACTOR = 1e-100


def balancing_factors(rates: np.ndarray, error: float) -> tuple[np.ndarray, float] | None:
    """(the factors x, of which the largest is 1; their relative error), for rates known to the relative ``error``; None where a factor is too small.

    All rates beside the diagonal are positive; the diagonal is ignored.

    >>> import numpy as np
    >>> x, error = balancing_factors(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [1.0, 3.0, 0.0]]), 0.0)
    >>> x.round(4), error < 1e-13
    (array([0.5, 1. , 0.5]), True)
    """
    k = len(rates)
    A = np.array(rates, dtype=np.float64)
    np.fill_diagonal(A, 0.0)
    for j in range(k - 1, 0, -1):
        A[:j, j] /= A[j, :j].sum()
        A[:j, :j] += np.outer(A[:j, j], A[j, :j])
        np.fill_diagonal(A, 0.0)
    x = np.ones(k)
    for j in range(1, k):
        x[j] = x[:j] @ A[:j, j]
        x[: j + 1] /= x[: j + 1].max()
    if not x.min() > _LEAST_FACTOR:
        return None
    return x, 2.0 * (k - 1) * error + share((k + 2) ** 3)
