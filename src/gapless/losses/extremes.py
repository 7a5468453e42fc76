"""Extremes over all samples of a dual box, compiled: each of the vectors that NumPy needs in between costs as much as all that is asked for."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def largest_scale(box, beta):  # type: ignore[no-untyped-def]
    """The largest s with sβ in its box."""
    largest = np.inf
    for i in range(len(beta)):
        if beta[i] > 0.0:
            largest = min(largest, box.upper[i] / beta[i])
        elif beta[i] < 0.0:
            largest = min(largest, box.lower[i] / beta[i])
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def steepest(box, beta, f, groups, count):  # type: ignore[no-untyped-def]
    """Of each group the largest slope of D among βᵢ that can rise, and the least among those that can fall; |β| has its kink at zero."""
    ends = np.empty((count, 2))
    ends[:, 0], ends[:, 1] = -np.inf, np.inf
    largest = 0.0
    for i in range(len(beta)):
        largest = max(largest, abs(beta[i]))
    for i in range(len(beta)):
        g, b = groups[i], beta[i]
        slope = box.p[i] - box.d[i] * b - f[i]
        width = box.upper[i] - box.lower[i]
        slack = 1e-12 * (width if width < np.inf else largest)  # at a bound to rounding, as the certificate has it
        if not b >= box.upper[i] - slack:
            ends[g, 0] = max(ends[g, 0], slope - (box.epsilon[i] if b >= 0.0 else -box.epsilon[i]))
        if not b <= box.lower[i] + slack:
            ends[g, 1] = min(ends[g, 1], slope - (box.epsilon[i] if b > 0.0 else -box.epsilon[i]))
    return ends
