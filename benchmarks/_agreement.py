"""Whether two searches over the same candidates and folds agree: fold scores in samples, proven intervals of them, and the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Agreement:
    """How far the fold scores of a search are from those of a reference, in samples.

    ``scored`` fold scores were compared (racing leaves out some), ``differ`` of them are not equal: one by ``most`` samples, all by ``total``.
    """

    scored: int
    differ: int
    most: int
    total: int


def fold_scores(results: Mapping[str, Any], n_splits: int, metric: str = "test_score", bound: str = "") -> np.ndarray:
    """The scores in ``cv_results_``, a row for each candidate and a column for each fold; ``bound`` "_low" or "_high" asks for ends of intervals."""
    return np.column_stack([np.asarray(results[f"split{k}_{metric}{bound}"], dtype=float) for k in range(n_splits)])


def difference(scores: np.ndarray, reference: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Accuracies, candidates × folds, minus the reference's, in samples, NaN where a fold was not run; ``sizes`` are the folds' sizes."""
    if scores.shape != reference.shape:
        raise ValueError(
            f"scores has the shape {scores.shape}; expected that of reference, {reference.shape}: candidates × folds."
        )
    return np.rint(scores * sizes) - np.rint(reference * sizes)


def agreement(scores: np.ndarray, reference: np.ndarray, sizes: np.ndarray) -> Agreement:
    """Compare the folds that were run with the reference's."""
    off = np.abs(difference(scores, reference, sizes)[~np.isnan(scores)]).astype(int)
    return Agreement(len(off), int((off > 0).sum()), int(off.max(initial=0)), int(off.sum()))


def outside(scores: np.ndarray, low: np.ndarray, high: np.ndarray, sizes: np.ndarray) -> int:
    """The number of scores that are not within their proven intervals: those of models whose predictions are not the exact optimum's.

    An interval with NaN proves nothing. Scores are numbers of samples over the size of the fold, so that half a sample is room enough for rounding.
    """
    with np.errstate(invalid="ignore"):
        return int(((scores < low - 0.5 / sizes) | (scores > high + 0.5 / sizes)).sum())


def undecided(low: np.ndarray, high: np.ndarray, sizes: np.ndarray) -> int:
    """The number of fold scores that are not proven to the sample; an interval with NaN is not."""
    with np.errstate(invalid="ignore"):
        return int(low.size - (high - low < 0.5 / sizes).sum())


def best_of(scores: np.ndarray) -> int:
    """The candidate that scikit-learn chooses: the first one of those with the largest mean over folds."""
    return int(np.average(scores, axis=1).argmax())


def choice(index: int, reference: np.ndarray) -> str:
    """What the reference says of a chosen candidate: "same" as its own, "tied" with it in the mean score up to rounding, or "other"."""
    own, means = best_of(reference), np.average(reference, axis=1)
    if index == own:
        return "same"
    return "tied" if np.isclose(means[index], means[own], rtol=1e-12, atol=0.0) else "other"
