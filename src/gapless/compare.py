"""Several solvers on one problem, side by side: what each solver proves, and in what time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gapless.data import check_matrix
from gapless.errors import Interrupted, InvalidInputError, MissingDependencyError, TooLargeError, UnsupportedError
from gapless.problems.problem import Problem
from gapless.result import Result, Status
from gapless.solvers import SOLVERS, Solver, as_solver
from gapless.timing import fresh_solve, repeat, warm_up
from gapless.trace import Progress

if TYPE_CHECKING:
    from gapless.plot import ConvergenceDisplay, GapDisplay

ProgressCallback = Callable[[str, Progress], bool | None]
_REFUSALS = (UnsupportedError, TooLargeError, MissingDependencyError)


@dataclass(frozen=True)
class Row:
    """One line of the table: what one solver has reached.

    Attributes
    ----------
    solver : str
        The solver's name, with the options that are not its defaults.
    iterations : float
        The iterations, in ``unit``.
    unit : str
        What an iteration of the solver is: ``"epochs"``, ``"pairs"``, …
    seconds : float
        The time from the problem to the proof.
    primal, dual : float
        The bounds on the optimum, in the convention that the problem was stated in.
    relative_gap : float
        (primal − dual) / |primal|.
    score : float
        The accuracy, or R² of a regression.
    status : str
        The name of the :class:`~gapless.result.Status` with which the solve ended.
    """

    solver: str
    iterations: float
    unit: str
    seconds: float
    primal: float
    dual: float
    relative_gap: float
    score: float
    status: str

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, for JSON: None stands for a value that is infinite or undefined."""
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(self).items()}

    def cells(self) -> tuple[str, ...]:
        """The line as it is printed; see :data:`COLUMNS`."""
        count = f"{self.iterations:,.0f}"
        if self.unit != "epochs":
            count += f" {self.unit.removesuffix('s') if count == '1' else self.unit}"
        return (
            self.solver,
            count,
            f"{self.seconds:.4f}",
            f"{self.primal:#.7g}",
            f"{self.dual:#.7g}",
            f"{self.relative_gap:.1e}",
            f"{self.score:.4f}",
        )


COLUMNS = ("solver", "epochs", "seconds", "primal", "dual", "relative gap", "accuracy")


@dataclass(frozen=True)
class Comparison:
    """What each solver reached on one problem; :func:`compare` makes it.

    Attributes
    ----------
    problem : Problem
        What was solved.
    results : mapping of str to Result
        The results by the solvers' labels, in the order in which they ran.
    refused : mapping of str to str
        The label of each solver that does not cover the problem, with the sentence that says why.
    tol : float
        The relative gap that was asked for.
    test : tuple (X, y) or None
        The held-out samples that the scores are taken on; None takes the training samples.
    """

    problem: Problem
    results: Mapping[str, Result]
    refused: Mapping[str, str]
    tol: float
    test: tuple[Any, Any] | None = field(default=None, repr=False)

    def rows(self) -> list[Row]:
        """One :class:`Row` for each result, in the order in which the solvers ran."""
        return [as_row(name, result, self.test) for name, result in self.results.items()]

    def columns(self) -> tuple[str, ...]:
        """The titles of the table's columns; the last one is the accuracy, or R² of a regression."""
        return COLUMNS if self.problem.classes is not None else (*COLUMNS[:-1], "R²")

    def table(self) -> str:
        """The rows as aligned text, then one line for each solver that refused."""
        lines = [self.columns(), *(row.cells() for row in self.rows())]
        widths = [max(len(line[j]) for line in lines) for j in range(len(COLUMNS))]
        text = [
            "  ".join(
                cell.ljust(width) if j == 0 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        return "\n".join(
            [*(line.rstrip() for line in text), *(f"{name}: {reason}" for name, reason in self.refused.items())]
        )

    def disagreement(self) -> float:
        """The largest relative difference between the objective values, primal or dual, of the solvers that converged; NaN for fewer than two.

        Each value lies within its solver's gap of the optimum, so that a disagreement above ``tol`` means that a certificate is wrong.
        """
        proofs = [r.certificate for r in self.results.values() if r.status is Status.CONVERGED]
        if len(proofs) < 2:
            return math.nan
        values = np.array([(proof.primal, proof.dual) for proof in proofs])
        return float(np.ptp(values, axis=0).max() / max(np.abs(values).max(), np.finfo(float).tiny))

    def plot(
        self, kind: Literal["convergence", "gap"] = "convergence", ax: Any = None
    ) -> ConvergenceDisplay | GapDisplay:
        """Draw the primal and the dual bound of every solver over time (``"convergence"``), or the relative gap between the two (``"gap"``)."""
        from gapless.plot import ConvergenceDisplay, GapDisplay

        if kind == "convergence":
            scale: Literal["linear", "symlog"] = "linear" if len(self.results) == 1 else "symlog"
            return ConvergenceDisplay.from_results(self.results).plot(ax, scale=scale)
        if kind == "gap":
            return GapDisplay.from_results(self.results, tol=self.tol).plot(ax)
        raise InvalidInputError(f"kind must be 'convergence' or 'gap'; got {kind!r}.")

    def __str__(self) -> str:
        return self.table()


class ComparisonInterrupted(Interrupted):
    """Ctrl-C during a comparison: ``comparison`` holds the finished solves and the interrupted one as far as it came, which is also ``result``."""

    def __init__(self, result: Result, comparison: Comparison) -> None:
        super().__init__(result)
        self.comparison = comparison


def compare(
    problem: Problem,
    solvers: Iterable[str | Solver] | None = None,
    *,
    tol: float = 1e-6,
    test: tuple[Any, Any] | None = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> Comparison:
    """Solve one problem by several solvers, and put what they prove side by side.

    A solver that does not cover the problem is listed with its reason and does not stop the others.

    The seconds of a solver are the time from the problem to the proof: what the solver sets up for itself (norms, kernel entries, a Gram matrix), its
    steps, and all certificates. Time that only a first run takes is left out: every solver has solved a few rows before the clock starts, no solver
    finds values that another has computed, and of a solve that takes a moment the fastest of up to seven runs counts (:mod:`gapless.timing`).

    Parameters
    ----------
    problem : Problem
        What to solve.
    solvers : iterable of str or Solver, default None
        Names (see :data:`gapless.solvers.SOLVERS`), or solvers with their options such as ``gl.solvers.QP(form="primal")``; None is all solvers.
    tol : float, default 1e-6
        The relative duality gap that each solver is to reach.
    test : tuple (X, y), default None
        Held-out samples for the accuracy (R² of a regression); None scores on the training samples.
    progress : callable, default None
        Called as ``progress(label, state)`` after each check, with the solver's label and a :class:`~gapless.trace.Progress`; returning True ends
        the solve of that solver.
    **options
        Everything else goes to :func:`~gapless.solve.solve`: ``max_iter``, ``max_time``, ``random_state``, …

    Returns
    -------
    Comparison
        The results by label, and the sentences of the solvers that refused; printing it shows the table.

    Raises
    ------
    ComparisonInterrupted
        On Ctrl-C, carrying the comparison as far as it came.

    Examples
    --------
    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]], [0, 0, 1, 1])
    >>> comparison = gl.compare(problem, ["smo", "coordinate_ascent", gl.solvers.QP(form="primal")])
    >>> list(comparison.results), comparison.disagreement() < 1e-6
    (['smo', "qp (form='primal')"], True)
    >>> comparison.refused["coordinate_ascent"]
    "coordinate_ascent moves dual variables one by one or all at once inside a box, but a free intercept couples them by Σβ = 0; use ..."
    """
    _check_test(problem, test)
    results: dict[str, Result] = {}
    refused: dict[str, str] = {}
    comparison = Comparison(problem, MappingProxyType(results), MappingProxyType(refused), tol, test)
    labelled = _labelled(problem, list(SOLVERS) if solvers is None else list(solvers))
    warm_up(problem, labelled.values())
    for label, solver in labelled.items():
        callback = None if progress is None else _bind(progress, label)
        try:
            reason = solver.unsupported(problem)
            if reason is not None:
                raise UnsupportedError(reason)
            results[label] = fresh_solve(problem, solver, tol=tol, callback=callback, **options)
        except _REFUSALS as refusal:
            refused[label] = str(refusal)
        except Interrupted as stop:
            results[label] = stop.result
            raise ComparisonInterrupted(stop.result, comparison) from None
    try:
        repeat(results, labelled, tol=tol, callback=progress, **options)
    except Interrupted as stop:  # every solver has finished once, so that the comparison is whole
        raise ComparisonInterrupted(stop.result, comparison) from None
    return comparison


def as_row(name: str, result: Result, test: tuple[Any, Any] | None = None) -> Row:
    """A result as a line of the table, scored on ``test`` or else on its own samples."""
    proof = result.certificate
    return Row(
        solver=name,
        iterations=result.iterations,
        unit=result.trace.unit,
        seconds=result.seconds,
        primal=proof.primal,
        dual=proof.dual,
        relative_gap=proof.relative_gap,
        score=score(result, test),
        status=result.status.name,
    )


def score(result: Result, test: tuple[Any, Any] | None = None) -> float:
    """The share of right labels, or R² of a regression, on ``test`` or else on the training samples."""
    problem = result.problem
    if problem.classes is not None:
        own = problem.classes[(problem.y > 0).astype(int)]
        X, y = (problem.X, own) if test is None else test
        return float(np.mean(result.predict(X) == np.asarray(y)))
    X, y = (problem.X, problem.y) if test is None else test
    y = np.asarray(y, dtype=np.float64)
    spread = float(((y - y.mean()) ** 2).sum())
    return 1.0 - float(((y - result.predict(X)) ** 2).sum()) / spread if spread > 0 else math.nan


def _check_test(problem: Problem, test: Any) -> None:
    """Refuse held-out samples that could not be scored, before any solver runs."""
    if test is None:
        return
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise InvalidInputError(f"test must be a pair (X, y) of held-out samples; got {type(test).__name__}.")
    X = check_matrix(test[0], "the X of test", n_features=problem.n_features)
    y = np.asarray(test[1])
    if y.shape != (X.shape[0],):
        raise InvalidInputError(
            f"the y of test must have an entry for each of its {X.shape[0]} samples; got the shape {y.shape}."
        )


def _labelled(problem: Problem, solvers: list[str | Solver]) -> dict[str, Solver]:
    labelled: dict[str, Solver] = {}
    for given in solvers:
        solver = as_solver(given, problem)
        label = _label(solver)
        if label in labelled:
            raise InvalidInputError(f"solvers must differ; {label} is given twice.")
        labelled[label] = solver
    if not labelled:
        raise InvalidInputError("solvers must name at least one solver; got none.")
    return labelled


def _label(solver: Solver) -> str:
    """The solver's name, with the options that are not its defaults: ``qp (form='primal')``."""
    if not is_dataclass(solver):
        return solver.name
    changed = [
        f"{f.name}={getattr(solver, f.name)!r}"
        for f in fields(solver)
        if f.default is not MISSING and getattr(solver, f.name) != f.default
    ]
    return f"{solver.name} ({', '.join(changed)})" if changed else solver.name


def _bind(progress: ProgressCallback, label: str) -> Callable[[Progress], bool | None]:
    return lambda state: progress(label, state)
