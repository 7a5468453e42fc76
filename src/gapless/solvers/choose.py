"""``solver="auto"``: which algorithm a problem gets.

- Linear, intercept regularised or absent: ``sdca``, whose step costs one row, whatever n is.
- Everything else (kernels, or a free intercept, which couples the dual variables): ``smo``.
"""

from __future__ import annotations

from gapless.problem import Problem


def choose(problem: Problem) -> str:
    """The name of the solver that ``auto`` stands for."""
    return "sdca" if problem.is_linear and problem.intercept != "free" else "smo"
