"""The same problem with another C: what does not depend on C (norms, kernel entries) is shared and not computed again."""

from __future__ import annotations

import copy
import math

from gapless.data.rows import frozen
from gapless.data.scale import check_cost
from gapless.errors import UnsupportedError
from gapless.problems.conventions import unit_cost
from gapless.problems.problem import Problem


def why_no_c(problem: Problem) -> str | None:
    """Why a problem has no C that could be varied, as a sentence; None where it has one."""
    if problem.is_nu:
        return "A ν-form has no C: ν takes its place."
    if problem.is_hard:
        return "A hard margin is the limit C = inf, and has no finite C; state the problem with one, such as C=1."
    if problem.convention not in ("C", "C_mean"):
        return (
            f"This problem is stated by {problem.convention}, whose λ is in place of C (Problem's table says what C it amounts to); "
            "state it by C or C_mean."
        )
    return None


def first_of_chain(problem: Problem) -> Problem:
    """The problem, for a way from C to C by :func:`with_c`: what a solver makes of the samples stays for the problems after it (``Problem.left``)."""
    other = copy.copy(problem)
    other.__dict__["_left"] = {}
    return other


def with_c(problem: Problem, C: float) -> Problem:
    """The problem with its C (or C_mean) replaced, all else the same.

    >>> import numpy as np
    >>> problem = Problem([[0.0], [1.0]], [0, 1], C=2.0, sample_weight=[1.0, 3.0])
    >>> with_c(problem, 0.5).cost, with_c(problem, 0.5)
    (array([0.5, 1.5]), Problem(2 x 1 dense, hinge, linear, C=0.5, intercept='free'))
    """
    reason = why_no_c(problem)
    if reason is not None:
        raise UnsupportedError(reason)
    # The costs are products of a unit and a weight. The quotient is rounded, so that the new costs are within 3 units in the last place.
    cost = unit_cost(problem.convention, C, problem.total_weight) * (problem.cost / problem.unit_cost)
    check_cost(cost)
    other = copy.copy(problem)
    other.__dict__.pop("dual", None)
    other.__dict__.update(cost=frozen(cost), regularization=float(C), is_hard=bool(cost.max() == math.inf))
    return other
