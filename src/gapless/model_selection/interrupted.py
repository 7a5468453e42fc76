"""What a search keeps after Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gapless.model_selection.outcomes import Outcomes


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during the fits of a search: the search keeps what is decided, and has no ``best_estimator_``.

    ``cv_results_`` has the scores of all fits that are done, and NaN for the others. ``best_index_``, ``best_params_`` and ``best_score_`` are chosen
    from the candidates that are done on all folds; they are not there where no candidate is. With the parameter ``resume`` all fits that are done are
    in a file as well, and the same search goes on from it.

    Attributes
    ----------
    search : GridSearchCV or RandomizedSearchCV
        The search.
    done, total : int
        How many fits are done, and of how many.
    complete, n_candidates : int
        How many candidates are done on all folds, and of how many.

    Examples
    --------
    A scorer that raises KeyboardInterrupt at its eleventh call stands in for the key here:

    >>> from gapless import SVC
    >>> from gapless.model_selection import GridSearchCV, SearchInterrupted
    >>> from sklearn.datasets import load_iris
    >>> calls = []
    >>> def score(model, X, y):
    ...     calls.append(1)
    ...     if len(calls) == 11:
    ...         raise KeyboardInterrupt
    ...     return model.score(X, y)
    >>> search = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1, 10]}, scoring=score, cv=4)
    >>> X, y = load_iris(return_X_y=True)
    >>> try:
    ...     search.fit(X @ X.T, y)
    ... except SearchInterrupted as stop:
    ...     print(stop)
    Interrupted: 10 of 12 fits are done, and 1 of 3 candidates on all folds. cv_results_ and best_params_ tell of these; nothing is refitted. With
    resume="a file" a search keeps its fits, and goes on from them.
    >>> search.best_params_
    {'C': 0.1}
    """

    def __init__(self, search: Any, done: int, total: int, complete: int, n_candidates: int) -> None:
        self.search, self.done, self.total = search, done, total
        self.complete, self.n_candidates = complete, n_candidates
        further = (
            'With resume="a file" a search keeps its fits, and goes on from them.'
            if search.resume is None
            else f"The same search with resume={str(search.resume)!r} goes on from here."
        )
        super().__init__(f"{self._kept()} {further}")

    def _kept(self) -> str:
        """Words on what is there."""
        if not self.done:
            return "Interrupted before the first fit was done."
        fits = f"Interrupted: {self.done:,} of {self.total:,} fits {'is' if self.done == 1 else 'are'} done, and"
        if not self.complete:
            return f"{fits} no candidate on all folds. cv_results_ tells of these."
        return (
            f"{fits} {self.complete:,} of {self.n_candidates:,} candidates on all folds. "
            "cv_results_ and best_params_ tell of these; nothing is refitted."
        )


def interruption(search: Any, known: Outcomes) -> SearchInterrupted:
    """The exception that tells what a search keeps, and how it goes on."""
    complete = int(known.is_known().all(axis=1).sum())
    return SearchInterrupted(search, len(known), known.n_candidates * known.n_folds, complete, known.n_candidates)


def only(results: dict[str, Any], candidates: list[int]) -> dict[str, Any]:
    """``cv_results_`` of these candidates alone."""
    return {
        key: [values[k] for k in candidates] if isinstance(values, list) else values[np.asarray(candidates)]
        for key, values in results.items()
    }


# The attributes of the last fit, on all of the data, and those of the search before it.
OF_LAST_FIT = ("best_estimator_", "refit_time_", "feature_names_in_")
OF_SEARCH = ("cv_results_", "best_index_", "best_params_", "best_score_")


def forget(search: Any, names: Iterable[str]) -> None:
    """Take off attributes, which may be there from an earlier fit."""
    for name in names:
        vars(search).pop(name, None)
