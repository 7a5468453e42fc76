"""Many problems on one table (`_native.SharedFits`) against plain NumPy and a QP solver: bounds, offsets, values, warm starts, threads, levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_matrix
from sklearn.metrics.pairwise import rbf_kernel

from gapless import _native
from gapless.estimators.multiclass import ClassPairs
from gapless.kernels.rounding import UNIT

qpsolvers = pytest.importorskip("qpsolvers")

AIM = {"kkt": 1e-3, "ahead": 0.8, "stricter": 0.3, "turns": 2000.0}
FIELDS = ("done", "low", "high", "steps", "primal", "dual", "rounding", "violation", "outside", "off", "own")
ROUNDED = 2.0**-24  # the error of an entry that is rounded to float32, as a share of it


@dataclass
class Task:
    """Three members on a table of n samples: with all weights one, without a third of the samples, and with weights at random."""

    families: str = "two classes"
    dtype: type = np.float64
    n: int = 60
    seed: int = 0

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(self.n, 3))
        self.K = rbf_kernel(X, gamma=0.4)
        self.table = self.K.astype(self.dtype)
        self.places, self.starts = np.arange(self.n), np.array([0, self.n])
        self.margins, self.epsilon = True, np.zeros(3)
        if self.families == "targets":
            self.p = 2.0 * X[:, 0] + rng.normal(size=self.n)
            self.margins, self.epsilon = False, np.array([0.0, 0.3, 0.1])
        elif self.families == "two classes":
            self.p = np.where(X[:, 0] + rng.normal(size=self.n) > 0, 1.0, -1.0)
        else:  # pairs of four classes, whose samples are in no order
            codes = (np.digitize(X[:, 0], [-0.7, 0.0, 0.7]) + rng.integers(0, 2, size=self.n)) % 4
            pairs = ClassPairs(codes, 4)
            self.places, self.starts = pairs.samples, pairs.starts
            self.p = np.where(codes[self.places] == pairs.spread(pairs.second), 1.0, -1.0)
        fold = np.arange(self.n) % 3 > 0
        self.weights = np.array([np.ones(self.n), fold.astype(float), rng.choice([0.0, 0.5, 2.0], size=self.n)])

    @cached_property
    def native(self):
        g = np.ones(self.n)
        r = (0.5 * (1 + 1e-6) * ROUNDED / UNIT if self.dtype == np.float32 else 0.0) * g
        return _native.SharedFits(
            self.table, self.K.diagonal().copy(), g, r, self.places, self.starts, self.p, self.margins, self.weights, self.epsilon
        )  # fmt: skip

    def advance(self, C, gap=1e-3, **aim):
        C = np.broadcast_to(np.asarray(C, dtype=float), 3).copy()
        self.native.advance(C, np.full(3, gap), **{**AIM, **aim})
        return C

    def tighten(self, gap):
        self.native.tighten(np.broadcast_to(np.asarray(gap, dtype=float), self.native.done.shape).copy(), **AIM)

    def beta(self, member):
        out = np.empty(len(self.places))
        self.native.beta(member, out)
        return out

    def values(self, member, rows, flip=False, families=None):
        """f, low and high of each row and family, and the longest φ(x) of a sample that has weight, of each family."""
        n_families = len(self.starts) - 1
        out, longest = np.full((3, len(rows), n_families), np.nan), np.full(n_families, np.nan)
        families = np.arange(n_families) if families is None else np.array(families)
        self.native.values(member, np.asarray(rows, dtype=np.int64), families, flip, *out, longest)
        return *out, longest

    def found(self):
        return {name: getattr(self.native, name).copy() for name in FIELDS}

    def problems(self, C):
        """Each problem of the members with C > 0."""
        for m in np.flatnonzero(C > 0):
            for a, (begin, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
                yield Single(self, m, C[m], a * 3 + m, slice(begin, end))


@dataclass
class Single:
    """One problem in plain NumPy."""

    task: Task
    member: int
    C: float
    at: int
    part: slice

    def __post_init__(self) -> None:
        self.rows, self.p = self.task.places[self.part], self.task.p[self.part]
        self.cost = self.C * self.task.weights[self.member, self.rows]
        self.epsilon = self.task.epsilon[self.member]
        self.beta = self.task.beta(self.member)[self.part]
        self.K = self.task.K[np.ix_(self.rows, self.rows)]

    def loss(self, f):
        """Σ c ℓ(y, f), for rows of f."""
        short = 1.0 - self.p * f if self.task.margins else np.abs(self.p - f) - self.epsilon
        return (self.cost * np.maximum(0.0, short)).sum(axis=-1)

    def primal(self, beta, table=None):
        """P with the best offset: the loss is piecewise linear in b, so that it is least where some sample has its kink."""
        f = (self.K if table is None else table[np.ix_(self.rows, self.rows)].astype(float)) @ beta
        kinks = (
            self.p - f if self.task.margins else np.concatenate([self.p - f - self.epsilon, self.p - f + self.epsilon])
        )
        return 0.5 * beta @ self.K @ beta + self.loss(f + kinks[:, None]).min()

    def dual(self, beta):
        return self.p @ beta - self.epsilon * np.abs(beta).sum() - 0.5 * beta @ self.K @ beta

    def best_multiple(self, beta):
        """The feasible multiple of β with the largest D; β of a stretched model is one of the dual point."""
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.nanmin(np.where(beta != 0.0, self.cost / np.abs(beta), np.inf), initial=np.inf)
        square = beta @ self.K @ beta
        return beta * min(most, (self.p @ beta - self.epsilon * np.abs(beta).sum()) / square) if square > 0 else beta

    def optimum(self):
        """(D, P, β) of the solution of a general QP solver, whose values are computed here; β = a − b with a, b ≥ 0."""
        n, up, down = len(self.p), self.cost.copy(), self.cost.copy()
        if self.task.margins:
            up[self.p < 0], down[self.p > 0] = 0.0, 0.0
        quadratic = np.block([[self.K, -self.K], [-self.K, self.K]])
        linear = np.concatenate([self.epsilon - self.p, self.epsilon + self.p])
        sums, bounds = np.repeat([1.0, -1.0], n)[None], np.concatenate([up, down])
        problem = qpsolvers.Problem(
            csc_matrix(quadratic), linear, A=csc_matrix(sums), b=np.zeros(1), lb=np.zeros(2 * n), ub=bounds
        )
        x = qpsolvers.solve_problem(problem, solver="clarabel", tol_gap_rel=1e-10, tol_gap_abs=1e-10).x
        beta = np.clip(x[:n] - x[n:], -down, up)
        return self.dual(beta), self.primal(beta), beta

    def check(self):
        """What the native object says of this problem, from the definitions."""
        found = {name: getattr(self.task.native, name)[self.at] for name in FIELDS}
        assert found["done"] == 1 and found["violation"] <= AIM["kkt"]
        assert found["primal"] - found["dual"] <= 1e-3 * abs(found["primal"])
        rounding = 1e-13 * (1.0 + self.cost.sum() + np.abs(self.beta).sum())
        assert abs(self.beta.sum()) <= rounding and not self.beta[self.cost == 0].any()
        feasible = self.best_multiple(self.beta) if not found["own"] else self.beta
        assert (np.abs(feasible) <= self.cost * (1 + 1e-12)).all()
        if self.task.margins:
            assert (feasible * self.p >= 0).all()
        # At the returned β, with the exact entries: not above the one, and not below the other.
        assert self.primal(self.beta) <= found["primal"] + rounding
        assert self.dual(feasible) >= found["dual"] - rounding
        # The optimum is between both.
        least, most, best = self.optimum()
        assert abs(most - least) <= 1e-6 * most
        # Nor is w farther from the optimum's than is said; the referee's own is at most the root of its gap away.
        off = self.beta - best
        near = np.sqrt(max(0.0, off @ self.K @ off)) - np.sqrt(max(0.0, most - least)) - np.sqrt(rounding)
        assert near <= np.sqrt(self.task.native.apart[self.at])
        assert found["dual"] <= most + rounding and least <= found["primal"] + 1e-8 * most
        self.check_offsets(found)

    def check_offsets(self, found):
        """Between low and high every b is best for the entries of the table, and none beside them is."""
        f = self.task.table[np.ix_(self.rows, self.rows)].astype(float) @ self.beta
        ends = np.array([found["low"], 0.5 * (found["low"] + found["high"]), found["high"]])
        losses, width = self.loss(f + ends[:, None]), 1e-7
        kinks = (
            self.p - f if self.task.margins else np.concatenate([self.p - f - self.epsilon, self.p - f + self.epsilon])
        )
        least = self.loss(f + kinks[:, None]).min()
        assert_allclose(losses, least, rtol=1e-10, atol=1e-10 * self.cost.sum())
        if found["own"]:
            beside = self.loss(f + np.array([[found["low"] - width], [found["high"] + width]]))
            assert (beside - least >= 0.1 * width * self.cost[self.cost > 0].min()).all()


KINDS = ["two classes", "pairs", "targets"]
DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize(
    "costs", [(0.01, 0.3, 5.0, 200.0), (200.0, 5.0, 0.3, 0.01), (1.0, 30.0, 0.1, 1.0)], ids=["up", "down", "mixed"]
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_proven_of_each_problem(kind, dtype, costs):
    task = Task(kind, dtype)
    for C in costs:
        if kind == "targets" and dtype == np.float32:
            C = min(C, 20.0)  # β are so large at 200 that rounded entries prove no gap of 1e-3
        for problem in task.problems(task.advance(C)):
            problem.check()


@pytest.mark.parametrize("dtype", DTYPES)
def test_classes_that_are_apart_are_proven_by_a_stretched_model(dtype):
    task = Task("two classes", dtype)
    task.K = np.exp(2.0 * np.log(task.K))
    task.table = task.K.astype(dtype)
    for C in (1.0, 1e3, 1e5):
        for problem in task.problems(task.advance(C)):
            problem.check()
    assert not task.native.own.any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_whose_C_is_not_positive_stays_as_it_is(kind):
    task = Task(kind)
    task.advance([1.0, 2.0, 0.0])
    assert not task.native.done[2::3].any()
    before, beta = task.found(), task.beta(0)
    values = task.values(0, np.arange(task.n))
    C = task.advance([0.0, 20.0, -1.0])
    for name, column in task.found().items():
        assert_array_equal(column[0::3], before[name][0::3], err_msg=name)
    assert_array_equal(task.beta(0), beta)
    for now, then in zip(task.values(0, np.arange(task.n)), values, strict=True):
        assert_array_equal(now, then)
    for problem in [*task.problems(C), *task.problems(np.array([1.0, 0.0, 0.0]))]:
        problem.check()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_zero_leaves_a_sample_out(kind, dtype):
    task = Task(kind, dtype)
    task.advance(3.0)
    for m in (1, 2):
        used = task.weights[m] > 0
        smaller = Task(kind, dtype)
        number = np.cumsum(used) - 1
        inside = used[smaller.places]
        smaller.starts = np.concatenate(
            [[0], np.cumsum([inside[a:b].sum() for a, b in zip(task.starts[:-1], task.starts[1:], strict=True)])]
        )
        smaller.places, smaller.p = number[smaller.places[inside]], smaller.p[inside]
        smaller.table, smaller.K = (np.ascontiguousarray(each[np.ix_(used, used)]) for each in (task.table, task.K))
        smaller.weights, smaller.n = np.ascontiguousarray(task.weights[:, used]), int(used.sum())
        smaller.advance(3.0)
        whole, part = ({name: column[m::3] for name, column in each.found().items()} for each in (task, smaller))
        assert (np.maximum(whole["dual"], part["dual"]) <= np.minimum(whole["primal"], part["primal"])).all()
        f, low, high, _ = task.values(m, np.flatnonzero(used))
        other, least, most, _ = smaller.values(m, np.arange(smaller.n))
        assert whole["done"].all() and part["done"].all()
        assert (np.maximum(low, least) <= np.minimum(high, most)).all() and np.abs(f - other).max() < 0.1


def test_a_chain_of_costs_takes_fewer_steps_than_each_alone():
    task, steps, alone = Task(n=150, seed=3), 0.0, 0.0
    for C in np.geomspace(0.1, 1000.0, 9):
        task.advance(C)
        steps += task.native.steps.sum()
        fresh = Task(n=150, seed=3)
        fresh.advance(C)
        alone += fresh.native.steps.sum()
        assert (
            np.maximum(task.native.dual, fresh.native.dual) <= np.minimum(task.native.primal, fresh.native.primal)
        ).all()
    assert steps < alone


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_closer_proof_reaches_the_gap_and_never_worsens(kind, dtype):
    task = Task(kind, dtype)
    C = task.advance(10.0)
    first = task.found()
    last, apart = first["primal"] - first["dual"], task.native.apart.copy()
    assert (apart <= np.where(first["own"], last, 2 * last)).all()
    for gap in (1e-4, 1e-6) if dtype == np.float32 else (1e-5, 1e-8, 1e-11):
        task.tighten(gap)
        now, near = task.native.primal - task.native.dual, task.native.apart.copy()
        reached = near <= gap * np.abs(task.native.primal)
        # Where the bound is not reached, rounding is what is left of it: that of the entries, in float32.
        assert (reached | (near <= 1.5 * task.native.apart_rounding)).all() and (reached.all() or dtype == np.float32)
        assert (now <= last).all() and (near <= apart).all() and task.native.done.all()
        last, apart = now, near
    for problem in task.problems(C):
        problem.check()
    task.tighten(1e-30)  # which no float64 proves
    assert (task.native.primal - task.native.dual <= last).all() and task.native.done.all()


def test_only_the_problems_that_are_named_are_solved_more_closely():
    task = Task("pairs")
    task.advance(10.0)
    before, some = task.found(), np.arange(len(task.native.done)) % 2 == 0
    task.tighten(np.where(some, 1e-9, 0.0))
    after = task.found()
    for name in ("primal", "dual", "low", "high", "steps"):
        assert_array_equal(after[name][~some], before[name][~some])
    assert (task.native.apart <= 1e-9 * after["primal"])[some].all()


def test_values_of_some_families_are_written_into_their_columns():
    task = Task("pairs", n=140)
    task.advance(2.0)
    whole, some = task.values(1, [7, 3, 120]), task.values(1, [7, 3, 120], families=[4, 1])
    for part, column in zip(some, whole, strict=True):
        # Rows that no family of the call uses are left out, so that sums may be made in another order.
        assert_allclose(part[..., [1, 4]], column[..., [1, 4]], rtol=1e-13, atol=1e-13)
        assert np.isnan(part[..., [0, 2, 3, 5]]).all() and np.isfinite(column).all()


@settings(max_examples=25, deadline=None)
@example(
    kind="pairs", dtype=np.float64, seed=1000000, C=0.0, gap=-1.0, flip=False
)  # rows in no order, some of which look like neighbours
@given(
    kind=st.sampled_from(KINDS), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 10**6),
    C=st.floats(-2, 2), gap=st.floats(-3, -1), flip=st.booleans(),
)  # fmt: skip
def test_values_are_naive_ones_and_contain_those_of_the_optimum(kind, dtype, seed, C, gap, flip):
    task = Task(kind, dtype, n=140, seed=seed)
    rng = np.random.default_rng(seed)
    task.advance(10.0**C, gap=10.0**gap, kkt=1e-1)
    assume(task.native.done.all())  # where it is not, another method is due
    rows = rng.permutation(task.n)[: rng.integers(1, task.n)]
    found, sign = task.found(), -1.0 if flip else 1.0
    before = []
    for m in range(3):
        values, beta = task.values(m, rows, flip), task.beta(m)
        for a, (begin, end) in enumerate(zip(task.starts[:-1], task.starts[1:], strict=True)):
            own = task.places[begin:end]
            b = 0.5 * (found["low"] + found["high"])[a * 3 + m]
            naive = sign * (task.table[np.ix_(rows, own)].astype(float) @ beta[begin:end] + b)
            assert_allclose(values[0][:, a], naive, rtol=1e-9, atol=1e-11 * (1 + np.abs(beta).sum()))
            used = task.weights[m, own] > 0
            assert values[3][a] == (1.0 if used.any() else 0.0)
        before.append(values)
    task.tighten(1e-12)
    for m, (f, low, high, _) in enumerate(before):
        closer = task.values(m, rows, flip)
        assert ((low <= f) & (f <= high)).all()
        error = closer[2] - closer[0]  # by how much the closer solution may itself be off
        assert ((low - error <= closer[0]) & (closer[0] <= high + error)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_result_depends_on_the_number_of_threads(kind):
    limit, results = _native.thread_limit(), []
    try:
        for cores in (1, 2, 5):
            _native.pretend_cores(cores)
            _native.limit_threads(0)
            task = Task(kind, n=140)
            for C in (0.1, 1.0, 50.0):
                task.advance(C)
            task.tighten(1e-8)
            results.append([*task.found().values(), *map(task.beta, range(3)), *task.values(2, np.arange(140))])
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_level_proves_the_same_optima(kind, dtype):
    best, found, values = _native.isa(), [], []
    try:
        for level in _native.isa_levels():
            _native.use_isa(level)
            task = Task(kind, dtype)
            for C in (0.3, 8.0):
                C = task.advance(C)
            task.tighten(1e-6)
            for problem in task.problems(C):
                problem.check()
            found.append(task.found())
            values.append(task.values(1, np.arange(task.n)))
    finally:
        _native.use_isa(best)
    assert (
        np.max([each["dual"] for each in found], axis=0) <= np.min([each["primal"] for each in found], axis=0)
    ).all()
    assert (np.max([each[1] for each in values], axis=0) <= np.min([each[2] for each in values], axis=0)).all()


def test_two_points_that_contradict_themselves_take_few_steps():
    # All other points are far from each other, so that a step of any pair but these two settles it.
    n = 1500
    K = np.eye(n)
    twins = ((0, 1), (2, 3))
    for one, other in twins:
        K[one, other] = K[other, one] = 1.0
    p = np.where(np.arange(n) % 2, 1.0, -1.0)
    native = _native.SharedFits(
        K, np.ones(n), np.ones(n), np.zeros(n), np.arange(n), np.array([0, n]), p, True, np.ones((1, n)), np.zeros(1)
    )
    native.advance(np.array([1e4]), np.array([1e-3]), **AIM)
    assert native.done.all() and native.steps[0] < 4 * n
    beta = np.empty(n)
    native.beta(0, beta)
    assert_array_equal(np.abs(beta[[0, 1, 2, 3]]), 1e4)


@pytest.mark.parametrize("n", [400, 1300])
def test_a_third_C_is_begun_on_the_line_of_two(n):
    # Ten points contradict others that have twice the weight: these are between their bounds, with β in proportion to C.
    rng = np.random.default_rng(5)
    K = rbf_kernel(rng.normal(size=(n, 8)), gamma=1.0)
    heavy, light = np.arange(10), np.arange(10, 20)
    K[:, light] = K[:, heavy]
    K[light] = K[heavy]
    p, weights = rng.choice([-1.0, 1.0], size=n), np.ones((1, n))
    p[light] = -p[heavy]
    weights[0, heavy] = 2.0

    def steps(*path):
        fits = _native.SharedFits(
            K, np.ones(n), np.ones(n), np.zeros(n), np.arange(n), np.array([0, n]), p, True, weights, np.zeros(1)
        )
        for C in path:
            fits.advance(np.array([C]), np.array([1e-3]), **{**AIM, "ahead": 0.01})
        assert fits.done.all()
        return fits.steps[0]

    assert 3 * steps(10.0, 100.0, 1e3) < min(steps(1e3), steps(100.0, 1e3))
