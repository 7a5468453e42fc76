"""What a search knows of each candidate on each fold, as a table that fills while an engine works."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """The scores of one fit.

    Attributes
    ----------
    test_scores, train_scores : float or dict of str to float
        What the scorer gave, by metric where there are several; ``train_scores`` is None where training rows are not scored.
    fit_time, score_time : float
        Seconds.
    n_test_samples : int
        The number of test rows.
    fit_error : str or None
        The traceback of a fit that failed.
    """

    test_scores: Any
    train_scores: Any
    fit_time: float
    score_time: float
    n_test_samples: int
    fit_error: str | None = None

    def for_scikit_learn(self) -> dict[str, Any]:
        """What scikit-learn's searches make ``cv_results_`` of."""
        result = dict(vars(self))
        if self.train_scores is None:
            del result["train_scores"]
        return result


class Outcomes:
    """The outcomes of all candidates on all folds, by their places."""

    def __init__(self, n_candidates: int, n_folds: int) -> None:
        self.n_candidates, self.n_folds = n_candidates, n_folds
        self._known: dict[tuple[int, int], Outcome] = {}

    def put(self, candidate: int, fold: int, outcome: Outcome) -> None:
        """Keep the outcome of a fit."""
        self._known[candidate, fold] = outcome

    def get(self, candidate: int, fold: int) -> Outcome | None:
        """The outcome of a fit; None where it is not known."""
        return self._known.get((candidate, fold))

    def in_order(self) -> list[Outcome]:
        """All outcomes, those of the first candidate on all folds first."""
        return [self._known[k, j] for k in range(self.n_candidates) for j in range(self.n_folds)]

    def __len__(self) -> int:
        return len(self._known)

    def items(self) -> Iterable[tuple[tuple[int, int], Outcome]]:
        """((candidate, fold), outcome) of each fit that is known."""
        return self._known.items()

    @property
    def complete(self) -> list[int]:
        """The candidates that are done on all folds."""
        return [k for k in range(self.n_candidates) if all((k, j) in self._known for j in range(self.n_folds))]
