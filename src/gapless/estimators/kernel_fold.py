"""What fits of ν-forms on the same rows have in common, for a search over ν: checked rows, kernel entries, and where to begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gapless.estimators.solved import Solved
from gapless.estimators.training_data import take_features
from gapless.losses import DualBox
from gapless.problems.nu import NuProblem
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.proof.feasible import feasible

_NAMES = ("n_features_in_", "feature_names_in_", "shape_fit_", "_sparse")  # what ``_take`` notes on an estimator
_ROUNDED = 1e-12  # a share of a total that rounding explains: what is repaired then is next to nothing


class KernelFold:
    """The training rows of a fold, checked once, and a chain of fits on them that differ in ν or C.

    A fit whose estimator has such a fold as ``_fold`` takes its rows from here, whatever X it is called with, and begins where the last fit of the
    chain ended.

    Parameters
    ----------
    taker : NuSVC, NuSVR or OneClassSVM
        With default parameters; it checks the rows.
    X, y
        What ``fit`` would be called with; y is None where nothing is learned of it.
    """

    def __init__(self, taker: Any, X: Any, y: Any) -> None:
        self.X, self.y = taker._take(X, y)
        self._taker = taker
        self._seen: tuple[Any, Any] = (None, None)
        self.test: Any = None
        self.begin_chain()

    def take_test(self, X: Any) -> Any:
        """Check test rows; methods of an estimator that has this fold then take what is returned here as it is."""
        self.test = take_features(self._taker, X, reset=False)
        return self.test

    def training_data(self, estimator: Any) -> tuple[Any, Any]:
        """(X, y), as ``estimator._take`` gives them; what it notes of them is noted on the estimator."""
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.__dict__.update({name: vars(self._taker)[name] for name in _NAMES if name in vars(self._taker)})
        return self.X, self.y

    def samples(self, estimator: Any, make: Callable[[], Any]) -> Any:
        """What ``make()`` gives: the samples, and the entries of the estimator's kernel where they are few, which fits with one kernel share."""
        key = estimator.kernel, estimator.gamma, estimator.degree, estimator.coef0, estimator.cache_size
        if self._seen[0] != key:
            self._seen = key, make()
        return self._seen[1]

    def begin_chain(self) -> None:
        """Forget the solutions of the last chain: the fits to come differ from it in more than ν and C."""
        self._first: tuple[NuProblem, np.ndarray] | None = None
        self._last: tuple[NuProblem, np.ndarray] | None = None
        self._now: NuProblem | None = None

    def end_fit(self, solved: list[Solved]) -> None:
        """Keep the solution of a fit that is one problem, for the next one to begin from."""
        if self._now is None or len(solved) != 1 or not solved[0].proven:
            return
        self._last = self._now, solved[0].beta
        if self._first is None or _unit(self._now) != _unit(self._first[0]):
            self._first = self._last

    def start(self, problem: Problem) -> Point | None:
        """Where a problem begins: at the last solution; where C is another one, at the first solution of the last C."""
        assert isinstance(problem, NuProblem)
        self._now = problem
        if self._last is not None and self._last[0].n_samples == problem.n_samples:
            problem.share(self._last[0])
        last = self._last if self._last is None or _unit(self._last[0]) == _unit(problem) else self._first
        if problem.is_linear or last is None or len(last[1]) != problem.n_samples:
            return None
        return Point(beta=feasible(problem, moved(last[0], last[1], problem))[0])


def moved(before: Problem, beta: np.ndarray, problem: Problem) -> np.ndarray:
    """A solution β of a ν-form for another ν and C: times the ratio of the totals, within the box; what that leaves over goes to the samples whose
    dual value rises most.

    Where no β is at its bound, the optimum of a one-class machine or a ν-SVC is this multiple. Where most β are, those at their bound stay there, and
    the greater ν takes in the samples that were next to the margin.
    """
    dual = problem.dual
    assert isinstance(dual, DualBox)
    totals, old = np.abs(problem.totals), np.abs(before.totals)
    start = np.clip(beta * (totals / old)[problem.groups], dual.lower, dual.upper)
    left = totals - np.bincount(problem.groups, weights=np.abs(start), minlength=len(totals))
    if not (left > _ROUNDED * totals).any():
        return start
    f = before.known_sums(beta)
    slope = np.asarray(dual.p) - (before.expand(beta) if f is None else f)
    for group, sign in enumerate(np.sign(problem.totals)):
        (members,) = np.nonzero(problem.groups == group)
        members = members[np.argsort(-sign * slope[members], kind="stable")]
        bound = dual.upper if sign > 0 else dual.lower
        room = np.abs(bound[members] - start[members])
        start[members] += sign * np.clip(left[group] - (np.cumsum(room) - room), 0.0, room)
    return start


def _unit(problem: Problem) -> float:
    """The largest cost: C, where the weights are the same."""
    return float(problem.cost.max())
