"""Run the subproblems of an estimator, several at a time where asked, and keep what they prove without keeping their data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators.callbacks import CallbackSupport, FitHooks
from gapless.estimators.chain import Chain
from gapless.estimators.deadline import Deadline
from gapless.estimators.every_pair import Columns, EveryPair
from gapless.estimators.judging import Bounds, judged
from gapless.estimators.progress import ProgressLine
from gapless.estimators.report import NOT_FINITE, warn_if_early
from gapless.estimators.solved import Kept, Solved, compacted
from gapless.estimators.stages import begins_with_pairs, solve_in_stages
from gapless.estimators.watch import Watch
from gapless.machine import core_count, limit_threads_here, solvers_side_by_side
from gapless.problems.problem import Problem
from gapless.proof.best import prove
from gapless.proof.certificate import Certificate, Point, combine
from gapless.proof.interval import Reach
from gapless.proof.twofold import measured
from gapless.record import changed
from gapless.result import Result, Status
from gapless.solve import solve
from gapless.solvers import SMO, Solver
from gapless.solvers.base import own_solver
from gapless.store import StoringMixin
from gapless.store.kinds import fits
from gapless.store.later import Later, OnDemand
from gapless.trace import Trace


@dataclass(frozen=True)
class Run:
    """A finished run: the subproblems that were solved one by one, those that were solved in one go, and the interruption, which is raised once the
    model is set.
    """

    solved: list[Solved]
    together: EveryPair | None
    hooks: FitHooks
    interruption: Interrupted | None

    @property
    def columns(self) -> Columns:
        """The arrays of all subproblems."""
        return Columns.of(self.solved) if self.together is None else self.together.columns


class SolvingMixin(StoringMixin, CallbackSupport):
    """Runs the subproblems of an estimator, sets ``certificate_`` and ``certificates_``, and offers ``trace_`` and ``traces_``."""

    _certified: ClassVar[bool] = True  # whether a fit solves problems that have certificates
    _solved = OnDemand()  # a list of Solved, or of Kept after compact
    _members = OnDemand()  # of a classifier of pairs the samples of each pair, a list of arrays
    certificates_ = OnDemand()
    certificate_: Certificate
    _quiet: bool = (
        False  # whether nothing is said of an early stop; set for fits that go on from a model which is good enough
    )
    _asked_tol: float | None = (
        None  # the tol that the user asked for, in a fit that a search trains on to a smaller one
    )
    _chain: Chain | None = (
        None  # the fits before this one that differ from it in C alone; set while a search works on it
    )
    _in_samples: ClassVar[bool] = False  # whether the model is kept as coefficients of the samples, and not as w

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads them off the constructor each time, which is most of the time that a clone takes.
        return super()._get_param_names()

    def _solve_all(
        self,
        count: int,
        problem_of: Callable[[int], Problem],
        *,
        data: tuple[Any, Any, Any],
        kkt_tol: float | None,
        max_iter: float | None,
        deadline: Deadline,
        together: EveryPair | None = None,
    ) -> Run:
        """Solve each problem and warn of those that stopped early; after Ctrl-C the certificates are set all the same.

        ``data`` is (X, y, sample_weight), for callbacks; ``deadline`` is the clock that started with the fit. The problems of ``together`` are first
        tried in one go, unless somebody waits for the checks of each, or they have a start.
        """
        bounds = Bounds(self._gap_tol, None if kkt_tol is None else self.tol, self.tol)
        features = None if getattr(self, "kernel", None) == "precomputed" else data[0]
        chain = self._chain if count == 1 else None
        starts = self._starts(count) if chain is None else [chain.start(self.C)]
        state = getattr(self, "random_state", None)
        seed = 0 if state is None else int(check_random_state(state).randint(2**31 - 1))
        hooks = FitHooks(self, count, data)
        goes_on = (
            max_iter is None
        )  # under a bound the usual way begins anew, so that all its iterations are within the bound
        with ProgressLine(self, count) as line:
            watch = Watch(self, features, hooks, line, bounded=max_iter is not None or self.max_time is not None)

            def run(k: int) -> Result:
                while True:
                    try:
                        problem = problem_of(k) if chain is None else chain.problem(self.C, partial(problem_of, k))
                        start = self._start_of(starts[k], problem)
                        if together is not None and goes_on and not watch.halted:
                            start = together.start(k)
                        return self._solve_one(
                            problem, tol=self._gap_tol, kkt_tol=kkt_tol, max_iter=max_iter, max_time=deadline.next_share(),
                            callback=watch.on(k, problem), start=start, random_state=seed,
                            in_samples=self._in_samples,
                        )  # fmt: skip
                    except Interrupted as interruption:
                        watch.halt()
                        return interruption.result.certified
                    except KeyboardInterrupt:  # before the solve: start it, to stop at the first check
                        if watch.halted:
                            raise
                        watch.halt()

            todo: Sequence[int] = range(count)
            if together is None or watch.has_watchers or any(starts):
                together = None
            else:
                todo = self._try(together, watch, kkt_tol, max_iter, deadline)
            jobs = job_count(len(todo), self.n_jobs)
            deadline.expect(len(todo), jobs)
            results = run_all(run, todo, jobs, watch.halt)
        for result in results:
            _refuse(result)
        if watch.halted:
            results = [
                replace(result, status=Status.INTERRUPTED) if result.status is Status.CALLBACK else result
                for result in results
            ]
        # A certificate is judged last: nothing may change it after that.
        results = [judged(_final(self._settle(result), self._in_samples, bounds.gap), bounds) for result in results]
        if not watch.halted and not self._quiet:
            warn_if_early(results, count, self._opening, bounds, features)
        solved = [_keep(result, self._in_samples) for result in results]
        if chain is not None and solved:
            chain.end_fit(self.C, solved[0])
        self._show(solved, together, goes_on)
        if self._chain is not None and together is not None and not watch.halted:
            self._chain.end_pairs(self.C, together)
        interruption = Interrupted(max(results, key=lambda r: r.certificate.relative_gap)) if watch.halted else None
        return Run(solved, together, hooks, interruption)

    def _try(
        self, together: EveryPair, watch: Watch, kkt_tol: float | None, max_iter: float | None, deadline: Deadline
    ) -> list[int]:
        """Try subproblems in one go, and return those that are left to do; after Ctrl-C at least one, which then tells of the interruption."""
        if not together.is_solved:
            try:
                together.run(
                    tol=self._gap_tol,
                    kkt_tol=math.inf if kkt_tol is None else kkt_tol,
                    max_iter=max_iter,
                    seconds=deadline.left,
                    cache_mb=float(self.cache_size),
                )
            except KeyboardInterrupt:
                watch.halt()
            together.finish()
        if watch.halted and not together.undone:
            together.undone.append(len(together) - 1)
        return together.undone

    def _show(self, solved: list[Solved], together: EveryPair | None, went_on: bool) -> None:
        """Keep what was solved one by one, and what was solved in one go."""
        if together is None:
            self._solved = list(solved)
            self._show_proofs()
            return
        together.complete(solved, went_on)
        every = Later(together.every)
        self._solved = every
        self.certificates_ = Later(lambda: [each.certificate for each in every.value])
        self.certificate_ = together[together.widest].certificate

    def _show_proofs(self) -> None:
        """Set the certificates of the subproblems, and the certificate with the widest gap, as users read them."""
        self.certificates_ = [solved.certificate for solved in self._solved]
        self.certificate_ = max(self.certificates_, key=lambda certificate: certificate.relative_gap)

    @property
    def traces_(self) -> list[Trace]:
        """The history of each subproblem."""
        check_is_fitted(self, "_solved")
        return [solved.trace for solved in self._solved]

    @property
    def trace_(self) -> Trace:
        """The history of the subproblem with the widest gap."""
        traces = self.traces_
        return traces[self.certificates_.index(self.certificate_)]

    def compact(self) -> Any:
        """Drop everything that neither predictions nor the certificate need, so that a pickle or a saved file is small; return the estimator.

        Dropped are ``trace_``, ``traces_``, ``alpha_`` of classifiers and linear models, and the start of a fit with ``warm_start=True``, which then
        begins anew. Predictions, ``decision_interval``, ``certificate_``, ``save``, ``to_onnx`` and scikit-learn's attributes stay as they are.
        ``gapless verify`` still proves a model with support vectors, whose coefficients are the dual variables; it cannot prove a linear model, whose
        dual variables are dropped.

        >>> import pickle, gapless
        >>> model = gapless.LinearSVC().fit([[float(i)] for i in range(1000)], [i // 500 for i in range(1000)])
        >>> before = len(pickle.dumps(model))
        >>> len(pickle.dumps(model.compact())) < before / 4
        True
        >>> model.alpha_
        Traceback (most recent call last):
        ...
        gapless.errors.DroppedError: compact() has dropped the dual variables of all samples (alpha_); fit the model again to have it.
        """
        check_is_fitted(self)
        if hasattr(self, "_solved"):
            self._solved = [compacted(solved) for solved in self._solved]
            self._show_proofs()
        if hasattr(self, "_members"):
            del self._members  # the samples of each pair of classes, which only alpha_ needs
        return self

    def _check_loaded(self) -> None:
        if self._certified:
            solved = getattr(self, "_solved", None)
            if not solved or not fits(solved, list[Kept]):
                raise InvalidInputError("it does not tell what was proven")
            self._show_proofs()

    def _solve_one(self, problem: Problem, **options: Any) -> Result:
        """Solve one subproblem; ``options`` are those of :func:`gapless.solve`."""
        if self._chain is not None:
            options["prove_start"] = False
        in_stages = self._in_samples and self.solver == "auto" and own_solver(problem) is None
        if in_stages and begins_with_pairs(problem, options["tol"]):
            return solve_in_stages(problem, self._pairs(), **options).certified
        return solve(problem, self._solver_of(problem), **options).certified

    def _solver_of(self, problem: Problem) -> str | Solver:
        """The solver that the parameters ask for; where this is ``smo``, it keeps at most ``cache_size`` MB of kernel entries."""
        room = getattr(self, "cache_size", None) if own_solver(problem) is None else None
        if room is not None and (self.solver == "smo" or (self.solver == "auto" and not problem.is_linear)):
            return self._pairs()
        return self.solver

    def _pairs(self) -> Solver:
        room = getattr(self, "cache_size", None)
        return SMO() if room is None else SMO(cache_mb=float(room))

    @property
    def _gap_tol(self) -> float:
        """The relative duality gap at which subproblems stop."""
        return self.tol

    def _opening(self, status: Status) -> str:
        """The beginning of the warning of an early stop."""
        return f"{type(self).__name__} terminated early."

    def _settle(self, result: Result) -> Result:
        """The result to keep where several are optimal; a subclass may choose another one."""
        return result

    def _start_of(self, start: Solved | None, problem: Problem) -> Point | None:
        """The solution of an earlier fit as a start, where it has the shape of the problem; None otherwise."""
        if start is None or len(start.beta) != problem.n_samples:
            return None
        if problem.is_linear and start.w is not None and start.w.shape == (problem.n_features,):
            return Point(beta=start.beta, w=start.w, b=start.b)
        return Point(beta=start.beta)

    def _starts(self, count: int) -> list[Solved | None]:
        previous = getattr(self, "_solved", None) if self.warm_start else None
        if previous is None or len(previous) != count or not fits(previous, list[Solved]):
            return [None] * count
        return list(previous)

    def _finish(self, run: Run) -> Any:
        """Return the estimator; after Ctrl-C raise the interruption instead, now that the model is fitted and certified."""
        run.hooks.end()
        if run.interruption is not None:
            raise run.interruption
        return self


def job_count(count: int, n_jobs: int | None) -> int:
    """How many of ``count`` subproblems are solved at a time; a negative ``n_jobs`` counts back from the cores, as in joblib."""
    jobs = 1 if n_jobs is None else n_jobs
    return min(max(1, core_count() + 1 + jobs) if jobs < 0 else jobs, count)


def run_all(run: Callable[[int], Result], todo: Sequence[int], jobs: int, halt: Callable[[], None]) -> list[Result]:
    """``run(k)`` for each k of ``todo``; on threads where there is more than one job, as compiled loops do not hold the interpreter's lock.

    After Ctrl-C ``halt`` is called, which makes the runs end.
    """
    if jobs <= 1:
        return [run(k) for k in todo]
    # The cores are divided among the jobs.
    pool = ThreadPoolExecutor(jobs, initializer=limit_threads_here, initargs=(max(1, core_count() // jobs),))
    with solvers_side_by_side(jobs), pool:
        futures = [pool.submit(run, k) for k in todo]
        try:
            wait(futures)
        except KeyboardInterrupt:  # Ctrl-C reaches this thread alone
            halt()
            wait(futures)
        return [future.result() for future in futures]


def _refuse(result: Result) -> None:
    """Raise an error of the input where a hard margin does not exist, or where numbers have overflowed."""
    if result.status is Status.NOT_SEPARABLE:
        raise InvalidInputError(f"C=inf asks for a hard margin. {result.status}")
    if not result.problem.is_hard and not math.isfinite(result.certificate.primal):
        raise InvalidInputError(NOT_FINITE)


def _final(result: Result, in_samples: bool, tol: float) -> Result:
    """The result whose model is kept; ``in_samples`` says that the model is kept as coefficients of the samples, and not as w."""
    return _one_point(result, tol) if in_samples and result.expansion is None else result


def _keep(result: Result, in_samples: bool) -> Solved:
    """What a fitted estimator keeps of a judged result."""
    return Solved(
        solver=result.solver,
        status=result.status,
        proven=result.status.proven,
        iterations=result.iterations,
        seconds=result.seconds,
        certificate=changed(result.certificate, point=None),
        trace=result.trace,
        beta=result.beta if result.expansion is None or not in_samples else result.expansion,
        w=None if in_samples else result.w,
        offsets=result.offsets,
        reach=Reach.of(result.problem, result.certificate),
    )


def _one_point(result: Result, tol: float) -> Result:
    """A linear result whose model is Σ βᵢxᵢ, with the offsets and the certificate of this model, which is stretched under a hard margin.

    The certificate of a linear result may be that of a w from another iterate than β.
    """
    if result.certificate.own_weights:
        return result
    primal, dual = prove(result.problem, Point(beta=result.beta), tol)
    if dual.kkt_violation > result.certificate.kkt_violation:  # which may have been measured in twice the digits
        dual = measured(result.problem, dual)
    own = result.problem.weights(dual.beta)
    stretch = 1.0 if primal.own else float(np.linalg.norm(np.asarray(primal.w))) / (float(np.linalg.norm(own)) or 1.0)
    return replace(result, beta=stretch * dual.beta, offsets=primal.offsets, certificate=combine(primal, dual))
