"""The fewest models along C that guarantee a gap everywhere: each step is as long as its proof allows."""

from __future__ import annotations

import math
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

from gapless.blas import one_blas_thread
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.path.models import CPath
from gapless.path.numbers import node_of, segment_of, zero_node
from gapless.path.segment import Node, Segment
from gapless.problems.along_c import why_no_c, with_c
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point, evaluate, is_valid, middles
from gapless.record import record
from gapless.result import Result
from gapless.solve import solve
from gapless.solvers import Solver

# The models are solved to this share of tol. The gap between two models depends on the square root of their own: 1e-2 leaves a tenth.
_MODEL_SHARE = 1e-2
# A step is long enough where its gap is this share of tol or more; a try aims at _AIM of it.
_LONG_ENOUGH, _AIM = 0.85, 0.94
_TRIES = 6  # solves for one step, after which the longest one that is proven is taken
_FIRST_STEP = math.log(4.0)
_LONGEST = 6.0  # the most that a step is stretched by from one try to the next
_WORTH = 0.1  # of log C: multiples of the first model are used where they reach as far down; the first try of a step is not shorter either
_SHORTEST = 1e-3  # of log C: where not even such a step is proven, the models themselves are not precise enough


@one_blas_thread()
def C_path(
    problem: Problem,
    C_min: float = 1e-3,
    C_max: float = 1e3,
    tol: float = 1e-2,
    *,
    solver: str | Solver = "auto",
    random_state: int = 0,
) -> CPath:
    r"""The models along C that prove a relative duality gap of at most ``tol`` for every C of an interval, not only at the models.

    Between two models the path takes their mixture; both bounds on the optimum are then quadratic functions of C, whose largest gap needs no grid
    (the page "Paths along C" of the guide has the proof). Each model is solved from the one before, as far away as ``tol`` allows.

    Parameters
    ----------
    problem : Problem
        What to solve, stated by ``C`` or ``C_mean``; its own value of it plays no part. Linear or with a kernel, any loss, any intercept.
    C_min, C_max : float, default 1e-3 and 1e3
        The interval, in the problem's own convention.
    tol : float, default 1e-2
        The relative duality gap (P − D)/P that is to hold for every C of the interval.
    solver : str or Solver, default "auto"
        What each model is solved by, as in :func:`gapless.solve`.
    random_state : int, default 0
        Seed of the stochastic solvers.

    Returns
    -------
    CPath
        The models, ``gap_at(C)``, ``model_at(C)`` and ``worst_gap``; ``len(path)`` says how many models guarantee ``tol``. Where a solve could not
        reach what the path needs (``path.proven`` is False), ``worst_gap`` is what the models do guarantee.

    Examples
    --------
    >>> import gapless as gl
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = gl.C_path(gl.Problem(X, y == 1, kernel=gl.kernels.RBF(gamma=0.5)))
    >>> len(path), path.worst_gap <= 1e-2
    (17, True)
    >>> model = path.model_at(7.0)
    >>> gl.solve(model.problem, tol=1e-9).certificate.dual >= (1 - path.gap_at(7.0)) * model.primal
    True
    """
    _check(problem, C_min, C_max, tol)
    began = perf_counter()
    search = _Search(problem, float(C_min), float(C_max), float(tol), solver, random_state)
    steps = [search.next(search.zero)]
    while search.C_max > steps[-1].right.C:
        steps.append(search.next(steps[-1].right))
    return CPath(
        C_min=search.C_min,
        C_max=search.C_max,
        tol=search.tol,
        results=tuple(step.right.result for step in steps if step.right.result is not None),
        worst_gap=max(step.gap for step in steps),
        solves=search.solves,
        seconds=perf_counter() - began,
        segments=tuple(step.segment for step in steps),
        zero_offset=search.zero_offset,
    )


@record
class _Model:
    """A solved model with the numbers that it proves; the zero of C = 0 has no result."""

    node: Node
    result: Result | None

    @property
    def C(self) -> float:
        return self.node.C

    @property
    def gap(self) -> float:
        """The relative gap of the model itself."""
        return 0.0 if self.result is None else self.result.certificate.relative_gap


@record
class _Step:
    """A model to the right of another one, with the bounds between them and the largest relative gap there."""

    right: _Model
    segment: Segment
    gap: float


class _Search:
    """Looks for the longest steps; models that were solved too far away are kept for the steps to come."""

    def __init__(
        self, problem: Problem, C_min: float, C_max: float, tol: float, solver: str | Solver, random_state: int
    ) -> None:
        self.problem, self.C_min, self.C_max, self.tol = with_c(problem, C_min), C_min, C_max, tol
        self.options: dict[str, Any] = {"solver": solver, "tol": _MODEL_SHARE * tol, "random_state": random_state}
        primal, _ = evaluate(self.problem, Point())
        self.zero = _Model(zero_node(self.problem, primal), None)
        self.zero_offset = float(middles(primal.offset_intervals)[0])
        self.solved: dict[float, _Model] = {}
        self.solves, self.length = 0, _FIRST_STEP

    def next(self, left: _Model) -> _Step:
        """The longest step to the right of a model that a few tries find: its gap is proven to be at most tol."""
        begin = max(left.C, self.C_min)
        end = math.log(self.C_max / begin)
        proven: _Step | None = None
        low, high, length = 0.0, math.inf, min(self.length, end)
        for tries in count(1):
            if left.result is None and length < _WORTH:
                length = 0.0  # the first model is then the one at C_min
            step = self.step(left, self.C_max if length >= end else begin * math.exp(length))
            if step.gap <= self.tol:
                proven, low = step, length
                if length in (0.0, end) or step.gap >= _LONG_ENOUGH * self.tol:
                    break
            else:
                high = length
                if proven is None and (length <= _SHORTEST or max(left.gap, step.right.gap) > 0.5 * self.tol):
                    proven, low = step, length  # the models are not precise enough to prove tol, however near they are
                    break
            if proven is not None and tries >= _TRIES:
                break
            # The bend κ, and with it the gap, grows about with the square of a short step.
            length *= min(_LONGEST, max(0.1, math.sqrt(_AIM * self.tol / max(step.gap, 1e-300))))
            if high < math.inf:
                margin = 0.15 * (high - low)
                length = min(max(length, low + margin), high - margin)
            length = min(length, end)
        assert proven is not None
        self.length = max(low, _WORTH)
        return proven

    def step(self, left: _Model, C: float) -> _Step:
        """The step from a model to the model at C."""
        right = self.model(left, C)
        assert right.result is not None
        segment = segment_of(left.result, right.result, (left.node, right.node))
        return _Step(right, segment, segment.worst_gap(max(left.C, self.C_min), C))

    def model(self, left: _Model, C: float) -> _Model:
        """The model at C, solved from the nearest one: its β, scaled by the ratio of both C, is feasible."""
        if C not in self.solved:
            known = [each for each in (left, *self.solved.values()) if each.result is not None]
            near = min(known, key=lambda each: abs(math.log(each.C / C)), default=None)
            start = None
            if near is not None:
                assert near.result is not None and near.result.certificate.point is not None
                start = near.result.certificate.point.beta * (C / near.C)
            problem = with_c(self.problem if near is None else near.result.problem, C)  # type: ignore[union-attr]
            result = solve(problem, start=start, **self.options)
            self.solved = {place: each for place, each in self.solved.items() if place > left.C}
            self.solved[C] = _Model(node_of(result), result)
            self.solves += 1
        return self.solved[C]


def _check(problem: Problem, C_min: Any, C_max: Any, tol: Any) -> None:
    for name, value in (("C_min", C_min), ("C_max", C_max)):
        if not (isinstance(value, (int, float, np.number)) and 0 < value < math.inf):
            raise InvalidInputError(f"{name} must be a positive number; got {value!r}.")
    if C_min > C_max:
        raise InvalidInputError(f"C_min must be at most C_max; got C_min={C_min:g} and C_max={C_max:g}.")
    if not (isinstance(tol, (int, float, np.number)) and 0 < tol < 1):
        raise InvalidInputError(f"tol must be between 0 and 1; got {tol!r}.")
    reason = why_no_c(problem)
    if reason is not None:
        raise UnsupportedError(reason)
    if evaluate.dispatch(type(problem)) is not evaluate.dispatch(Problem):
        raise UnsupportedError(
            "C_path takes a problem with ½‖w‖² and one decision value for each sample: two classes or a regression."
        )
    if not is_valid(problem):
        raise UnsupportedError(
            "C_path needs a positive semi-definite kernel: without one no dual value bounds the optimum."
        )
