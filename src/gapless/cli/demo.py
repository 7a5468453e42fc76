"""``gapless demo``: four experiments from the textbooks."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from gapless.cli.guard import FAILED, fail, guarded
from gapless.cli.output import (
    FIGURES,
    FiguresOption,
    JsonOption,
    NoFiguresOption,
    console,
    count,
    figure_folder,
    print_rows,
    progress_bar,
)
from gapless.compare import COLUMNS
from gapless.demo import EXPERIMENTS, Outcome
from gapless.errors import InvalidInputError


@guarded
def demo(
    figures: FiguresOption = FIGURES,
    no_figures: NoFiguresOption = False,
    only: Annotated[int | None, typer.Option(help="Run one experiment, 1 to 4.", metavar="NUMBER")] = None,
    json_output: JsonOption = False,
) -> None:
    """Run four experiments from the textbooks: tables, figures, and a check of each claim.

    The experiments: 1 dual coordinate ascent against SGD, 2 three algorithms with three strengths of regularisation, 3 two rings,
    4 all solvers on one problem. They take under two minutes on two cores. The exit code is 1 when a check does not hold.

    Example: [bold]gapless demo --only 3 --figures rings[/bold]
    """
    if only is not None and only not in EXPERIMENTS:
        raise InvalidInputError(f"--only must be one of {', '.join(map(str, EXPERIMENTS))}; got {only}.")
    folder = figure_folder(figures, no_figures)
    numbers = list(EXPERIMENTS) if only is None else [only]
    began = time.perf_counter()
    outcomes: dict[int, Outcome] = {}
    for done, number in enumerate(numbers):
        outcomes[number] = _run(number, folder, done, len(numbers))
        if not json_output:
            _print_outcome(number, outcomes[number])
    seconds = time.perf_counter() - began
    if json_output:
        experiments = [
            {"number": k, "title": EXPERIMENTS[k].title, **outcome.as_dict()} for k, outcome in outcomes.items()
        ]
        print(json.dumps({"experiments": experiments, "seconds": seconds}, indent=2))
    else:
        n_figures = sum(len(outcome.figures) for outcome in outcomes.values())
        where = "" if folder is None else f"{count(n_figures, 'figure')} in {folder}. "
        console().print(f"\n{where}{seconds:.0f} s in all.", soft_wrap=True)
    broken = [k for k, outcome in outcomes.items() if not all(check.holds for check in outcome.checks)]
    if broken:
        raise fail(f"a check of experiment {', '.join(map(str, broken))} did not hold.", FAILED)


def _run(number: int, folder: Path | None, done: int, total: int) -> Outcome:
    with progress_bar() as bar:
        task = bar.add_task("", total=total, completed=done)

        def tell(what: str, share: float) -> None:
            bar.update(task, description=f"experiment {number}: {what}", completed=done + share)

        return EXPERIMENTS[number].run(folder, tell)


def _print_outcome(number: int, outcome: Outcome) -> None:
    out = console()
    out.print(f"\n[bold]Experiment {number}. {EXPERIMENTS[number].title}[/bold]")
    for table in outcome.tables:
        out.print()
        print_rows(out, table.title, COLUMNS, table.rows)
    out.print()
    for check in outcome.checks:
        mark = "[green]✓[/green]" if check.holds else "[red]✗[/red]"
        out.print(f"{mark} {check.claim}")
