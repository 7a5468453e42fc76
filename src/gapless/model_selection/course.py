"""What goes along with the fits of a search: the file of ``resume``, and the line on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from gapless.model_selection.fold import Candidate
from gapless.model_selection.journal import Journal, search_facts
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.progress import SearchLine
from gapless.model_selection.wishes import SearchWishes

Told = Callable[[int, int, Outcome], None]


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
        """Tell the wishes of the outcomes that the file of ``resume`` has, and give the function to tell of each further one."""
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
            shown = {place for place, _ in known.items()}

            def tell(candidate: int, fold: int, outcome: Outcome) -> None:
                if journal is not None:
                    journal.append(candidates[candidate], fold, outcome)
                # A fit may be made once more, to separate its score from another one.
                place = candidate, fold
                if place not in shown:
                    shown.add(place)
                    line.show(candidate, outcome)

            yield tell
