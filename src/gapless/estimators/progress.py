"""The live line that ``verbose`` shows while an estimator is fitted, on a terminal and nowhere else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from gapless.solvers import SOLVERS
from gapless.trace import Progress as Step

if TYPE_CHECKING:  # rich is imported only where a line is shown, so that importing gapless stays fast
    from rich.console import Console
    from rich.progress import Progress


def unit_of(step: Step) -> str:
    """The unit that a solver counts its iterations in."""
    solver = SOLVERS.get(step.solver)
    return "epochs" if solver is None else solver.unit


def make_console() -> Console:
    """The console that the line goes to: standard error, apart from the program's own output."""
    from rich.console import Console

    return Console(stderr=True)


class ProgressLine:
    """A bar that fills as the gap falls to ``tol`` on a logarithmic scale, with the gap, the support vectors and the rate.

    Nothing is shown unless the estimator is verbose and standard error is a terminal. Of several subproblems the line shows the one that was checked
    last.
    """

    def __init__(self, estimator: Any, subproblems: int) -> None:
        self._name = type(estimator).__name__
        self._count = subproblems
        self._first: dict[int, float] = {}
        self._seen: set[int] = set()
        self._display: Progress | None = None
        console = make_console() if estimator.verbose else None
        if console is not None and console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._display = Progress(
                TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[facts]}"), TimeElapsedColumn(),
                console=console, transient=True,
            )  # fmt: skip
            self._task = self._display.add_task(self._name, total=1.0, facts="")

    @property
    def active(self) -> bool:
        """Whether anything is shown."""
        return self._display is not None

    def __enter__(self) -> Self:
        if self._display is not None:
            self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.stop()

    def show(self, k: int, step: Step) -> None:
        """Show how far subproblem k has come."""
        if self._display is None:
            return
        gap = step.certificate.relative_gap
        self._first.setdefault(k, gap if math.isfinite(gap) else 1.0)
        self._seen.add(k)
        rate = step.iterations / step.seconds if step.seconds > 0 else 0.0
        description = self._name if self._count == 1 else f"{self._name} {len(self._seen)}/{self._count}"
        facts = f"gap {gap:.1e} → {step.tol:.0e}, {step.certificate.n_support:,} support vectors, {rate:,.0f} {unit_of(step)}/s"
        self._display.update(
            self._task, completed=log_share(self._first[k], gap, step.tol), description=description, facts=facts
        )


def log_share(first: float, gap: float, tol: float) -> float:
    """The share of the way from the first gap to ``tol`` that is done, on a logarithmic scale."""
    if not gap < first:
        return 0.0
    if gap <= tol:
        return 1.0
    return math.log(first / gap) / math.log(first / tol)
