"""Subproblems with a linear kernel in stages: pairs first, an interior point where pairs stop paying, and pairs again to finish.

Noise and a large C make a long way for pairs, past as many kinks of the dual as there are samples: a thousand pairs a sample and more. An interior
point on the features, where these are few, takes some twenty steps. Its β is a dual point of the problem itself, from which pairs go on, mostly by
none, and which the kernel itself certifies.

Small subproblems begin with pairs always. Larger ones do where samples are wide: their kernel entries are computed at the speed of a product of
matrices, and a pair takes no longer with a thousand features than with one, while every step of the other methods reads all features of a sample.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.errors import GaplessError, Interrupted
from gapless.kernels import Kernel, Linear
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.record import changed
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers import SMO, InteriorPoint, Solver
from gapless.solvers.choose import expected_costs
from gapless.solvers.smo.samples import FEW
from gapless.trace import Trace

_UNDONE = (Status.MAX_ITER, Status.STALLED)  # pairs that end so leave something to do
_PAIRS = 3  # pairs for each sample before another method is thought of: most fits for which pairs are the right method are done by then
SMALL = 2000
"""The most samples of a small subproblem."""
_WIDE = 500  # the most features for which a step of the interior point takes a moment: the most of sparse rows, whose systems are dense
_WIDEST = 2000  # and the most for which it takes a second
# Nanoseconds, roughly: a sample in a pair; of an interior point its steps, and in one of them the entries of a row and a multiplication of matrices.
_SAMPLE, _STEPS, _STEP, _ENTRY, _FLOP = 2.0, 30, 1e5, 1.6, 0.05
_LARGE_FLOP = 0.02  # the same of a large subproblem, whose matrices are large
# Of a large subproblem: a pair, which reads a block of the samples alone; a kernel entry without its products, and one product.
_PAIR, _KERNEL_ENTRY, _PRODUCT = 400.0, 0.5, 0.01
# Of a large subproblem whose interior point takes more than a second a step: a pair of many, with all that comes and goes between them, for what is
# expected of an interior point, which is more than it takes (2,200 features of 6,000 samples: 2.5 µs a pair, and 0.4 of what is expected).
_LONG_PAIR = 6000.0
# Pairs for each sample after which another method takes over in any case: fits that need more need thousands.
_CREEPING = 300
BEGUN = 10
"""Pairs for each sample that the easiest problems take."""


def solve_in_stages(problem: Problem, pairs: Solver, **options: Any) -> Result:
    """Solve by pairs, and where these take long by an interior point; ``options`` are those of :func:`gapless.solve`.

    Pairs go on until they have taken as long as the interior point is expected to: whichever is the faster, twice its time is never exceeded
    by much.
    """
    n, max_iter, X = problem.n_samples, options["max_iter"], None if problem.is_nu else few_features(*problem.formula)
    if X is None or problem.is_hard:
        return solve(problem, pairs, **options)
    patience = min(n * turns(X, n), SMO.max_iter)
    if max_iter is not None and patience >= max_iter:
        return solve(problem, pairs, **options)
    began = time.perf_counter()
    first = solve(problem, pairs, **{**options, "max_iter": patience})
    if first.status not in _UNDONE:
        return first
    beta = first.beta
    try:
        beta = _second_order(problem, X, **rest(options, began)).certified.beta
    except Interrupted:
        raise Interrupted(changed(first, status=Status.INTERRUPTED)) from None
    except GaplessError:  # a system may hold numbers that are too large; pairs do not need one
        pass
    left = None if max_iter is None else max(1.0, max_iter - first.iterations)
    return going_on_from(first, problem, pairs, began, options, start=Point(beta=beta), max_iter=left)


def going_on_from(
    first: Result, problem: Problem, pairs: Solver, began: float, options: dict[str, Any], **others: Any
) -> Result:
    """Go on by pairs, from where the first solve ended unless ``others`` tell otherwise: one result, with the history of both."""
    last = solve(problem, pairs, **{**options, "start": first, **rest(options, began), **others})
    return changed(
        last,
        iterations=first.iterations + last.iterations,
        seconds=time.perf_counter() - began,
        trace=_joined(first, last),
    )


def turns(X: Any, n: int) -> float:
    """How many pairs for each of n samples take as long as the interior point is expected to, on as many rows of X; at least a few."""
    if n <= SMALL:
        return max(_PAIRS, _second_order_cost(X, n) / (_SAMPLE * n * n))
    cost = _second_order_cost(X, n)
    if min(n, X.shape[1]) > _WIDEST:
        return max(_CREEPING, cost / (_LONG_PAIR * n))
    # Large problems whose pairs pay are done in half of the time.
    return min(_CREEPING, max(_PAIRS, cost / (2.0 * _PAIR * n)))


def _second_order_cost(X: Any, n: int) -> float:
    """The nanoseconds that the interior point is expected to take on n of the rows of X."""
    d = min(n, X.shape[1])  # fewer samples than features are solved in as many coordinates as samples
    flop = _FLOP if n <= SMALL else _LARGE_FLOP
    return _STEPS * (_STEP + n * d * (_ENTRY + flop * d) + flop * d**3)


def begins_with_pairs(problem: Problem, tol: float) -> bool:
    """Whether a subproblem is solved in stages: a small one always, unless it has more than ``FEW`` samples and methods for linear machines cover it;
    such a one, and a larger one, where the least work of pairs is expected to take at most half as long as any other method.
    """
    n = problem.n_samples
    if n <= FEW:
        return True
    if not problem.is_linear or problem.is_nu or problem.is_hard or problem.intercept != "free":
        return n <= SMALL
    X = few_features(*problem.formula)
    if X is None or sp.issparse(X):
        return False
    costs = expected_costs(problem, tol)
    others = [costs[name] for name in costs if name not in (InteriorPoint.name, SMO.name)]
    return least_work_of_pairs(X) <= 0.5 * min([_second_order_cost(X, n), *others])


def least_work_of_pairs(X: Any) -> float:
    """The nanoseconds that pairs of a linear kernel take on these rows at least: entries, and the pairs that the easiest problems take."""
    n, d = X.shape
    return float(n * (n * (_KERNEL_ENTRY + _PRODUCT * d) / 2 + BEGUN * _PAIR))


def rest(options: dict[str, Any], began: float) -> dict[str, Any]:
    """The options of a further stage, with what is left of ``max_time``."""
    left = options["max_time"]
    return {"max_time": left if left is None else max(1e-3, left - (time.perf_counter() - began))} | {
        name: options[name] for name in ("tol", "kkt_tol", "random_state", "callback")
    }


def _second_order(problem: Problem, X: Any, **options: Any) -> Result:
    """The same problem as a linear one on the rows of X, by an interior point.

    Of many features it is solved to its gap alone: pairs are quicker than its exact end, whose system is as large as there are samples on the margin.
    """
    options["kkt_tol"] = options["kkt_tol"] if min(X.shape) <= _WIDEST else None
    linear = Problem(
        X, problem.y, loss=problem.loss, C=1.0, sample_weight=problem.cost, intercept=problem.intercept,
        intercept_scale=problem.intercept_scale,
    )  # fmt: skip
    return solve(linear, InteriorPoint(), in_samples=True, **options)


def few_features(kernel: Kernel | None, X: Any) -> Any:
    """X under a linear kernel, where a system of its features, or of as many coordinates as samples, is no larger than X or small; else None."""
    if kernel is not None and not isinstance(kernel, Linear):
        return None
    return X if not sp.issparse(X) or min(X.shape) <= _WIDE else None


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
