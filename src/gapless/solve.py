"""The one loop that runs every solver: it owns iteration, clock, stopping, callbacks, interruption and status; no solver does any of these itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gapless.background import in_background
from gapless.blas import one_blas_thread
from gapless.errors import Interrupted
from gapless.kernels import Validity
from gapless.problems.problem import Problem
from gapless.problems.tube import is_hard_tube, narrowed
from gapless.proof.best import Best, Points, iterate_of
from gapless.proof.certificate import Certificate, DualPoint, Iterate, Point, combine
from gapless.proof.clock import Clock
from gapless.proof.exact_ray import equal_rows_ray
from gapless.proof.hard import beta_of_model
from gapless.proof.points import CertifiedPoint
from gapless.proof.separability import find_ray
from gapless.proof.twofold import measured
from gapless.proof.zero import vanishes
from gapless.record import changed
from gapless.result import Result, Status, result_type
from gapless.solvers import Solver
from gapless.solvers.base import QUANTUM, Budget, Engine, Outcome, Targets
from gapless.solvers.last_digits import is_blurred, refined
from gapless.solvers.opening import as_start, check_options, covering_solver, point_of
from gapless.solvers.seed import Seed
from gapless.trace import Ascent, Callback, Progress, Trace

# A certificate is due when the work since the last one is _CHECK_COST times a certificate's own cost, so that certificates take a quarter of all work
# at most, and _CHECK_SHARE of all work so far, so that their number grows with the logarithm of the work. Work and not seconds is counted, which
# keeps a model the same on a slow machine and on a fast one.
_CHECK_COST = 3.0
_CHECK_SHARE = 0.1
# The work that a linear certificate costs at least: its calls take as long as a pass over so many entries, however few there are. It counts for
# engines that know their gap, where no callback waits for certificates.
_CALLS = 1e5
# A certificate of a kernel problem costs as much as all entries of the kernel matrix between the samples and the support vectors. Where no callback
# waits for one, certificates take a twentieth of all work at most, and the work doubles from one to the next: smo, the usual solver for kernels,
# knows its gap and asks for a certificate when it is ready.
_KERNEL_CHECK_COST = 20.0
_KERNEL_CHECK_SHARE = 1.0
# What stands in place of _CHECK_SHARE for a solver that knows its gap and asks for a certificate when it is ready.
_JUDGED_SHARE = 1.0

# A hard tube is solved as one that is narrower by this share of tol, so that the gap grows by that share only. The narrowing stays within two bounds:
# more than _NARROW_MOST would show in the predictions, less than _NARROW_LEAST would be lost in rounding.
_NARROW_SHARE, _NARROW_LEAST, _NARROW_MOST = 1e-2, 1e-11, 1e-9

# The share of the bound on the KKT violation that an engine aims at: what is proven is the best multiple of its β, which violates a little more. Of
# 0.7 to 1.0, 0.8 takes the fewest checks and pairs for digits.
AHEAD = 0.8

# What the targets of an engine are multiplied by where the engine thought itself done and the proof did not agree; by hand, about half a digit.
STRICTER = 0.3

# How often a solve looks for the last digits of a KKT violation: another point than the first may be near enough to the optimum for that.
ATTEMPTS = 4

# The most kernel entries that the certificate after an interruption may take: some tenths of a second.
_MOMENT = 1e8


@one_blas_thread()
def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    tol: float = 1e-6,
    kkt_tol: float | None = None,
    max_iter: float | None = None,
    max_time: float | None = None,
    callback: Callback | None = None,
    start: Any = None,
    random_state: int = 0,
    check_every: float | None = None,
    in_samples: bool = False,
    prove_start: bool = True,
) -> Result:
    """Solve a problem until its relative duality gap is proven to be at most ``tol``, or a bound is reached.

    Parameters
    ----------
    problem : Problem
        What to solve.
    solver : str or Solver, default "auto"
        A name (see :data:`gapless.solvers.SOLVERS`) or a solver with its options, such as ``gl.solvers.SGD(averaging="tail")``.
    tol : float, default 1e-6
        The relative duality gap (P − D)/|P| at which the solve stops. With 0 the solve runs until another bound stops it.
    kkt_tol : float, default None
        The largest KKT violation, which is LIBSVM's criterion, that the model may have besides; None asks for the gap alone.
    max_iter : float, default None
        Bound on the iterations in the solver's own unit (epochs; pairs for ``smo``); None is the solver's own generous cap.
    max_time : float, default None
        Bound on the seconds. The last certificate is included: with a kernel the solve stops in time to compute it. Two things are not cut short: a
        single step of the solver (a Newton system of many features), and the first certificate of a ν-form.
    callback : callable, default None
        Called with a :class:`~gapless.trace.Progress` after each check; returning True stops the solve.
    start : Result, Point or array of shape (n_samples,), default None
        Where to go on from: a :class:`~gapless.result.Result`, of which the last iterate counts, a :class:`~gapless.proof.certificate.Point`, or the
        dual variables β (``problem.signed(alpha)`` makes β of the α of the stated problem).
    random_state : int, default 0
        Seed of the stochastic solvers: the same seed gives the same model.
    check_every : float, default None
        Iterations between two certificates; None spends a small share of the work on certificates.
    in_samples : bool, default False
        Whether the model will be kept as β. In a linear problem only w = Σ βᵢxᵢ then counts as the model, and both bounds are those of one β.
    prove_start : bool, default True
        Whether the start gets a certificate of its own, as the first entry of the trace. False is for a start from another problem, which proves
        little here: a solver that tells when its point is worth a certificate then begins at once.

    Returns
    -------
    Result
        The model, its certificate, its history, and why the solve stopped.

    Raises
    ------
    Interrupted
        On Ctrl-C, carrying the best result so far.

    Examples
    --------
    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]], [0, 0, 1, 1], C=1.0)
    >>> result = gl.solve(problem, "smo")
    >>> result.status.name, result.certificate.relative_gap <= 1e-6
    ('CONVERGED', True)
    """
    check_options(tol, max_iter, max_time, check_every, random_state)
    chosen = covering_solver(problem, solver, tol, max_time)
    point = as_start(problem, start)
    limit = chosen.cap(problem) if max_iter is None else float(max_iter)
    run = None
    try:
        run = _Run(problem, chosen, tol, kkt_tol, max_time, callback, check_every, in_samples, point)
        if isinstance(start, Result):  # what the earlier result has proven stays proven
            run.best.keep(point_of(problem, start.certified), run.clock.left())
        return run.go(point, limit, random_state, prove_start)
    except KeyboardInterrupt:
        run = run or _Run(problem, chosen, tol, kkt_tol, max_time, callback, check_every, in_samples)
        run.catch_up()
        raise Interrupted(run.result(Status.INTERRUPTED)) from None


class _Run:
    """One solve: the best bounds seen, the history and the clock."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        tol: float,
        kkt_tol: float | None,
        max_time: float | None,
        callback: Callback | None,
        check_every: float | None,
        in_samples: bool,
        start: Point | None = None,
    ) -> None:
        self.problem, self.solver, self.tol, self.callback = problem, solver, tol, callback
        self.check_every = check_every
        # A callback may have two attributes: ``eager`` = False says that it need not be called often, and ``halted()``, which is asked between two
        # calls, says that it is time to stop.
        self.halted = getattr(callback, "halted", None)
        self.eager = callback is not None and getattr(callback, "eager", True)
        self.clock = Clock(problem, max_time)
        self.trace = Trace(unit=solver.unit)
        self.iterations = self.work = 0.0
        self.engine: Engine | None = None
        self.ascent = Ascent()
        self.ray: np.ndarray | None = None
        self.separable: bool | None = None
        self.attempts = ATTEMPTS
        # With a kernel w has coefficients in the samples anyway, so that ``in_samples`` asks for something of a linear problem only.
        left = math.inf if start is None else self.clock.left()
        self.best = Best(problem, tol, in_samples and problem.is_linear, start, left)
        self.last: tuple[Point | None, Iterate] = (None, iterate_of(self.best.zero))  # the newest iterate
        self.found: Iterate | None = None  # the point that the method returns, where that is not its newest iterate
        self.kkt_tol = math.inf if kkt_tol is None or math.isnan(self.best.zero[1].kkt_violation) else kkt_tol

    def go(self, start: Point | None, limit: float, seed: int, prove_start: bool = True) -> Result:
        """Let the engine step, with a certificate whenever one is due, until a status ends the solve."""
        known = None
        if start is not None and self.best.begins:
            known = self.best.zero
        elif start is not None and prove_start:
            known = self.best.keep(start, self.clock.left())
        # The engine's set-up may take long: both ways to stop are asked before it begins.
        if self.halted is not None and self.halted():
            return self.result(Status.CALLBACK)
        if self.clock.is_late():
            return self.result(Status.MAX_TIME)
        seeded: Any = Seed(seed)
        engine = self.solver.init(self.to_solve(), start, np.random.default_rng(seeded))
        self.engine = engine
        if start is None and engine.holds:
            status = self.check(Point(), known=self.best.zero)
        elif not prove_start and (engine.holds or engine.judges or engine.rises) and not self.eager:
            status = None
        else:
            first = start or engine.point()
            zero = self.best.zero[1].beta
            if known is None and first.w is None and first.beta is not None and np.array_equal(first.beta, zero):
                known = self.best.zero
            status = self.check(first, known=known)
        targets = Targets(self.tol, AHEAD * self.kkt_tol)
        while status is None:
            if self.problem.validity is Validity.NOT_VALID:
                targets = Targets(math.inf, min(targets))  # the dual bounds nothing, so that no gap can be asked for
            work, iterations = self.next_check(engine)
            outcome = Outcome.RUNNING
            while (
                status is None
                and outcome is Outcome.RUNNING
                and (self.work < work or (engine.holds and self.check_every is None))
                and self.iterations < iterations * (1 - 1e-12)
            ):
                budget = Budget(
                    min(QUANTUM, work - self.work), min(limit, iterations) - self.iterations, self.clock.left()
                )
                advance = engine.step(budget, targets)
                outcome = advance.outcome
                self.iterations += advance.iterations
                self.work += advance.work
                status = self.bound_reached(outcome, limit)
            point = engine.point()
            if status is Status.MAX_TIME and self.clock.proof_seconds(point) > max(
                self.clock.max_time, self.clock.left()
            ):
                break  # the certificate of this point would take longer than the whole solve: the one before stands
            status = self.check(point, status) or status
            if status is None and self.clock.is_late(point):
                status = Status.MAX_TIME
            if status is None and engine.rises and self.ascent.has_stalled:
                status = Status.STALLED
            ends = status is Status.STALLED or (status in (None, Status.MAX_ITER) and not self.best.leaves_room)
            if ends and self.best.is_hidden:
                status = Status.ROUNDING  # no digits are left to prove more with
            if status in (Status.STALLED, Status.ROUNDING) or (status is None and outcome is Outcome.READY):
                status = self.last_digits(status) or status
            if outcome is Outcome.READY:  # where the loop goes on, the proof did not agree
                targets = targets.times(STRICTER)
        return self.result(status)

    def to_solve(self) -> Problem:
        """The problem itself; or, in place of a hard tube, a slightly narrower one, whose points keep within the stated tube despite rounding."""
        if not is_hard_tube(self.problem):
            return self.problem
        return narrowed(self.problem, min(max(_NARROW_SHARE * self.tol, _NARROW_LEAST), _NARROW_MOST))

    def catch_up(self) -> None:
        """Certify the newest point of an interrupted solve, where that takes a moment only: the last certificate may be long ago."""
        if self.engine is None:
            return
        point = self.engine.point()
        columns = 3 if self.problem.is_linear or point.beta is None else int(np.count_nonzero(point.beta))
        if self.last[0] is None or self.problem.n_samples * columns <= _MOMENT:
            self.keep(point)

    def keep(self, point: Point) -> Points:
        """Certify a point, and the point that the method would return now where this is another one; remember the newest iterate."""
        found = self.best.keep(point, self.clock.left())
        self.last = point, iterate_of(found)
        answer = None if self.engine is None else self.engine.answer()
        if answer is not None:
            self.found = iterate_of(self.best.keep(answer, self.clock.left()))
        return found

    def bound_reached(self, outcome: Outcome, limit: float) -> Status | None:
        """The status that ends the solve after a step without a look at the bounds on the optimum, if any."""
        if outcome is Outcome.STALLED:
            return Status.STALLED
        if self.halted is not None and self.halted():
            return Status.CALLBACK
        if self.iterations >= limit * (1 - 1e-12):
            return Status.MAX_ITER
        if self.clock.max_time == math.inf:
            return None
        return Status.MAX_TIME if self.clock.is_late(None if self.engine is None else self.engine.point()) else None

    def next_check(self, engine: Engine) -> tuple[float, float]:
        """(work, iterations) at which the next certificate is due, whichever comes first."""
        if self.check_every is not None:
            return math.inf, float(self.iterations + self.check_every)
        columns = 3 if self.problem.is_linear else max(1, int(np.count_nonzero(self.best.points[1].beta)))
        cost = self.problem.n_samples * columns * self.problem.entry_work
        if not self.problem.is_linear and not self.eager:
            cost = max(cost, self.problem.n_samples**2 * self.problem.entry_work / 8)
            return float(self.work + max(_KERNEL_CHECK_COST * cost, _KERNEL_CHECK_SHARE * self.work)), math.inf
        share = _JUDGED_SHARE if engine.judges else _CHECK_SHARE
        if engine.judges and not self.eager:
            cost = max(cost, _CALLS)
        return float(self.work + max(_CHECK_COST * cost, share * self.work)), math.inf

    def check(self, point: Point, ending: Status | None = None, known: Points | None = None) -> Status | None:
        """Certify a point (unless its values are ``known``), add it to the trace, call the callback; the status that ends the solve, if any."""
        if known is not None:
            self.last = point, iterate_of(known)
        found = _, dual = known or self.keep(point)
        seconds = self.clock.seconds()
        scale, iterate = self.problem.scale, self.last[1]
        self.ascent.see(scale * dual.value, self.best.certificate.gap, self.work)
        status = self.judged(found, ending)
        certificate = self.best.certificate
        values = scale * iterate.primal, scale * iterate.dual
        self.trace.append(self.iterations, seconds, values, (certificate.primal, certificate.dual))
        if status is not None or self.callback is None:
            return status
        progress = Progress(self.solver.name, self.iterations, seconds, certificate, self.tol, *values, iterate)
        return Status.CALLBACK if self.callback(progress) else None

    def last_digits(self, ending: Status | None) -> Status | None:
        """Where rounding alone keeps the KKT violation of a model above its bound, another point with the digits that it lacks.

        Returns the status that this point ends the solve with, if any.
        """
        if self.kkt_tol == math.inf or self.attempts == 0 or not self.best.certificate.relative_gap <= self.tol:
            return None
        beta = self.best.points[1].beta
        if ending is None and not is_blurred(self.problem, beta, self.kkt_tol):
            return None
        self.attempts -= 1
        better = refined(self.problem, beta, self.kkt_tol, self.clock.left())
        if better is None:
            return None
        primal, dual = self.best.keep(Point(beta=better), self.clock.left())
        self.found = None
        return self.check(Point(beta=better), known=(primal, measured(self.problem, dual)))

    def judged(self, found: Points, ending: Status | None) -> Status | None:
        """The status that the newest point and the best bounds end the solve with, if any."""
        _, dual = found
        certificate = self.best.certificate
        if certificate.relative_gap <= self.tol:
            if self.kkt_tol == math.inf:
                return Status.CONVERGED
            own = certificate if found is self.best.points else combine(*found).stated(self.problem.scale)
            if dual.kkt_violation <= self.kkt_tol and own.relative_gap <= self.tol:
                self.best.points = found  # the gap and the KKT violation must be those of one and the same point
                return Status.CONVERGED
        if self.problem.is_nu and dual.kkt_violation <= self.kkt_tol and vanishes(self.problem, certificate, self.tol):
            return Status.ZERO
        if self.problem.validity is Validity.NOT_VALID and dual.kkt_violation <= self.tol:
            self.best.points = found
            return Status.STATIONARY
        if self.problem.is_hard and self.not_separable(dual, ending):
            return Status.NOT_SEPARABLE
        return None

    def not_separable(self, dual: DualPoint, ending: Status | None) -> bool:
        """Whether the data is proven not to be separable.

        The exact proof is asked for once: after the solver has had a few checks' time to separate the data itself, or where it ends without.
        """
        if self.separable is not None or math.isfinite(self.best.points[0].value):
            return False
        if dual.value == math.inf:  # evaluate gives an infinite dual value to an exact ray alone
            ray = dual.beta / np.abs(dual.beta).max()
            self.ray = ray / np.abs(ray).sum()
            return True
        if not len(self.trace):  # equal samples with different labels are found in a moment
            equal = equal_rows_ray(self.problem)
            self.ray = None if equal is None else equal.rounded(self.problem.n_samples)
            return self.ray is not None
        if len(self.trace) < 3 and ending not in (Status.STALLED, Status.MAX_ITER):
            return False
        left = self.clock.left()
        try:
            self.ray = (
                find_ray(self.problem)
                if left == math.inf
                else in_background(lambda: find_ray(self.problem, left), left)
            )
        except TimeoutError:  # nothing is known of the data; the loop's clock stops it
            return False
        self.separable = self.ray is None
        return not self.separable

    def result(self, status: Status) -> Result:
        """The result with this status: the method's own point, or the certified one where only that is within tol."""
        certificate = self.best.certificate
        point, last = self.last
        found = last if self.found is None else self.found
        if status.proven and not found.is_within(self.tol):
            # What is proven is the gap of a better point than the algorithm's own, and this better point becomes the model.
            own = certificate.point
            assert own is not None
            found = changed(
                found,
                w=own.w,
                expansion=own.expansion,
                offsets=own.offsets,
                beta=own.beta if self.best.one_point else beta_of_model(self.problem, own),
            )
        if status is Status.NOT_SEPARABLE:
            certificate = self._without_model(certificate)
            if not _is_finite(found.w, found.expansion, found.offsets, found.beta):
                found = iterate_of(self.best.zero)
        return result_type(self.problem)(
            problem=self.problem,
            solver=self.solver.name,
            w=found.w,
            offsets=found.offsets,
            beta=found.beta,
            expansion=found.expansion,
            certificate=certificate,
            trace=self.trace,
            status=status,
            iterations=self.iterations,
            seconds=self.clock.seconds(),
            ray=self.ray,
            last=point,
        )

    def _without_model(self, certificate: Certificate) -> Certificate:
        """The certificate that no hard margin exists: both values infinite, with zero in place of an iterate that has run away along the ray."""
        primal, dual = self.best.points
        if not _is_finite(primal.w, primal.expansion, primal.offsets):
            primal = self.best.zero[0]
        if not _is_finite(dual.beta):
            dual = self.best.zero[1]
        own = CertifiedPoint(primal.w, primal.expansion, primal.offsets, dual.beta)
        return replace(certificate, primal=math.inf, dual=math.inf, point=own)


def _is_finite(*arrays: np.ndarray | None) -> bool:
    return all(bool(np.isfinite(array).all()) for array in arrays if array is not None)
