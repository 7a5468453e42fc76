"""Certified predictions: an interval that contains the decision value of the exact optimum.

P is 1-strongly convex in w, so that ‖w − w*‖ ≤ r with r from the gap (``Certificate.distance_bound``), and |⟨w − w*, φ(x)⟩| ≤ r √k(x, x). A
regularised intercept is one more coordinate of w. A free one is, for given decision values, the minimiser of a sum of convex functions of fᵢ + b:
it moves by no more than the fᵢ do, so that every optimal b lies within r max √k(xᵢ, xᵢ) of the interval of b that is best for w.
"""

from __future__ import annotations

import math

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate
from gapless.record import record


@record
class Reach:
    """What an interval needs to know of a certified solution, without its data: r, the intervals of the offsets, and the spread of the samples."""

    distance: float
    offsets: np.ndarray  # (groups, 2): where the optimum's offsets lie
    shift: float  # s² of a regularised intercept, else 0

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> Reach:
        """From a problem and the certificate of its solution."""
        distance, moved = certificate.distance_bound, 0.0
        if problem.intercept == "free":
            squares = problem.diagonal
            if not problem.cost.all():  # a sample without weight moves nothing
                squares = squares[problem.cost > 0]
            moved = distance * math.sqrt(max(0.0, squares.max()))  # no kernel that is valid has a negative one
        offsets = np.array([(low - moved, high + moved) for low, high in certificate.offset_intervals])
        return cls(distance, offsets, problem.shift)

    def bounds(self, f: np.ndarray, square: np.ndarray) -> np.ndarray:
        """(n, 2): where f*(x) + b* lies, from f(x) = ⟨w, φ(x)⟩ without intercept and k(x, x). Of two offsets (a ν-form) their mean counts."""
        slack = self.distance * np.sqrt(square + self.shift)
        low, high = self.offsets.mean(axis=0)
        return np.column_stack([f - slack + low, f + slack + high])
