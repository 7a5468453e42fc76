"""The native call of one-vs-one against plain NumPy: what it proves of each pair of classes, and what it leaves undone."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from gapless import _native
from gapless.estimators.multiclass import ClassPairs
from gapless.kernels import RBF, Panels

AIM = {
    "gap": 1e-3,
    "kkt": 2.5e-4,
    "ahead": 0.8,
    "stricter": 0.3,
    "turns": 20.0,
    "most": np.inf,
    "seconds": np.inf,
    "cache_bytes": 1e8,
}
FIELDS = (
    "done",
    "beta",
    "low",
    "high",
    "steps",
    "primal",
    "dual",
    "rounding",
    "violation",
    "outside",
    "off",
    "plain_primal",
    "plain_dual",
    "own",
)


class Task:
    """Classes of different sizes, in a Gram matrix whose rows are in no order, with two rows that belong to no class."""

    def __init__(self, classes: int = 6, seed: int = 0, cost: float = 1.0, nu: float = 0.0) -> None:
        rng = np.random.default_rng(seed)
        self.codes = np.r_[np.repeat(np.arange(classes), 2 + rng.integers(2, 9, size=classes)), [-1, -1]]
        n = len(self.codes)
        X = rng.normal(size=(n, 3)) + self.codes[:, None] % 3
        self.places = rng.permutation(n)
        self.K = np.empty((n, n))
        self.K[np.ix_(self.places, self.places)] = rbf_kernel(X, gamma=0.4)
        self.members = ClassPairs(self.codes, classes)
        self.cost = cost * rng.choice([0.5, 1.0, 2.0], size=len(self.members.samples))
        self.halves = nu * np.minimum(*self.members.sums_by_class(self.cost)) if nu else None

    def run(self, **changed):
        members = self.members
        native = _native.EveryPair(
            self.K, np.ones(len(self.K)), np.zeros(len(self.K)), self.places[members.samples], members.starts, members.n_first, self.cost, self.halves
        )  # fmt: skip
        assert not native.done.any() and len(native.beta) == len(self.cost)
        native.run(**{**AIM, **changed})
        return native


def parts(task, native):
    """(K, y, cost, beta, offsets) of each pair."""
    groups = 1 if task.halves is None else 2
    offsets = 0.5 * (native.low + native.high).reshape(-1, groups)
    for k, (begin, end) in enumerate(zip(task.members.starts[:-1], task.members.starts[1:], strict=True)):
        at = task.places[task.members[k]]
        y = np.where(np.arange(end - begin) < task.members.n_first[k], -1.0, 1.0)
        yield task.K[np.ix_(at, at)], y, task.cost[begin:end], native.beta[begin:end], offsets[k]


@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("seed", range(4))
def test_the_hinge(seed, cost):
    task = Task(seed=seed, cost=cost)
    native = task.run()
    assert native.done.sum() >= 14 and (native.done.all() or cost > 1)  # a large C may need another method
    for k, (K, y, c, beta, (b,)) in enumerate(parts(task, native)):
        if not native.done[k]:
            continue
        assert 0 < native.checked[k] < native.seconds[k]
        f, size = K @ beta, np.abs(beta)
        assert (y * beta >= 0).all() and abs(beta.sum()) <= 1e-12 * size.sum() and (size <= c * (1 + 1e-9)).all()
        primal = 0.5 * beta @ f + c @ np.maximum(0.0, 1.0 - y * (f + b))
        assert_allclose(native.primal[k], primal, rtol=1e-10)
        best = min(size.sum() / (beta @ f), (c[size > 0] / size[size > 0]).min())
        assert_allclose(native.dual[k], best * size.sum() - 0.5 * best**2 * (beta @ f), rtol=1e-10)
        assert 0 <= native.primal[k] - native.dual[k] <= 1e-3 * native.primal[k]
        if native.own[k]:  # the gradient of D, by which β may still rise or fall
            slope = y - f
            rise = slope[np.where(y > 0, c - size > 1e-9 * c, size > 1e-9 * c)]
            fall = slope[np.where(y < 0, c - size > 1e-9 * c, size > 1e-9 * c)]
            assert_allclose(native.violation[k], max(0.0, rise.max() - fall.min()), atol=1e-9)
        assert native.violation[k] <= 2.5e-4
        assert native.plain_dual[k] <= native.primal[k] and native.plain_primal[k] >= native.dual[k]
    assert bool((native.own == 0).any()) == (cost > 1)  # only where C does not bind are models stretched


@pytest.mark.parametrize("nu", [0.2, 0.7])
def test_nu(nu):
    task = Task(nu=nu)
    native = task.run()
    assert native.done.sum() >= 10 and len(native.low) == 2 * len(task.members)
    for k, (K, y, c, beta, offsets) in enumerate(parts(task, native)):
        if not native.done[k]:
            continue
        f, half = K @ beta, task.halves[k]
        assert_allclose([beta[y > 0].sum(), beta[y < 0].sum()], [half, -half], rtol=1e-12)
        losses = c * np.maximum(0.0, -y * (f + np.where(y > 0, offsets[0], offsets[1])))
        assert_allclose(native.primal[k], 0.5 * beta @ f + losses.sum() + half * (offsets[0] - offsets[1]), rtol=1e-9)
        assert_allclose(native.dual[k], -0.5 * beta @ f, rtol=1e-9)
        assert native.primal[k] - native.dual[k] <= 1e-3 * abs(native.primal[k]) and native.own[k]


def test_threads_change_nothing():
    task = Task(12)
    found = []
    for threads in (1, 2, 0):
        before = _native.limit_threads_here(threads)
        try:
            found.append(task.run())
        finally:
            _native.limit_threads_here(before)
    for name, other in ((name, other) for name in FIELDS for other in found[1:]):
        assert_array_equal(getattr(other, name), getattr(found[0], name))


@pytest.mark.parametrize("nu", [0.0, 0.5])
def test_panels_in_place_of_the_matrix(nu):
    """The entries of each pair are computed when it is solved, and are those of the matrix except for rounding."""
    rng = np.random.default_rng(2)
    task = Task(nu=nu)
    X = rng.normal(size=(len(task.K), 3))
    task.K = rbf_kernel(X, gamma=0.4)
    given = task.run()
    members = task.members
    panels = Panels(RBF(0.4), X, np.float64).native
    native = _native.EveryPair(
        panels, np.ones(len(X)), np.zeros(len(X)), task.places[members.samples], members.starts, members.n_first, task.cost, task.halves
    )  # fmt: skip
    native.run(**AIM)
    both = (native.done > 0) & (given.done > 0)
    assert both.sum() >= 10
    for one, other in ((native, given), (given, native)):
        assert (one.dual[both] <= other.primal[both] * (1 + 1e-9 * np.sign(other.primal[both]))).all()
    for k, (K, y, c, beta, _) in enumerate(parts(task, native)):
        if not both[k]:
            continue
        assert ((y * beta >= 0) & (np.abs(beta) <= c * (1 + 1e-9))).all()
        assert_allclose(native.plain_dual[k], (0.0 if nu else np.abs(beta).sum()) - 0.5 * beta @ K @ beta, rtol=1e-2)


@pytest.mark.parametrize("from_panels", [False, True])
def test_pairs_begin_where_they_are_told(from_panels):
    """At other solutions, which need not keep the bounds: few steps are left, and what is proven is as good."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), 400)
    X = rng.normal(size=(1200, 4)) + codes[:, None]
    members = ClassPairs(codes, 3)
    K = rbf_kernel(X, gamma=0.2)

    def solved(C, beta=None, f=None):
        entries = Panels(RBF(0.2), X, np.float64).native if from_panels else K
        costs = np.full(len(members.samples), C)
        native = _native.EveryPair(
            entries, np.ones(1200), np.zeros(1200), members.samples, members.starts, members.n_first, costs
        )
        if beta is not None:
            native.begin_at(beta, np.full(len(beta), np.nan) if f is None else f)
        native.run(**{**AIM, "turns": 200.0})
        assert native.done.all() and (native.primal - native.dual <= 1e-3 * native.primal).all()
        return native

    one, alone = solved(1.0), solved(3.0)
    for k, (begin, end) in enumerate(zip(members.starts[:-1], members.starts[1:], strict=True)):
        assert_allclose(
            one.f[begin:end], K[np.ix_(members[k], members[k])] @ one.beta[begin:end], rtol=1e-9, atol=1e-12
        )
    for start in (solved(3.0, 1.01 * alone.beta), solved(3.0, alone.beta, alone.f)):
        assert start.steps.sum() < 0.5 * alone.steps.sum()
    for after in (solved(3.0, 3.3 * one.beta), solved(3.0, 3.0 * one.beta, 3.0 * one.f)):
        assert (after.dual <= alone.primal).all() and (alone.dual <= after.primal).all()
        assert (np.abs(after.beta) <= 3.0 * (1 + 1e-9)).all()
    with pytest.raises(ValueError, match="entry for each sample"):
        _native.EveryPair(
            K, np.ones(1200), np.zeros(1200), members.samples, members.starts, members.n_first, one.beta
        ).begin_at(one.beta, np.zeros(3))


def test_panels_in_single_precision_are_refused():
    members = ClassPairs(np.arange(6) // 2, 3)
    panels = Panels(RBF(1.0), np.eye(6)).native
    with pytest.raises(ValueError, match="float64"):
        _native.EveryPair(
            panels, np.ones(6), np.zeros(6), members.samples, members.starts, members.n_first, np.ones(12)
        )


def test_what_is_bounded_is_left_undone():
    task = Task()
    whole = task.run()
    assert not task.run(seconds=0.0).done.any()
    few = task.run(most=5.0)
    assert_array_equal(few.done, whole.steps <= 5)
    assert not task.run(turns=0.0).done.any()
    assert not task.run(gap=0.0).done.any()  # rounding alone is a gap


def test_a_matrix_that_is_not_positive_semi_definite_proves_nothing_false():
    task = Task(seed=3)
    task.K -= 0.9 * np.eye(len(task.K))
    native = task.run()
    for k in np.flatnonzero(native.done):
        assert native.dual[k] <= native.primal[k]


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_entries_that_are_not_finite_prove_nothing(entry):
    task = Task()
    task.K[:] = entry
    assert not task.run().done.any()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
def test_ctrl_c_is_heard_inside_the_native_call():
    """A signal that comes while the pairs are solved ends the call long before all are done."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(150), 16)
    X = rng.normal(size=(len(y), 20)) + rng.normal(size=(150, 20))[y]
    gram, members = X @ X.T, ClassPairs(y, 150)
    native = _native.EveryPair(
        gram, np.sqrt(gram.diagonal()), np.zeros(len(y)), members.samples, members.starts, members.n_first, np.ones(len(members.samples))
    )  # fmt: skip

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            native.run(
                gap=1e-9, kkt=1e-9, ahead=0.8, stricter=0.3, turns=200.0, most=np.inf, seconds=np.inf, cache_bytes=1e8
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert native.done.sum() < len(members)


# --- samples of no weight


def with_costs(K, places, first, weight, costs):
    """Problems of one pair of classes, one for each cost."""
    n, m = len(places), len(costs)
    native = _native.EveryPair(
        K, np.ones(len(K)), np.full(len(K), 1e-15), np.tile(places, m), n * np.arange(m + 1), np.full(m, first),
        np.concatenate([cost * weight for cost in costs]),
    )  # fmt: skip
    native.run(**AIM)
    return native


def test_samples_of_no_weight_have_no_part():
    task, costs = Task(classes=2, seed=5), [0.5, 5.0, 1e4]
    places = task.places[task.members[0]][np.argsort(task.codes[task.members[0]], kind="stable")]
    first = int(task.members.n_first[0])
    weight = np.ones(len(places))
    weight[[0, first, len(places) - 1]] = 0.0
    some, used = with_costs(task.K, places, first, weight, costs), weight > 0
    less = with_costs(task.K, places[used], int(used[:first].sum()), weight[used], costs)
    assert some.done.all() and less.done.all()
    assert (np.maximum(some.dual, less.dual) <= np.minimum(some.primal, less.primal)).all()
    beta = some.beta.reshape(len(costs), -1)
    assert not beta[:, ~used].any()
    assert_allclose(some.primal, less.primal, rtol=2e-3)
