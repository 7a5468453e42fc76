"""What fits of linear machines on the same rows have in common, for a search over their parameters: checked rows, problems, and where to begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gapless.estimators.solved import Solved
from gapless.estimators.training_data import take_features
from gapless.losses import DualBox
from gapless.problems.along_c import with_c
from gapless.problems.problem import Problem
from gapless.record import changed


class LinearFold:
    """The training rows of a fold, checked once, and the problems of a chain of fits that differ in C alone.

    A fit whose estimator has such a fold as ``_fold`` takes its rows from here, whatever X it is called with, and begins where the last fit of the
    chain ended.

    Parameters
    ----------
    taker : LinearSVC or LinearSVR
        With default parameters; it checks the rows.
    X, y, sample_weight
        What ``fit`` would be called with.
    """

    def __init__(self, taker: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        self.X, self.y, self.weight = taker._take(X, y, sample_weight)
        self._taker = taker
        self.test: Any = None
        self.begin_chain()

    def take_test(self, X: Any) -> Any:
        """Check test rows; methods of an estimator that has this fold then take what is returned here as it is."""
        self.test = take_features(self._taker, X, reset=False)
        return self.test

    def training_data(self, estimator: Any) -> tuple[Any, Any, np.ndarray | None]:
        """(X, y, weights), as ``estimator._take`` gives them; the features' names and number are noted on the estimator."""
        estimator.__dict__.pop("feature_names_in_", None)
        names = ("n_features_in_", "feature_names_in_")
        estimator.__dict__.update({name: vars(self._taker)[name] for name in names if name in vars(self._taker)})
        return self.X, self.y, self.weight

    def begin_chain(self) -> None:
        """Forget the problems and solutions of the last chain: the fits to come differ from it in more than C."""
        self._problems: dict[int, Problem] = {}
        self._made: dict[int, Problem] = {}  # with the newest C
        self._last: tuple[float, list[Solved]] | None = None

    def end_fit(self, C: float, solved: list[Solved]) -> None:
        """Keep the solutions of a fit, for the fit with the next C to begin from."""
        self._last = C, solved

    def problem(self, k: int, C: float, make: Callable[..., Problem]) -> Problem:
        """Subproblem k with this C: ``make(C=…)`` makes it for the first fit of a chain, and others change its C."""
        if k not in self._problems:
            # With C = 1 the costs are the weights themselves, so that no other C brings in rounding that a fit by itself does not have.
            first = make(C=1.0)
            first.diagonal, first.magnitudes, first.largest, first.entry_work  # noqa: B018  cached, and copied with the problem
            self._problems[k] = first
        return self._with_c(k, C)

    def starts(self, count: int, C: float) -> list[Solved | None]:
        """Where the subproblems of a fit with this C begin."""
        if self._last is None or len(self._last[1]) != count:
            return [None] * count
        before, solved = self._last
        return [self._moved(k, each, before, C) for k, each in enumerate(solved)]

    def begins_elsewhere(self, C: float) -> bool:
        """Whether a fit with this C begins at a solution for another one, which proves little of it. For the same C it ends where it begins."""
        return self._last is not None and self._last[0] != C

    def _with_c(self, k: int, C: float) -> Problem:
        made = self._made.get(k)
        if made is None or made.regularization != C:
            made = self._made[k] = with_c(self._problems[k], C)
        return made

    def _moved(self, k: int, solved: Solved, before: float, C: float) -> Solved:
        """A solution for another C: w as it is, and the multiple of β with the highest dual value, which is feasible up to the ratio of both C.

        Samples at their bound ask for that ratio, and are many where C is small. Where C is large β hardly changes.
        """
        problem = self._with_c(k, C) if k in self._problems else None
        if problem is None or solved.w is None or solved.beta.ndim != 1 or not isinstance(problem.dual, DualBox):
            return solved
        beta, dual = solved.beta, problem.dual
        offset = solved.b**2 / problem.shift if problem.shift else 0.0
        linear = float(dual.p @ beta - dual.epsilon @ np.abs(beta))
        bend = float(solved.w @ solved.w) + offset + float(dual.d @ beta**2)
        ratio = C / before
        factor = min(ratio, linear / bend) if bend > 0 and linear > 0 else ratio
        return changed(solved, beta=factor * beta)
