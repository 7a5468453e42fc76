"""Sequential minimal optimisation in blocks: the dual by pairs of variables, chosen by the KKT conditions (Platt 1998; Fan, Chen & Lin 2005).

With a free intercept Σβ = 0 couples the variables, so that the smallest step moves a pair: βᵢ up and βⱼ down by the same amount. i is the variable
for which D rises most, vᵢ; j is, among the variables with vⱼ < vᵢ that can fall, the one whose pair gains most, (vᵢ − vⱼ)²/η with
η = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ (``pairs="second_order"``), or the one with the least vⱼ (``"maximal_violation"``). Without the constraint one variable moves
at a time.

The rounds are compiled (``native/smo/engine.hpp`` describes them). This module has the options, joins equal samples (``samples.py``), and chooses
where kernel entries come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gapless import _native
from gapless.kernels import Linear, Panels
from gapless.losses import DualEntropy
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.feasible import feasible
from gapless.proof.zero import zero_scale
from gapless.solvers.base import (
    Advance,
    Budget,
    Engine,
    Outcome,
    Solver,
    Targets,
    check_choice,
    check_positive,
    start_beta,
)
from gapless.solvers.smo.samples import FEW, WHOLE, Samples, begin, distinct

PAIRS = ("second_order", "maximal_violation")
_LOOSE = 1e-4  # entries are float64 from the start where those of float32 have a larger mean error
# Pairs a sample after which entries are float64, where an active set in float64 has room: with large β pairs would only chase float32's errors of f.
_LONG = 100
_FINE = 1e-4  # a smaller gap takes float64 without that room, too: by hand, well above the gaps of 1e-6 at which float32 was seen to stop short
_WALKED = 30  # the same of up to WHOLE samples, of which walks take over from pairs once entries are float64
_OUTCOMES = (Outcome.RUNNING, Outcome.READY, Outcome.STALLED)  # in the order of native/smo/engine.hpp


@dataclass(frozen=True)
class SMO(Solver):
    """Two-variable decomposition of the dual, in blocks.

    ``pairs``: ``"second_order"`` or ``"maximal_violation"``; ``cache_mb`` bounds the kernel entries that are kept: those of the active set, which
    takes 151 MB for 6,144 samples and at most 268 MB, and of costly kernels the rows of support vectors. One table stays for the next
    solver of the process, since fresh memory is slow; on Linux the system may take its memory back.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1], C=10.0)
    >>> result = gl.solve(problem, SMO())
    >>> result.w.round(6), round(result.b, 6)
    (array([2.]), -3.0)
    """

    pairs: str = "second_order"
    cache_mb: float = 512.0
    name: ClassVar[str] = "smo"
    unit: ClassVar[str] = "pairs"
    max_iter: ClassVar[int] = 10_000_000

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, PAIRS)
        check_positive("cache_mb", self.cache_mb)

    def cap(self, problem: Problem) -> float:
        """A pair of the entropy has no closed form, and takes about five times as long."""
        return self.max_iter / (5.0 if isinstance(problem.dual, DualEntropy) else 1.0)

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> SmoEngine:
        beta = begin(problem) if start is None else feasible(problem, start_beta(problem, start))[0]
        known = None
        if problem.n_samples <= FEW:
            samples = Samples.of(problem)
            entries: Any = problem.panels
            if 8 * problem.n_samples**2 <= self.cache_mb * 2**20:
                entries = entries.given or entries
        else:
            samples, entries = _distinct(problem, rng)
            known = problem.known_sums(beta)
            beta = samples.joined(beta)
        if known is not None and samples.order is not None:
            known = known[samples.order]
        return SmoEngine(self, problem, samples, entries, beta, known)


class SmoEngine(Engine):
    """The native engine on the distinct samples; ``point`` spreads its β to all samples. ``f`` are the sums Kβ where they are known."""

    rises = True

    def __init__(
        self,
        solver: SMO,
        problem: Problem,
        samples: Samples,
        entries: Any,
        beta: np.ndarray,
        f: np.ndarray | None = None,
    ) -> None:
        self.solver, self.problem, self.samples = solver, problem, samples
        self._rough = not isinstance(entries, tuple) and entries.dtype == np.float32
        self._pairs = 0.0
        self._begin(entries, beta, f)

    def _begin(self, entries: Any, beta: np.ndarray, f: np.ndarray | None = None) -> None:
        solver, problem, samples = self.solver, self.problem, self.samples
        self.entries = entries
        native, error = (entries, 0.0) if isinstance(entries, tuple) else (entries.native, entries.error)
        self.native = _native.Smo(
            native, error, _exact(problem, samples), samples.dual, samples.diagonal, samples.groups, problem.totals, beta,
            problem.intercept == "free", problem.is_hard, problem.shift, zero_scale(problem), problem.entry_work,
            solver.pairs == "second_order", solver.cache_mb * 2**20, f,
        )  # fmt: skip

    def step(self, budget: Budget, targets: Targets) -> Advance:
        iterations, work, outcome = self.native.step(budget.work, budget.iterations, *targets)
        self._pairs += iterations
        found = _OUTCOMES[outcome]
        n = len(self.samples.groups)
        is_long = self._pairs > (_WALKED if n <= WHOLE else _LONG) * n
        is_due = is_long and (targets.gap < _FINE or self.native.fits_in_full)
        if self._rough and (found is Outcome.STALLED or (found is Outcome.RUNNING and is_due)):
            self._rough, found = False, Outcome.RUNNING
            self._begin(_panels(self.problem, np.float64, self.samples.order), self.native.beta().copy())
        return Advance(iterations, work, found)

    def point(self) -> Point:
        return Point(beta=self.samples.spread(self.native.beta()))


def _distinct(problem: Problem, rng: np.random.Generator) -> tuple[Samples, Panels]:
    """The distinct samples and their entries; those of the last problem, with what its solver has kept of them, where only C differs."""
    if problem.left is not None and SMO.name in problem.left:
        samples, entries = problem.left[SMO.name]
        return samples.at_costs_of(problem), entries
    samples = distinct(problem, rng)
    entries = _panels(problem, np.float64 if len(samples.groups) <= FEW else np.float32, samples.order)
    if entries.dtype == np.float32 and entries.error > _LOOSE:
        entries = _panels(problem, np.float64, samples.order)
    if problem.left is not None:
        problem.left[SMO.name] = samples, entries
    return samples, entries


def _panels(problem: Problem, dtype: Any, rows: np.ndarray | None) -> Panels:
    return Panels(Linear() if problem.kernel is None else problem.kernel, problem.X, dtype, rows)


def _exact(problem: Problem, samples: Samples) -> Callable[[np.ndarray, np.ndarray | None], np.ndarray]:
    """The function that computes f = Kβ + shift Σβ in float64, of all distinct samples or of those at the places ``near``."""

    def exact(beta: np.ndarray, near: np.ndarray | None) -> np.ndarray:
        shift = problem.shift * float(beta.sum())
        every = samples.spread(beta)
        if near is None:
            f = problem.expand(every)
            return (f if samples.order is None else f[samples.order]) + shift
        places = near if samples.order is None else samples.order[near]
        return problem.expand(every, problem.X[places]) + shift

    return exact
