"""A grid search that goes on beyond an end of its grid where the best candidate is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from gapless.model_selection.search import GridSearchCV

_AT_A_TIME = 2  # how many values a grid gains beyond the end that its best is at
_LONGEST = 10.0  # the largest ratio of their steps: a coarse grid would otherwise leap to a C whose fits take very long
# A score that levels off, such as R² of a regression in C, is best at an end by less and less, without end. This is the least lead over the other
# values that is a reason to go on, as a share of the first grid's lead over its median candidate; by hand.
_LEAST_LEAD = 1e-3


@dataclass
class Axis:
    """The values of one parameter, ascending; ``grows`` says that they may go on beyond their ends, in steps of
    a constant ratio, but tenfold at most.

    >>> import numpy as np
    >>> from gapless.model_selection.widening import Axis
    >>> axis = Axis("C", np.array([0.1, 1.0, 10.0]), grows=True)
    >>> axis.widen(1.0), axis.widen(10.0), axis.values.round(6).tolist()
    (False, True, [0.1, 1.0, 10.0, 100.0, 1000.0])
    """

    name: str
    values: np.ndarray
    grows: bool

    def widen(self, best: float) -> bool:
        """Add values beyond the end that is the best value, where it is one; return whether any were added."""
        if not self.grows or len(self.values) < 2:
            return False
        ratio = min(self.values[1] / self.values[0], _LONGEST)
        steps = ratio ** np.arange(1, 1 + _AT_A_TIME)
        if best == self.values[0]:
            self.values = np.concatenate([self.values[0] / steps[::-1], self.values])
        elif best == self.values[-1]:
            self.values = np.concatenate([self.values, self.values[-1] * steps])
        else:
            return False
        return True


class WideningSearch(GridSearchCV):
    """A grid search over axes; each round after the first fits the candidates that the axes have gained, and keeps what is known of the others.

    Beyond its ends a grid has ever larger C's, whose fits may take a thousand times as long: those that would take more work than the longest ones of
    the rounds before are stopped.

    ``param_grid`` is not looked at: :meth:`along` sets what is searched.
    """

    axes: list[Axis]
    rounds: int
    widened: int  # how many rounds there were after the first

    def along(self, axes: list[Axis], rounds: int) -> WideningSearch:
        """Search along these axes, which widen at most ``rounds`` times; return the search."""
        self.axes, self.rounds, self.widened = axes, rounds, 0
        return self

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]], *, callback_ctx: Any = None) -> None:
        """scikit-learn's hook for searches of one's own: it evaluates candidates, and may evaluate more when it has seen the results."""
        results = evaluate_candidates(self._candidates())
        scores = results["mean_test_score"]
        least = _LEAST_LEAD * (np.nanmax(scores) - np.nanmedian(scores))
        for _ in range(self.rounds):
            best = results["params"][self._select_best_index(False, "score", results)]
            # A list and not a generator: of the best in a corner of the grid both axes widen.
            if not any([_lead(results, axis.name, best) > least and axis.widen(best[axis.name]) for axis in self.axes]):
                return
            self.widened += 1
            known = {tuple(each.values()) for each in results["params"]}
            further = [each for each in self._candidates() if tuple(each.values()) not in known]
            self.most_work = np.full(len(further), longest(self._fit_work))
            results = evaluate_candidates(further)

    def _candidates(self) -> list[dict[str, float]]:
        return list(ParameterGrid({axis.name: axis.values.tolist() for axis in self.axes}))


def longest(work: Iterable[float]) -> float:
    """The most work that candidates have taken whose fits were not stopped; infinite where there are none."""
    return max((each for each in work if each < np.inf), default=np.inf)


def _lead(results: dict[str, Any], name: str, best: dict[str, float]) -> float:
    """How much better the best value of a parameter is than its other values."""
    scores = results["mean_test_score"]
    same = np.array([each[name] == best[name] for each in results["params"]])
    return float(np.nanmax(scores[same]) - np.nanmax(scores[~same], initial=-np.inf))
