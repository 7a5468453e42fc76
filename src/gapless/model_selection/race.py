"""Who can still win: bounds on the mean score of each candidate, from the folds that are known and from what is possible on the others."""

from __future__ import annotations

import numpy as np

# Two means of the same scores may differ by rounding; candidates that are this close are not separated.
ROUNDING = 64 * np.finfo(float).eps

_TURN = 0.5  # by hand: what a further turn of fits costs, as a share of a fit

_TIED = 1e-9  # relative to the score; proofs in float64 reach little more


class Race:
    """Bounds on the scores of candidates (rows) on folds (columns).

    ``worst`` and ``best`` are the bounds on the score of any model, for each candidate on each fold; ``least`` is what some candidate of another
    race has for sure.
    """

    def __init__(self, worst: np.ndarray, best: np.ndarray, least: float = -np.inf) -> None:
        self._least = least
        self.low, self.high = np.array(worst, dtype=float), np.array(best, dtype=float)
        self._best = self.high.copy()
        self._guess = np.full(self.low.shape, np.nan)
        self._puts = 0
        self._standing: tuple[int, float, list[int]] = (
            -1,
            -np.inf,
            [],
        )  # when it was computed, by ``_puts``, the limit and the order

    def put(self, candidate: int, fold: int, score: float, low: float, high: float) -> None:
        """Take the score of a fit and its interval; a score that is not finite never wins, and an interval of NaN says nothing."""
        self._guess[candidate, fold] = score
        if not np.isfinite(score):
            low = high = -np.inf
        if not np.isnan(low):
            self.low[candidate, fold], self.high[candidate, fold] = low, high
        self._puts += 1

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high): bounds on the mean score of each candidate."""
        return self.low.mean(axis=1), self.high.mean(axis=1)

    def bound(self, candidate: int, fold: int, high: float) -> None:
        """Take a bound on the score of a fit that is under way."""
        self.high[candidate, fold] = min(self.high[candidate, fold], high)

    def is_out(self, candidate: int) -> bool:
        """Whether another candidate is proven to be better."""
        return bool(self.high[candidate].mean() < self._now()[0])

    def by_promise(self) -> list[int]:
        """The candidates that are not out, those first that have scored best so far."""
        return self._now()[1]

    def _now(self) -> tuple[float, list[int]]:
        """The mean score below which a candidate is out, and the candidates by promise: computed once a score, and asked for at each fit."""
        puts, limit, order = self._standing
        if puts != self._puts:
            puts = self._puts
            least = float(self.low.mean(axis=1).max())
            limit = least - ROUNDING * max(1.0, abs(least))
            known = ~np.isnan(self._guess)
            mean = np.where(known, self._guess, 0.0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
            mean[~known.any(axis=1)] = -np.inf
            places = np.argsort(-mean, kind="stable")
            order = places[~(self.high.mean(axis=1)[places] < limit)].tolist()
            self._standing = puts, limit, order
        return limit, order

    def has_finisher(self) -> bool:
        """Whether some candidate has been scored on all folds, so that the others have one to keep up with."""
        return not np.isnan(self._guess).any(axis=1).all()

    def next_folds(self, candidates: list[int], begin: int, at_once: int) -> range:
        """The folds from ``begin`` on that these candidates are to be fitted on before those that are out are dropped: those with the fewest fits.

        Each candidate is taken to have on all folds the mean of the scores that it has been seen with, and where none of them has been seen to be as
        others are. Where ``at_once`` folds are fitted side by side, one that is left over takes half as long again.
        """
        folds = self.high.shape[1]
        limit, seen = self._now()[0], ~np.isnan(self._guess).all(axis=1)
        if not seen.any():
            return range(begin, folds)
        own = np.isin(np.arange(len(seen)), candidates) & seen
        seen = own if own.any() else seen
        mean = np.nanmean(self._guess[seen], axis=1)
        fitted, top = np.arange(folds)[:, None], self._best[seen].mean(axis=1)
        most = (fitted * mean + (folds - fitted) * top) / folds
        left = (~(most < limit)).mean(axis=1)  # the share of them that is in after so many folds
        cost, end = np.zeros(folds + 1), folds
        for first in reversed(range(begin, folds)):
            sizes = np.arange(1, folds - first + 1)
            costs = (sizes + 0.5 * (sizes % at_once > 0) + _TURN) * left[first] + cost[first + 1 :]
            cost[first], end = costs.min(), first + 1 + int(costs.argmin())
        return range(begin, end)

    def ends(self, candidate: int, fold: int) -> tuple[float, float]:
        """(low, high) of the score of a fit."""
        return float(self.low[candidate, fold]), float(self.high[candidate, fold])

    def seen(self, candidate: int, fold: int) -> float:
        """The score that a fit has been seen with."""
        return float(self._guess[candidate, fold])

    def by_score(self, candidates: list[int]) -> list[int]:
        """These candidates, those first whose mean score is the best."""
        return sorted(candidates, key=lambda k: -float(self._guess[k].mean()))

    def deciding(self) -> list[int]:
        """The candidates between which the choice is not proven, those first that decide the most.

        That are the best one and the one that may have the highest score, the one with the wider interval first, and then all others that may be
        better than the best one is for sure, in the order of what they may have. Intervals that are narrower than ``_TIED`` count as equal.
        """
        if not self._guess.size:
            return []
        mean = np.where(np.isnan(self._guess).any(axis=1), -np.inf, self._guess.mean(axis=1))
        best, (low, high) = int(mean.argmax()), self.means()
        if not np.isfinite(mean[best]):
            return []
        least = max(low[best], self._least)
        slack = max(_TIED * abs(mean[best]), ROUNDING * max(1.0, abs(mean[best])))
        rivals = [
            k for k in np.argsort(-high, kind="stable").tolist() if high[k] > least + slack and np.isfinite(mean[k])
        ]
        if not [k for k in rivals if k != best] and low[best] >= self._least - slack:
            return []
        pair = [best, *[k for k in rivals if k != best][:1]]
        pair.sort(key=lambda k: low[k] - high[k])
        return pair + [k for k in rivals if k not in pair]
