"""An optimum of a ν-form that is zero: no gap is small relative to it, and the data's size takes its place."""

from __future__ import annotations

import math

import numpy as np

from gapless.losses import Shortfall
from gapless.problems.nu import NuProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate

# A w counts as zero where its length is at most a share of S·R, within these bounds: a tenth of tol. Below the least share the rounding of Kβ hides
# an optimum of zero; the square of the largest one, 1e-8, is well below what a tol of 1e-3, the estimators' own, distinguishes.
_LEAST, _PART, _MOST = 1e-6, 0.1, 1e-4


def vanishes(problem: Problem, certificate: Certificate, tol: float) -> bool:
    """Whether the optimum of a one-class machine or of a ν-SVC is proven to be zero (:func:`counts_as_zero`), and the KKT violation is within
    ``tol``.
    """  # fmt: skip
    return certificate.kkt_violation <= tol and counts_as_zero(problem, certificate.gap, certificate.dual, tol)


def counts_as_zero(problem: Problem, gap: float, dual: float, tol: float) -> bool:
    """Whether neither the gap nor −D is above :func:`zero_level`. An optimum that −D leaves away from zero has a relative gap, which counts.

    So has an optimum that is proven to be below zero, since some P is, unless it is so close to zero that rounding may hide it.
    """
    if not math.isfinite(gap):
        return False
    level = zero_level(problem, tol) if gap >= -dual else zero_scale(problem) * _LEAST**2
    return max(gap, -dual) <= level


def zero_level(problem: Problem, tol: float) -> float:
    """The absolute gap ½ (share·S·R)² that counts as zero where −D is as small, in a one-class machine or a ν-SVC; 0 elsewhere.

    The optimum is −½‖w*‖², zero where the origin lies within the data (one-class), or where the reduced hulls of the classes meet (ν-SVC); no gap is
    small relative to that. w* is a sum of samples whose coefficients add up to S = Σ|totals|, so that ‖w*‖ is about S·R at most, where R is the root
    of the mean squared distance of the samples from the origin or, in a ν-SVC, which does not depend on where the origin is, from their mean. Within
    the bound both w and w* are shorter than ``share`` of that: a tenth of ``tol``, but at least 1e-6 and at most 1e-4.
    """
    return zero_scale(problem) * zero_share(tol) ** 2


def zero_share(tol: float) -> float:
    """The share of S·R up to which a length counts as zero."""
    return min(max(_PART * tol, _LEAST), _MOST)


def zero_scale(problem: Problem) -> float:
    """½ (S·R)² of a one-class machine or a ν-SVC; 0 of other problems, whose optimum is not zero."""
    if not _may_vanish(problem):
        return 0.0
    assert isinstance(problem, NuProblem)
    return 0.5 * float(np.abs(problem.totals).sum()) ** 2 * problem.mean_square


def _may_vanish(problem: Problem) -> bool:
    """Whether zero may be the optimum: of the one-class machine and of a ν-SVC, while that of a ν-SVR is of the size of its targets."""
    return isinstance(problem, NuProblem) and isinstance(problem.loss, Shortfall) and not problem.loss.target.any()
