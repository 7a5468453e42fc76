from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

import gapless as gl
from gapless import LinearSVC, _native
from gapless.data.rows import as_rows
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.l1 import L1Problem
from gapless.proof.certificate import Point, evaluate
from gapless.proof.twofold import refine
from gapless.solvers import L1CoordinateDescent
from gapless.solvers.l1.barrier import L1Barrier, set_size

X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
Z_CANCER = scale(X_CANCER)
X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def primal(X, y, w, b, cost, s=1.0):
    """P by its formula; y in {−1, 1}."""
    short = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return math.fsum(np.abs(w)) + abs(b) / s + math.fsum(cost * short**2)


def dual(X, y, beta, cost, s=None):
    """D by its formula, −inf where β is not feasible to rounding."""
    slopes = np.append(X.T @ beta, 0.0 if s is None else s * beta.sum())
    if np.abs(slopes).max() > 1 + 1e-12 or (y * beta < 0).any() or beta[cost == 0].any():
        return -math.inf
    used = cost > 0
    return math.fsum(y * beta) - math.fsum(beta[used] ** 2 / (4 * cost[used]))


def clouds(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + 0.5 * y[:, None] * (np.arange(d) < 2)
    return np.where(rng.random((n, d)) < 0.3, 0.0, X), y


def words(n=300, d=2000, seed=0):
    """A sparse matrix with more features than samples, like a small collection of texts."""
    rng = np.random.default_rng(seed)
    X = sp.random_array(
        (n, d), density=0.01, format="csr", rng=rng, data_sampler=lambda size: rng.exponential(size=size)
    )
    return X, np.sign(X[:, :20] @ rng.normal(size=20) + 0.3 * rng.normal(size=n) + 1e-9)


# --- the certificate


@given(seed=st.integers(0, 2**32 - 1), reach=st.floats(1e-3, 1e3), intercept=st.sampled_from(["regularized", "none"]))
def test_bounds_hold_at_every_point(seed, reach, intercept):
    rng = np.random.default_rng(seed)
    X, y = clouds(n=12, d=3, seed=seed % 1000)
    weight = rng.integers(0, 3, size=12) + (np.arange(12) < 2)
    problem = L1Problem(X, y, C=reach, intercept=intercept, intercept_scale=2.0, sample_weight=weight)
    s = 2.0 if intercept == "regularized" else None
    w, b = reach * rng.normal(size=3), float(rng.normal()) if s else 0.0
    best = gl.solve(problem, tol=1e-9).certificate.primal
    for point in (Point(w=w, b=b), Point(beta=rng.normal(size=12)), Point(w=w, b=b, beta=y * rng.random(12)), Point()):
        certified, proof = evaluate(problem, point)
        w_of, b_of = (np.zeros(3), 0.0) if point.w is None else (w, b)
        assert certified.value == pytest.approx(primal(X, y, w_of, b_of, problem.cost, 2.0), rel=1e-12)
        assert proof.value == pytest.approx(dual(X, y, proof.beta, problem.cost, s), rel=1e-9, abs=1e-12)
        assert proof.value <= best * (1 + 1e-12)
        assert best * (1 - 1e-8) <= certified.value


def test_an_offered_beta_is_used_where_it_is_better():
    problem = L1Problem(*clouds())
    result = gl.solve(problem, tol=1e-8)
    again = gl.certify(problem, Point(w=np.zeros(5), b=0.0, beta=result.beta))
    assert again.dual == pytest.approx(result.certificate.dual, rel=1e-12)
    assert again.primal == pytest.approx(problem.cost.sum())
    assert gl.certify(problem, result).gap == pytest.approx(result.certificate.gap, abs=1e-12 * again.primal)


def test_points_that_are_not_finite_prove_what_zero_proves():
    problem = L1Problem(*clouds())
    nowhere = Point(w=np.full(5, np.nan), b=0.0, beta=np.full(60, np.inf))
    assert gl.certify(problem, nowhere) == gl.certify(problem, Point())


def test_the_gap_says_nothing_of_w():
    certificate = gl.solve(L1Problem(*clouds())).certificate
    assert certificate.distance_bound == math.inf
    assert math.isnan(certificate.kkt_violation)


# --- the solver


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_agrees_with_liblinear(C):
    y = 2.0 * Y_CANCER - 1
    result = gl.solve(L1Problem(Z_CANCER, y, C=C), tol=1e-9)
    theirs = svm.LinearSVC(penalty="l1", dual=False, C=C, tol=1e-8, max_iter=100_000, random_state=0).fit(Z_CANCER, y)
    value = primal(Z_CANCER, y, theirs.coef_[0], theirs.intercept_[0], C)
    assert result.certificate.relative_gap <= 1e-9
    assert result.certificate.primal <= value * (1 + 1e-9)
    assert value <= result.certificate.primal * (1 + 1e-6)
    np.testing.assert_allclose(result.w, theirs.coef_[0], atol=1e-4 * np.abs(result.w).max())
    np.testing.assert_allclose(result.b, theirs.intercept_[0], atol=1e-4 * np.abs(result.w).max())


@pytest.mark.parametrize("C", [0.01, 100.0])
def test_features_of_wildly_different_scales(C):
    result = gl.solve(L1Problem(X_CANCER, Y_CANCER, C=C), tol=1e-6)
    assert result.status is gl.Status.CONVERGED
    assert result.iterations < 1000


def test_sparse_words():
    X, y = words()
    problem = L1Problem(X, y, C=10.0)
    result = gl.solve(problem, tol=1e-6)
    assert result.certificate.relative_gap <= 1e-6
    assert 5 < np.count_nonzero(result.w) < 300
    # A weight whose slope is inside (−1, 1) at the proven dual point is zero at the optimum, and exactly so here.
    inside = np.abs(X.T @ result.beta) < 0.99
    assert inside.sum() > 1000
    assert not result.w[inside].any()


@pytest.mark.parametrize("intercept", ["regularized", "none"])
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix, np.asfortranarray, lambda X: X.astype(np.float32)])
def test_every_storage_gives_the_same_model(intercept, storage):
    X, y = clouds()
    X = X.astype(np.float32).astype(np.float64)
    options = {"C": 0.7, "intercept": intercept, "intercept_scale": 3.0}
    dense = gl.solve(L1Problem(X, y, **options), tol=1e-11)
    other = gl.solve(L1Problem(storage(X), y, **options), tol=1e-11)
    np.testing.assert_allclose(other.w, dense.w, atol=1e-8)
    assert other.b == pytest.approx(dense.b, abs=1e-8)
    assert (dense.b == 0.0) == (intercept == "none")
    assert other.certificate.primal == pytest.approx(dense.certificate.primal, rel=1e-10)


def test_the_intercept_is_one_more_feature():
    X, y = clouds()
    result = gl.solve(L1Problem(X, y, C=0.5, intercept_scale=3.0), tol=1e-11)
    wide = gl.solve(L1Problem(np.column_stack([X, np.full(len(y), 3.0)]), y, C=0.5, intercept="none"), tol=1e-11)
    np.testing.assert_allclose(np.append(result.w, result.b / 3.0), wide.w, atol=1e-8)


def test_repeated_and_empty_features():
    X, y = clouds()
    once = gl.solve(L1Problem(X, y), tol=1e-9)
    thrice = gl.solve(L1Problem(np.hstack([X, X, np.zeros((60, 2)), X]), y), tol=1e-9)
    assert thrice.status is gl.Status.CONVERGED
    assert thrice.certificate.primal == pytest.approx(once.certificate.primal, rel=1e-8)
    assert not thrice.w[10:12].any()


def test_weights_are_repetitions():
    X, y = clouds()
    weight = np.arange(60) % 4
    weighted = gl.solve(L1Problem(X, y, sample_weight=weight), tol=1e-11)
    repeated = gl.solve(L1Problem(np.repeat(X, weight, axis=0), np.repeat(y, weight)), tol=1e-11)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-8)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-10)
    assert not weighted.beta[weight == 0].any()


def test_below_l1_min_c_all_weights_are_zero():
    bound = gl.l1_min_c(Z_CANCER, Y_CANCER, loss="squared_hinge")
    below = gl.solve(L1Problem(Z_CANCER, Y_CANCER, C=0.999 * bound), tol=1e-12)
    assert not below.w.any()
    assert below.certificate.relative_gap <= 1e-12
    assert gl.solve(L1Problem(Z_CANCER, Y_CANCER, C=1.001 * bound), tol=1e-12).w.any()


@given(seed=st.integers(0, 2**32 - 1), sparse=st.booleans())
def test_newton_step_ends_at_the_minimum_of_its_line(seed, sparse):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, 9)).round(1) * (rng.random((5, 9)) < 0.7)
    cost, before = rng.exponential(size=9), rng.choice([-1.0, 0.0, 1.0], 5) * rng.exponential(size=5)
    w, short = before.copy(), 1.0 - A.T @ before
    rows = as_rows(sp.csr_array(A) if sparse else A)
    moved = _native.newton_l1(rows, cost, w, short)
    direction = w - before
    np.testing.assert_allclose(short, 1.0 - A.T @ w, atol=1e-10)
    assert moved or not direction.any()
    assert not direction[before == 0].any()

    def value(t):
        at = before + t * direction
        return np.abs(at).sum() + (cost * np.maximum(0.0, 1.0 - A.T @ at) ** 2).sum()

    for t in np.append(np.linspace(0.0, 2.0, 101), [1 - 1e-5, 1 + 1e-5]):
        assert value(1.0) <= value(t) * (1.0 + 1e-10)


@pytest.mark.parametrize("n", [40, 1500])
def test_newton_step_solves_a_quadratic_piece_at_once(n):
    """From near the minimum of a piece, one step finds it, whether the samples that fall short fill a block of the core or several."""
    rng = np.random.default_rng(n)
    A, cost = rng.normal(size=(4, n)), rng.exponential(size=n)
    w = np.array([1e-3, -1e-3, 1e-3, 0.0])
    short = 1.0 - A.T @ w
    for _ in range(20):
        _native.newton_l1(as_rows(A), cost, w, short)
    alpha = 2.0 * cost * np.maximum(0.0, short)
    np.testing.assert_allclose((A @ alpha)[w != 0], np.sign(w[w != 0]), atol=1e-9)


# --- where coordinate descent creeps


def unscaled(n, d, span=4.0, seed=0):
    """Features with offsets and scales over some orders of magnitude; labels of noise, which few samples separate."""
    rng = np.random.default_rng(seed)
    X = 10.0 ** rng.uniform(-span / 2, span / 2, size=d) * (rng.normal(size=(n, d)) + 5 * rng.normal(size=d))
    return X, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def quadratic_program(X, y, C):
    """The least P without an intercept, by Clarabel: w = u − v, and shortfalls ξ."""
    qpsolvers = pytest.importorskip("qpsolvers")
    n, d = X.shape
    Z = y[:, None] * X
    G = sp.csc_matrix(sp.hstack([-Z, Z, -sp.eye_array(n)]))
    P = sp.csc_matrix(sp.diags_array(np.append(np.zeros(2 * d), np.full(n, 2 * C))))
    q = np.append(np.ones(2 * d), np.zeros(n))
    bound = np.append(np.zeros(2 * d), np.full(n, -np.inf))
    x = qpsolvers.solve_qp(P, q, G, -np.ones(n), lb=bound, solver="clarabel", tol_gap_rel=1e-9)
    return primal(X, y, x[:d] - x[d : 2 * d], 0.0, np.full(n, C))


@pytest.mark.parametrize("C", [50.0, 1e4])
@pytest.mark.parametrize("shape", [(100, 300), (100, 80), (40, 600)])
@pytest.mark.parametrize("intercept", ["regularized", "none"])
def test_a_large_C_takes_few_epochs(shape, C, intercept):
    X, y = unscaled(*shape)
    result = gl.solve(L1Problem(X, y, C=C, intercept=intercept), tol=1e-8, max_iter=1000)
    assert result.status is gl.Status.CONVERGED
    assert result.certificate.relative_gap <= 1e-8
    assert np.count_nonzero(result.w) <= min(shape)


def test_a_quadratic_program_has_the_same_value():
    for shape, C in (((30, 60), 100.0), ((60, 20), 10.0)):
        X, y = unscaled(*shape, span=1.0)
        result = gl.solve(L1Problem(X, y, C=C, intercept="none"), tol=1e-9)
        theirs = quadratic_program(X, y, C)
        assert result.status is gl.Status.CONVERGED
        assert result.certificate.dual <= theirs * (1 + 1e-9)
        assert result.certificate.primal == pytest.approx(theirs, rel=1e-5)


def test_weights_that_the_barrier_leaves_out_come_in():
    X, y = unscaled(40, 2000, span=1.0)
    problem = L1Problem(X, y, C=1e3, intercept="none")
    A = (y[:, None] * X).T
    barrier = L1Barrier(A, problem.cost, np.zeros(2000))
    assert len(barrier.chosen) == set_size(2000, 40) < 2000
    for _ in range(1000):
        if barrier.step(1e-7):
            break
    assert barrier.rounds > 1
    assert np.abs(A @ barrier.alpha).max() <= 1 + 1e-6
    assert gl.certify(problem, Point(w=barrier.w, b=0.0, beta=y * barrier.alpha)).relative_gap <= 1e-5
    sparsest = next(barrier.models())
    assert np.count_nonzero(sparsest) <= 40


@pytest.mark.parametrize("weighted", [False, True])
def test_storages_agree_where_the_barrier_takes_over(weighted):
    X, y = unscaled(60, 200)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.3, X, 0.0)
    weight = np.arange(60) % 3 + (np.arange(60) < 5) if weighted else None
    dense, other = (
        gl.solve(L1Problem(stored, y, C=1e3, sample_weight=weight), tol=1e-8) for stored in (X, sp.csr_array(X))
    )
    assert dense.status is other.status is gl.Status.CONVERGED
    assert other.certificate.primal == pytest.approx(dense.certificate.primal, rel=3e-8)


def test_features_without_an_entry_stay_zero_in_the_barrier():
    X, y = unscaled(60, 100)
    X[:, ::4] = 0.0
    result = gl.solve(L1Problem(X, y, C=1e4), tol=1e-8)
    assert result.status is gl.Status.CONVERGED
    assert not result.w[::4].any()


def test_slopes_that_cancel_are_summed_exactly():
    """Breast cancer as it is: float64 bounds the rounding of its slopes by more than 1e-6, and a multiple that much shorter proves as much less.

    In rationals: of any β the longest feasible multiple is β/‖Σ βᵢxᵢ‖∞, and the proof has all of its value.
    """
    problem = L1Problem(X_CANCER, Y_CANCER, C=1e4)
    result = gl.solve(problem, tol=1e-8)
    assert result.status is gl.Status.CONVERGED
    columns = [*X_CANCER.T, np.ones(len(X_CANCER))]  # the last one is the intercept's
    beta, cost = [Fraction(float(b)) for b in result.beta], [Fraction(float(c)) for c in problem.cost]
    reach = max(abs(sum(Fraction(float(a)) * b for a, b in zip(column, beta, strict=True))) for column in columns)
    # The certificate's own β is an exact multiple, which is feasible; each entry of result.beta was rounded once.
    largest = max(float(np.abs(column) @ np.abs(result.beta)) for column in columns)
    assert reach <= 1 + Fraction(2.0**-53) * Fraction(largest) * Fraction(1 + 1e-9)
    square = sum(b * b / (4 * c) for b, c in zip(beta, cost, strict=True))
    linear = sum(abs(b) for b in beta)
    multiple = min(1 / reach, linear / (2 * square))
    exact = multiple * linear - multiple**2 * square
    one, rough = evaluate(problem, Point(w=result.w, b=result.b, beta=result.beta))
    _, fine = refine(problem, one, replace(rough, beta=result.beta))
    assert exact * (1 - Fraction(1, 10**13)) <= Fraction(fine.value) <= exact
    assert rough.value < fine.value * (1 - 1e-8)
    assert rough.value + rough.rounding >= fine.value * (1 - 1e-8)  # and says that the rest may be rounding


# --- in the loop


def test_the_loop_serves_it():
    problem = L1Problem(Z_CANCER, Y_CANCER, C=10.0)
    short = gl.solve(problem, L1CoordinateDescent(), max_iter=3)
    assert short.status is gl.Status.MAX_ITER
    assert 3 <= short.iterations < 3.5
    assert short.trace.unit == "epochs"
    resumed = gl.solve(problem, start=short, tol=1e-8)
    assert resumed.status is gl.Status.CONVERGED
    assert gl.solve(problem, start=resumed, tol=1e-8).iterations == 0
    assert gl.solve(problem, max_time=1e-9).status is gl.Status.MAX_TIME
    seen = []
    stopped = gl.solve(problem, tol=1e-12, callback=lambda progress: seen.append(progress) or len(seen) == 2)
    assert stopped.status is gl.Status.CALLBACK
    assert seen[0].solver == "l1_coordinate_descent"
    assert (np.diff(resumed.trace.best_primal) <= 0).all()


def test_an_interruption_keeps_the_best_iterate():
    def press(progress):
        if progress.iterations > 0:
            raise KeyboardInterrupt

    with pytest.raises(gl.Interrupted) as caught:
        gl.solve(L1Problem(Z_CANCER, Y_CANCER), tol=1e-12, callback=press)
    assert caught.value.result.w.any()
    assert math.isfinite(caught.value.result.certificate.gap)


def test_without_a_tolerance_it_stops_where_nothing_moves():
    result = gl.solve(L1Problem(*clouds()), tol=0.0)
    assert result.status in (gl.Status.STALLED, gl.Status.CONVERGED, gl.Status.ROUNDING)
    assert result.certificate.relative_gap <= 1e-12


def test_the_same_seed_gives_the_same_model():
    first, second = (gl.solve(L1Problem(Z_CANCER, Y_CANCER), random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)


def test_results_predict():
    result = gl.solve(L1Problem(Z_CANCER, np.where(Y_CANCER == 1, "good", "bad")))
    assert np.mean(result.predict(Z_CANCER) == np.where(Y_CANCER == 1, "good", "bad")) > 0.97


# --- what is refused


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"intercept": "free"}, "intercept must be 'regularized' or 'none' with an l1 penalty, which is on b too; got 'free'."),
        ({"C": math.inf}, "C must be finite with an l1 penalty; got inf."),
        ({"C": -1.0}, "C must be a positive number; got -1.0."),
    ],
)  # fmt: skip
def test_refused_problems(options, sentence):
    with pytest.raises(InvalidInputError) as caught:
        L1Problem(*clouds(), **options)
    assert str(caught.value) == sentence


def test_refused_solvers():
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(L1Problem(*clouds()), "sdca")
    assert str(caught.value) == (
        "solver must be 'auto' or a L1CoordinateDescent for a L1Problem, which no other solves; got 'sdca'."
    )
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(*clouds()), L1CoordinateDescent())
    assert str(caught.value) == "l1_coordinate_descent solves an L1Problem alone; got a Problem."
    with pytest.raises(UnsupportedError, match=r"kkt\(\) reports the conditions of a problem with ½‖w‖²"):
        gl.solve(L1Problem(*clouds())).kkt()


# --- LinearSVC(penalty="l1")


def test_the_estimator_agrees_with_scikit_learn():
    options = {"penalty": "l1", "dual": False, "C": 0.5, "intercept_scaling": 2.0, "class_weight": {1: 3.0}}
    ours = LinearSVC(**options, tol=1e-9).fit(X_IRIS, Y_IRIS)
    theirs = svm.LinearSVC(**options, tol=1e-8, max_iter=100_000, random_state=0).fit(X_IRIS, Y_IRIS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X_IRIS), theirs.predict(X_IRIS))
    assert (ours.coef_ == 0).sum() == (np.abs(theirs.coef_) < 1e-9).sum() > 0
    assert len(ours.certificates_) == 3
    assert ours.certificate_.relative_gap <= 1e-9
    assert ours.alpha_.shape == (150, 3)
    assert 1 <= ours.n_iter_ <= 1000


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_estimators_weights_are_repetitions(class_weight):
    X, y = clouds()
    weight = np.arange(60) % 3
    model = LinearSVC(penalty="l1", tol=1e-11, class_weight=class_weight)
    coef = model.fit(sp.csr_array(X), y, sample_weight=weight).coef_
    np.testing.assert_allclose(coef, model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).coef_, atol=1e-8)


def test_a_warm_start_goes_on():
    model = LinearSVC(penalty="l1", warm_start=True, tol=1e-8).fit(Z_CANCER, Y_CANCER)
    first = model.n_iter_
    assert first > 5
    assert model.fit(Z_CANCER, Y_CANCER).n_iter_ == 1
    assert model.set_params(C=1.01).fit(Z_CANCER, Y_CANCER).certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize("dual", ["auto", True, False])
def test_the_hinge_is_refused_whatever_dual_says(dual):
    for estimator in (LinearSVC("l1", "hinge", dual=dual), svm.LinearSVC("l1", "hinge", dual=dual)):
        with pytest.raises(ValueError, match=r"Unsupported set of arguments.*penalty='l1', loss='hinge', dual="):
            estimator.fit(X_IRIS, Y_IRIS)


def test_the_estimator_refuses_what_the_problem_refuses():
    with pytest.raises(InvalidInputError, match="intercept must be 'regularized' or 'none' with an l1 penalty"):
        LinearSVC(penalty="l1", intercept="free").fit(X_IRIS, Y_IRIS)
    with pytest.raises(UnsupportedError, match="solver must be 'auto' or a L1CoordinateDescent"):
        LinearSVC(penalty="l1", solver="smo").fit(X_IRIS, Y_IRIS)


def test_l1_min_c_is_scikit_learns():
    assert gl.l1_min_c is svm.l1_min_c
