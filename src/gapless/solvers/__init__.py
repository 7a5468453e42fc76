"""The solvers by their textbook names. A new solver is one file and one line here."""

from __future__ import annotations

from functools import cache

from gapless.errors import InvalidInputError
from gapless.problems.problem import Problem
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets
from gapless.solvers.choose import choose, expected_costs
from gapless.solvers.crammer_singer.solver import CrammerSingerDual
from gapless.solvers.interior_point.solver import InteriorPoint
from gapless.solvers.l1.solver import L1CoordinateDescent
from gapless.solvers.newton.multinomial_newton import MultinomialNewton
from gapless.solvers.newton.newton import Newton
from gapless.solvers.newton.smoothed_newton import SmoothedNewton
from gapless.solvers.sdca.solver import SDCA
from gapless.solvers.smo.solver import SMO
from gapless.solvers.textbook.coordinate_ascent import CoordinateAscent
from gapless.solvers.textbook.pegasos import Pegasos
from gapless.solvers.textbook.projected_gradient import ProjectedGradient
from gapless.solvers.textbook.qp import QP
from gapless.solvers.textbook.sgd import SGD
from gapless.solvers.textbook.subgradient import Subgradient

__all__ = [
    "QP",
    "SDCA",
    "SGD",
    "SMO",
    "SOLVERS",
    "Advance",
    "Budget",
    "CoordinateAscent",
    "CrammerSingerDual",
    "Engine",
    "InteriorPoint",
    "L1CoordinateDescent",
    "MultinomialNewton",
    "Newton",
    "Outcome",
    "Pegasos",
    "ProjectedGradient",
    "SmoothedNewton",
    "Solver",
    "Subgradient",
    "Targets",
    "as_solver",
    "expected_costs",
]

SOLVERS: dict[str, type[Solver]] = {
    cls.name: cls
    for cls in (
        Subgradient,
        SGD,
        Pegasos,
        ProjectedGradient,
        CoordinateAscent,
        SDCA,
        InteriorPoint,
        Newton,
        SmoothedNewton,
        SMO,
        QP,
    )
}
"""The class of each solver, by the name that ``solve``, ``compare`` and the estimators take; a solver that is added here is known to all of them."""


def as_solver(solver: str | Solver, problem: Problem, tol: float = 1e-6, max_time: float | None = None) -> Solver:
    """A solver by its name, with its default options, or the solver itself; ``"auto"`` picks one for the problem, the gap and the time."""
    if isinstance(solver, Solver):
        return solver
    name = choose(problem, tol, max_time) if isinstance(solver, str) and solver == "auto" else solver
    if not isinstance(name, str) or name not in SOLVERS:
        raise InvalidInputError(f"solver must be a Solver or one of auto, {', '.join(SOLVERS)}; got {solver!r}.")
    return _default(SOLVERS[name])


@cache
def _default(kind: type[Solver]) -> Solver:
    """A solver with its default options, which nothing can write to."""
    return kind()
