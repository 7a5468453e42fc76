"""Small subproblems in stages: pairs first, a second-order method where pairs stop paying, and pairs again to finish.

Features of very different scales make a dual that pairs descend slowly: breast cancer as it is takes a linear SVC millions of them, and so does a
ν-SVC of classes that nearly meet. An interior point takes some twenty steps, on the features of a linear kernel where they are few, or else on the
Gram matrix. Its β is a dual point of the problem itself, from which pairs go on, mostly by none, and which the kernel itself certifies.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf

from gapless.errors import GaplessError, Interrupted
from gapless.kernels import Linear
from gapless.machine import one_blas_thread
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point, is_valid
from gapless.record import changed
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers import InteriorPoint, Solver
from gapless.trace import Trace

_UNDONE = (Status.MAX_ITER, Status.STALLED)  # pairs that end so leave something to do
PAIRS = 20  # pairs for each sample before another method is thought of: most fits for which pairs are the right method are done by then
SMALL = 2000
"""The most samples of a small subproblem: a factor of their Gram matrix takes a moment."""
_FEWER = 0.3  # the share of the samples that features may number for their system to be the faster one: their steps and those of n×n are alike then
_WIDE = 500  # the most features for which a step of the second-order method takes a moment
# Nanoseconds, roughly: a sample in a pair; of an interior point its steps, and in one of them the entries of a row and a multiplication of matrices;
# and, on a Gram matrix, what is done with each entry, and its factorisation.
_SAMPLE, _STEPS, _STEP, _ENTRY, _FLOP, _COPY, _CUBE = 2.0, 30, 1e5, 1.6, 0.05, 3.0, 0.03


def solve_in_stages(problem: Problem, pairs: Solver, **options: Any) -> Result:
    """Solve by pairs, and where these take long by an interior point; ``options`` are those of :func:`gapless.solve`.

    Pairs go on until they have taken as long as the second-order method is expected to: whichever is the faster, twice its time is never exceeded
    by much.
    """
    n, max_iter = problem.n_samples, options["max_iter"]
    if problem.is_hard or (max_iter is not None and max_iter <= PAIRS * n):
        return solve(problem, pairs, **options)
    began = time.perf_counter()
    first = solve(problem, pairs, **{**options, "max_iter": PAIRS * n})
    if first.status not in _UNDONE:
        return first
    more = _cost(problem) / (_SAMPLE * n) - PAIRS * n
    if more > 0 and first.status is Status.MAX_ITER:
        left = math.inf if max_iter is None else max_iter - first.iterations
        first = _after(
            first, problem, pairs, began, options, max_iter=None if min(more, left) == math.inf else min(more, left)
        )
        if first.status not in _UNDONE or (more >= left and first.status is Status.MAX_ITER):
            return first
    beta = first.beta
    try:
        beta = _second_order(problem, **_rest(options, began)).certified.beta
    except Interrupted:
        raise Interrupted(changed(first, status=Status.INTERRUPTED)) from None
    except GaplessError:  # a system may hold numbers that are too large; pairs do not need one
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
    """The nanoseconds that the second-order method is expected to take; infinite where there is none."""
    n, X = problem.n_samples, _few_features(problem)
    if X is not None:
        d = min(X.shape)  # fewer samples than features are solved in as many coordinates as samples
        return _STEPS * (_STEP + n * d * (_ENTRY + _FLOP * d) + _FLOP * d**3)
    if InteriorPoint().unsupported(problem) is not None:
        return math.inf
    return _STEPS * (_STEP + _COPY * n**2 + _CUBE * n**3)


def _rest(options: dict[str, Any], began: float) -> dict[str, Any]:
    """The options of a further stage, with what is left of ``max_time``."""
    left = options["max_time"]
    return {"max_time": left if left is None else max(1e-3, left - (time.perf_counter() - began))} | {
        name: options[name] for name in ("tol", "kkt_tol", "random_state", "callback")
    }


def _second_order(problem: Problem, **options: Any) -> Result:
    """The same problem by an interior point: as a linear one where few features have the kernel's products, or on its Gram matrix."""
    X = _few_features(problem)
    if X is None:
        X = _factor(problem)
    if X is not None:
        problem = Problem(
            X, problem.y, loss=problem.loss, C=1.0, sample_weight=problem.cost, intercept=problem.intercept,
            intercept_scale=problem.intercept_scale,
        )  # fmt: skip
    return solve(problem, InteriorPoint(), in_samples=True, **options)


def _few_features(problem: Problem) -> Any:
    """The samples of a linear kernel, where a system of their features, or of as many coordinates as samples, takes a moment; None elsewhere."""
    kernel, X = problem.formula
    is_linear = kernel is None or isinstance(kernel, Linear)
    return X if is_linear and not problem.is_nu and min(X.shape) <= _WIDE else None


def _factor(problem: Problem) -> np.ndarray | None:
    """Rows whose products are the kernel's, by a triangular factor of the Gram matrix, where that has far fewer columns than samples; else None.

    A polynomial of few features is such a kernel: degree 3 in two features has ten monomials.
    """
    kernel, X = problem.formula
    if kernel is None or problem.is_nu or not is_valid(problem):
        return None
    K = np.asfortranarray(kernel(X, X))
    scale = np.sqrt(np.maximum(K.diagonal(), 0.0))
    scale[scale == 0] = 1.0
    K /= scale[:, None] * scale  # samples of very different sizes keep their own digits
    with one_blas_thread():  # the result must not depend on their number
        factor, order, rank, _ = dpstrf(K, lower=1, tol=len(K) * np.finfo(float).eps)
    if rank > min(_WIDE, _FEWER * len(K)):
        return None
    rows = np.empty((len(K), rank))
    rows[order - 1] = np.tril(factor)[:, :rank]
    return np.ascontiguousarray(rows * scale[:, None])


def _joined(first: Result, last: Result) -> Trace:
    """The history of the first solve and of the last, one after the other."""
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
