"""The stages of a search: first a part of the samples, then several times as many, at last all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from gapless.model_selection.fold import Fold

FIRST = 1000
"""The samples of the first stage, by hand: a grid of 147 support vector regressions on so many, in five folds, takes seconds."""
_TIMES = 4  # by hand: how many times as many samples the next stage has; a fit then takes some ten times as long
_LEAST = 1.5  # by hand: a stage with less than so many times the samples of the one before would say little more
_OF_EACH_CLASS = 2  # training rows, and test rows, that each class keeps at least where it has them
_STRATA = 10  # of the targets of a regression, by their order


@dataclass(frozen=True)
class Stage:
    """A part of the samples, and the folds on it as places among them.

    Attributes
    ----------
    number : int
        0 of the first stage.
    rows : array of int
        The samples, ascending.
    folds : list of (array of int, array of int)
        The training and the test rows of each fold, as places in ``rows``.
    """

    number: int
    rows: np.ndarray
    folds: list[Fold]

    def take(self, X: Any, pairwise: bool = False) -> Any:
        """The samples of the stage; of a matrix with an entry for each pair of samples their rows and columns."""
        return X[np.ix_(self.rows, self.rows)] if pairwise else _safe_indexing(X, self.rows)


def sizes(n: int, first: float = FIRST) -> list[int]:
    """The number of samples of each stage, of n samples in all.

    >>> from gapless.model_selection.stages import sizes
    >>> sizes(1000), sizes(3000), sizes(18_000)
    ([1000], [1000, 3000], [1000, 4000, 18000])
    """
    found, size = [], first
    while size * _LEAST <= n:
        found.append(int(size))
        size *= _TIMES
    return [*found, n]


def stages_of(folds: list[Fold], y: np.ndarray, of_classes: bool, first: float = FIRST) -> list[Stage]:
    """The stages of a search over these folds, of ``first`` samples at first; ``of_classes`` says that y are labels.

    Each stage has the same share of the training and of the test rows of every fold, and all rows of the stage before. Rows are drawn with a fixed
    seed, of every class, or of every tenth of the targets, in proportion. Of each class a stage has two training rows and two test rows of every
    fold at least, where the fold has them.

    >>> import numpy as np
    >>> from gapless.model_selection.stages import stages_of
    >>> rows = np.arange(3000)
    >>> first, last = stages_of([(rows[:2000], rows[2000:])], rows % 2, of_classes=True)
    >>> len(first.rows), [len(part) for part in first.folds[0]], np.array_equal(last.rows, rows)
    (1001, [667, 334], True)
    >>> len(stages_of([(rows[:2000], rows[2000:])], rows % 2, of_classes=True, first=np.inf))
    1
    """
    folds = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    folds = [tuple(np.flatnonzero(part) if part.dtype == bool else part for part in pair) for pair in folds]  # type: ignore[misc]
    # Rows that are in no fold, such as those of weight zero, are as if they were not there.
    used = np.unique(np.concatenate([part for pair in folds for part in pair]))
    strata, drawn = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    drawn[used] = np.random.default_rng(0).permutation(len(used))
    if of_classes:
        strata[used] = np.unique(y[used], return_inverse=True)[1]
    else:
        strata[used] = np.argsort(np.argsort(y[used], kind="stable")) * _STRATA // len(used)
    least = _OF_EACH_CLASS if of_classes else 0
    tested = np.concatenate([test for _, test in folds])
    # Where each row is a test row once, the training rows of a stage are test rows of the stage in other folds.
    once = len(np.unique(tested)) == len(tested) and all(np.isin(train, tested).all() for train, _ in folds)
    most, found = max(len(train) + len(test) for train, test in folds), []
    for number, size in enumerate(sizes(most, first)):
        some = folds
        if size < most:
            tests = [_first(test, size / most, drawn, strata, least) for _, test in folds]
            own = np.concatenate(tests)
            trains = [
                train[np.isin(train, own)] if once else _first(train, size / most, drawn, strata, least)
                for train, _ in folds
            ]
            some = list(zip(trains, tests, strict=True))
        rows = np.unique(np.concatenate([part for pair in some for part in pair]))
        found.append(Stage(number, rows, [(np.searchsorted(rows, a), np.searchsorted(rows, b)) for a, b in some]))
    return found


def _first(rows: np.ndarray, share: float, drawn: np.ndarray, strata: np.ndarray, least: int) -> np.ndarray:
    """A share of the rows, in their own order: of each stratum the first ones that are drawn, ``least`` of them at least where it has them."""
    own = strata[rows]
    order = np.lexsort([drawn[rows], own])  # by stratum, and within it as drawn
    counts = np.bincount(own)
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    turn = np.lexsort([drawn[rows], (place + 0.5) / counts[own]])
    chosen = place < least
    chosen[turn[: int(np.ceil(share * len(rows)))]] = True
    return rows[chosen]
