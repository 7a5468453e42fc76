"""The scores of one fold: each fitted candidate is scored on the fold's rows, as scikit-learn's searches do it."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import Any

from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._validation import _score
from sklearn.utils._array_api import device, get_namespace
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

from gapless.model_selection.fold import Candidate, FittedCandidate, FoldFits


@dataclass(frozen=True)
class FoldScoring:
    """How fits are scored: the data, the scorer with its parameters, and the settings of the search."""

    X: Any
    y: Any
    scorer: Any
    score_params: dict[str, Any]
    return_train_score: bool
    error_score: Any
    verbose: int

    def evaluate(
        self, fits: FoldFits, candidates: list[Candidate], rows: tuple[Any, Any], fold: tuple[int, int]
    ) -> list[dict[str, Any]]:
        """Fit and score all candidates on one fold; ``rows`` are its training and test rows, ``fold`` is its place among how many.

        What is returned for each candidate is what scikit-learn's search makes ``cv_results_`` of.
        """
        xp, _ = get_namespace(self.X)
        train, test = (xp.asarray(part, device=device(self.X)) for part in rows)
        fitted = iter(fits.fit_all(candidates, train, test))
        results = []
        for place, candidate in enumerate(candidates):
            report = _Report(self.verbose, fold, (place, len(candidates)), candidate)
            report.begin()
            results.append(self._score_candidate(next(fitted), train, test))
            report.end(results[-1])
        return results

    def _score_candidate(self, fitted: FittedCandidate, train: Any, test: Any) -> dict[str, Any]:
        X_test, y_test = _safe_split(fitted.estimator, self.X, self.y, test, train)
        result: dict[str, Any] = {
            "fit_error": None,
            "n_test_samples": _num_samples(X_test),
            "fit_time": fitted.fit_time,
            "score_time": 0.0,
        }
        if fitted.error is not None:
            if self.error_score == "raise":
                raise fitted.error
            result["fit_error"] = "".join(traceback.format_exception(fitted.error))
            result["test_scores"] = self._failed_scores()
            if self.return_train_score:
                result["train_scores"] = self._failed_scores()
            return result
        start = time.perf_counter()
        result["test_scores"] = self._scores(fitted.estimator, X_test, y_test, test)
        result["score_time"] = time.perf_counter() - start
        if self.return_train_score:
            X_train, y_train = _safe_split(fitted.estimator, self.X, self.y, train)
            result["train_scores"] = self._scores(fitted.estimator, X_train, y_train, train)
        return result

    def _scores(self, estimator: Any, X: Any, y: Any, rows: Any) -> Any:
        params = _check_method_params(self.X, params=self.score_params, indices=rows)
        return _score(estimator, X, y, self.scorer, params, self.error_score)

    def _failed_scores(self) -> Any:
        if isinstance(self.scorer, _MultimetricScorer):
            return dict.fromkeys(self.scorer._scorers, self.error_score)
        return self.error_score


class _Report:
    """The lines that ``verbose`` prints for a fit: one at its end from 2 on, with scores from 3 on, and one at its beginning from 10 on."""

    WIDTH = 80

    def __init__(self, verbose: int, fold: tuple[int, int], place: tuple[int, int], candidate: Candidate) -> None:
        self.verbose = verbose
        where = f" {fold[0] + 1}/{fold[1]}" if verbose > 2 else ""
        if verbose > 9:
            where += f"; {place[0] + 1}/{place[1]}"
        self.head = f"[CV{where}]"
        self.settings = ", ".join(f"{key}={candidate[key]}" for key in sorted(candidate)) if verbose > 1 else ""

    def begin(self) -> None:
        """Say which fit begins."""
        if self.verbose > 9:
            print(f"{self.head} START {self.settings}".ljust(self.WIDTH, "."))

    def end(self, result: dict[str, Any]) -> None:
        """Say how the fit scored and how long it took."""
        if self.verbose < 2:
            return
        text = f"{self.settings};" if self.settings else ""
        if self.verbose > 2:
            text += _scores_in_words(result["test_scores"], result.get("train_scores"))
        text += f" total time={_duration(result['fit_time'] + result['score_time'])}"
        head = f"{self.head} END "
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
