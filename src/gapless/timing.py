"""Seconds that rank solvers the same way on the first run and on the second.

Time that only a first run takes says nothing about a solver: loading a module when it is first needed (the QP library takes longer than many a
solve), the first call of compiled code, starting the threads of a pool, and the values that a problem computes once and keeps (norms, bounds, a
table of kernel entries), which the first solver would pay for and the later ones would find. Therefore

- each solver first solves a few rows of the problem, before any clock runs (:func:`warm_up`);
- each timed solve gets a copy of the problem that has kept nothing, so that each solver pays for the values that it needs;
- short solves are repeated, in turns, and the fastest run of each solver counts: all runs of a solver do the same work, so whatever a slower run
  adds is the machine's (:func:`repeat`).
"""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gapless.errors import GaplessError, Interrupted
from gapless.problems.problem import Problem
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers import Solver

_T = TypeVar("_T")

# A warm-up solves this many rows of each class for this many iterations. Both are by hand: it only has to call every part of a solver's loop.
_FEW = 8
_FEW_ITERATIONS = 20
# A solve is repeated until its runs have taken this many seconds together: several times as long as another process may keep a core for itself.
_ENOUGH_SECONDS = 0.2
_MOST_RUNS = 7  # of one solver, by hand: repeating the shortest solves must not take longer than a person waits
# A solve that was ended from outside is not repeated: another run would end elsewhere, or nobody wants it.
_NOT_REPEATED = (Status.MAX_TIME, Status.CALLBACK, Status.INTERRUPTED)


def warm_up(problem: Problem, solvers: Iterable[Solver]) -> None:
    """Let each solver solve a few rows of a problem, and forget what comes out.

    A solver that fails here is passed over: its own solve, later, reports the reason.

    >>> import sys
    >>> import gapless as gl
    >>> warm_up(gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1]), [gl.solvers.QP()])
    >>> "qpsolvers" in sys.modules
    True
    """
    few = few_rows(problem)
    for solver in solvers:
        try:
            if few is not None and solver.unsupported(few) is None:
                solve(few, solver, tol=0.0, max_iter=_FEW_ITERATIONS)
        except Interrupted:
            raise KeyboardInterrupt from None  # the result that Interrupted carries is a model of the few rows: of no use to the caller
        except GaplessError:
            continue


def few_rows(problem: Problem) -> Problem | None:
    """The same problem on the first rows of each class; None for a kind of problem that one solver alone covers, so that no seconds are compared.

    >>> import gapless as gl
    >>> few_rows(gl.Problem([[float(i)] for i in range(100)], [i < 90 for i in range(100)], lam_mean=0.1))
    Problem(16 x 1 dense, hinge, linear, C=0.1, intercept='free')
    """
    if type(problem) is not Problem or problem.is_nu:
        return None
    counts = problem.cost > 0
    groups = [counts] if problem.classes is None else [counts & (problem.y < 0), counts & (problem.y > 0)]
    rows = np.concatenate([np.flatnonzero(group)[:_FEW] for group in groups])
    return Problem(
        problem.X[rows],
        problem.y[rows],
        loss=problem.loss,
        kernel=problem.kernel,
        C=problem.unit_cost,
        intercept=problem.intercept,
        intercept_scale=problem.intercept_scale,
    )


def fresh_solve(problem: Problem, solver: Solver, **options: Any) -> Result:
    """:func:`~gapless.solve.solve` on a copy of a problem that holds none of the values which the problem has computed and kept.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> result = fresh_solve(problem, gl.solvers.SMO(), tol=1e-6)
    >>> result.problem is problem, result.status.name
    (True, 'CONVERGED')
    """
    try:
        return replace(solve(_fresh(problem), solver, **options), problem=problem)
    except Interrupted as stop:
        raise Interrupted(replace(stop.result, problem=problem)) from None


def repeat(results: dict[str, Result], solvers: Mapping[str, Solver], *, callback: Any = None, **options: Any) -> None:
    """Repeat the solves that took a moment only, in turns; a faster run replaces the slower one in ``results``.

    The ``options`` are those of the first runs. Where the first runs had a callback, a silent one stands in for it, because certificates are due at
    other times with a callback than without one.
    """
    silent = None if callback is None else lambda progress: None
    spent = {label: result.seconds for label, result in results.items() if result.status not in _NOT_REPEATED}
    for _ in range(_MOST_RUNS - 1):
        for label in [label for label, seconds in spent.items() if seconds < _ENOUGH_SECONDS]:
            again = fresh_solve(results[label].problem, solvers[label], callback=silent, **options)
            spent[label] += again.seconds
            results[label] = min(results[label], again, key=lambda run: run.seconds)


def fastest(work: Callable[[], _T]) -> tuple[_T, float]:
    """(what ``work()`` returns, its seconds), where short work is repeated and its fastest run counts.

    >>> fastest(lambda: 6 * 7)[0]
    42
    """
    seconds: list[float] = []
    while not seconds or (len(seconds) < _MOST_RUNS and sum(seconds) < _ENOUGH_SECONDS):
        began = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - began)
    return found, min(seconds)


def _fresh(problem: Problem) -> Problem:
    """A copy of the problem without the values that it has computed and kept."""
    twin = copy.copy(problem)
    for name in list(vars(twin)):
        if isinstance(inspect.getattr_static(type(twin), name, None), cached_property):
            del twin.__dict__[name]
    return twin
