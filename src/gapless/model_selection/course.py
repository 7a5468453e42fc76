"""What goes along with the fits of a search: the file of ``resume``, and the line on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from gapless.model_selection.fold import Candidate
from gapless.model_selection.journal import Journal, search_facts
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.progress import SearchLine
from gapless.model_selection.wishes import SearchWishes


@dataclass(frozen=True)
class Told:
    """Who is told of the outcomes, and the (candidate, fold) of those that the line has shown."""

    candidates: list[Candidate]
    journal: Journal | None
    line: SearchLine
    shown: set[tuple[int, int]]

    def outcome(self, candidate: int, fold: int, outcome: Outcome) -> None:
        """A fit is made; it may be made once more, to separate its score from another one."""
        if self.journal is not None:
            self.journal.append(self.candidates[candidate], fold, outcome)
        place = candidate, fold
        if place not in self.shown:
            self.shown.add(place)
            self.line.show(candidate, outcome)


@dataclass(frozen=True)
class Course:
    """The course of one ``fit`` of a search, on X and y with the parameters of ``fit``; ``metric`` is the score that decides."""

    search: Any
    X: Any
    y: Any
    params: dict[str, Any]
    metric: Any

    @contextmanager
    def of(self, candidates: list[Candidate], wishes: SearchWishes) -> Iterator[Told]:
        """Tell the wishes of the outcomes that the file of ``resume`` has, and give what is to be told of each further one."""
        search, known = self.search, wishes.known
        with ExitStack() as stack:
            journal = None
            if search.resume is not None:
                facts = search_facts(search, self.X, self.y, self.params, wishes.folds)
                journal = stack.enter_context(Journal(search.resume, facts))
                for place, outcome in journal.found(candidates, known.n_folds):
                    wishes.recall(*place, outcome)
                wishes.recalled()
                if search.verbose > 0:
                    total = known.n_candidates * known.n_folds
                    print(f"{len(known):,} of {total:,} fits are in the file {str(search.resume)!r} already.")
            metric = search.refit if isinstance(search.refit, str) else self.metric
            line = stack.enter_context(SearchLine(search, known, metric, wishes.bounds if wishes.races else None))
            yield Told(candidates, journal, line, {place for place, _ in known.items()})
