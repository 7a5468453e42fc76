"""What an experiment is: it runs, tells how far it is, and leaves tables, figures and checks of what it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gapless.compare import Row

# Called with what runs now, and the share of the experiment that is done.
Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Table:
    """Rows of one problem under a title."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Check:
    """A claim, with the figures that the run gave, and whether they bear it out."""

    claim: str
    holds: bool


@dataclass(frozen=True)
class Outcome:
    """What an experiment leaves."""

    tables: tuple[Table, ...]
    checks: tuple[Check, ...]
    figures: tuple[Path, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "tables": [{"title": t.title, "rows": [row.as_dict() for row in t.rows]} for t in self.tables],
            "checks": [{"claim": c.claim, "holds": bool(c.holds)} for c in self.checks],
            "figures": [str(path) for path in self.figures],
        }


class Run(Protocol):
    """An experiment's function: ``folder`` None draws nothing."""

    def __call__(self, folder: Path | None, tell: Tell) -> Outcome: ...


@dataclass(frozen=True)
class Experiment:
    """A title and what to run."""

    title: str
    run: Run
