"""One-vs-one of many classes in one go: all pairs of classes are solved and proven by one native call, where the pairs are small.

A pair of few samples takes microseconds, and the objects that tell of it (a problem, a loop, a result, a certificate, a trace) take far longer. So
pairs of variables, up to a bound on their number, are made for all pairs of classes by
``native/smo/every_pair.hpp``, with the proof of each by ``native/proof/table_proof.hpp``. A pair whose proof keeps both bounds is done. Every other
pair is left to the usual way, which goes on from there. Kernel entries are those of one Gram matrix, or each pair has a table of its own while it is
solved. What a fit needs of all pairs are arrays; the objects are made when somebody looks at them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gapless import _native
from gapless.data.scale import LARGEST
from gapless.estimators.multiclass import ClassPairs
from gapless.estimators.solved import Solved
from gapless.estimators.stages import few_features, turns
from gapless.kernels import Kernel, Panels, Precomputed, Validity
from gapless.kernels.rounding import magnitudes
from gapless.proof.certificate import Certificate, Point
from gapless.proof.interval import Reach
from gapless.record import changed
from gapless.result import Status
from gapless.solve import AHEAD, STRICTER
from gapless.solvers import SMO
from gapless.solvers.smo.samples import FEW
from gapless.trace import Trace

_TURNS = 200  # the most pairs of variables for each sample: problems that take more than these are few, and are left to the usual way
_ROOM = 32.0  # the least memory, in MB, with which each pair may have a table of its own, which takes up to 20
_FULL = 1e-9  # a class whose β sum to all that their bounds allow, except for this share, counts as full; by hand: it decides about time alone


class PairTerms(NamedTuple):
    """What the loss says of each pair of classes.

    ``cost`` bounds |β| of ``ClassPairs.samples``. Of a ν-SVC ``halves`` is what |β| sums to over each class of a pair; otherwise None. ``able`` marks
    the pairs that may be tried.
    """

    cost: np.ndarray
    halves: np.ndarray | None = None
    able: np.ndarray | None = None


@np.errstate(over="ignore", invalid="ignore")  # ``every_pair`` looks for costs that are not finite
def hinge_terms(members: ClassPairs, C: float, weight: np.ndarray | None, class_weight: np.ndarray) -> PairTerms:
    """The terms of :class:`gapless.SVC`; ``weight`` is None where all samples have weight one, and ``class_weight`` has a number for each class."""
    by_class = members.spread_by_class(class_weight[members.first], class_weight[members.second])
    return PairTerms(C * (by_class if weight is None else weight[members.samples] * by_class))


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def nu_terms(members: ClassPairs, nu: float, weight: np.ndarray | None, class_weight: np.ndarray) -> PairTerms:
    """The terms of :class:`gapless.NuSVC`, as :func:`gapless.nu.nu_classification` states them.

    Two kinds of pairs are not tried: those for which ν is infeasible, which is an error, and those in which all β of a class are at their bounds, so
    that several offsets are optimal (``special.py`` chooses among them).
    """
    of_first, of_second = class_weight[members.first], class_weight[members.second]
    box, total = members.spread_by_class(of_first, of_second), np.diff(members.starts).astype(np.float64)
    if weight is not None:
        box, total = weight[members.samples] * box, np.array([weight[member].sum() for member in members])
    cost = box / members.spread(np.maximum(of_first, of_second))
    halves, reach = 0.5 * nu * total, np.minimum(*members.sums_by_class(cost))
    return PairTerms(cost, np.minimum(halves, reach), halves <= reach * (1.0 - _FULL))


class Columns(NamedTuple):
    """What a fit needs of all its subproblems: the coefficients, one subproblem after the other, and a row of the others for each subproblem."""

    beta: np.ndarray
    offsets: np.ndarray
    iterations: np.ndarray
    proven: np.ndarray
    zero: np.ndarray  # whether the optimum of a ν-form is zero

    @classmethod
    def of(cls, solved: list[Solved]) -> Columns:
        """The columns of subproblems that were solved one by one."""
        return cls(
            np.concatenate([each.beta for each in solved]),
            np.array([each.offsets for each in solved]),
            np.array([each.iterations for each in solved]),
            np.array([each.proven for each in solved]),
            np.array([each.status is Status.ZERO for each in solved]),
        )


def multiple(linear: Any, dual: Any, ratio: float) -> Any:
    """What β is multiplied by where C is multiplied by ``ratio``, from linear − bend / 2, the dual value of β, and its linear part.

    Where most of P is loss, β grows as C does, and otherwise hardly at all: the multiple with the highest dual value tells, linear / bend. Near the
    ratio it is the ratio itself, at which β that were at their bounds are so again.
    """
    bend = 2.0 * (linear - dual)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = linear / bend
    return np.where((bend > 0) & (linear > 0) & (best < ratio**0.5), np.maximum(1.0, best), ratio)


class Found(NamedTuple):
    """Arrays of the native call, a number for each pair, or for each sample of each pair (``PairSolutions`` of native/smo/every_pair.hpp)."""

    done: np.ndarray
    beta: np.ndarray
    low: np.ndarray
    high: np.ndarray
    steps: np.ndarray
    checked: np.ndarray
    seconds: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    rounding: np.ndarray
    violation: np.ndarray
    outside: np.ndarray
    off: np.ndarray
    plain_primal: np.ndarray
    plain_dual: np.ndarray
    own: np.ndarray


class EveryPair:
    """All pairs of classes of a fit: those that the native call has done, as arrays, and those that were solved otherwise, as objects."""

    def __init__(self, members: ClassPairs, samples: Any, kernel: Kernel, terms: PairTerms) -> None:
        self._starts, self._able = members.starts, terms.able
        entries: Any
        if isinstance(kernel, Precomputed):
            column = np.arange(len(kernel.gram), dtype=np.float64)[:, None]
            entries, seen, places = kernel.gram, column, kernel.indices(samples)[members.samples]
        else:
            entries, seen, places = Panels(kernel, samples, np.float64).native, samples, members.samples
        g, r = magnitudes(kernel, seen)
        self._native: Any = _native.EveryPair(
            entries, g, r, places, members.starts, members.n_first, terms.cost, terms.halves
        )
        largest = int((members.n_first + members.n_second).max())
        X = None if terms.halves is not None else few_features(*kernel.formula(seen))
        self._turns = _TURNS if X is None else min(_TURNS, turns(X, largest))
        squares = np.maximum(0.0, kernel.diag(seen))[places]
        self._longest = np.sqrt(np.maximum.reduceat(squares, members.starts[:-1]))
        self._made: dict[int, Solved] = {}

    @classmethod
    def of(cls, starts: np.ndarray, found: Found, longest: np.ndarray) -> EveryPair:
        """Problems that are solved already: pairs of classes, or the one problem of a regression.

        ``starts`` tells where the samples of each begin, and in the end their number; ``longest`` is the largest √k(x, x) of each.
        """
        self = cls.__new__(cls)
        self._starts, self._able, self._found, self._longest = starts, None, found, longest
        self._native, self._made = None, {}
        return self

    def begin_at(self, other: EveryPair, ratio: float) -> None:
        """Begin where others have ended, whose C times ``ratio`` is this one: at :func:`multiple` of the β of each pair."""
        beta = other.columns.beta
        linear = np.add.reduceat(np.abs(beta), other._starts[:-1])
        by = np.repeat(multiple(linear, other._found.dual, ratio), np.diff(other._starts))
        self._native.begin_at(by * beta, by * other._sums)

    @property
    def is_solved(self) -> bool:
        """Whether the native call is over."""
        return self._native is None

    def run(self, *, tol: float, kkt_tol: float, max_iter: float | None, seconds: float, cache_mb: float) -> None:
        """Try all pairs; after ``seconds`` no further one is begun. ``finish`` is to be called then, also after an interruption."""
        self._native.run(
            gap=tol, kkt=kkt_tol, ahead=AHEAD, stricter=STRICTER, turns=self._turns, most=math.inf if max_iter is None else max_iter,
            seconds=seconds, cache_bytes=cache_mb * 2**20,
        )  # fmt: skip

    def finish(self) -> None:
        """Keep what was found, without the Gram matrix, which the native object holds."""
        self._found = Found(*(getattr(self._native, name).copy() for name in Found._fields))
        self._sums = self._native.f.copy()  # for the next C
        self._native = None

    @cached_property
    def undone(self) -> list[int]:
        """The pairs that are left to do."""
        done = self._found.done > 0
        if self._able is not None:
            done &= self._able
        return np.flatnonzero(~done).tolist()

    def start(self, k: int) -> Point | None:
        """Where to go on with a pair that is left to do; None where nothing has moved."""
        beta = self._found.beta[slice(*self._starts[k : k + 2])]
        return Point(beta=beta.copy()) if beta.any() else None

    def complete(self, solved: Iterable[Solved], went_on: bool) -> None:
        """Take the pairs that were ``undone``, now that they are solved; ``went_on`` says that they began where they had been left."""
        for k, each in zip(self.undone, solved, strict=True):
            before = float(self._found.steps[k]) if went_on else 0.0
            self._made[k] = changed(each, iterations=before + each.iterations)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def reached(self) -> Columns:
        """The arrays of all pairs as the native call has left them, also of those that are ``undone``."""
        found = self._found
        n, groups = len(self), len(found.low) // len(self)
        offsets = 0.5 * (found.low + found.high).reshape(n, groups)
        return Columns(found.beta, offsets, found.steps, np.ones(n, dtype=bool), found.done == 2)

    @cached_property
    def columns(self) -> Columns:
        """The arrays of all pairs."""
        columns = self.reached
        for k in self.undone:
            solved = self._made[k]
            begin, end = self._starts[k : k + 2]
            columns.beta[begin:end], columns.offsets[k] = solved.beta, solved.offsets
            columns.iterations[k], columns.proven[k] = solved.iterations, solved.proven
            columns.zero[k] = solved.status is Status.ZERO
        return columns

    @cached_property
    def widest(self) -> int:
        """The pair with the widest relative gap."""
        primal = self._found.primal
        gaps = (primal - self._found.dual) / np.maximum(np.abs(primal), np.finfo(float).tiny)
        for k in self.undone:
            gaps[k] = self._made[k].certificate.relative_gap
        return int(gaps.argmax())

    def __getitem__(self, k: int) -> Solved:
        if k not in self._made:
            self._made[k] = self._make(k)
        return self._made[k]

    def every(self) -> list[Solved]:
        """What is kept of each pair."""
        return [self[k] for k in range(len(self))]

    def _make(self, k: int) -> Solved:
        """What is kept of a pair that the native call has done."""
        found, (begin, end) = self._found, self._starts[k : k + 2].tolist()
        groups = len(found.low) // len(self)
        lows, highs = (ends[groups * k : groups * (k + 1)].tolist() for ends in (found.low, found.high))
        beta = self.columns.beta[begin:end]
        primal, dual = float(found.primal[k]), float(found.dual[k])
        certificate = Certificate(
            primal=primal,
            dual=dual,
            offset_intervals=tuple(zip(lows, highs, strict=True)),
            kkt_violation=float(found.violation[k]),
            box_violation=float(found.outside[k]),
            sum_violation=float(found.off[k]),
            n_support=int(np.count_nonzero(beta)),
            own_weights=bool(found.own[k]),
            rounding=float(found.rounding[k]),
        )
        steps = float(found.steps[k])
        trace = Trace(unit=SMO.unit)
        values = float(found.plain_primal[k]), float(found.plain_dual[k])
        trace.append(steps, float(found.checked[k]), values, (primal, dual))
        return Solved(
            solver=SMO.name,
            status=Status.ZERO if found.done[k] == 2 else Status.CONVERGED,
            proven=True,
            iterations=steps,
            seconds=float(found.seconds[k]),
            certificate=certificate,
            trace=trace,
            beta=beta,
            w=None,
            offsets=self.columns.offsets[k],
            reach=Reach.around(certificate, float(self._longest[k])),
        )


def every_pair(
    members: ClassPairs, samples: Any, kernel: Any, terms: PairTerms | None, cache_mb: float
) -> EveryPair | None:
    """The pairs of classes of a fit, to be tried in one go; None without ``terms``, and where pairs are large or out of the ordinary. ``samples`` are
    those of the kernel: a column of places where it is a matrix.
    """
    if terms is None or not isinstance(kernel, Kernel) or kernel.validity is Validity.NOT_VALID:
        return None
    if isinstance(kernel, Precomputed):
        gram, largest = kernel.gram, int((members.n_first + members.n_second).max())
        usable = largest <= FEW and 8 * largest**2 <= cache_mb * 2**20
        usable &= gram.dtype == np.float64 and gram.flags.carray and not kernel.refutation(samples)
    else:  # of a kernel that is only assumed to be valid, the entries of each pair may refute it
        usable = kernel.validity is Validity.BY_CONSTRUCTION and not Panels(kernel, samples, np.float64).costly
        usable &= cache_mb >= _ROOM
    # What is out of these bounds is refused in words where a problem is stated.
    low, high = float(terms.cost.min()), float(terms.cost.max())
    if not (usable and low >= 1 / LARGEST and high <= LARGEST and float(kernel.diag(samples).max()) <= LARGEST**2):
        return None
    return EveryPair(members, samples, kernel, terms)
