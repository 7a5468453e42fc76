"""An algorithm step by step, each step being the smallest one that the algorithm has: a coordinate, a pair, a sample, a pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from gapless.blas import one_blas_thread
from gapless.problems.problem import Problem
from gapless.proof.best import iterate_of
from gapless.proof.certificate import Iterate, Point, evaluate
from gapless.proof.kkt import at_bounds
from gapless.solvers import Solver
from gapless.solvers.base import QUANTUM, Budget, Outcome, Targets
from gapless.solvers.opening import as_start, covering_solver

_FOR_EVER = Targets(0.0, math.inf)  # no gap is small enough, so that the engine never stops by itself on account of tol


class Step:
    """Where an algorithm stands after a step, and what that step moved; :func:`steps` makes these objects.

    All values but ``t`` and ``iterations`` are computed when they are asked for, in the convention that the problem was stated in.

    Attributes
    ----------
    problem : Problem
        The problem that is being solved.
    t : int
        The steps so far; 0 is where the algorithm begins.
    iterations : float
        The work so far in the solver's own unit (``solver.unit``: epochs, pairs, …).

    Examples
    --------
    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [2.0]], [0, 1], lam_sum=1.0, intercept="none")
    >>> *_, last = gl.steps(problem, "coordinate_ascent", max_steps=4)
    >>> last.w.tolist(), last.gap
    ([1.0], 0.0)
    """

    def __init__(
        self,
        problem: Problem,
        t: int,
        iterations: float,
        point: Point,
        before: Point | None = None,
        visited: np.ndarray | None = None,
    ) -> None:
        self.problem, self.t, self.iterations = problem, t, iterations
        self._point, self._before, self._visited = point, before, visited

    @cached_property
    def _iterate(self) -> Iterate:
        return iterate_of(evaluate(self.problem, self._point))

    def _dual_variables(self, point: Point) -> np.ndarray:
        return iterate_of(evaluate(self.problem, point)).beta if point.beta is None else point.beta

    @cached_property
    def beta(self) -> np.ndarray:
        """The signed dual variables β of ½‖w‖² + Σ cᵢ ℓ; for a method without dual variables those that the loss suggests, −c ℓ′."""
        return self._dual_variables(self._point)

    @property
    def alpha(self) -> np.ndarray:
        """α as the dual of the stated problem has it: yᵢ βᵢ times the problem's scale; in a regression βᵢ times the scale."""
        signs = 1.0 if self.problem.classes is None else self.problem.y
        return self.problem.scale * signs * self.beta + 0.0  # adding 0 turns −0 into 0

    @property
    def w(self) -> np.ndarray | None:
        """The weights of a linear problem; None with a kernel."""
        return self._iterate.w

    @property
    def b(self) -> float:
        """The algorithm's own intercept; where the intercept is free and the algorithm has none, the best one for w."""
        return float(np.mean(self._iterate.offsets))

    @cached_property
    def moved(self) -> np.ndarray:
        """The samples whose dual variable the last step changed."""
        if self._before is None:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.beta != self._dual_variables(self._before))

    @property
    def visited(self) -> np.ndarray:
        """The samples that the last step looked at, whether they moved or not; where the method does not tell, the samples that moved."""
        return self.moved if self._visited is None else self._visited

    @property
    def clipped(self) -> dict[int, str]:
        """The visited samples that stand at a bound now, with that bound: ``"lower"`` (α = 0; in a regression β at its least) or ``"upper"``."""
        low, high = at_bounds(self.problem, self.beta)
        if self.problem.classes is not None:  # α of a negative sample rises as its β falls
            low, high = np.where(self.problem.y > 0, low, high), np.where(self.problem.y > 0, high, low)
        return {int(i): "lower" if low[i] else "upper" for i in self.visited if low[i] or high[i]}

    @property
    def primal(self) -> float:
        """P at the iterate."""
        return self.problem.scale * self._iterate.primal

    @property
    def dual(self) -> float:
        """D at the iterate: −∞ where the iterate is not feasible."""
        return self.problem.scale * self._iterate.dual

    @property
    def gap(self) -> float:
        """P − D of the iterate itself."""
        return self.primal - self.dual

    def __repr__(self) -> str:
        return f"Step({self.t}, primal={self.primal:.7g}, dual={self.dual:.7g}, moved={self.moved.tolist()[:8]})"


def steps(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    start: Any = None,
    random_state: int = 0,
    max_steps: int | None = None,
) -> Iterator[Step]:
    """Yield each iterate of a solver, from where the solver begins (``t`` = 0) on.

    One step is the least that a method does: a coordinate of ``sdca`` and ``coordinate_ascent``, a pair of ``smo``, a sample of ``sgd`` and
    ``pegasos``, a pass of ``subgradient`` and ``projected_gradient``. The loop ends when the caller leaves it, after ``max_steps``, or when the
    algorithm has nothing left to do. Only the last two points are kept in memory; ``list(steps(…))`` keeps all of them.

    Parameters
    ----------
    problem : Problem
        What to solve.
    solver : str or Solver, default "auto"
        A name (see :data:`gapless.solvers.SOLVERS`) or a solver with its options, such as ``gl.solvers.CoordinateAscent(sampling="cyclic")``.
    start : Result, Point or array of shape (n_samples,), default None
        Where to begin, as in :func:`~gapless.solve.solve`; None begins where the algorithm itself does.
    random_state : int, default 0
        The seed of the stochastic solvers: the same seed gives the same steps.
    max_steps : int, default None
        The most steps to take; None sets no bound, and a stochastic method may then never end by itself.

    Yields
    ------
    Step
        The state after each step.

    Examples
    --------
    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [2.0]], [0, 1], lam_sum=1.0, intercept="none")
    >>> for step in gl.steps(problem, gl.solvers.CoordinateAscent(sampling="cyclic"), max_steps=2):
    ...     print(step.t, step.alpha.tolist(), step.moved.tolist(), step.clipped, step.primal, step.dual)
    0 [0.0, 0.0] [] {} 2.0 0.0
    1 [1.0, 0.0] [0] {0: 'upper'} 0.5 0.5
    2 [1.0, 0.0] [] {1: 'lower'} 0.5 0.5
    """
    chosen = covering_solver(problem, solver)
    with one_blas_thread():  # not across a yield: what the caller does is the caller's
        engine = chosen.init(problem, as_start(problem, start), np.random.default_rng(random_state))
        point, iterations = engine.point(), 0.0
    yield Step(problem, 0, iterations, point)
    t = 0
    while max_steps is None or t < max_steps:
        with one_blas_thread():
            advance = engine.step(Budget(QUANTUM, engine.grain, math.inf), _FOR_EVER)
            before, point = point, engine.point()
        if advance.outcome is Outcome.STALLED and _is_same(before, point):
            return
        iterations += advance.iterations
        t += 1
        yield Step(problem, t, iterations, point, before, engine.visited)
        if advance.outcome is not Outcome.RUNNING:
            return


def _is_same(a: Point, b: Point) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("beta", "w", "b", "expansion"))
