"""Small subproblems in stages: pairs first, a second-order method where pairs stop paying, and pairs again to finish.

Features of very different scales make a dual that pairs descend slowly: breast cancer as it is takes a linear SVC millions of them. A kernel of few
samples is a linear model on few features, whatever it is: the samples' own, or the rows of a factor of their Gram matrix. There an interior point
takes some twenty steps. Its β is a dual point of the problem itself, from which pairs go on, mostly by none, and which the kernel itself certifies.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf

from gapless.errors import GaplessError, Interrupted
from gapless.kernels import Linear
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point, is_valid
from gapless.record import changed
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers import InteriorPoint, Solver
from gapless.trace import Trace

_UNDONE = (Status.MAX_ITER, Status.STALLED)  # pairs that end so leave something to do
_PAIRS = 20  # times the samples: where pairs pay, most are done by then
SMALL = 2000
"""Samples up to which a factor of their Gram matrix takes a moment."""
_WIDE = 500  # features from which on a step of the second-order method does not
# Nanoseconds, roughly: a sample in a pair; and of an interior point its steps, the entries of a row in one, and one multiplication of matrices.
_SAMPLE, _STEPS, _STEP, _ENTRY, _FLOP = 2.0, 30, 1e5, 1.6, 0.05


def solve_in_stages(problem: Problem, pairs: Solver, **options: Any) -> Result:
    """Solve by pairs, and where these take long by way of features; ``options`` are those of :func:`gapless.solve`.

    Pairs go on until they have taken as long as the second-order method is expected to: whichever is the faster, twice its time is never exceeded
    by much.
    """
    n, max_iter = problem.n_samples, options["max_iter"]
    if problem.is_hard or problem.is_nu or (max_iter is not None and max_iter <= _PAIRS * n):
        return solve(problem, pairs, **options)
    began = time.perf_counter()
    first = solve(problem, pairs, **{**options, "max_iter": _PAIRS * n})
    if first.status not in _UNDONE:
        return first
    more = _cost(problem) / (_SAMPLE * n) - _PAIRS * n
    if more > 0 and first.status is Status.MAX_ITER:
        left = math.inf if max_iter is None else max_iter - first.iterations
        first = _after(
            first, problem, pairs, began, options, max_iter=None if min(more, left) == math.inf else min(more, left)
        )
        if first.status not in _UNDONE or (more >= left and first.status is Status.MAX_ITER):
            return first
    beta = first.beta
    try:
        features = features_of(problem)
        if features is not None and min(features.shape) <= _WIDE:
            beta = _by_features(problem, features, **_rest(options, began))
    except Interrupted:
        raise Interrupted(changed(first, status=Status.INTERRUPTED)) from None
    except GaplessError:  # numbers that its features do not hold: pairs need none
        pass
    left = None if max_iter is None else max(1.0, max_iter - first.iterations)
    return _after(first, problem, pairs, began, options, start=Point(beta=beta), max_iter=left)


def _after(
    first: Result, problem: Problem, pairs: Solver, began: float, options: dict[str, Any], **others: Any
) -> Result:
    """Go on by pairs, from where the first solve ended unless told otherwise: one result, with the history of both."""
    last = solve(problem, pairs, **{**options, "start": first, **_rest(options, began), **others})
    return changed(
        last,
        iterations=first.iterations + last.iterations,
        seconds=time.perf_counter() - began,
        trace=_joined(first, last),
    )


def _cost(problem: Problem) -> float:
    """What the second-order method is expected to take, on as many features as a factor may have; infinitely long on more than it takes."""
    n, (kernel, X) = problem.n_samples, problem.formula
    # Fewer samples than features are solved in as many coordinates as samples.
    d = min(X.shape) if kernel is None or isinstance(kernel, Linear) else min(n, _WIDE)
    if d > _WIDE or not is_valid(problem):
        return math.inf
    return _STEPS * (_STEP + n * d * (_ENTRY + _FLOP * d) + _FLOP * d**3)


def _rest(options: dict[str, Any], began: float) -> dict[str, Any]:
    """The options of a further stage, with what is left of ``max_time``."""
    left = options["max_time"]
    return {"max_time": left if left is None else max(1e-3, left - (time.perf_counter() - began))} | {
        name: options[name] for name in ("tol", "kkt_tol", "random_state", "callback")
    }


def _by_features(problem: Problem, features: Any, **options: Any) -> np.ndarray:
    """β of the same problem on features."""
    linear = Problem(
        features, problem.y, loss=problem.loss, C=1.0, sample_weight=problem.cost, intercept=problem.intercept,
        intercept_scale=problem.intercept_scale,
    )  # fmt: skip
    return solve(linear, InteriorPoint(), in_samples=True, **options).certified.beta


def features_of(problem: Problem) -> Any:
    """Rows whose products are the kernel's: the samples themselves, or of another kernel those of a triangular factor of its Gram matrix."""
    kernel, X = problem.formula
    if kernel is None or isinstance(kernel, Linear):
        return X
    if not is_valid(problem):
        return None
    K = np.asfortranarray(kernel(X, X))
    scale = np.sqrt(K.diagonal())
    scale[scale == 0] = 1.0
    K /= scale[:, None] * scale  # samples of very different sizes keep their own digits
    factor, order, rank, _ = dpstrf(K, lower=1, tol=len(K) * np.finfo(float).eps)
    rows = np.empty((len(K), rank))
    rows[order - 1] = np.tril(factor)[:, :rank]
    return np.ascontiguousarray(rows * scale[:, None])


def _joined(first: Result, last: Result) -> Trace:
    """The history of both."""
    a, b = first.trace, last.trace
    return Trace(
        unit=a.unit,
        iterations=[*a.iterations, *(first.iterations + each for each in b.iterations)],
        seconds=[*a.seconds, *(first.seconds + each for each in b.seconds)],
        primal=[*a.primal, *b.primal],
        dual=[*a.dual, *b.dual],
        upper=[*a.upper, *np.minimum(a.upper[-1], b.upper).tolist()],
        lower=[*a.lower, *np.maximum(a.lower[-1], b.lower).tolist()],
    )
