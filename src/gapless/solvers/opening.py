"""The beginning of a solve: the solver that a caller asked for, and the point that it starts from."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from gapless.data import check_beta
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.problem import Problem
from gapless.proof.points import Point, check_point
from gapless.result import Result
from gapless.solvers import Solver, as_solver
from gapless.solvers.base import own_solver


def covering_solver(problem: Problem, solver: str | Solver, tol: float = 1e-6, max_time: float | None = None) -> Solver:
    """The named or given solver, if its theory covers the problem; otherwise an :class:`~gapless.errors.UnsupportedError` that says why not."""
    chosen = _choose(problem, solver, tol, max_time)
    reason = chosen.unsupported(problem)
    if reason is not None:
        raise UnsupportedError(reason)
    return chosen


def _choose(problem: Problem, solver: str | Solver, tol: float, max_time: float | None) -> Solver:
    own = own_solver(problem)
    if own is None:
        return as_solver(solver, problem, tol, max_time)
    if isinstance(solver, str) and solver == "auto":
        return own
    if isinstance(solver, type(own)):
        return solver
    raise UnsupportedError(
        f"solver must be 'auto' or a {type(own).__name__} for a {type(problem).__name__}, which no other solves; got {solver!r}."
    )


def as_start(problem: Problem, start: Any) -> Point | None:
    """The point to start from: for a result the last iterate of its algorithm; plain numbers are taken as β."""
    if start is None:
        return None
    if isinstance(start, (Result, Point)):
        return point_of(problem, getattr(start, "last", None) or start)
    return Point(beta=check_beta(start, problem.n_samples))


def point_of(problem: Problem, given: Result | Point) -> Point:
    """The point of a result or a point, whose arrays must have the shapes of the problem."""
    beta, w, expansion = given.beta, given.w, given.expansion
    n, d = problem.X.shape
    if any(v is not None and len(v) != n for v in (beta, expansion)) or (w is not None and len(w) != d):
        raise InvalidInputError(f"start must belong to a problem of {n} samples and {d} features.")
    return check_point(problem, Point(beta=beta, w=w, b=given.b, expansion=expansion))


def check_options(
    tol: float, max_iter: float | None, max_time: float | None, check_every: float | None, random_state: int
) -> None:
    """Refuse options of a solve that are none."""
    if not isinstance(tol, (float, Real)) or not tol >= 0:
        raise InvalidInputError(f"tol must be a number of at least 0; got {tol!r}.")
    for name, value in (("max_iter", max_iter), ("max_time", max_time), ("check_every", check_every)):
        if value is not None and not (isinstance(value, (float, Real)) and value > 0):
            raise InvalidInputError(f"{name} must be positive or None; got {value!r}.")
    if not (isinstance(random_state, Integral) and random_state >= 0):
        raise InvalidInputError(f"random_state must be a whole number of at least 0; got {random_state!r}.")
