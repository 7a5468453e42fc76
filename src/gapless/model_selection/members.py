"""The fits of one kernel: members of a native object, which go from C to C together, and are solved more closely where a score asks for it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gapless import _native
from gapless.blas import one_blas_thread
from gapless.estimators import SVC, SVR
from gapless.estimators.every_pair import Found
from gapless.model_selection.families import Families, Fit, Trained, Values
from gapless.model_selection.fold import Wishes
from gapless.model_selection.kernel_table import KernelTable
from gapless.model_selection.side_by_side import use_free_threads
from gapless.model_selection.work import FIT, SHARE, Work, features_of, kernel_work, steps_within
from gapless.solve import AHEAD, STRICTER

if TYPE_CHECKING:
    from gapless.model_selection.shared import _Stage

_TURNS = 2000.0  # the most pairs of variables for each sample: what takes longer is left to the estimator's own stages
_CLOSELY = 0.01  # by hand: the share of the bound on violations that a fit with scores to be decided is solved to; most are then decided by one proof
_CACHED = 1024  # by hand: the most samples of a family whose entries stay in the cache from one C to the next
_AHEAD = 20_000  # the most problems, of some 50 microseconds each, that are solved before the user is told of the first
_PARTS = 4  # by hand: of the families that are solved ahead; from one to the next, threads of kernels that are done come to help
_ASKED = 2  # folds of a candidate of a race that are decided at a time
_READ, _STEP = (
    1.0,
    0.25,
)  # by hand, in the unit of work.py: an entry of the table that a proof reads, a sample in a pair of variables
_LEAST_GAP = 1e-15  # nothing smaller is asked for, relative to P: it would be rounding
_ROUNDED = 1.5  # what is asked of a bound is at least so many times the part of it that is rounding


class Seen(NamedTuple):
    """What is known of a fit; ``final`` says that its score is open, and that solving its problems more closely would not help."""

    fit: Fit
    trained: Trained
    values: Values
    final: bool


class Members:
    """The fits of one kernel: a member of the native object for each fold and each choice of terms."""

    def __init__(
        self,
        families: Families,
        table: KernelTable,
        room: np.ndarray,
        fits: list[Fit],
        estimator: SVC | SVR,
        most: float,
    ) -> None:
        self._families, self._kkt = families, estimator._kkt_tol
        samples = float(np.diff(families.starts).max())
        self._turns = min(
            _TURNS, steps_within(most, samples) / samples
        )  # for each sample, as ``most`` is what a fit may take
        chains: dict[Any, list[Fit]] = defaultdict(list)
        for fit in sorted(fits, key=lambda fit: fit.C):
            chains[fit.fold, fit.terms].append(fit)
        self._chains = list(chains.values())
        self.longest = max(len(chain) for chain in self._chains)
        self._gaps = np.full(len(self._chains), estimator._gap_tol)
        self._values: dict[int, Values] = {}  # of each member, at the C before
        self.length = np.sqrt(np.maximum(0.0, table.diagonal))
        weights = [families.weights(chain[0].fold, chain[0].terms) for chain in self._chains]
        epsilon = [families.epsilon(chain[0].terms) for chain in self._chains]
        self._native: Any = _native.SharedFits(
            table.entries, table.diagonal, table.g, table.r, families.places, families.starts, families.p, families.margins,
            np.array(weights), np.array(epsilon), families.same, room,
        )  # fmt: skip
        largest, problems = np.diff(families.starts).max(), (len(families.starts) - 1) * len(self._chains)
        self.step = max(1, _AHEAD // problems) if len(families.starts) > 2 and largest <= _CACHED else 1
        self._costs = np.zeros((0, len(self._chains)))  # of the turns that are solved ahead
        self._features = features_of(families.rows)
        self._made = self._spent = 0.0  # the work of the fits, and of what has decided their scores

    def _aim(self, closely: float = 1.0) -> dict[str, float]:
        return {"kkt": self._kkt, "ahead": closely * AHEAD, "stricter": STRICTER, "turns": self._turns}

    @one_blas_thread()
    def advance(
        self, turns: range, folds: Sequence[int], candidates: Sequence[int], wishes: Wishes
    ) -> list[dict[int, Fit]]:
        """Solve the next C's of each member of these folds, where the candidates are still wanted; the fits of each turn by member.

        Several turns are taken up one after the other (``take_up``), each before it is looked at.
        """
        todo = [
            {
                member: chain[turn]
                for member, chain in enumerate(self._chains)
                if turn < len(chain)
                and chain[turn].fold in folds
                and chain[turn].candidate in candidates
                and wishes.begin(chain[turn].candidate, chain[turn].fold)
            }
            for turn in turns
        ]
        self._costs = np.zeros((len(turns), len(self._chains)))
        for row, fits in zip(self._costs, todo, strict=True):
            for member, fit in fits.items():
                row[member] = fit.C
        aim = self._aim(_CLOSELY if wishes.needs_intervals and self._families.margins else 1.0)
        if len(turns) > 1:
            families = len(self._families.starts) - 1
            bounds = np.linspace(0, families, min(_PARTS, families) + 1).astype(int).tolist()
            for first, last in itertools.pairwise(bounds):
                use_free_threads()
                self._native.go_ahead(self._costs, self._gaps, first, last, **aim)
        elif todo[0]:
            self._native.advance(self._costs[0], self._gaps, **aim)
        return todo

    def take_up(self, turn: int) -> None:
        """Be at that one of the turns that were solved ahead; turns are taken up in their order."""
        if len(self._costs) > 1:
            self._native.take_up(turn, self._costs[turn], self._gaps)

    @one_blas_thread()
    def look(self, fits: dict[int, Fit], stage: _Stage) -> list[Seen]:
        """What is known of the fits of these members, after their problems were solved as closely as the scores need."""
        known = {member: self._look_first(member, fit) for member, fit in fits.items()}
        self._made += sum(self.work(trained).total for trained, _ in known.values())
        last = np.full((len(self._families.starts) - 1, len(self._chains)), np.inf)
        left = dict.fromkeys(sorted(fits), self._families.closer_steps)  # how often each of them may still be asked for
        final = set[int]()
        while left:
            gaps, asked = np.zeros(last.shape), Counter[int]()
            for member in list(left):
                fit, (trained, values) = fits[member], known[member]
                if stage.wishes.races and asked[fit.candidate] == _ASKED:
                    continue  # it may be out when these are decided
                rows = stage.open_rows(fit, trained, values)
                if rows is not None and trained.done and self._may_decide(stage.wishes, trained):
                    final.add(member)
                    if left[member] > 0:
                        gaps[:, member] = self._closer(fit, trained, values, rows, last[:, member])
                if gaps[:, member].any():
                    final.discard(member)
                    asked[fit.candidate] += 1
                    left[member] -= 1
                else:
                    del left[member]
            if not gaps.any():
                break
            self._native.tighten(gaps.ravel(), **self._aim())
            for member in np.flatnonzero(gaps.any(axis=0)).tolist():
                before, (trained, values) = known[member][0], known[member]
                known[member] = self._look(member, fits[member], values, np.flatnonzero(gaps[:, member]))
                self._spent += self._work_between(before, known[member][0], gaps[:, member] > 0)
        self._values.update((member, known[member][1]) for member in fits)
        return [
            Seen(fit, known[member][0], self._families.settle(known[member][1], known[member][0], fit), member in final)
            for member, fit in fits.items()
        ]

    def work(self, trained: Trained) -> Work:
        """What a fit has taken: as much as one by itself, since the budget of a proof is a share of what the fits of any engine take."""
        support, samples = self._reads(trained)
        steps = float(trained.columns["steps"].sum())
        return kernel_work(1.0, float(support @ samples), self._features, steps)._replace(spared=FIT)

    def _reads(self, trained: Trained) -> tuple[np.ndarray, np.ndarray]:
        """The support vectors and the samples of each problem."""
        starts = self._families.starts
        return np.add.reduceat(trained.beta != 0, starts[:-1]).astype(float), np.diff(starts).astype(float)

    def _may_decide(self, wishes: Wishes, trained: Trained) -> bool:
        """Whether the proof of a score may go on: as far as it takes no more than its share of what the fits of this kernel have taken.

        The share is counted kernel by kernel, so that what is proven does not depend on the order in which threads come to the kernels.
        """
        support, samples = self._reads(trained)
        return wishes.decides or self._spent + _READ * float(support @ samples) <= SHARE * self._made

    def _work_between(self, before: Trained, after: Trained, asked: np.ndarray) -> float:
        """The work of solving some problems more closely."""
        support, samples = self._reads(after)
        steps = (after.columns["steps"] - before.columns["steps"])[asked]
        return float(_READ * support[asked] @ samples[asked] + np.maximum(steps, 0.0) @ (_STEP * samples[asked]))

    def _look_first(self, member: int, fit: Fit) -> tuple[Trained, Values]:
        """What was found of a member at a further C; problems whose solution is the one before have the values of before."""
        kept = self._native.kept[member :: len(self._chains)] > 0
        if member not in self._values or not kept.any():
            return self._look(member, fit)
        before = Values(*(each.copy() for each in self._values[member]))
        return self._look(member, fit, before, np.flatnonzero(~kept))

    def _closer(self, fit: Fit, trained: Trained, values: Values, rows: np.ndarray, last: np.ndarray) -> np.ndarray:
        """How closely each problem of a fit is to be solved for its open rows: the bound on ‖w − w*‖², relative to P; 0 where it is close enough.

        A problem is solved as closely as the rows need or as its proof can tell, and not again where that has not helped. ``last`` are the bounds
        when it was last asked for, and become those of now.
        """
        apart = trained.apart
        length = self.length[self._families.scored(fit.fold)[rows]]
        wanted = np.maximum(self._families.enough(values, rows, length, apart), _ROUNDED * trained.rounding)
        asked = (apart < 0.5 * last) & (wanted < apart)
        last[:] = np.where(asked, apart, last)
        primal = np.where(asked, trained.columns["primal"], 1.0)
        return np.where(asked, np.maximum(np.minimum(wanted, 0.1 * apart) / primal, _LEAST_GAP), 0.0)

    def _look(
        self, member: int, fit: Fit, known: Values | None = None, changed: np.ndarray | None = None
    ) -> tuple[Trained, Values]:
        """What was found of a member, and its values; where these are known, only problems that have changed are looked at."""
        beta = np.empty(len(self._families.places))
        self._native.beta(member, beta)
        own = slice(member, None, len(self._chains))
        columns = {name: getattr(self._native, name)[own].copy() for name in Found._fields if name != "beta"}
        trained = Trained(beta, columns, self._native.apart[own].copy(), self._native.apart_rounding[own].copy())
        return trained, self._families.values(self._native, member, fit.fold, known, changed)
