"""A search in stages: the whole grid on a part of the samples, and ever fewer candidates on ever more of them.

On the first stage a :class:`WideningSearch` fits the grid. A candidate goes on to the samples of the next stage where, on those of this one,

- its mean score is less than a standard error below that of the best one, and
- no candidate with a smaller C scores as well, or hardly worse: a fit takes the longer, the larger C is, and what a larger C gains has to be seen
  on few samples first.

Of these the ones that score best go on, ``_MOST`` at most, but none that takes more than ``_TIMES`` the work of another one that keeps up with the
best as well. Then the neighbours of the best candidate on the grid follow that were left out, and those
beyond the end of a grid that grows, through all stages from the first one on, as long as they keep up: to the second stage, which has 6,000
samples at most, where they are less than ``_PLAINLY`` standard errors worse, and to further ones by the rules above. So a best that moves with the
number of samples is followed where fits are short, and each long one is of a candidate that was seen on fewer samples to be worth it.

What a stage takes is bounded by work, which is counted and not timed (``work.py``). The first candidate of a stage takes what it takes. What the next
ones will take is told by the stage before, in proportion, and they are fitted as far as all of them together stay within a multiple of the first
one's work, ``_BUDGET`` or, on the last stage, ``_BUDGET_AT_LAST``. A fit that takes ``_OVER`` times what was told is stopped; on the last stage its
candidate is then out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from gapless.model_selection.fold import Candidate
from gapless.model_selection.search import GridSearchCV
from gapless.model_selection.selection import select
from gapless.model_selection.stages import Stage
from gapless.model_selection.widening import Axis, WideningSearch, longest

# By hand: the most candidates that a stage takes over from the one before: the last stage few, since each takes its folds' fits on all samples.
_MOST, _MOST_AT_LAST = 12, 4
# By hand, in standard errors of the mean score: what a larger C has to gain so that it, or a still larger one, is tried on more samples, and how
# much worse than the best of the first stage a candidate is that cannot be the best of the second.
_HARDLY, _PLAINLY = 0.25, 3.0
# By hand: how many times the work of the cheapest candidate that keeps up with the best another one may take, what a stage may take as a multiple of
# its first candidate's work, and how many times the work that was told for a fit it may take.
_TIMES, _BUDGET, _BUDGET_AT_LAST, _OVER = 10.0, 6.0, 2.0, 2.0
_TOL, _LOOSEST = (
    10.0,
    1e-2,
)  # by hand: how many times looser fits are on the stages before the last, and how loose at most
Key = tuple[float, ...]
Fit = Callable[[GridSearchCV, Stage], Any]
Search = TypeVar("Search", bound=GridSearchCV)


class StagedSearch:
    """A search along axes, in stages.

    Parameters
    ----------
    candidate : estimator
        What is tuned, unfitted.
    axes : list of Axis
        What is searched.
    rounds : int
        How often an axis is widened at most.
    stages : list of Stage
        The samples of each stage, all at last.
    fit : callable
        Fits a search on the samples of a stage: ``fit(search, stage)``.
    **options
        Parameters of each :class:`GridSearchCV`.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, selection_, n_splits_
        As of a :class:`GridSearchCV`; a candidate has a row for each stage that it was fitted on.
    """

    def __init__(
        self, candidate: Any, axes: list[Axis], rounds: int, stages: list[Stage], fit: Fit, **options: Any
    ) -> None:
        self.candidate, self.axes, self.stages, self.options = candidate, axes, stages, options
        self._fit, self._rounds_left = fit, rounds
        self._scores: list[dict[Key, np.ndarray]] = [{} for _ in stages]  # of each fold, by stage and candidate
        self._work: list[dict[Key, float]] = [
            {} for _ in stages
        ]  # of all folds together; infinite where a fit was stopped
        self._told: list[float] = [np.inf] * len(
            stages
        )  # the work of a stage as a multiple of the work on the stage before
        self._left: list[float] = [np.inf] * len(stages)  # what may be taken on each stage
        self._parts: list[dict[str, Any]] = []

    def run(self) -> StagedSearch:
        """Search all stages."""
        whole = self._search(WideningSearch, {}, self.stages[0])
        self._take(whole.along(self.axes, self._rounds_left), self.stages[0])
        self._rounds_left -= whole.widened
        for stage in self.stages[1:]:
            first, *others = self._promoted(stage.number - 1)
            self._begin(first, stage)
            most = _MOST_AT_LAST if self._is_last(stage.number) else _MOST
            self._evaluate(self._affordable(others[: most - 1], stage.number), stage)
            self._climb(stage)
        self._finish()
        return self

    def _is_last(self, stage: int) -> bool:
        return stage == len(self.stages) - 1

    # --- fits

    def _begin(self, first: Key, stage: Stage) -> None:
        """Fit the first candidate of a stage, which tells what others will take."""
        self._evaluate([first], stage)
        before, own = self._work[stage.number - 1][first], self._work[stage.number][first]
        # A candidate whose fits were stopped before tells nothing, and then no other one is fitted.
        self._told[stage.number] = own / before if 0 < before < np.inf else np.inf
        self._left[stage.number] = own * ((_BUDGET_AT_LAST if self._is_last(stage.number) else _BUDGET) - 1.0)

    def _expected(self, key: Key, stage: int) -> float:
        """The work that the fits of a candidate will take on a stage, as far as those on the stage before tell; infinite where it is not known."""
        return self._told[stage] * self._work[stage - 1].get(key, np.inf) if stage else 0.0

    def _affordable(self, keys: list[Key], stage: int) -> list[Key]:
        """Those of these candidates, in their order, that may be fitted with what is left to take on a stage."""
        found, left = [], self._left[stage]
        for key in keys:
            work = self._expected(key, stage)
            if work <= left:
                found.append(key)
                left -= work
        return found

    def _evaluate(self, keys: list[Key], stage: Stage) -> None:
        """Fit candidates on the samples of a stage."""
        if not keys:
            return
        grid = [{axis.name: [value] for axis, value in zip(self.axes, key, strict=True)} for key in keys]
        search = self._search(GridSearchCV, grid, stage)
        if self._left[stage.number] == np.inf:  # of the first stage, and of the first candidate of others
            if stage.number == 0:
                search.most_work = np.full(len(keys), longest(self._work[0].values()))
            self._take(search, stage)
            return
        most = np.array([_OVER * self._expected(key, stage.number) for key in keys])
        search.most_work = most
        self._take(search, stage)
        # Each fit is stopped by itself, so that a candidate with one that was has taken no more than this.
        self._left[stage.number] -= float(np.minimum([self._work[stage.number][key] for key in keys], most).sum())

    def _search(self, kind: type[Search], grid: Any, stage: Stage) -> Search:
        """An unfitted search over the folds of a stage; the choice is proven on the last one, to whose ``tol`` the others need not come."""
        candidate, options = self.candidate, self.options
        if not self._is_last(stage.number):
            tol = max(candidate.tol, min(_TOL * candidate.tol, _LOOSEST))
            candidate, options = clone(candidate).set_params(tol=tol), {**options, "prove": "bounded"}
        return kind(candidate, grid, cv=stage.folds, refit=False, **options)

    def _take(self, search: GridSearchCV, stage: Stage) -> None:
        """Fit a search on the samples of a stage, and keep what it finds."""
        if search.verbose > 0 and len(self.stages) > 1:
            part = f"{len(stage.rows):,} of {len(self.stages[-1].rows):,} samples"
            print(f"Stage {stage.number + 1} of {len(self.stages)}, on {part}:")
        self._fit(search, stage)
        results = search.cv_results_
        if self._is_last(stage.number):
            _drop_scores(results, search._fit_work == np.inf)
        columns = [results[f"split{fold}_test_score"] for fold in range(len(stage.folds))]
        for params, scores, work in zip(results["params"], np.column_stack(columns), search._fit_work, strict=True):
            key = self._key(params)
            self._scores[stage.number][key], self._work[stage.number][key] = scores, float(work)
        count = len(results["params"])
        self._parts.append(results | {"stage": np.full(count, stage.number), "n_rows": np.full(count, len(stage.rows))})

    def _key(self, params: Candidate) -> Key:
        return tuple(float(params[axis.name]) for axis in self.axes)

    # --- who goes on

    def _ranked(self, stage: int) -> list[Key]:
        """The candidates of a stage, those with the best mean scores first; scores that are not finite are the worst."""
        known = self._scores[stage]
        mean = np.array([_mean(scores) for scores in known.values()])
        return [list(known)[k] for k in np.argsort(-mean, kind="stable")]

    def _promoted(self, stage: int) -> list[Key]:
        """The candidates of a stage that are to go on to the next one, those that score best first."""
        known, work, ranked = self._scores[stage], self._work[stage], self._ranked(stage)
        near = [key for key in ranked if _is_near(known[key], known[ranked[0]])]
        most = _TIMES * min(work[key] for key in near)
        near = [key for key in near if work[key] <= most]
        first = self._cheapest(near, stage)
        least, found = self._cost(first), [first]
        for key in near:
            if self._cost(key) <= least and key != first:
                found.append(key)
                least = self._cost(key)
        return found

    def _cost(self, key: Key) -> float:
        """C of a candidate, which its fit takes the longer, the larger it is."""
        return next(value for axis, value in zip(self.axes, key, strict=True) if axis.name == "C")

    def _keeps_up(self, key: Key, best: Key, stage: int) -> bool:
        """Whether a candidate is worth its fits on this stage, as far as the stages before tell; it is fitted there where it has not been."""
        if stage == 0:
            return True
        if key not in self._scores[stage - 1]:
            if not self._keeps_up(key, best, stage - 1) or not self._affordable([key], stage - 1):
                return False
            self._evaluate([key], self.stages[stage - 1])
        own, other = self._scores[stage - 1][key], self._scores[stage - 1][best]
        if stage == 1:
            return _is_near(own, other, _PLAINLY)
        return _is_near(own, other) and (self._cost(key) <= self._cost(best) or not _is_near(other, own, _HARDLY))

    def _climb(self, stage: Stage) -> None:
        """Fit the neighbours of the best candidate that keep up with it, until it is better than all of them."""
        refused: set[Key] = set()
        while True:
            best, known = self._centre(stage.number), self._scores[stage.number]
            left = [key for key in self._neighbours(best) if key not in known and key not in refused]
            going = [key for key in left if self._keeps_up(key, best, stage.number)]
            going.sort(key=lambda key: -_mean(self._scores[stage.number - 1][key]))
            going = self._affordable(going, stage.number)
            refused |= set(left) - set(going)
            if not going:
                return
            self._evaluate(going, stage)

    def _centre(self, stage: int) -> Key:
        """The best candidate of a stage or, where one with a smaller C is hardly worse, that one: a score that levels off in C is not followed."""
        return self._cheapest(self._ranked(stage), stage)

    def _cheapest(self, ranked: list[Key], stage: int) -> Key:
        """Of these candidates, the best one first, the one with the smallest C that is hardly worse than it."""
        known = self._scores[stage]
        return min((key for key in ranked if _is_near(known[key], known[ranked[0]], _HARDLY)), key=self._cost)

    def _neighbours(self, best: Key) -> list[Key]:
        """The candidates one step away along each axis, and those with a larger C and a smaller γ, or the other way round.

        The best candidates of a kernel often are in a line: a smaller γ makes it nearly linear, and a larger C makes up for it. An axis is widened
        where the best value is at its end.
        """
        for k, axis in enumerate(self.axes):
            if self._rounds_left > 0 and axis.widen(best[k]):
                self._rounds_left -= 1
        size = len(self.axes)
        steps = [tuple(sign * (j == k) for j in range(size)) for k in range(size) for sign in (-1, 1)]
        traded = [k for k, axis in enumerate(self.axes) if axis.name == "C" or axis.name.endswith("gamma")]
        if len(traded) == 2:
            one, other = traded
            steps += [tuple(sign * ((j == one) - (j == other)) for j in range(size)) for sign in (-1, 1)]
        places = [int(np.searchsorted(axis.values, value)) for axis, value in zip(self.axes, best, strict=True)]
        found = []
        for step in steps:
            moved = [place + by for place, by in zip(places, step, strict=True)]
            if all(0 <= place < len(axis.values) for place, axis in zip(moved, self.axes, strict=True)):
                found.append(tuple(float(axis.values[place]) for place, axis in zip(moved, self.axes, strict=True)))
        return found

    # --- what is known at the end

    def _finish(self) -> None:
        """Put the results of all stages together, and choose among those on all samples."""
        results = _together(self._parts)
        last = results["stage"] == self.stages[-1].number
        mean = np.where(last, np.nan_to_num(results["mean_test_score"], nan=-np.inf), np.nan)
        results["rank_test_score"] = _ranks(results["stage"], results["mean_test_score"])
        for axis in self.axes:  # the farther one of two values that an axis gains may not have been tried
            axis.values = np.array(sorted({float(params[axis.name]) for params in results["params"]}))
        self.cv_results_, self.n_splits_ = results, len(self.stages[-1].folds)
        self.best_index_ = int(np.nanargmax(mean))
        self.best_params_ = results["params"][self.best_index_]
        self.best_score_ = float(results["mean_test_score"][self.best_index_])
        done = {key for key, work in self._work[-1].items() if work < np.inf}
        left_out = set().union(*self._scores) - done
        self.selection_ = select(self.best_index_, results, "score", last, len(left_out))


def _mean(scores: np.ndarray) -> float:
    return float(np.nan_to_num(scores.mean(), nan=-np.inf))


def _is_near(own: np.ndarray, best: np.ndarray, errors: float = 1.0) -> bool:
    """Whether the mean of scores is less than so many standard errors below the best one, or as far as a single fold can tell."""
    error = best.std(ddof=1) / np.sqrt(len(best)) if len(best) > 1 else np.inf
    return not _mean(own) < _mean(best) - errors * error


def _drop_scores(results: dict[str, Any], out: np.ndarray) -> None:
    """Candidates with fits that were stopped on all samples have no scores."""
    for name, column in results.items():
        if "_test_score" in name and not name.startswith("rank"):
            results[name] = np.where(out, np.nan, column)


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows of several ``cv_results_`` one after the other; NaN where a part does not have a column."""
    names = dict.fromkeys(name for part in parts for name in part)
    found: dict[str, Any] = {"params": [params for part in parts for params in part["params"]]}
    for name in names.keys() - {"params"}:
        columns = [part.get(name, np.full(len(part["params"]), np.nan)) for part in parts]
        masked = any(isinstance(column, np.ma.MaskedArray) for column in columns)
        found[name] = np.ma.concatenate(columns) if masked else np.concatenate(columns)
    return {name: found[name] for name in names}


def _ranks(stage: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The rank of each row: those of a later stage before those of an earlier one, and the best ones of a stage first."""
    ranks, before = np.empty(len(stage), dtype=np.int32), 0
    for each in np.unique(stage)[::-1]:
        own = stage == each
        ranks[own] = before + rankdata(-np.nan_to_num(mean[own], nan=-np.inf), method="min")
        before += int(own.sum())
    return ranks
