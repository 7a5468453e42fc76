"""Accuracy as a count, and R² as two sums: what scikit-learn's ``accuracy_score`` and ``r2_score`` give for targets that they take,
without a check of the same targets at each fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

_WHOLE = 2.0**53  # scikit-learn compares labels with whole numbers of 64 bits; below this one float64 has them all


def fewest_rows(y: Any) -> float:
    """From how many rows on accuracy is the share of right labels, whatever labels of y are predicted; infinite where y may be refused.

    With two rows for each label no version of scikit-learn warns that these look like the targets of a regression.

    >>> fewest_rows([0, 1, 1, 0, 1]), fewest_rows([0.5, 1.5, 0.5, 1.5])
    (4, inf)
    """
    try:
        targets = np.asarray(y).ravel()
        labels = np.unique(targets)
        if (
            not _are_plain(labels)
            or 2 * len(labels) > len(targets)
            or type_of_target(y) not in ("binary", "multiclass")
        ):
            return np.inf
    except (ValueError, TypeError):  # of targets that no metric takes
        return np.inf
    return 2 * len(labels)


def _are_plain(labels: np.ndarray) -> bool:
    """Whether these are strings or whole numbers."""
    if labels.dtype.kind == "f":
        return bool((np.abs(labels) < _WHOLE).all() and (labels == np.round(labels)).all())
    return labels.dtype.kind in "biuU" or all(isinstance(label, str) for label in labels)


def share(right: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The share of the rows that are right, by weight where there are weights: ``accuracy_score`` to the last bit.

    >>> share(np.array([True, False, True, True])), share(np.array([True, False]), np.array([3.0, 1.0]))
    (0.75, 0.75)
    """
    return float(np.count_nonzero(right) / len(right) if weight is None else np.average(right, weights=weight))


def determination(y: np.ndarray, predictions: np.ndarray) -> float:
    """R² of a regression of targets that are not all the same: ``r2_score`` to the last bit, in the same order of operations.

    >>> determination(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0]))
    0.785...
    """
    y, predictions = y[:, None], predictions[:, None]
    left, all_of_it = ((each**2).sum(axis=0)[0] for each in (y - predictions, y - np.average(y, axis=0)))
    return float(1 - left / all_of_it)


def is_plain_weight(weight: Any, n: int) -> bool:
    """Whether ``accuracy_score`` takes these weights of n rows as they are."""
    return weight is None or (
        type(weight) is np.ndarray
        and weight.shape == (n,)
        and weight.dtype.kind in "fiu"
        and bool(np.isfinite(weight).all())
    )
