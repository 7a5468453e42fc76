"""The interface of a solver: it starts an engine, which does bounded pieces of work and tells its point. The loop in ``solve.py`` does the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from functools import singledispatch
from typing import ClassVar, NamedTuple

import numpy as np

from gapless.data import require_memory
from gapless.errors import InvalidInputError
from gapless.kernels.gram import blocks
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point

# Entries of X or of K that one step may touch: some 20 ms, so that Ctrl-C and progress are prompt on data of any size.
QUANTUM = 1e7


class Budget(NamedTuple):
    """How much an engine may do in one step: about ``work`` entries of X or K to touch, and not more than ``iterations`` of its own unit.

    At least one iteration fits, however small the work. ``seconds`` is the time left of ``max_time``, for engines whose single steps may take long.
    """

    work: float = QUANTUM
    iterations: float = np.inf
    seconds: float = np.inf


class Targets(NamedTuple):
    """What the loop wants to prove: a relative duality gap, and a largest KKT violation (inf where the caller asks for none).

    The loop lowers the targets where an engine said ``READY`` and the proof did not agree.
    """

    gap: float = 0.0
    kkt: float = np.inf

    def times(self, factor: float) -> Targets:
        """Both targets, scaled."""
        return Targets(self.gap * factor, self.kkt * factor)


class Outcome(Enum):
    """How a step ended."""

    RUNNING = "there is more to do"
    READY = "the engine believes that its point meets the targets"
    STALLED = "nothing moves any more"


class Advance(NamedTuple):
    """The report of one step: iterations in the solver's unit, work in entries touched, and how the step ended."""

    iterations: float
    work: float
    outcome: Outcome = Outcome.RUNNING


class Engine(ABC):
    """A solver at work on one problem, complete from its construction on.

    ``judges``: the engine says by ``READY`` when a certificate is worth computing, so that the loop computes few others. ``holds``: its point is
    not worth a certificate before it says ``READY``. ``rises``: each of its steps raises D, so that a dual value that no longer rises means that
    rounding has stopped it. ``visited``: the samples that the last step visited, in order; None where it does not visit one after the other.
    ``grain``: the smallest part of an iteration that a step can make, 1/n of an epoch for a method that visits one sample at a time.
    """

    judges: bool = False
    holds: bool = False
    rises: bool = False
    grain: float = 1.0
    visited: np.ndarray | None = None

    @abstractmethod
    def step(self, budget: Budget, targets: Targets) -> Advance:
        """Go on within the budget, at least by one iteration."""

    @abstractmethod
    def point(self) -> Point:
        """A copy of the algorithm's present iterate, exactly as the textbook defines it; for an averaging method the average."""

    def answer(self) -> Point | None:
        """The point that the method returns where that is not its last iterate: the best iterate, for a method whose steps may raise P."""
        return None

    def whole_steps(self, budget: Budget, cost: float) -> int:
        """How many iterations of a given cost fit into a budget: at least one."""
        return int(max(1.0, min(budget.work / cost, np.ceil(budget.iterations - 1e-9))))

    def samples_ahead(self, budget: Budget, n: int, cost: float) -> int:
        """How many samples of an epoch of n, at a given cost each, fit into a budget: at least one."""
        return int(max(1.0, min(budget.work / cost, np.round(budget.iterations * n))))


class Solver(ABC):
    """An algorithm by its textbook name. The constructor holds the knobs of the algorithm, never C or the loss.

    The loop calls ``unsupported`` once and ``init`` once; then the engine's ``step`` again and again, and its ``point`` for each certificate.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = "epochs"
    max_iter: ClassVar[int] = 1000  # the cap where the caller gives none

    def cap(self, problem: Problem) -> float:
        """The iterations after which a solve ends where the caller names no bound."""
        return float(self.max_iter)

    @abstractmethod
    def unsupported(self, problem: Problem) -> str | None:
        """Why the algorithm's theory does not cover a problem, as a sentence; None if it does."""

    @abstractmethod
    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> Engine:
        """An engine for the problem, which begins at ``start`` where one is given."""


@singledispatch
def own_solver(problem: Problem) -> Solver | None:
    """The one solver of a special kind of problem, which its module registers here; None where any of :data:`gapless.solvers.SOLVERS` may serve."""
    return None


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse an option that is not one of its choices."""
    if value not in choices:
        raise InvalidInputError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def check_positive(name: str, value: float) -> None:
    """Refuse an option that is not a positive finite number."""
    if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise InvalidInputError(f"{name} must be a positive number; got {value!r}.")


def start_beta(problem: Problem, start: Point | None) -> np.ndarray:
    """β to begin with: the start's, clipped to the box, or zero."""
    if start is None or start.beta is None:
        return np.zeros(problem.n_samples)
    return np.clip(start.beta, problem.dual.lower, problem.dual.upper)


def start_weights(problem: Problem, start: Point | None) -> tuple[np.ndarray, float]:
    """(w, b) of a linear problem to begin with: the start's, or those of its β, or zero."""
    if start is None:
        return np.zeros(problem.n_features), 0.0
    if start.w is not None:
        return start.w.astype(np.float64), float(start.b or 0.0)
    beta = start_beta(problem, start)
    return problem.weights(beta), problem.shift * float(beta.sum())


def full_gram(problem: Problem, solver: str) -> np.ndarray:
    """K (plus s²) as an n×n matrix; a :class:`~gapless.errors.TooLargeError` where it does not fit into memory."""
    n = problem.n_samples
    require_memory(8 * n * n, f"{solver} holds the whole kernel matrix: {n:,} x {n:,} in float64, which")
    K = np.empty((n, n))
    if problem.kernel is None:
        X = problem.X
        step = max(1, int(QUANTUM / n))
        for begin in range(0, n, step):
            part = X[begin : begin + step].astype(np.float64)
            product = part @ X.T
            K[begin : begin + step] = product.toarray() if hasattr(product, "toarray") else product
    else:
        for part, block in blocks(problem.kernel, problem.X):
            K[part] = block
    K += problem.shift
    return K


def refuse_free_intercept(problem: Problem, name: str) -> str | None:
    """The refusal of a free intercept by solvers that move one coordinate at a time; None where there is none."""
    if problem.intercept != "free":
        return None
    return (
        f"{name} moves dual variables one by one or all at once inside a box, but a free intercept couples them by Σβ = 0; "
        "use solver='smo', or intercept='regularized' or 'none'."
    )


def refuse_kernel(problem: Problem, name: str) -> str | None:
    """The refusal of a kernel by solvers that keep w as a vector; None for a linear problem."""
    if problem.is_linear:
        return None
    return f"{name} keeps w as a vector, which a kernel does not have; use solver='smo' or 'coordinate_ascent', or map the features."


def refuse_nu(problem: Problem, name: str) -> str | None:
    """The refusal of a ν-form by solvers whose one free offset costs nothing; None for other problems."""
    if not problem.is_nu:
        return None
    return (
        f"{name} has one offset, which costs nothing, but a ν-form has offsets with a price; use solver='smo' or 'qp'."
    )


def refuse_hard_margin(problem: Problem, name: str) -> str | None:
    """The refusal of a hard margin, and of a ν-form, by solvers that need a finite loss; None for other problems."""
    if problem.is_nu:
        return refuse_nu(problem, name)
    if not problem.is_hard:
        return None
    return f"{name} follows sub-gradients of the loss, which is infinite for C=inf; use solver='smo', 'sdca' or 'qp', or a finite C."
