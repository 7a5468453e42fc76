"""Certified predictions: an interval that contains the decision value of the exact optimum.

P is 1-strongly convex in w, so that ‖w − w*‖ ≤ r with r from the gap (``Certificate.distance_bound``), and |⟨w − w*, φ(x)⟩| ≤ r √k(x, x). A
regularised intercept is one more coordinate of w. A free intercept minimises, for given decision values, a sum of convex functions of fᵢ + b: it
moves by no more than the fᵢ do, so that every optimal b lies within r max √k(xᵢ, xᵢ) of the interval of b that is best for w.
"""

from __future__ import annotations

import math

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate
from gapless.record import record


@record
class Reach:
    """Numbers of a certified solution that decision intervals are computed from, without its data: r, and the intervals of the optimal offsets."""

    distance: float
    offsets: np.ndarray  # (groups, 2): where the optimum's offsets lie
    shift: float  # s² of a regularised intercept, else 0

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> Reach:
        """The numbers of a problem and the certificate of its solution."""
        longest = 0.0
        if problem.intercept == "free":
            squares = problem.diagonal
            if not problem.cost.all():  # a sample without weight has no part in the choice of b
                squares = squares[problem.cost > 0]
            longest = math.sqrt(max(0.0, squares.max()))  # only an invalid kernel has negative squares
        return cls.around(certificate, longest, problem.shift)

    @classmethod
    def around(cls, certificate: Certificate, longest: float, shift: float = 0.0) -> Reach:
        """The numbers of a certificate, where ``longest`` is the largest √k(xᵢ, xᵢ) if the offsets are free, and 0 if not."""
        distance = certificate.distance_bound
        moved = distance * longest
        offsets = np.array([(low - moved, high + moved) for low, high in certificate.offset_intervals])
        return cls(distance, offsets, shift)

    def bounds(self, f: np.ndarray, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(low, high): bounds on f*(x) + b*, from f(x) = ⟨w, φ(x)⟩ without b and from k(x, x). In a ν-form b is the mean of two offsets."""
        low, high = bounds_of([self], f[:, None], square)
        return low[:, 0], high[:, 0]


def bounds_of(reaches: list[Reach], f: np.ndarray, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high): the intervals of several solutions of the same kind, a column of f for each."""
    slack = np.sqrt(square + reaches[0].shift)[:, None] * np.array([reach.distance for reach in reaches])
    low, high = np.array([reach.offsets.mean(axis=0) for reach in reaches]).T
    return f - slack + low, f + slack + high
