"""What is proven about the choice of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapless.model_selection.race import ROUNDING
from gapless.store import register


@register
@dataclass(frozen=True)
class Selection:
    """What is proven about the candidate that a search has chosen.

    The scores meant are those of the exact optima, which the models of a search come close to.

    Attributes
    ----------
    index : int
        The place of the chosen candidate in ``cv_results_``.
    proven : bool
        Whether no candidate has a better mean score.
    tied : tuple of int
        The candidates that may have the best mean score or have exactly the same one, the chosen one among them.
    score : tuple of float
        (low, high): bounds on the mean score of the chosen candidate.
    left_out : int
        How many candidates were fitted on a part of the samples alone, or stopped since their fits would take too much work. They are no part of the
        proof, which is about the others.

    Examples
    --------
    >>> from gapless.model_selection.selection import Selection
    >>> print(Selection(index=3, proven=True, tied=(3,), score=(0.96, 0.96)))
    Candidate 3 is proven best: its mean score is 0.96, and every other one is lower.
    >>> print(Selection(index=3, proven=True, tied=(3, 4), score=(0.96, 0.96)))
    Candidate 3 is proven best: its mean score is 0.96, and none is higher; candidate 4 is tied with it.
    >>> print(Selection(index=3, proven=False, tied=(1, 3, 4), score=(0.95, 0.97)))
    Candidate 3 is best as far as is proven: its mean score is between 0.95 and 0.97, and candidates 1 and 4 may have a better one.
    >>> print(Selection(index=3, proven=True, tied=(3,), score=(0.96, 0.96), left_out=1))
    Candidate 3 is proven best: its mean score is 0.96, and every other one is lower. 1 candidate was left out, by scores on fewer samples or by work.
    """

    index: int
    proven: bool
    tied: tuple[int, ...]
    score: tuple[float, float]
    left_out: int = 0

    def __str__(self) -> str:
        said = self._of_those_compared()
        if not self.left_out:
            return said
        were = "1 candidate was" if self.left_out == 1 else f"{self.left_out} candidates were"
        return f"{said} {were} left out, by scores on fewer samples or by work."

    def _of_those_compared(self) -> str:
        low, high = self.score
        others = [str(each) for each in self.tied if each != self.index]
        names = f"candidate{'s' if len(others) > 1 else ''} {' and '.join(filter(None, [', '.join(others[:-1]), *others[-1:]]))}"
        value = f"{low:.6g}" if low == high else f"between {low:.6g} and {high:.6g}"
        start = f"Candidate {self.index} is {'proven best' if self.proven else 'best as far as is proven'}: its mean score is {value}, and"
        if not others:
            return f"{start} every other one is lower."
        if self.proven:
            return f"{start} none is higher; {names} {'are' if len(others) > 1 else 'is'} tied with it."
        return f"{start} {names} may have a better one."


def select(
    index: int, results: dict[str, Any], metric: str, among: np.ndarray | None = None, left_out: int = 0
) -> Selection | None:
    """What the intervals of ``cv_results_`` prove about the candidate at ``index``; None where the metric has no intervals.

    ``among`` says of each row whether it is compared; None is all of them. ``left_out`` candidates have no row that is.
    """
    low, high = (results.get(f"mean_test_{metric}_{end}") for end in ("low", "high"))
    if low is None or high is None or np.isnan(low[index]):
        return None
    # A candidate whose interval is not known may be the best, unless its fits have failed.
    failed = np.isnan(results[f"mean_test_{metric}"])
    high = np.where(np.isnan(high), np.where(failed, -np.inf, np.inf), high)
    if among is not None:
        high = np.where(among, high, -np.inf)
    least = low[index]
    slack = ROUNDING * max(1.0, abs(least))
    may_win = high >= least - slack
    may_win[index] = True
    others = np.delete(high, index)
    return Selection(
        index=int(index),
        proven=bool((others <= least + slack).all()),
        tied=tuple(np.flatnonzero(may_win).tolist()),
        score=(float(low[index]), float(high[index])),
        left_out=left_out,
    )
