"""An optimum of a ν-form that is zero: no gap is small relative to it, and the data's size takes its place."""

from __future__ import annotations

import math

import numpy as np

from gapless.kernels import Linear, Panels
from gapless.losses import Shortfall
from gapless.problems.problem import Problem
from gapless.proof.certificate import Certificate

# A w whose length is at most this share of the longest that the data allows counts as zero. The square of the share, 1e-12, is well above what the
# rounding of Kβ leaves of an optimum of zero (1e-16 times the square root of the number of samples), and well below what any tol distinguishes.
_NO_LENGTH = 1e-6


def vanishes(problem: Problem, certificate: Certificate, tol: float) -> bool:
    """Whether the optimum of a one-class machine or of a ν-SVC is proven to be zero (:func:`counts_as_zero`), and the KKT violation is within
    ``tol``.
    """  # fmt: skip
    return certificate.kkt_violation <= tol and counts_as_zero(problem, certificate.gap, certificate.dual)


def counts_as_zero(problem: Problem, gap: float, dual: float) -> bool:
    """Whether neither the gap nor −D is above ½ (1e-6·S·R)², in a one-class machine or a ν-SVC.

    The optimum is −½‖w*‖², zero where the origin lies within the data (one-class), or where the reduced hulls of the classes meet (ν-SVC); no gap is
    small relative to that. w* is a sum of samples whose coefficients add up to S = Σ|totals|, so that ‖w*‖ ≤ S·R, where R is the largest distance
    of a sample from the origin or, in a ν-SVC, which does not depend on where the origin is, from the samples' mean. Within the bound neither w nor
    w* is longer than a few millionths of the longest that they could be. An optimum that −D leaves away from zero has a relative gap, which counts.
    """
    if not _may_vanish(problem) or not math.isfinite(gap):
        return False
    size = _NO_LENGTH * float(np.abs(problem.totals).sum())
    used = problem.cost > 0
    squares = problem.diagonal[used]
    most = max(gap, -dual)
    if most > 2.0 * size**2 * float(squares.max()):  # no distance from the mean exceeds twice the longest sample
        return False
    if len(problem.totals) > 1:
        share = used / used.sum()
        f = problem.expand(share)
        squares = np.maximum(0.0, squares - 2.0 * f[used] + float(share @ f))
    return most <= 0.5 * size**2 * float(squares.max())


def zero_level(problem: Problem) -> float:
    """An absolute gap that surely counts as zero where −D is as small, with a distance in place of the R of :func:`counts_as_zero`; 0 elsewhere.

    Every sample is within 2R of every other, or of the origin within R, so that half the largest distance from the first sample is not above R.
    """
    if not _may_vanish(problem):
        return 0.0
    (used,) = np.nonzero(problem.cost > 0)
    squares = problem.diagonal[used]
    if len(problem.totals) > 1:
        squares = 0.25 * np.maximum(0.0, squares - 2.0 * _row(problem, used) + squares[0])
    size = _NO_LENGTH * float(np.abs(problem.totals).sum())
    return 0.5 * size**2 * float(squares.max())


def _row(problem: Problem, used: np.ndarray) -> np.ndarray:
    """The kernel entries of the first sample with all of these."""
    given = None if problem.kernel is None else problem.panels.given
    if given is not None:
        gram, places = given
        return gram[places[used[0]], places[used]]
    return Panels(problem.kernel or Linear(), problem.X, np.float64, used[:1]).apply(problem.X[used], np.ones(1))


def _may_vanish(problem: Problem) -> bool:
    """Whether zero may be the optimum: of the one-class machine and of a ν-SVC, while that of a ν-SVR is of the size of its targets."""
    return problem.is_nu and isinstance(problem.loss, Shortfall) and not problem.loss.target.any()
