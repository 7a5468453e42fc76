"""The scores of a search: read from ``cv_results_``, with their certified intervals where there are any, and arranged over its parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapless.errors import InvalidInputError
from gapless.plot.given import describe
from gapless.plot.values import ABSENT, Values, values_of, written
from gapless.record import record


@record
class Scores:
    """The scores of all candidates of a search in one metric; nan is what is not known.

    Attributes
    ----------
    name : str
        The metric, in words.
    folds : int
        The number of folds.
    params : tuple of dict
        The candidates.
    mean, std : ndarray
        The mean over the folds and the standard deviation of the folds; nan of a candidate that was dropped or failed.
    low, high : ndarray
        The interval that contains the mean score of the exact optima.
    train_mean, train_std : ndarray
        The same of the training rows; nan where they were not scored.
    chosen : int
        The candidate that the search has chosen; None where there is no score at all.
    tied : tuple of int
        The candidates that the intervals do not tell from the best one, the chosen one included; empty without intervals.
    proven : bool
        Whether no other candidate can be better than the chosen one.
    """

    name: str
    folds: int
    params: tuple[dict[str, Any], ...]
    mean: np.ndarray
    std: np.ndarray
    low: np.ndarray
    high: np.ndarray
    train_mean: np.ndarray
    train_std: np.ndarray
    chosen: int | None
    tied: tuple[int, ...]
    proven: bool

    @property
    def searched(self) -> list[Values]:
        """The parameters that candidates differ in, numbers first and then those with more values; of a single candidate all of its parameters."""
        names = sorted({name for candidate in self.params for name in candidate})
        found = [self.values(name) for name in names]
        found = [each for each in found if len(each) > 1] or found
        return sorted(found, key=lambda each: (not each.numeric, -len(each)))

    def values(self, name: str) -> Values:
        """The values that the candidates have for a parameter."""
        return values_of(name, (candidate.get(name, ABSENT) for candidate in self.params))

    def label(self, others: Sequence[str]) -> str:
        """What is drawn, for an axis: the metric, the number of folds, and the parameters that are free."""
        label = f"mean {self.name}" + (f" of {self.folds} folds" if self.folds else "")
        return label + (f"\nbest over {', '.join(others)}" if others else "")

    def finding(self) -> str:
        """What the search has found, as a title."""
        if self.chosen is None:
            return "No candidate has a score"
        others = len(self.tied) - 1
        count = f"{others} other" if others == 1 else f"{others} others"
        choice = self._choice(self.params[self.chosen])
        if self.proven:
            return f"Proven best: {choice}" if others < 1 else f"Proven best, as good as {count}: {choice}"
        if others >= 1:
            return f"{choice}, tied with {count}"
        return f"Best: {choice}" if self.mean[self.chosen] == np.nanmax(self.mean) else f"Chosen: {choice}"

    def _choice(self, candidate: dict[str, Any]) -> str:
        """The searched parameters of a candidate; ``svc__C`` is written C unless another parameter ends alike."""
        names = [each.name for each in self.searched if each.name in candidate]
        tails = [name.rpartition("__")[2] for name in names]
        names = sorted(names)
        shown = {name: tail if tails.count(tail := name.rpartition("__")[2]) == 1 else name for name in names}
        return ", ".join(f"{shown[name]} = {written([candidate[name]])[0]}" for name in names)


def scores_of(search: Any, metric: str | None = None) -> Scores:
    """The scores of a fitted search: of ours, of scikit-learn's, or of any other estimator that has ``cv_results_``."""
    fitted = search[-1] if isinstance(search, Pipeline) else search
    if isinstance(fitted, type) or not hasattr(fitted, "cv_results_"):
        if not isinstance(fitted, type) and hasattr(fitted, "fit"):
            check_is_fitted(fitted)
            raise InvalidInputError(
                f"from_estimator draws the scores (cv_results_) of a fitted search; got {type(fitted).__name__}, which has none."
            )
        raise InvalidInputError(f"from_estimator takes a fitted search; got {describe(search)}.")
    refit, scoring = getattr(fitted, "refit", None), getattr(fitted, "scoring", None)
    decides = refit if isinstance(refit, str) and getattr(fitted, "multimetric_", False) else None
    metric = decides if metric is None else metric
    same = metric is None or metric == decides or not getattr(fitted, "multimetric_", False)
    return read_scores(
        fitted.cv_results_,
        metric,
        chosen=getattr(fitted, "best_index_", None),
        selection=getattr(fitted, "selection_", None) if same else None,
        name=scoring if isinstance(scoring, str) and metric in (None, "score") else None,
    )


def read_scores(
    results: Any, metric: str | None, *, chosen: int | None = None, selection: Any = None, name: str | None = None
) -> Scores:
    """The scores in a dict, or a table, with the keys of ``cv_results_``."""
    if not hasattr(results, "keys") or "params" not in results:
        raise InvalidInputError(
            f"cv_results must be a dict with the keys of cv_results_, such as 'params'; got {describe(results)}."
        )
    metric = _metric(list(results.keys()), metric)
    params = list(results["params"])
    # Successive halving tries a candidate several times, with more samples each time: its last try counts.
    tries = {repr(candidate) if "iter" in results else k: k for k, candidate in enumerate(params)}
    kept = list(tries.values())

    def column(key: str) -> np.ndarray:
        return np.asarray(results[key], dtype=float)[kept] if key in results else np.full(len(kept), np.nan)

    columns = {
        field: column(key.format(metric))
        for field, key in {
            "mean": "mean_test_{}",
            "std": "std_test_{}",
            "low": "mean_test_{}_low",
            "high": "mean_test_{}_high",
            "train_mean": "mean_train_{}",
            "train_std": "std_train_{}",
        }.items()
    }
    mean, low, high = columns["mean"], columns["low"], columns["high"]
    if chosen is None and selection is not None:
        chosen = selection.index
    if chosen is not None:
        chosen = kept.index(chosen)
    elif np.isfinite(mean).any():
        chosen = int(np.nanargmax(mean))
    if selection is not None:
        tied, proven = tuple(selection.tied), bool(selection.proven)
    else:
        tied, proven = _rivals(mean, low, high, chosen)
    return Scores(
        name=_in_words(name or metric),
        folds=sum(bool(re.fullmatch(rf"split\d+_test_{re.escape(metric)}", str(key))) for key in results.keys()),  # noqa: SIM118 - of a table, too
        params=tuple(params[k] for k in kept),
        chosen=chosen,
        tied=tied,
        proven=proven,
        **columns,
    )


def _metric(keys: Sequence[Any], metric: str | None) -> str:
    """The metric that was asked for, or the only one."""
    named = [str(key).removeprefix("mean_test_") for key in keys if str(key).startswith("mean_test_")]
    ends = {f"{name}{end}" for name in named for end in ("_low", "_high")}
    named = [name for name in named if name not in ends]
    if metric is None and len(named) == 1:
        return named[0]
    if metric in named:
        return str(metric)
    listed = ", ".join(repr(name) for name in named) or "none"
    got = "" if metric is None else f"; got {metric!r}"
    raise InvalidInputError(f"metric must be one of the metrics of the search, which are {listed}{got}.")


def _rivals(mean: np.ndarray, low: np.ndarray, high: np.ndarray, chosen: int | None) -> tuple[tuple[int, ...], bool]:
    """(who is not told from the best by the intervals, whether the chosen one is proven to be the best).

    There are no such candidates where another rule than the highest score has chosen, and where nothing is known of the chosen one.
    """
    if chosen is None or not np.isfinite(low[chosen]) or mean[chosen] < np.nanmax(mean):
        return (), False
    others = np.arange(len(mean)) != chosen
    tied = (high >= low[chosen]) | ~others
    return tuple(int(k) for k in np.flatnonzero(tied)), bool((high[others] <= low[chosen]).all())


def _in_words(metric: str) -> str:
    words = metric.replace("_", " ")
    return f"negative {words.removeprefix('neg ')}" if words.startswith("neg ") else words


@record
class Table:
    """The best score for each pair of values of two parameters, or for each value of one; other parameters are free.

    The arrays have a row for each value of y and a column for each of x. Of the candidates in a cell the interval [highest low, highest high]
    contains the best of their scores; ``std`` and the training scores are those of the candidate with the highest mean.

    Attributes
    ----------
    x, y : Values
        The parameters of the columns and of the rows; y is None where there is one parameter.
    counts : ndarray of int
        The number of candidates in each cell.
    mean, std, low, high, train_mean, train_std : ndarray
        As in :class:`Scores`.
    chosen : (row, column) or None
        The cell of the chosen candidate.
    tied : tuple of (row, column)
        The cells of the tied candidates, that of the chosen one left out.
    others : tuple of str
        The parameters that are free.
    """

    x: Values
    y: Values | None
    counts: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    low: np.ndarray
    high: np.ndarray
    train_mean: np.ndarray
    train_std: np.ndarray
    chosen: tuple[int, int] | None
    tied: tuple[tuple[int, int], ...]
    others: tuple[str, ...]

    @property
    def dropped(self) -> np.ndarray:
        """Cells without a score whose upper bound is known: racing has stopped them."""
        return np.isnan(self.mean) & np.isfinite(self.high)

    @property
    def failed(self) -> np.ndarray:
        """Cells with candidates of which nothing is known."""
        return np.isnan(self.mean) & np.isnan(self.high) & (self.counts > 0)

    @property
    def undecided(self) -> np.ndarray:
        """Cells whose interval is wider than a point."""
        return np.isfinite(self.mean) & (self.low < self.high)


def arrange(scores: Scores, x: str | None, y: str | None, *, one: bool = False) -> Table:
    """The table over x and y; None takes the parameters with the most values. With ``one`` the table is over x alone."""
    searched = scores.searched
    known = {name for candidate in scores.params for name in candidate}
    for role, name in (("x", x), ("y", y)):
        if name is not None and name not in known:
            role = "param_name" if one else role
            raise InvalidInputError(
                f"{role} must be a parameter of the search, which are {', '.join(sorted(known))}; got {name!r}."
            )
    if x is not None and x == y:
        raise InvalidInputError(f"x and y must be two parameters; got {x!r} for both.")
    rest = iter([each for each in searched if each.name not in (x, y)])
    columns = next(rest, None) if x is None else scores.values(x)
    if columns is None:
        raise InvalidInputError("The search must have a parameter to draw its scores over; its candidates have none.")
    rows = None
    if not one:
        rows = next(rest, None) if y is None else scores.values(y)
    used = {columns.name, rows.name if rows else None}
    cells: dict[tuple[int, int], list[int]] = {}
    for k, candidate in enumerate(scores.params):
        column = columns.place(candidate.get(columns.name, ABSENT))
        row = 0 if rows is None else rows.place(candidate.get(rows.name, ABSENT))
        cells.setdefault((row, column), []).append(k)
    shape = (1 if rows is None else len(rows), len(columns))
    counts = np.zeros(shape, dtype=int)
    arrays = {name: np.full(shape, np.nan) for name in ("mean", "std", "low", "high", "train_mean", "train_std")}
    for cell, members in cells.items():
        counts[cell] = len(members)
        for name, value in _best(scores, np.array(members)).items():
            arrays[name][cell] = value
    place = {k: cell for cell, members in cells.items() for k in members}
    chosen = None if scores.chosen is None else place[scores.chosen]
    return Table(
        x=columns,
        y=rows,
        counts=counts,
        chosen=chosen,
        tied=tuple(dict.fromkeys(place[k] for k in scores.tied if place[k] != chosen)),
        others=tuple(each.name for each in searched if each.name not in used),
        **arrays,
    )


def _best(scores: Scores, members: np.ndarray) -> dict[str, float]:
    """What a cell with these candidates shows."""
    mean, low, high = (values[members] for values in (scores.mean, scores.low, scores.high))
    scored, bounded = np.isfinite(mean), np.isfinite(low) & np.isfinite(high)
    cell: dict[str, float] = {}
    if bounded.any() and not (scored & ~bounded).any():  # a scored candidate without bounds could be anywhere
        cell |= {"low": low[bounded].max(), "high": high[bounded].max()}
    if scored.any():
        best = members[int(np.nanargmax(mean))]
        cell |= {name: getattr(scores, name)[best] for name in ("mean", "std", "train_mean", "train_std")}
    return cell
