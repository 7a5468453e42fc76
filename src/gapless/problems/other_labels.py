"""Problems on the same samples with other labels, one against the rest for each class: what depends on the samples alone is computed once."""

from __future__ import annotations

from typing import Any

from gapless.problems.problem import Problem

# What a problem keeps that its labels, costs and loss have no part in.
_OF_SAMPLES = ("rows", "entry_work", "_squared_norms", "diagonal", "magnitudes", "largest")


class OtherLabels:
    """Problems of one fit, which have their samples, their kernel and their intercept in common.

    >>> same = OtherLabels()
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> first, second = (same.join(Problem(X, y)) for y in ([0, 1, 1], [1, 1, 0]))
    >>> second.magnitudes is first.magnitudes, second.y
    (True, array([ 1.,  1., -1.]))
    """

    def __init__(self) -> None:
        self._first: Problem | None = None

    def join(self, problem: Problem) -> Problem:
        """The problem, with what the first of its kind has found of the samples."""
        first = self._first
        if first is None:
            problem.__dict__["_choices"] = {}
            for name in _OF_SAMPLES:
                getattr(problem, name)
            self._first = problem
            return problem
        known = vars(first)
        problem.__dict__.update({name: known[name] for name in _OF_SAMPLES})
        if problem.total_weight == first.total_weight:  # a model of costs sees no other difference
            problem.__dict__["_choices"] = known["_choices"]
        return problem


def choices_of(problem: Problem) -> dict[Any, str] | None:
    """The solvers that were chosen for such problems, by what was asked; None where there are no others."""
    found: dict[Any, str] | None = vars(problem).get("_choices")
    return found
