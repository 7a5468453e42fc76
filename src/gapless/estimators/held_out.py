"""Decision values of samples that the machine has not seen: one-vs-one in a cross-validation of five folds.

Each class is divided over the folds, so that the folds of a pair of classes are those of its two classes. The machines of a fold are trained on the
samples of the other folds, which are rows of the same matrix: a Gram matrix is computed once for all folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gapless.errors import Interrupted
from gapless.estimators.deadline import Deadline
from gapless.estimators.every_pair import EveryPair
from gapless.estimators.one_vs_one import OneVersusOne
from gapless.estimators.solving import job_count, run_all
from gapless.result import Result
from gapless.trace import Progress

FOLDS = 5
"""The number of folds, LIBSVM's."""


def held_out_decisions(task: OneVersusOne, deadline: Deadline, seed: int) -> np.ndarray:
    """f of each sample of each pair of classes, in the order of ``task.members.samples``, positive for the first class of the pair.

    f comes from a machine of the two classes that was trained without the fold of the sample. Where this leaves no sample of one of the two classes,
    f is that of a machine which knows the other class alone: 1 in favour of it, as in LIBSVM, and 0 where both are gone.
    """
    codes, members = task.codes, task.members
    # values[c, i] is f of sample i in the pair of its own class and class c, positive for its own class.
    values = np.zeros((task.n_classes, len(codes)))
    fold_of = folds(codes, task.n_classes, seed)
    for fold in range(FOLDS):
        (held,) = np.nonzero(fold_of == fold)
        rest, classes = task.without(fold_of == fold)
        known = np.isin(np.arange(task.n_classes), classes)
        values[:, held] = known[codes[held]].astype(np.float64) - known[:, None]
        if len(held) and len(classes) > 1:
            _fill(values, held[known[codes[held]]], codes, rest, classes, _share(deadline, FOLDS - fold))
    own = codes[members.samples]
    other = members.spread(members.first + members.second) - own
    f = values[other, members.samples]
    return np.where(own < other, f, -f)


def folds(codes: np.ndarray, n_classes: int, seed: int) -> np.ndarray:
    """The fold of each sample, by chance; −1 of samples without a class. Each fold has as many samples of a class as any other, up to one.

    >>> folds(np.array([0, 0, 0, 0, 0, 1, 1, -1]), 2, seed=0).tolist()
    [1, 2, 0, 3, 4, 0, 1, -1]
    """
    rng = np.random.RandomState(seed)
    fold_of, begin = np.full(len(codes), -1), 0
    for c in range(n_classes):
        (samples,) = np.nonzero(codes == c)
        fold_of[rng.permutation(samples)] = (begin + np.arange(len(samples))) % FOLDS
        begin += len(samples)  # so that small classes do not all fall into the first folds
    return fold_of


def _share(deadline: Deadline, parts: int) -> Deadline:
    """The clock of the next of so many parts."""
    return deadline if deadline.left == np.inf else Deadline(max(0.0, deadline.left) / parts)


def _fill(
    values: np.ndarray, held: np.ndarray, codes: np.ndarray, rest: OneVersusOne, classes: np.ndarray, clock: Deadline
) -> None:
    """Train the pairs of ``classes`` on the rest of the samples, and write f of the samples ``held``, whose classes are among them."""
    together = rest.together()
    todo = range(len(rest.members)) if together is None else _try(together, rest.estimator, clock)
    if together is not None:
        _expand(values, held, codes, rest, classes, together)
    for k, result in zip(todo, _solve(rest, todo, together, clock), strict=True):
        first, second = classes[rest.members.first[k]], classes[rest.members.second[k]]
        of_first, of_second = held[codes[held] == first], held[codes[held] == second]
        both = np.concatenate([of_first, of_second])
        if len(both):
            f = result.decision_function(rest.samples[both]) / rest.estimator._scales_of(result.offsets[None])[0]
            values[second, of_first], values[first, of_second] = -f[: len(of_first)], f[len(of_first) :]


def _try(together: EveryPair, estimator: Any, clock: Deadline) -> list[int]:
    """Try all pairs in one go, and return those that are left to do."""
    together.run(
        tol=estimator._gap_tol,
        kkt_tol=estimator._kkt_tol,
        max_iter=estimator._max_iter,
        seconds=clock.left,
        cache_mb=float(estimator.cache_size),
    )
    together.finish()
    return together.undone


def _expand(
    values: np.ndarray,
    held: np.ndarray,
    codes: np.ndarray,
    rest: OneVersusOne,
    classes: np.ndarray,
    together: EveryPair,
) -> None:
    """Write f of the samples ``held`` from the machines that were trained in one go; those of the pairs that are left to do mean nothing yet."""
    kernel: Any = rest.spec.kernel  # a Gram matrix: otherwise nothing is trained in one go
    members, n_classes = rest.members, rest.n_classes
    reached = together.reached
    scales = rest.estimator._scales_of(reached.offsets)
    own = rest.codes[members.samples]
    other = members.spread(members.first + members.second) - own
    beta = np.zeros((n_classes, len(codes)))  # of a sample, in the pair of its class and another one
    beta[other, members.samples] = reached.beta / members.spread(scales)
    offsets = np.zeros((n_classes, n_classes))
    offsets[members.first, members.second] = offsets[members.second, members.first] = (
        reached.offsets.mean(axis=1) / scales
    )
    (trained,) = np.nonzero(rest.codes >= 0)
    places = kernel.indices(rest.samples)
    for c in range(n_classes):
        here = held[codes[held] == classes[c]]
        # A column for the pair of class c with each other class.
        columns = np.zeros((len(kernel.gram), n_classes))
        columns[places[trained], rest.codes[trained]] = beta[c, trained]
        (inside,) = np.nonzero(rest.codes == c)
        columns[places[inside]] = beta[:, inside].T
        f = kernel.gram[places[here]] @ columns + offsets[c]
        # The second class of a pair is positive there, and here the class of the sample.
        values[np.ix_(classes, here)] = np.where(np.arange(n_classes) > c, -f, f).T


def _solve(rest: OneVersusOne, todo: Any, together: EveryPair | None, clock: Deadline) -> list[Result]:
    """Solve pairs one by one, several at a time where the estimator is asked to."""
    estimator, halt = rest.estimator, _Halt()
    max_iter = estimator._max_iter

    def run(k: int) -> Result:
        start = None if together is None or max_iter is not None else together.start(k)
        result = estimator._solve_one(
            rest.problem(k), tol=estimator._gap_tol, kkt_tol=estimator._kkt_tol, max_iter=max_iter, max_time=clock.next_share(),
            callback=halt.on, start=start, random_state=0, in_samples=True,
        )  # fmt: skip
        return estimator._settle(result)

    jobs = job_count(len(todo), estimator.n_jobs)
    clock.expect(len(todo), jobs)
    try:
        results = run_all(run, todo, jobs, halt.halt)
    except Interrupted:  # the result that Interrupted carries is one of some samples alone
        raise KeyboardInterrupt from None
    if halt.halted:
        raise KeyboardInterrupt
    return results


class _Halt:
    """What stops the solves on other threads after Ctrl-C."""

    def __init__(self) -> None:
        self.halted = False

        def on(progress: Progress) -> bool:
            return self.halted

        on.eager = False  # type: ignore[attr-defined]
        on.halted = lambda: self.halted  # type: ignore[attr-defined]
        self.on = on

    def halt(self) -> None:
        """Stop every solve at its next check."""
        self.halted = True
