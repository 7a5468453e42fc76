"""Tables, the progress bar, and the options that all commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Protocol

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

FIGURES = Path("gapless-figures")
FiguresOption = Annotated[
    Path, typer.Option(help="The folder for the figures (PNG), which is made where there is none.", metavar="DIR")
]
NoFiguresOption = Annotated[bool, typer.Option("--no-figures", help="Draw nothing.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs, in place of tables.")]

_FILE_WIDTH = 120  # the width of tables where the output is not a terminal, which would tell its width; by hand


class Line(Protocol):
    """A line of a table."""

    def cells(self) -> Sequence[str]:
        """The texts of its cells."""
        ...


def console() -> Console:
    """Standard output, for people."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=_FILE_WIDTH)


def error_console() -> Console:
    """Standard error, for progress and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def progress_bar() -> Progress:
    """A progress bar on standard error, which disappears at the end; where standard error is not a terminal, nothing is shown."""
    out = error_console()
    columns = (SpinnerColumn(), BarColumn(bar_width=24), TimeElapsedColumn())
    text = TextColumn("{task.description}", markup=False)
    return Progress(*columns, text, console=out, transient=True, disable=not out.is_terminal)


def print_rows(out: Console, title: str, columns: Sequence[str], rows: Sequence[Line]) -> None:
    """A table that fits the terminal: where it is too wide, cells wrap between words, so that numbers stay whole."""
    cells = [row.cells() for row in rows]
    texts = list(zip(columns, *cells, strict=True))
    widths = [max(map(len, column)) for column in texts]
    excess = sum(widths) + 2 * (len(widths) - 1) - out.width
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for j, name in enumerate(columns):
        longest_word = max(len(word) for text in texts[j] for word in text.split())
        shrink = min(max(excess, 0), widths[j] - longest_word)
        excess -= shrink
        table.add_column(name, justify="left" if j == 0 else "right", width=widths[j] - shrink)
    for line in cells:
        table.add_row(*line)
    out.print(title, style="italic", markup=False)
    out.print(table)


def figure_folder(figures: Path, no_figures: bool) -> Path | None:
    """The folder for figures, ready to be written to: a missing package or a forbidden folder is told before the work, not after it."""
    if no_figures:
        return None
    from gapless.plot.style import matplotlib

    matplotlib()
    figures.mkdir(parents=True, exist_ok=True)
    return figures


def count(number: int, noun: str) -> str:
    """``1 figure is``, ``2 figures are``."""
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"
