"""The live line that ``verbose`` shows while a search runs, on a terminal and nowhere else: fits that are done, the best score, the time left."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.estimators.progress import make_console
from gapless.model_selection.outcomes import Outcome, Outcomes

if TYPE_CHECKING:  # rich is imported only where a line is shown, so that importing gapless stays fast
    from rich.progress import Progress

    from gapless.model_selection.proving import Proving

Bounds = Callable[[], np.ndarray]


class TimeLeft:
    """Estimates how long the fits that are left will take; ``str`` gives it in words, and counts down between two fits.

    A fit is expected to take as long as those of the same candidate on other folds, or, where there are none, as the mean of all. The seconds of fits
    are turned into seconds of the clock by what the fits so far have taken of it, which accounts for fits side by side and for the work between fits.
    In a race ``bounds`` gives (low, high) of the mean score of each candidate, as rows; no fits are expected of a candidate that is out.
    """

    def __init__(
        self, known: Outcomes, bounds: Bounds | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._bounds, self._clock, self._began = bounds, clock, clock()
        self._seconds, self._fits = np.zeros(known.n_candidates), np.zeros(known.n_candidates)
        self._open = np.array(
            [sum(known.get(k, j) is None for j in range(known.n_folds)) for k in range(known.n_candidates)]
        )
        self._end = math.inf

    def add(self, candidate: int, seconds: float) -> None:
        """A fit of the candidate has taken so many seconds."""
        self._seconds[candidate] += seconds
        self._fits[candidate] += 1
        self._open[candidate] -= 1
        self._end = math.inf

    @property
    def seconds(self) -> float:
        """Seconds until the last fit is expected to be done; infinite before the first one."""
        done = float(self._seconds.sum())
        if not done > 0:
            return math.inf
        if self._end == math.inf:
            mean = done / self._fits.sum()
            each = np.where(self._fits > 0, self._seconds / np.maximum(1, self._fits), mean)
            left = self._open
            if self._bounds is not None:
                low, high = self._bounds().T
                left = np.where(high < low.max(), 0, left)
            now = self._clock()
            self._end = now + float(left @ each) * (now - self._began) / done
        return max(0.0, self._end - self._clock())

    def __str__(self) -> str:
        return "" if self.seconds == math.inf else f"{in_words(self.seconds)} left"


def in_words(seconds: float) -> str:
    """A duration as a person says it.

    >>> from gapless.model_selection.progress import in_words
    >>> in_words(0.2), in_words(80), in_words(4000)
    ('1 s', '1 min 20 s', '1 h 7 min')
    """
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = math.ceil(whole / 60)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{minutes // 60} h {minutes % 60} min"


class SearchLine:
    """A bar that fills with the fits of a search. Nothing is shown unless the search is verbose and standard error is a terminal.

    ``metric`` names the score that is shown, where there are several; ``bounds`` are those of :class:`TimeLeft`.
    """

    def __init__(self, search: Any, known: Outcomes, metric: str | None, bounds: Bounds | None = None) -> None:
        self._display: Progress | None = None
        console = make_console() if search.verbose else None
        if console is None or not console.is_terminal:
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._left = TimeLeft(known, bounds)
        self._best = BestSoFar(known, metric)
        # Lines that the search prints go above the bar; where standard output is no terminal they stay in it, and rich must not take them.
        self._display = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} fits{task.fields[best]}"), TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
            console=console, transient=True, redirect_stdout=sys.stdout.isatty(),
        )  # fmt: skip
        self._task = self._display.add_task(
            type(search).__name__,
            total=known.n_candidates * known.n_folds,
            completed=len(known),
            best=str(self._best),
            left=self._left,
        )

    def __enter__(self) -> Self:
        if self._display is not None:
            self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.stop()

    def show(self, candidate: int, outcome: Outcome) -> None:
        """Show that one more fit, of this candidate, is done."""
        if self._display is None:
            return
        self._left.add(candidate, outcome.fit_time + outcome.score_time)
        self._best.add(candidate, outcome)
        self._display.update(self._task, advance=1, best=str(self._best))

    def show_proof(self, proving: Proving) -> None:
        """Show that all fits are made, and how many scores are open which the proof of the choice may go on with."""
        if self._display is None or not (left := proving.left):
            return
        seconds = proving.seconds_left
        forecast = "" if math.isinf(seconds) else f", {in_words(seconds)} left"
        self._display.update(self._task, left=f"proof of the choice: {left} score{'s' * (left != 1)} open{forecast}")


class BestSoFar:
    """The best mean score among the candidates that are done on the most folds; ``str`` gives it in words."""

    def __init__(self, known: Outcomes, metric: str | None) -> None:
        self._metric = metric
        self._sum, self._fits = np.zeros(known.n_candidates), np.zeros(known.n_candidates)
        for (candidate, _), outcome in known.items():
            self.add(candidate, outcome)

    def add(self, candidate: int, outcome: Outcome) -> None:
        """Count the score of one more fit of the candidate."""
        score = outcome.test_scores
        self._sum[candidate] += score.get(self._metric, math.nan) if isinstance(score, dict) else score
        self._fits[candidate] += 1

    @property
    def score(self) -> float:
        """The score; NaN where none is known."""
        most = self._fits.max()
        found = self._sum[(self._fits == most) & ~np.isnan(self._sum)]
        return float(found.max() / most) if most and len(found) else math.nan

    def __str__(self) -> str:
        return "" if math.isnan(self.score) else f", best score {self.score:.4g}"
