"""The lines that a search prints for each fit under ``verbose``, which are scikit-learn's."""

from __future__ import annotations

from typing import Any

from gapless.model_selection.fold import Candidate
from gapless.model_selection.outcomes import Outcome


class Report:
    """Prints a line at the end of each fit from ``verbose=2`` on, with scores from 3 on, and one at its beginning from 10 on."""

    WIDTH = 80

    def __init__(self, verbose: int, candidates: list[Candidate], n_folds: int) -> None:
        self.verbose, self.candidates, self.n_folds = verbose, candidates, n_folds
        self._begun: set[tuple[int, int]] = set()
        self._ended: set[tuple[int, int]] = set()

    def _head(self, candidate: int, fold: int) -> str:
        where = f" {fold + 1}/{self.n_folds}" if self.verbose > 2 else ""
        if self.verbose > 9:
            where += f"; {candidate + 1}/{len(self.candidates)}"
        return f"[CV{where}]"

    def _settings(self, candidate: int) -> str:
        values = self.candidates[candidate]
        return ", ".join(f"{key}={values[key]}" for key in sorted(values))

    def begin(self, candidate: int, fold: int) -> None:
        """Say which fit begins; an engine may ask for the same fit several times before it begins."""
        if self.verbose > 9 and (candidate, fold) not in self._begun:
            self._begun.add((candidate, fold))
            print(f"{self._head(candidate, fold)} START {self._settings(candidate)}".ljust(self.WIDTH, "."))

    def end(self, candidate: int, fold: int, outcome: Outcome) -> None:
        """Say how the fit scored and how long it took; a fit that is trained on later is not told of again."""
        if self.verbose < 2 or (candidate, fold) in self._ended:
            return
        self._ended.add((candidate, fold))
        settings = self._settings(candidate)
        text = f"{settings};" if settings else ""
        if self.verbose > 2:
            text += _scores_in_words(outcome.test_scores, outcome.train_scores)
        text += f" total time={_duration(outcome.fit_time + outcome.score_time)}"
        head = f"{self._head(candidate, fold)} END "
        print(head + text.rjust(self.WIDTH - len(head), "."))


def _scores_in_words(test: Any, train: Any) -> str:
    if isinstance(test, dict):
        parts = []
        for name in sorted(test):
            of_train = "" if train is None else f"train={train[name]:.3f}, "
            parts.append(f" {name}: ({of_train}test={test[name]:.3f})")
        return "".join(parts)
    return f", score={test:.3f}" if train is None else f", score=(train={train:.3f}, test={test:.3f})"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:4.1f}min" if seconds > 60 else f" {seconds:5.1f}s"
