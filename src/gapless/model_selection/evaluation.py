"""All candidates of a search on all folds: what its engine fits is scored, decided, and collected for ``cv_results_``."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection._validation import _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.utils._array_api import device, get_namespace

from gapless.model_selection.course import Course, Told
from gapless.model_selection.fold import Candidate, FittedCandidate, Fold, FoldFits, with_parameters
from gapless.model_selection.interrupted import interruption
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.outcomes import Outcome, interval_columns
from gapless.model_selection.proving import Proving
from gapless.model_selection.report import Report
from gapless.model_selection.scoring import FoldScoring
from gapless.model_selection.wishes import SearchWishes
from gapless.model_selection.work import SHARE


class Evaluation:
    """What is known of all candidates so far.

    Parameters
    ----------
    search : GridSearchCV or RandomizedSearchCV
        Whose settings count.
    estimator : estimator
        What is tuned, unfitted.
    fits : FoldFits
        The engine.
    scoring : FoldScoring
        How fits are scored.
    metric : str or None
        The metric that the choice is made by; None where it is made otherwise.
    course : Course
        Goes along with the fits.
    alone : OneByOne
        Goes on with fits for the proof of the choice.

    Attributes
    ----------
    complete : list of int
        The candidates that are done on all folds.
    """

    def __init__(
        self,
        search: Any,
        estimator: Any,
        fits: FoldFits,
        scoring: FoldScoring,
        metric: str | None,
        course: Course,
        alone: OneByOne,
    ) -> None:
        self.search, self.estimator, self.fits, self.scoring, self.metric = search, estimator, fits, scoring, metric
        self.course, self.complete, self.alone = course, list[int](), alone
        self._whole = search.prove == "full"
        self._tried: list[Candidate] = []
        self._outcomes: list[Outcome] = []
        self._rows: list[dict[str, Any]] = []  # the outcomes as scikit-learn has them
        self._more: dict[str, list[Any]] = defaultdict(list)
        self._ran: list[np.ndarray] = []  # for each candidate, which folds were run
        self._bounds: list[
            np.ndarray
        ] = []  # for each candidate, bounds on its mean score, which count where a fold was not run

    def add(self, candidates: list[Candidate], folds: list[Fold], more: dict[str, Any]) -> None:
        """Fit and score candidates on all folds; ``more`` has further columns for ``cv_results_``.

        After Ctrl-C what is done is kept, and the interruption is raised.
        """
        if self.search.verbose > 0:
            total = len(folds) * len(candidates)
            print(f"Fitting {len(folds)} folds for each of {len(candidates)} candidates, totalling {total} fits")
            print(self.fits.explain(candidates))
        xp, _ = get_namespace(self.scoring.X)
        where = device(self.scoring.X)
        folds = [(xp.asarray(train, device=where), xp.asarray(test, device=where)) for train, test in folds]
        models = [with_parameters(self.estimator, candidate) for candidate in candidates]
        most = self.search.most_work
        report = Report(self.search.verbose, candidates, len(folds))
        least = max((bound[0] for bound in self._bounds if np.isfinite(bound[0])), default=-np.inf)
        wishes = SearchWishes(
            self.scoring,
            models,
            folds,
            report,
            self.metric,
            self.search.racing,
            self._whole,
            float(least),
            None if most is None else most / len(folds),
        )
        if self.search.verbose > 0 and self.search.racing and not wishes.races:
            print("No candidate is dropped: the choice is not made by a metric with intervals.")
        stop = None
        try:
            with self.course.of(candidates, wishes) as told:
                self._run_all(candidates, wishes, told)
        except KeyboardInterrupt:
            stop = interruption(self.search, wishes.known)
        outcomes = wishes.known.in_order()
        if not outcomes:
            if stop is not None:
                raise stop
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        rows = [outcome.for_scikit_learn() for outcome in outcomes]
        _warn_or_raise_about_fit_failures(rows, self.search.error_score)
        if callable(self.search.scoring):
            _insert_error_scores(rows, self.search.error_score)
        ran = wishes.known.is_known()
        self.complete += [len(self._tried) + int(k) for k in np.flatnonzero(ran.all(axis=1))]
        self._tried += candidates
        self._outcomes += outcomes
        self._rows += rows
        self._ran += list(ran)
        self._bounds += list(wishes.bounds())
        for key, values in more.items():
            self._more[key].extend(values)
        if stop is not None:
            raise stop

    def _run_all(self, candidates: list[Candidate], wishes: SearchWishes, told: Told) -> None:
        """Make all fits that are wanted, and go on with those that the choice depends on."""
        proving = Proving(self.alone, candidates, wishes, self._whole)
        for fitted in self.fits.fit_all(candidates, wishes.folds, wishes):
            self._take(fitted, wishes, proving, told)
        spent = sum(outcome.work for _, outcome in wishes.known.items() if outcome.work < np.inf)
        told.line.show_proof(proving)
        if self._whole and self.search.verbose > 0 and proving.left:
            print(f"The proof of the choice: {proving.left} of {len(wishes.known)} scores are open, whose fits go on.")
        for fitted in proving.run(SHARE * spent):
            self._take(fitted, wishes, proving, told)
            told.line.show_proof(proving)

    def _take(self, fitted: FittedCandidate, wishes: SearchWishes, proving: Proving, told: Told) -> None:
        """Score a fit, and tell of it."""
        candidate, fold = fitted.candidate, fitted.fold
        scored, model, metrics = wishes.scored[fold], wishes.models[candidate], wishes.metrics[candidate]
        start, failed = time.perf_counter(), fitted.error is not None
        fitted = self.scoring.answered(fitted, model, scored, metrics)
        seconds = 0.0 if failed else time.perf_counter() - start
        outcome = self.scoring.outcome(fitted, model, scored, metrics)
        work = None if failed else self.scoring.work(fitted, scored)
        total = 0.0 if work is None else np.inf if fitted.stopped else work.total
        outcome = replace(outcome, score_time=outcome.score_time + seconds, work=total)
        told.outcome(candidate, fold, wishes.take(candidate, fold, outcome))
        if work is not None and not fitted.stopped and wishes.race is not None and metrics:
            proving.see(fitted, fitted.answers, work)

    @property
    def is_empty(self) -> bool:
        """Whether no fit is done."""
        return not self._rows

    @property
    def first_scores(self) -> Any:
        """The test scores of some fit."""
        return self._rows[0]["test_scores"]

    @property
    def work(self) -> np.ndarray:
        """What the fits of each candidate have taken, on all folds together."""
        return np.array([outcome.work for outcome in self._outcomes]).reshape(-1, self.search.n_splits_).sum(axis=1)

    def results(self) -> dict[str, Any]:
        """``cv_results_``: scikit-learn's columns, and those of intervals."""
        ran = np.array(self._ran)
        with warnings.catch_warnings():
            if not ran.all() and all(
                _is_finite(row) for row, made in zip(self._rows, ran.ravel(), strict=True) if made
            ):
                # Candidates that have been dropped have no score, which is nothing to warn of.
                warnings.filterwarnings("ignore", message="One or more of the (test|train) scores are non-finite")
            results = self.search._format_results(self._tried, self.search.n_splits_, self._rows, self._more)
        results |= interval_columns(self._outcomes, self.search.n_splits_)
        dropped = ~ran.all(axis=1)
        for end, bound in zip(("low", "high"), np.array(self._bounds).T, strict=True):
            key = f"mean_test_{self.metric}_{end}"
            if key in results:
                results[key][dropped] = bound[dropped]
        return results


def _is_finite(row: dict[str, Any]) -> bool:
    scores = row["test_scores"]
    return bool(np.isfinite(list(scores.values()) if isinstance(scores, dict) else scores).all())
