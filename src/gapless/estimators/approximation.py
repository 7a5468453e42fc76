"""An approximate model with an exact proof: train on a few features, and judge the resulting dual point by the kernel itself.

The constraints on β do not depend on features or kernel: β is feasible for the exact problem wherever it comes from, so that D(β), computed with the
exact kernel, is a lower bound. And Nyström's features are projections on the span of the landmarks: the model w on these features is a function in
the space of the exact kernel, Σ aⱼ k(zⱼ, ·) with a = U Λ^(−1/2) w, of the same length, so that P of the approximation is P of the exact problem.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators.deadline import Deadline
from gapless.estimators.dual_bound import dual_bound, sub_problem
from gapless.estimators.kernel_spec import KernelSpec, Table, dense_if_small
from gapless.estimators.parameters import Rule
from gapless.kernels import Linear, Precomputed
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point, combine, evaluate
from gapless.proof.feasible import best_multiple
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers.newton.row_sampling import box_of
from gapless.trace import Callback, Progress, Trace

APPROXIMATION: Rule = Rule(
    lambda value: (
        value is None
        or (not isinstance(value, type) and hasattr(value, "transform") and "kernel" in value.get_params(deep=False))
    ),
    "None or a feature map of a kernel, such as gapless.features.Nystroem(500)",
)

# Before an approximation is polished it is tried on this many samples, which are solved to this relative gap. Its β is worth starting from where the
# exact kernel leaves at least this share of the dual value that β has on the features. All three are by hand: they decide about time alone.
_TRIAL = 2048
_ROUGH = 1e-2
_USEFUL = 0.5


class ApproximatingMixin:
    """The parameters ``approximation`` and ``polish``: subproblems are solved on features first, and on the kernel itself only with ``polish``."""

    approximation: Any
    polish: bool

    def _samples(self, X: Any, weight: np.ndarray, codes: np.ndarray | None = None) -> tuple[Any, KernelSpec]:
        """The samples and the kernel as in all kernel estimators, except that no Gram matrix replaces the samples, of which features are made."""
        samples, spec = super()._samples(X, weight, codes)  # type: ignore[misc]
        if self.approximation is None or not isinstance(spec.kernel, Table):
            return samples, spec
        return dense_if_small(X), KernelSpec(spec.kernel.kernel, spec.gamma, spec.pairwise)

    def _solve_one(self, problem: Problem, **options: Any) -> Result:
        going_on = self.polish and options["start"] is not None
        if self.approximation is None or going_on:
            return super()._solve_one(problem, **options)  # type: ignore[misc]
        deadline = Deadline(options["max_time"])
        inner = {name: options[name] for name in ("tol", "max_iter", "random_state")}
        phi = _map_for(self, problem)
        if self.polish and not _pays(phi, problem, **inner, max_time=deadline.next_share()):
            return super()._solve_one(problem, **{**options, "max_time": deadline.next_share()})  # type: ignore[misc]
        try:
            cheap = low_rank(phi, problem, **inner, max_time=deadline.next_share())
        except Interrupted as interruption:
            result = _judge(problem, phi, interruption.result, None, options["tol"], deadline)
            raise Interrupted(replace(result, status=Status.INTERRUPTED)) from None
        if self.polish and cheap.status.proven:
            further = {**options, "start": Point(beta=cheap.beta), "max_time": deadline.next_share()}
            return super()._solve_one(problem, **further)  # type: ignore[misc]
        return _judge(problem, phi, cheap, options["callback"], options["tol"], deadline)


def _map_for(estimator: Any, problem: Problem) -> Any:
    """``estimator.approximation`` for the kernel of a problem, fitted to its samples."""
    if problem.is_hard:
        raise InvalidInputError(
            "approximation needs a finite C: its features may not separate samples that the kernel separates."
        )
    phi = clone(estimator.approximation)
    kernel = Linear() if problem.kernel is None else problem.kernel
    if phi.kernel is not None and phi.kernel != kernel:
        raise InvalidInputError(
            f"approximation must leave its kernel to {type(estimator).__name__}, which has {kernel!r}; got {phi.kernel!r}."
        )
    if phi.get_params(deep=False).get("random_state", 0) is None:
        phi.set_params(random_state=0)  # so that the same data gives the same model
    return phi.set_params(kernel=kernel).fit(_input(phi, problem))


def _input(phi: Any, problem: Problem) -> Any:
    """The samples as ``phi`` takes them: in float32, which is faster; the exact proof counts what this rounding costs."""
    return problem.X if isinstance(phi.kernel, Precomputed) else problem.X.astype(np.float32)


def low_rank(phi: Any, problem: Problem, **options: Any) -> Result:
    """The solution of a problem on the features of ``phi``; ``options`` are those of :func:`gapless.solve`."""
    features = phi.transform(_input(phi, problem))
    linear = Problem(
        features, problem.y, loss=problem.loss, C=1.0, sample_weight=problem.cost, intercept=problem.intercept
    )
    return solve(linear, "auto", **options).certified


def _judge(
    problem: Problem, phi: Any, cheap: Result, callback: Callback | None, tol: float, deadline: Deadline
) -> Result:
    """A solution on features as a result of the exact problem, with the exact certificate."""
    began = time.perf_counter()
    expansion = _expansion(phi, problem, cheap)
    if expansion is None:
        primal, dual = evaluate(problem, Point(beta=cheap.beta))
    else:
        primal = replace(evaluate(problem, Point(expansion=expansion))[0], own=False)
        dual = dual_bound(problem, cheap.beta, deadline)
    certificate = combine(primal, dual)
    seconds = cheap.seconds + time.perf_counter() - began
    status = Status.APPROXIMATE if cheap.status is Status.CONVERGED else cheap.status
    trace = Trace(unit=cheap.trace.unit)
    trace.append(cheap.iterations, seconds, (primal.value, dual.value), (certificate.primal, certificate.dual))
    if callback is not None and callback(Progress("low_rank", cheap.iterations, seconds, certificate, tol)):
        status = Status.CALLBACK if status is Status.APPROXIMATE else status
    return Result(
        problem=problem,
        solver="low_rank",
        w=primal.w,
        offsets=primal.offsets,
        beta=dual.beta,
        expansion=primal.expansion,
        certificate=certificate,
        trace=trace,
        status=status,
        iterations=cheap.iterations,
        seconds=seconds,
    )


def _expansion(phi: Any, problem: Problem, cheap: Result) -> np.ndarray | None:
    """The model on features as coefficients of samples, where the landmarks are samples; None elsewhere: Σ βᵢk(xᵢ, ·) is then the model."""
    indices = getattr(phi, "indices_", None)
    if indices is None or cheap.w is None:
        return None
    expansion = np.zeros(problem.n_samples)
    np.add.at(expansion, indices, phi.projection_.astype(np.float64) @ cheap.w)
    return expansion


def _pays(phi: Any, problem: Problem, **options: Any) -> bool:
    """Whether the β of the features is worth starting from, judged on some of the samples: a start that proves little takes longer than none.

    With K for K̂, the kernel of the features, D loses ½ βᵀ(K − K̂)β. The diagonal of this sum grows with the number of samples, and the rest with its
    square.
    """
    n = problem.n_samples
    rows = np.random.default_rng(options["random_state"]).permutation(np.flatnonzero(problem.cost > 0))[:_TRIAL]
    some = sub_problem(problem, rows)
    if 2 * len(rows) > n or some is None:
        return True
    try:
        cheap = low_rank(phi, some, **{**options, "tol": _ROUGH})
    except Interrupted:  # the result that Interrupted carries is one of some samples alone
        raise KeyboardInterrupt from None
    times, beta = n / len(rows), cheap.beta
    seen = cheap.problem
    own = float(beta**2 @ (some.diagonal - seen.diagonal))
    lost = float(beta @ (some.expand(beta) - seen.expand(beta)))
    square = times * float(beta @ seen.expand(beta)) + times * own + times**2 * (lost - own)
    return best_multiple(box_of(some), beta, square / times)[1] >= _USEFUL * cheap.certificate.dual
