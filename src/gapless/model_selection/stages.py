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


def sizes(n: int) -> list[int]:
    """The number of samples of each stage, of n samples in all.

    >>> from gapless.model_selection.stages import sizes
    >>> sizes(1000), sizes(3000), sizes(18_000)
    ([1000], [1000, 3000], [1000, 4000, 18000])
    """
    found, size = [], FIRST
    while size * _LEAST <= n:
        found.append(size)
        size *= _TIMES
    return [*found, n]


def stages_of(folds: list[Fold], y: np.ndarray, of_classes: bool, several: bool = True) -> list[Stage]:
    """The stages of a search over these folds, a single one unless ``several``; ``of_classes`` says that y are labels.

    Each stage has the same share of the training and of the test rows of every fold, and all rows of the stage before. Rows are taken in one order,
    the same for all folds, which is drawn with a fixed seed and has every class, or every tenth of the targets, in proportion. Of each class a
    stage has two training rows and two test rows of every fold at least, where the fold has them.

    >>> import numpy as np
    >>> from gapless.model_selection.stages import stages_of
    >>> rows = np.arange(3000)
    >>> first, last = stages_of([(rows[:2000], rows[2000:])], rows % 2, of_classes=True)
    >>> len(first.rows), [len(part) for part in first.folds[0]], np.array_equal(last.rows, rows)
    (1001, [667, 334], True)
    """
    folds = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    if any(part.dtype == bool for pair in folds for part in pair):
        folds = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in folds]
    most = max(len(train) + len(test) for train, test in folds)
    classes = np.unique(y, return_inverse=True)[1] if of_classes else None
    strata = np.argsort(np.argsort(y, kind="stable")) * _STRATA // len(y) if classes is None else classes
    turn = _turns(strata)
    found = []
    for number, size in enumerate(sizes(most) if several else [most]):
        share = size / most
        some = [tuple(_first(part, share, turn, classes) for part in pair) for pair in folds] if share < 1 else folds
        rows = np.unique(np.concatenate([part for pair in some for part in pair]))
        places = [(np.searchsorted(rows, train), np.searchsorted(rows, test)) for train, test in some]
        found.append(Stage(number, rows, places))
    return found


def _turns(strata: np.ndarray) -> np.ndarray:
    """When each row is taken: such that the first rows have every stratum in proportion to its size."""
    rng = np.random.default_rng(0)
    drawn = rng.permutation(len(strata))
    order = np.lexsort([drawn, strata])  # by stratum, and within it as drawn
    sizes = np.bincount(strata)
    place = np.empty(len(strata))
    place[order] = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    turn = np.empty(len(strata), dtype=np.int64)
    turn[np.lexsort([drawn, (place + 0.5) / sizes[strata]])] = np.arange(len(strata))
    return turn


def _first(rows: np.ndarray, share: float, turn: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """A share of the rows, in their own order: those whose turn is first, and the first ones of each class."""
    order = np.argsort(turn[rows], kind="stable")
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[order[: int(np.ceil(share * len(rows)))]] = True
    if classes is not None:
        of_rows = classes[rows[order]]
        for each in np.unique(of_rows):
            chosen[order[np.flatnonzero(of_rows == each)[:_OF_EACH_CLASS]]] = True
    return rows[chosen]
