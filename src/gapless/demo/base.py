"""What an experiment is: it runs, tells how far it is, and returns tables, figures and checks of its claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gapless.compare import Row

# A function that an experiment calls with the name of what runs now, and with the share of the experiment that is done.
Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Table:
    """The rows of a table, a row for each run on one problem, under a title."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Check:
    """A claim, as a sentence with the figures of the run, and whether these figures bear it out."""

    claim: str
    holds: bool


@dataclass(frozen=True)
class Outcome:
    """What an experiment returns: its tables, the checks of its claims, and the files of its figures."""

    tables: tuple[Table, ...]
    checks: tuple[Check, ...]
    figures: tuple[Path, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The outcome in lists, dictionaries, numbers and text, as JSON takes them."""
        return {
            "tables": [{"title": t.title, "rows": [row.as_dict() for row in t.rows]} for t in self.tables],
            "checks": [{"claim": c.claim, "holds": bool(c.holds)} for c in self.checks],
            "figures": [str(path) for path in self.figures],
        }


class Run(Protocol):
    """The function of an experiment, which writes its figures into ``folder``; with None it draws nothing."""

    def __call__(self, folder: Path | None, tell: Tell) -> Outcome: ...


@dataclass(frozen=True)
class Experiment:
    """An experiment: its title, and the function that runs it."""

    title: str
    run: Run
