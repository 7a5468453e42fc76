"""The proof of a choice: once all fits are made, those go on that decide the most, for as much work as the search allows.

A fit that goes on narrows the interval of its score. What decides the most is the best candidate against the one whose score may be the highest: of
these two the one goes on whose interval is wider, on the fold where it is widest. Candidates that do not overlap any more are left alone, and so is a
fit whose gap does not shrink: nothing more would be separated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gapless.estimators.solved import Solved
from gapless.model_selection.deciding import least_tol, next_tol
from gapless.model_selection.fold import Answers, Candidate, FittedCandidate
from gapless.model_selection.intervals import last_step
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.race import Race
from gapless.model_selection.wishes import SearchWishes
from gapless.model_selection.work import FIT, Work, steps_of

_CHECKS = 6  # by hand: the most proofs of a fit that goes on, of which two are the usual number
_AGAIN = 0.6  # by hand, of 50 to 10,000 samples: what a fit that goes on takes, as a share of what the fit took
_SOME = 4  # by hand: fits whose work has to be seen before it outweighs that share
_HALF = 0.25  # what a gap is multiplied by where intervals, which shrink as its root, become half as wide

Place = tuple[int, int]
"""A candidate on a fold."""


@dataclass
class _Standing:
    """Where a fit has come to."""

    start: list[Solved]  # what a further fit begins with
    gap: float  # that it has reached
    tol: float  # that it goes on to; infinite where it does not
    work: Work  # that the fit took
    parts: int  # its subproblems


class Proving:
    """The fits of a search that may go on: ``see`` is told of each fit, and ``run`` goes on with some.

    Parameters
    ----------
    alone : OneByOne
        Fits a candidate by itself, and goes on with it.
    candidates, wishes
        The candidates of the search, and what is known of them.
    whole : bool
        Whether the proof may take whatever it takes, with numbers of twice the digits where rounding is in the way.
    """

    def __init__(self, alone: OneByOne, candidates: list[Candidate], wishes: SearchWishes, whole: bool) -> None:
        self._alone, self._candidates, self._wishes, self._whole = alone, candidates, wishes, whole
        self._standing: dict[Place, _Standing] = {}
        # What has not been looked at: most fits never go on. Of some there is no clone before somebody asks; others keep no samples, so that all of
        # them may wait.
        self._unseen: dict[Place, tuple[FittedCandidate, Answers, Work]] = {}
        self._seconds, self._made = 0.0, 0
        self._expected = self._took = 0.0  # the work of those fits together that have gone on

    def see(self, fitted: FittedCandidate, answers: Answers | None, work: Work) -> None:
        """Keep where a fit has come to, as far as its score is open and the candidate may win.

        Where the whole proof is asked for, the engine has decided the score of a classifier already, as far as that is possible.
        """
        place = fitted.candidate, fitted.fold
        if answers is None or fitted.final or (self._whole and answers.classes is not None):
            return
        waits = fitted.work is not None or not hasattr(last_step(fitted.estimator), "support_vectors_")
        if waits and place not in self._standing:
            self._unseen[place] = fitted, answers, work
        else:
            self._look(fitted, answers, work)

    def _look(self, fitted: FittedCandidate, answers: Answers, work: Work) -> None:
        """Find out where a fit has come to, and whether it is worth going on."""
        place = fitted.candidate, fitted.fold
        if not self._is_open(place):
            return
        before, last = self._standing.get(place), last_step(fitted.estimator)
        rows = self._wishes.rows_left_open(*place, answers)
        if not (
            rows.any() and hasattr(last, "certificate_") and hasattr(last, "warm_start") and hasattr(last, "max_iter")
        ):
            return
        gap = last.certificate_.relative_gap
        tol = next_tol(last, answers, rows, last.tol)
        if not self._whole:
            tol = max(tol, least_tol(last))
        has_stopped = before is not None and not gap <= _HALF * before.gap
        self._standing[place] = _Standing(
            last._solved, gap, math.inf if has_stopped or tol > _HALF * gap else tol, work, len(last.certificates_)
        )

    def _is_open(self, place: Place) -> bool:
        race = self._wishes.race
        if race is None:
            return False
        low, high = race.ends(*place)
        return low < high and not race.is_out(place[0])

    def run(self, most: float) -> Iterator[FittedCandidate]:
        """Fits that go on, those first that decide the most, for so much work; each has to be told of before the next one."""
        while (place := self._next(math.inf if self._whole else most)) is not None:
            if place in self._unseen:
                self._look(*self._unseen.pop(place))
                continue
            standing, began = self._standing[place], time.perf_counter()
            bounds: dict[str, Any] = {}
            if not self._whole:
                # Before a fit goes on it is proven once more where it is, and once where it ends.
                steps = (most - standing.parts * FIT - 2.0 * standing.work.proof) / standing.work.step
                bounds = {"steps": steps, "checks": _CHECKS}
                if steps < 1:
                    standing.tol = math.inf  # another one may take less
                    continue
            candidate, rows = self._candidates[place[0]], self._wishes.folds[place[1]]
            fitted = self._alone.go_on(candidate, rows, place, standing.start, standing.tol, **bounds)
            standing.tol = math.inf  # unless its interval has become narrower
            yield fitted
            spent = self._spent(fitted, standing)
            self._expected, self._took = self._expected + self._as_before(standing), self._took + spent
            most -= spent
            self._seconds += time.perf_counter() - began
            self._made += 1

    @staticmethod
    def _spent(fitted: FittedCandidate, standing: _Standing) -> float:
        """The work of a fit that has gone on."""
        if fitted.error is not None:
            return standing.work.total
        last = last_step(fitted.estimator)
        checks = max(len(trace) for trace in last.traces_)
        return standing.parts * FIT + checks * standing.work.proof + steps_of(last) * standing.work.step

    def _next(self, most: float) -> Place | None:
        """The fit that decides the most; None where none does, and where so much work would separate nothing."""
        race = self._wishes.race
        if race is None:
            return None
        deciding = race.deciding()
        if most < math.inf and not self._separates(race, deciding, most):
            return None
        for candidate in deciding:
            folds = [fold for fold in range(len(self._wishes.folds)) if self._goes_on((candidate, fold))]
            if folds:
                widths = [high - low for low, high in (race.ends(candidate, fold) for fold in folds)]
                return candidate, folds[widths.index(max(widths))]
        return None

    def _separates(self, race: Race, deciding: list[int], most: float) -> bool:
        """Whether so much work may prove the best of these candidates better than another one.

        At best an interval of a score shrinks to the score that was seen, for a share of the work that the fit has taken. A proof that would end
        before two are apart would be for nothing.
        """
        if not deciding:
            return False
        best, *rivals = race.by_score(deciding)
        of_best, low = self._gains(race, best, 0, 1.0), sum(race.ends(best, fold)[0] for fold in self._folds)
        for rival in rivals:
            apart, needed = sum(race.ends(rival, fold)[1] for fold in self._folds) - low, 0.0
            for gain, work in sorted(of_best + self._gains(race, rival, 1, -1.0), key=lambda each: -each[0] / each[1]):
                if apart < 0:
                    break
                apart, needed = apart - gain, needed + work
            if apart < 0 and needed <= most:
                return True
        return False

    def _gains(self, race: Race, candidate: int, end: int, sign: float) -> list[tuple[float, float]]:
        """(gain, work) of the fits of a candidate that may go on: by how much an end of its interval may move, where it does."""
        places = [(candidate, fold) for fold in self._folds if self._goes_on((candidate, fold))]
        found = [(sign * (race.seen(*place) - race.ends(*place)[end]), self._work_of(place)) for place in places]
        return [each for each in found if each[0] > 0]

    @property
    def _folds(self) -> range:
        return range(len(self._wishes.folds))

    def _work_of(self, place: Place) -> float:
        """What a fit that goes on is expected to take: that share of what it took which those before it have taken."""
        standing = self._standing.get(place)
        before = FIT + self._unseen[place][2].total if standing is None else self._as_before(standing)
        # As if some had been seen already: one fit alone tells little of the others.
        some = _SOME * before
        return before * (self._took + _AGAIN * some) / (self._expected + some)

    @staticmethod
    def _as_before(standing: _Standing) -> float:
        return standing.parts * FIT + standing.work.total

    def _goes_on(self, place: Place) -> bool:
        standing = self._standing.get(place)
        return (place in self._unseen or (standing is not None and standing.tol < math.inf)) and self._is_open(place)

    @property
    def left(self) -> int:
        """How many fits there are that may go on."""
        race = self._wishes.race
        among = [] if race is None else race.deciding()
        return sum(self._goes_on((candidate, fold)) for candidate in among for fold in range(len(self._wishes.folds)))

    @property
    def seconds_left(self) -> float:
        """How long they would take, each once, as long as those before have taken; infinite before the first one."""
        return self.left * self._seconds / self._made if self._made else math.inf
