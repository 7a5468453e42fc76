"""The accuracy of the exact optimum of an SVC on test samples, shown in NumPy's long double from the definitions, with nothing of our proofs.

A tight fit gives a dual point. From it P and D are computed anew: P − D bounds the squared distance of its w from the optimum's, and so how far a
decision value can be from the optimum's. A sample counts as decided where that leaves no other sign.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

import gapless as gl

_TIGHT = 1e-9
_SECONDS = 60.0
_AT = 1e-9  # a variable that is nearer to a bound, as a share of C, is at it
_REFINEMENTS = 3


class Score(NamedTuple):
    """Between how many samples are right at the exact optimum; ``low == high`` where all are decided."""

    low: int
    high: int


def exact_score(X: np.ndarray, y: np.ndarray, test: np.ndarray, labels: np.ndarray, C: float, gamma: float) -> Score:
    """The number of test samples that the exact optimum of each pair of classes, and their votes, get right."""
    classes = np.unique(y)
    least, most = (np.zeros((len(test), len(classes)), dtype=int) for _ in range(2))
    for i, j in combinations(range(len(classes)), 2):
        own = np.isin(y, classes[[i, j]])
        low, high = _decision(X[own], np.where(y[own] == classes[j], 1.0, -1.0), test, C, gamma)
        least[:, j] += low > 0
        least[:, i] += high < 0
        most[:, j] += high > 0
        most[:, i] += low < 0
    place = np.searchsorted(classes, labels)
    own_low, own_high = least[np.arange(len(test)), place], most[np.arange(len(test)), place]
    right, possible = np.ones(len(test), dtype=bool), np.ones(len(test), dtype=bool)
    for k in range(len(classes)):  # of classes with as many votes the first one is the answer
        before, other = k < place, k != place
        right &= ~other | (own_low > most[:, k]) | ((own_low == most[:, k]) & ~before)
        possible &= ~other | (own_high > least[:, k]) | ((own_high == least[:, k]) & ~before)
    return Score(int(right.sum()), int(possible.sum()))


def _decision(X: np.ndarray, y: np.ndarray, test: np.ndarray, C: float, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on the decision values of the exact optimum of one pair of classes."""
    model = gl.SVC(C=C, gamma=gamma, tol=_TIGHT, max_time=_SECONDS).fit(X, y)
    beta = np.zeros(len(y), dtype=np.longdouble)
    beta[model.support_] = model.dual_coef_[0]
    bound = np.where(y > 0, C, -C)
    free = (np.abs(beta) > _AT * C) & (np.abs(beta) < (1 - _AT) * C)
    beta = np.where(free, beta, np.where(np.abs(beta) > 0.5 * C, bound, 0.0))
    K, b = _kernel(X, X, gamma), np.longdouble(model.intercept_[0])
    f = K @ beta
    for _ in range(_REFINEMENTS):  # Newton's method on the free variables, whose residuals are in long double
        n = free.sum()
        system = np.block([[K[np.ix_(free, free)], np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]]).astype(float)
        step = np.linalg.lstsq(system, np.append((y - f - b)[free], -beta.sum()).astype(float), rcond=None)[0]
        beta[free] += step[:-1]
        b += step[-1]
        f = K @ beta
    if (beta * bound < 0).any() or (np.abs(beta) > C).any():
        raise ValueError("The free variables of the fit are not those of the optimum.")
    square, margins = beta @ f, y * (f + b)
    dual = np.abs(beta).sum() - 0.5 * square
    # P of multiples of w and b: with the second one no free sample is short of its margin, by however little, which would count C times.
    multiples = [np.longdouble(1.0), 1.0 / margins[free].min(initial=1.0)]
    primal = min(0.5 * s**2 * square + C * np.maximum(0.0, 1.0 - s * margins).sum() for s in multiples)
    # ½‖w − w*‖² ≤ D* − D ≤ P − D; b and the optimum's differ by no more than decision values of training samples do, all of whose φ(x) have length 1.
    slack = 2.0 * np.sqrt(
        2.0 * (max(primal - dual, np.longdouble(0.0)) + 1e-17 * abs(primal) + np.abs(beta.sum()) * abs(b))
    )
    value = _kernel(test, X, gamma) @ beta + b
    return value - slack, value + slack


def _kernel(X: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    """exp(−γ‖x − z‖²) in long double, from differences."""
    X, Z = X.astype(np.longdouble), Z.astype(np.longdouble)
    distances = np.zeros((len(X), len(Z)), dtype=np.longdouble)
    for column in range(X.shape[1]):
        distances += (X[:, column, None] - Z[:, column]) ** 2
    return np.exp(-np.longdouble(gamma) * distances)
