"""The fits of SVC and SVR that share their work: one table of kernel entries for all folds, values of C and ε and pairs of classes, and each C begun
where the last one ended.

Candidates that differ in C alone have a kernel in common, and so do the folds where the kernel does not depend on the training samples. For each such
kernel the entries of all samples are computed once (``kernel_table.py``), and one native object (``native/smo/shared_fits.hpp``) holds all problems
on them: a member for each fold and each choice of class weights or ε, in which the samples that the fold leaves out have weight zero. All members go
from C to C, in ascending order, together; then the values of the test samples are known without a prediction. Where they leave a score open, the
problems that it depends on are solved more closely, until the proof decides it or can do no more. What classifiers and regressors do not have in
common is in ``class_families.py`` and ``regression_family.py``.

What is out of the ordinary, and what the native call has not done, the estimator's own ``fit`` does as always: it goes on from where the call ended.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from gapless.data.scale import LARGEST
from gapless.data.validate import as_weights
from gapless.errors import GaplessError
from gapless.estimators import SVC, SVR
from gapless.estimators.kernel_spec import dense_if_small, depends_on_samples, resolve_kernel
from gapless.estimators.parameters import check_parameters
from gapless.kernels import Kernel, Validity
from gapless.machine import thread_count
from gapless.model_selection.c_chains import CChains
from gapless.model_selection.class_families import ClassFamilies
from gapless.model_selection.families import Families, Fit, Trained, Values
from gapless.model_selection.fold import (
    Candidate,
    FittedCandidate,
    Fold,
    Wishes,
    counted,
    fit_in_place,
    fold_params,
    with_parameters,
)
from gapless.model_selection.kernel_table import Tables, fits_in_memory, most_tables
from gapless.model_selection.members import Members, Seen
from gapless.model_selection.one_by_one import decided, fit_within
from gapless.model_selection.regression_family import RegressionFamily
from gapless.model_selection.sharing import pays
from gapless.model_selection.side_by_side import side_by_side

FAMILIES: dict[type, type[Families]] = {SVC: ClassFamilies, SVR: RegressionFamily}
"""What the samples of an estimator are, by its class."""

_SAMPLES = 64  # on which kernels are compared
_PAIR = 2  # folds of a race that are fitted side by side where a fit is one problem
_FEW = 400  # the most training samples of a fit whose score is decided with twice the digits, a microsecond or two for each kernel entry


class SharedFits:
    """Fits candidates of an estimator of ``FAMILIES``, with their work shared where they have something in common."""

    def __init__(
        self, estimator: SVC | SVR, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None = None
    ) -> None:
        self.estimator, self.X, self.y, self.fit_params = estimator, X, y, fit_params
        self._alone = CChains(estimator, X, y, fit_params, n_jobs, _goes_from_C_to_C)

    def explain(self, candidates: list[Candidate]) -> str:
        """A sentence on what is shared, and on what is not."""
        alone = [
            each
            for each in candidates
            if self.fit_params.keys() - {"sample_weight"} or not _is_ordinary(with_parameters(self.estimator, each))
        ]
        if len(alone) == len(candidates):
            return self._alone.explain(candidates)
        name, rest = type(self.estimator).__name__, f" {counted(alone)} not among them." if alone else ""
        return f"{name}: candidates with one kernel share its Gram matrix where that pays, and go on from a smaller C to a larger one.{rest}"

    def fit_all(self, candidates: list[Candidate], folds: list[Fold], wishes: Wishes) -> Iterator[FittedCandidate]:
        """Each fit that is wanted: those with a kernel in common from C to C, then those that share nothing."""
        estimators = [with_parameters(self.estimator, candidate) for candidate in candidates]
        plan = _Plan.of(self, estimators, folds)
        done: set[tuple[int, int]] = set()
        if plan is not None and plan.by_kernel:
            yield from self._fit_kernels(_Stage(plan, estimators, wishes, done))
        yield from self._alone.fit_all(candidates, folds, _Others(wishes, done))

    def _fit_kernels(self, stage: _Stage) -> Iterator[FittedCandidate]:
        """The fits of all kernels: of as many side by side as there are threads and memory for their tables, each on a thread of its own.

        The five folds of a kernel do not keep two threads busy, and neither do scores, which are Python. Fits of few samples are Python for the most
        part, and run one after the other. A race goes through one kernel after the other, with what it has learned from each, so that it does not
        depend on time; it takes kernels in the middle of the grid first, since good candidates are there more often than at its ends.
        """
        plan, wishes, n = stage.plan, stage.wishes, stage.plan.families.rows.shape[0]
        keys, tables = list(plan.by_kernel), [Tables(plan.families.rows, plan.kernels.values())]
        if wishes.races:
            keys = [keys[k] for k in np.argsort(np.abs(np.arange(len(keys)) - len(keys) / 2), kind="stable")]
        elif n > _FEW:
            tables += [tables[0].beside() for _ in range(min(thread_count(), len(keys), most_tables(n)) - 1)]
            if len(tables) > 1:
                keys.sort(key=lambda key: _closeness(plan.kernels[key], plan.families.rows))

        def stream(place: int) -> Iterator[FittedCandidate]:
            key, own = keys[place], tables.pop()
            try:
                fits = [fit for fit in plan.by_kernel[key] if wishes.wanted(fit.candidate, fit.fold)]
                if fits:
                    yield from self._fit_kernel(stage, own, plan.kernels[key], fits)
            finally:
                tables.append(own)

        yield from side_by_side(stream, len(keys), len(tables))

    def _fit_kernel(self, stage: _Stage, tables: Tables, kernel: Kernel, fits: list[Fit]) -> Iterator[FittedCandidate]:
        """The fits of one kernel, one group of folds after the other."""
        began = time.perf_counter()
        try:
            table = tables.table(kernel)
        except (ValueError, GaplessError):  # of a kernel that does not take these samples
            table = None
        if table is None:  # the fits say in words what is wrong
            return
        families = stage.plan.families
        most = max(stage.wishes.most_work(fit.candidate) for fit in fits)
        members = Members(families, table, tables.room(families), fits, stage.estimators[fits[0].candidate], most)
        table_time = (time.perf_counter() - began) / len(fits)
        for folds, candidates in self._groups(stage, sorted({fit.candidate for fit in fits})):
            for first in range(0, members.longest, members.step):
                began = time.perf_counter()
                turns = range(first, min(first + members.step, members.longest))
                todo = members.advance(turns, folds, candidates, stage.wishes)
                solving = table_time + (time.perf_counter() - began) / max(1, sum(map(len, todo)))
                for turn, fits_of_turn in enumerate(todo):
                    began = time.perf_counter()
                    members.take_up(turn)
                    known = members.look(fits_of_turn, stage)
                    part = solving + (time.perf_counter() - began) / max(1, len(known))
                    for seen in known:
                        stage.done.add((seen.fit.candidate, seen.fit.fold))
                        yield self._fitted(stage, members, seen, part)

    def _groups(self, stage: _Stage, candidates: list[int]) -> Iterator[tuple[range, list[int]]]:
        """The folds that the candidates of a kernel are fitted on, some after the other, and which of the candidates.

        In a race the first folds show which candidate is good. Where none is through all folds yet, that one goes through them; the others have to
        keep up with it, and those that cannot are dropped after each group of folds.
        """
        wishes, n_folds = stage.wishes, len(stage.plan.folds)
        if not wishes.races:
            yield range(n_folds), candidates
            return
        # One problem at a time would keep one thread busy, and each group of folds reads a whole table anew.
        several = len(stage.plan.families.starts) > 2
        at_once, begin = 1 if several else _PAIR, 0
        if several and not wishes.has_finisher():
            begin = min(1, n_folds)
            yield range(begin), candidates
            yield range(n_folds), wishes.by_promise()[:1]
        while begin < n_folds:
            folds = wishes.next_folds(candidates, begin, at_once)
            yield folds, candidates
            begin = folds.stop

    def _fitted(self, stage: _Stage, members: Members, seen: Seen, seconds: float) -> FittedCandidate:
        """One fit, from what was found of it.

        Where the call has left a part to do, a fit is stopped if its work is bounded. Otherwise the clone is made when somebody asks; at once where a
        part is left to do, or where its score is to be decided and still open: proofs of the
        estimator count with twice the digits where rounding is what is left. A small classifier begins anew, so that a label that no proof decides,
        of a sample on the boundary, does not depend on which fits were made before.
        """
        fit, trained, values, final = seen
        length, work = members.length, members.work(trained)
        plan, estimator, place = stage.plan, stage.estimators[fit.candidate], (fit.candidate, fit.fold)
        needs_proof = stage.needs_proof(fit, trained)

        def make() -> FittedCandidate:
            start = time.perf_counter() - seconds
            own = clone(estimator)
            train = plan.folds[fit.fold][0]
            X, y = _safe_split(own, self.X, self.y, train)
            params = fold_params(self.X, self.fit_params, train)
            anew = needs_proof and len(train) <= _FEW and isinstance(own, SVC)
            own._given = None if anew else plan.families.given(fit.fold, trained, length)
            fitted = fit_within(own, X, y, params, start, place, stage.wishes)
            del own._given
            if not needs_proof:
                return fitted
            return decided(fitted, partial(fit_in_place, own, X, y, params), self.X, plan.folds[fit.fold], stage.wishes)

        stopped = not trained.done and stage.wishes.most_work(fit.candidate) < math.inf
        if not stopped and (needs_proof or not trained.done):
            return make()

        def estimator_of_fit() -> SVC | SVR:
            fitted = make()
            if fitted.error is not None:
                raise fitted.error
            return fitted.estimator

        # A pipeline that cannot transform its test rows beforehand asks for none of them.
        if stopped:
            values = values._replace(low=np.full(values.low.shape, -LARGEST), high=np.full(values.high.shape, LARGEST))
        answers = plan.families.answers(values, estimator) if values.f.size else None
        return FittedCandidate(*place, estimator_of_fit, seconds, None, answers, work, final, stopped)


class _Stage:
    """What is done of the fits that share work, and which scores are open."""

    def __init__(self, plan: _Plan, estimators: list[SVC | SVR], wishes: Wishes, done: set[tuple[int, int]]) -> None:
        self.plan, self.estimators, self.wishes, self.done = plan, estimators, wishes, done
        self._open: set[tuple[int, int]] = set()

    def needs_proof(self, fit: Fit, trained: Trained) -> bool:
        """Whether the score of a fit is still open, and the estimator is to decide it.

        That is where the fit is not done, or where its samples are so few that a proof with twice the digits takes no more than the search.
        """
        few = len(self.plan.folds[fit.fold][0]) <= _FEW
        return self.wishes.decides and (few or not trained.done) and (fit.candidate, fit.fold) in self._open

    def open_rows(self, fit: Fit, trained: Trained, values: Values) -> np.ndarray | None:
        """The test rows of a fit that its values leave open, all where it is not done; None where it need not be decided."""
        low, high = values.low, values.high
        if not trained.done:  # nothing is known of its values
            low, high = np.full(low.shape, -LARGEST), np.full(high.shape, LARGEST)
        if low.shape[1] == 1:
            low, high = low[:, 0], high[:, 0]
        rows = self.wishes.open_rows(fit.candidate, fit.fold, low, high) if len(low) else None
        if rows is None or not rows.any():
            self._open.discard((fit.candidate, fit.fold))
            return None
        self._open.add((fit.candidate, fit.fold))
        return rows


class _Others:
    """The wishes for the fits that are not done yet."""

    def __init__(self, wishes: Wishes, done: set[tuple[int, int]]) -> None:
        self._wishes, self._done = wishes, done
        self.open_rows, self.by_promise, self.next_folds = wishes.open_rows, wishes.by_promise, wishes.next_folds
        self.has_finisher, self.most_work = wishes.has_finisher, wishes.most_work
        self.needs_intervals, self.decides, self.races = wishes.needs_intervals, wishes.decides, wishes.races

    def wanted(self, candidate: int, fold: int) -> bool:
        """Whether this fit is left to do."""
        return (candidate, fold) not in self._done and self._wishes.wanted(candidate, fold)

    def begin(self, candidate: int, fold: int) -> bool:
        """Whether this fit is still left to do, which then begins."""
        return (candidate, fold) not in self._done and self._wishes.begin(candidate, fold)


class _Plan(NamedTuple):
    """The fits that may share work, by kernel, and their samples."""

    folds: list[tuple[np.ndarray, np.ndarray]]
    families: Families
    kernels: dict[Any, Kernel]
    by_kernel: dict[Any, list[Fit]]

    @classmethod
    def of(cls, search: SharedFits, estimators: list[SVC | SVR], folds: list[Fold]) -> _Plan | None:
        """The plan of a search; None where nothing can be shared, and where the fits tell what is wrong."""
        rows = [(np.asarray(train), np.asarray(test)) for train, test in folds]
        if search.fit_params.keys() - {"sample_weight"} or any(
            each.dtype.kind not in "iu" or (each < 0).any() for pair in rows for each in pair
        ):
            return None
        try:
            X, y = search.estimator.__class__()._take(search.X, search.y)
            X, n = dense_if_small(X), X.shape[0]
            given = search.fit_params.get("sample_weight")
            weight = np.ones(n) if given is None else as_weights(given)
            n_train, every = max(len(train) for train, _ in rows), len(estimators) * len(rows)
            # Fewer fits of one kernel pay less, and more classes do not change that: nothing is prepared where not even all of them would.
            if not fits_in_memory(n) or not pays(n, n_train, every, len(rows), 2):
                return None
            if weight.shape != (n,) or not (weight > 0).all():
                return None
            families = FAMILIES[type(search.estimator)](X, y, weight, rows)
        except (ValueError, TypeError):
            return None
        resolved = _Kernels(X, weight, rows)
        kernels: dict[Any, Kernel] = {}
        spans: dict[Any, tuple[float, float]] = {}  # the least and the largest weight of a training sample
        by_kernel: dict[Any, list[Fit]] = defaultdict(list)
        # A row that a fold has several times, as in a bootstrap, would need a weight for each time.
        complete = [
            j for j, (train, _) in enumerate(rows) if len(np.unique(train)) == len(train) and families.is_complete(j)
        ]
        for k, estimator in enumerate(estimators):
            if not _is_ordinary(estimator):
                continue
            for j in complete:
                named = resolved.of(estimator, k, j)
                if named is None:
                    continue
                try:
                    fit = Fit(k, j, float(estimator.C), families.terms(estimator, j))
                except (ValueError, TypeError, GaplessError):
                    continue
                if (j, fit.terms) not in spans:
                    weights = families.weights(j, fit.terms)[families.place[rows[j][0]]]
                    spans[j, fit.terms] = weights.min(), weights.max()
                least, most = spans[j, fit.terms]
                if not (fit.C * least >= 1 / LARGEST and fit.C * most <= LARGEST):
                    continue
                key = named[0], estimator.tol
                kernels[key] = named[1]
                by_kernel[key].append(fit)
        classes = len(getattr(families, "classes", (0, 1)))
        paying = {
            key: fits
            for key, fits in by_kernel.items()
            if pays(n, n_train, len(fits), len({(fit.fold, fit.terms) for fit in fits}), classes)
        }
        return cls(rows, families, {key: kernels[key] for key in paying}, paying)


class _Kernels:
    """The kernels of estimators on the training rows of folds, each of them resolved once."""

    def __init__(self, X: Any, weight: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self._X, self._weight, self._folds = X, weight, folds
        self._known: dict[Any, tuple[str, Kernel] | None] = {}

    def of(self, estimator: SVC | SVR, candidate: int, fold: int) -> tuple[str, Kernel] | None:
        """The name and the kernel of an ordinary estimator, which is that of a candidate; None where its name does not tell it."""
        own = estimator.kernel if isinstance(estimator.kernel, str) else candidate
        where = fold if depends_on_samples(estimator) else None
        key = own, estimator.gamma, estimator.degree, estimator.coef0, where
        if key not in self._known:
            rows = slice(None) if where is None else self._folds[fold][0]
            self._known[key] = self._resolved(estimator, rows)
        return self._known[key]

    def _resolved(self, estimator: SVC | SVR, rows: Any) -> tuple[str, Kernel] | None:
        try:
            kernel = resolve_kernel(estimator, self._X[rows], self._weight[rows]).kernel
        except (ValueError, TypeError, GaplessError):
            return None
        return None if kernel is None or not _is_told_by_its_name(kernel) else (repr(kernel), kernel)


def _closeness(kernel: Kernel, X: Any) -> float:
    """The mean entry of a kernel on a few samples, as a share of its diagonal: the smaller it is, the more support vectors and the longer the fits.

    >>> from gapless.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> _closeness(RBF(10.0), X) < _closeness(RBF(0.1), X)
    True
    """
    some = X[:: max(1, X.shape[0] // _SAMPLES)]
    try:
        with np.errstate(all="ignore"):
            return float(np.mean(np.abs(kernel(some, some))) / np.mean(kernel.diag(some)))
    except (ValueError, GaplessError):  # of a kernel that does not take these samples, as its fits will tell
        return math.inf


def _is_ordinary(estimator: SVC | SVR) -> bool:
    """Whether a fit with these parameters may be solved by pairs of variables on a Gram matrix, without anybody watching."""
    try:
        check_parameters(estimator, estimator._rules)
    except ValueError:  # which the fits tell of
        return False
    return (
        math.isfinite(estimator.C)
        and estimator.solver == "auto"
        and getattr(estimator, "approximation", None) is None
        and estimator.max_iter == -1
        and estimator.max_time is None
        and estimator.callback is None
        and not estimator.warm_start
    )


def _goes_from_C_to_C(estimator: SVC | SVR) -> bool:
    """Whether a fit with these parameters may begin where one with another C ended."""
    kernel = estimator.kernel
    if not isinstance(kernel, str):
        return isinstance(kernel, Kernel) and _is_told_by_its_name(kernel) and _is_ordinary(estimator)
    return kernel != "precomputed" and _is_ordinary(estimator)


def _is_told_by_its_name(kernel: Kernel) -> bool:
    """Whether kernels with the same ``repr`` are the same kernel, and valid: none with a function or a feature map inside."""
    inside = kernel.get_params(deep=True).values()
    return kernel.validity is not Validity.NOT_VALID and not any(
        callable(value) or hasattr(value, "transform") or isinstance(value, np.ndarray)
        for value in inside
        if not isinstance(value, Kernel)
    )
