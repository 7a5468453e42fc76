from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

import gapless as gl
from gapless import kernels
from gapless.losses import LOSSES
from gapless.proof.certificate import combine, evaluate, feasible
from gapless.proof.kkt import at_bounds

INTERCEPTS = ("free", "regularized", "none")
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)


def make(loss="hinge", kernel=None, intercept="free", n=10, d=3, seed=0, **options) -> gl.Problem:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, d)) + 0.4 * y[:, None]
    if LOSSES[loss].task == "regression":
        y = X.sum(axis=1) + rng.normal(size=n)
    options = {"C": 0.7, "sample_weight": rng.choice([0.5, 1.0, 2.0], n), "intercept_scale": 1.5, **options}
    return gl.Problem(X, y, loss=loss, kernel=kernel, intercept=intercept, **options)


def gram(problem: gl.Problem) -> np.ndarray:
    X = np.asarray(problem.X, dtype=np.float64)
    return X @ X.T if problem.kernel is None else problem.kernel(X)


def naive_primal(problem: gl.Problem, expansion: np.ndarray, b: float) -> float:
    """P at w = Σ eᵢφ(xᵢ) and b, by its formula."""
    K = gram(problem)
    square = expansion @ K @ expansion + (b**2 / 1.5**2 if problem.intercept == "regularized" else 0.0)
    return 0.5 * square + float(problem.cost @ problem.loss.value(problem.y, K @ expansion + b))


def naive_dual(problem: gl.Problem, beta: np.ndarray) -> float:
    K = gram(problem) + (1.5**2 if problem.intercept == "regularized" else 0.0)
    conjugates = problem.loss.conjugate(problem.y, -beta / problem.cost)
    return -float(problem.cost @ conjugates) - 0.5 * beta @ K @ beta


# --- weak duality


@every_loss
@every_intercept
@settings(max_examples=15)
@given(
    kernel=st.sampled_from([None, kernels.RBF(0.3), kernels.Polynomial(2)]),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-3, 0.3, 1.0, 1e3]),
)
def test_every_dual_value_is_below_every_primal_value(loss, intercept, kernel, seed, scale):
    """Any β (repaired) bounds any (w, b) from below, however wild both are."""
    problem = make(loss, kernel, intercept)
    rng = np.random.default_rng(seed)
    beta, expansion = scale * rng.normal(size=10), 0.3 * rng.normal(size=10)
    b = 0.0 if intercept == "none" else float(rng.normal())
    certificate = gl.certify(problem, gl.Point(beta=beta))
    assert math.isfinite(certificate.dual) and math.isfinite(certificate.primal)
    other = naive_primal(problem, expansion, b)
    rounding = 1e-10 * (1.0 + abs(other))
    assert certificate.dual <= other + rounding
    assert certificate.dual <= certificate.primal + 1e-10 * (1.0 + abs(certificate.primal))
    # The primal of any other offer is above this dual too, and no better than what it offers.
    by_weights, by_expansion = (
        gl.Point(w=expansion @ np.asarray(problem.X), b=b),
        gl.Point(beta=np.zeros(10), expansion=expansion),
    )
    offer = gl.certify(problem, by_weights if problem.is_linear else by_expansion)
    assert certificate.dual <= offer.primal + 1e-10 * (1.0 + abs(offer.primal))
    if intercept != "regularized" or problem.is_linear:  # an expansion brings its own b where that is regularised
        assert offer.primal <= other + rounding


@every_loss
@every_intercept
@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
def test_values_are_those_of_the_formulas(loss, intercept, kernel):
    problem = make(loss, kernel, intercept)
    rng = np.random.default_rng(1)
    low, high = np.maximum(problem.dual.lower, -0.3), np.minimum(problem.dual.upper, 0.3)
    beta = low + rng.random(10) * (high - low)
    primal, dual = evaluate(problem, gl.Point(beta=beta))
    repaired, box_violation, sum_violation = feasible(problem, beta)
    assert box_violation == 0.0 and (sum_violation > 0) == (intercept == "free")
    scale = dual.beta[np.abs(repaired).argmax()] / repaired[np.abs(repaired).argmax()]
    assert_allclose(dual.beta, scale * repaired, rtol=1e-13)
    most, least = naive_dual(problem, dual.beta), naive_primal(problem, dual.beta, primal.b)
    assert most + 1e-14 >= dual.value >= most - dual.rounding - 1e-14 and dual.rounding <= 1e-11
    assert dual.value >= naive_dual(problem, repaired) - dual.rounding - 1e-13
    assert least - 1e-14 <= primal.value <= least + primal.rounding + 1e-14 and primal.rounding <= 1e-11
    assert primal.own
    certificate = combine(primal, dual)
    assert (certificate.primal, certificate.dual) == (primal.value, dual.value)
    assert certificate == gl.certify(problem, gl.Point(beta=beta))


@every_loss
@every_intercept
def test_the_primal_of_given_weights_is_theirs(loss, intercept):
    """A good w with a poor β: the primal is that of w, the dual that of β."""
    problem = make(loss, None, intercept)
    best = gl.solve(problem, "smo", tol=1e-9).certified
    found = gl.certify(problem, gl.Point(beta=np.zeros(10), w=best.w, b=best.b))
    assert found.primal == pytest.approx(best.certificate.primal, rel=1e-12)
    assert not found.own_weights
    without_beta = gl.certify(problem, gl.Point(w=best.w, b=best.b))
    assert without_beta.primal <= found.primal
    assert without_beta.dual >= found.dual


def test_an_intercept_that_the_problem_does_not_have_is_not_used():
    """With ``intercept="none"`` b = 0: another b would beat the optimum, which is impossible."""
    problem = gl.Problem([[1.0], [2.0], [3.0]], [0, 0, 1], intercept="none", C=10.0)
    optimum = gl.solve(problem, tol=1e-10).certificate
    found = gl.certify(problem, gl.Point(w=np.array([1.0]), b=-2.5))
    assert found.primal >= optimum.dual
    assert found.b_interval == (0.0, 0.0)


def test_weights_of_a_kernel_problem_prove_nothing():
    problem = make(kernel=kernels.RBF(0.3))
    assert gl.certify(problem, gl.Point(w=np.ones(3), b=1.0)) == gl.certify(problem, gl.Point(beta=np.zeros(10)))


def test_an_expansion_of_a_linear_problem_gives_its_weights():
    problem = make()
    best = gl.solve(problem, "smo", tol=1e-13)
    primal, _ = evaluate(problem, gl.Point(beta=np.zeros(10), expansion=best.beta))
    assert primal.value == pytest.approx(best.certificate.primal, rel=1e-9)
    assert_allclose(primal.w, best.w, atol=1e-12)


# --- repair


def test_an_infeasible_point_is_repaired_and_the_repair_reported():
    problem = make(sample_weight=None, C=1.0)
    beta = problem.y * np.linspace(0.0, 1.8, 10)
    beta[0] = -0.25 * problem.y[0]
    repaired, box_violation, sum_violation = feasible(problem, beta)
    assert box_violation == pytest.approx(0.8)
    clipped = np.clip(beta, problem.dual.lower, problem.dual.upper)
    assert sum_violation == pytest.approx(abs(clipped.sum()))
    assert abs(repaired.sum()) <= 1e-15 * 10
    assert (repaired >= problem.dual.lower).all() and (repaired <= problem.dual.upper).all()
    assert ((repaired == 0) == (clipped == 0)).all()
    certificate = gl.certify(problem, gl.Point(beta=beta))
    assert (certificate.box_violation, certificate.sum_violation) == (box_violation, sum_violation)
    assert certificate.dual == pytest.approx(gl.certify(problem, gl.Point(beta=repaired)).dual, rel=1e-14)


@every_loss
@every_intercept
def test_a_feasible_point_is_left_as_it_is(loss, intercept):
    problem = make(loss, None, intercept)
    result = gl.solve(problem, "smo", tol=1e-8)
    repaired, box_violation, _ = feasible(problem, result.beta)
    assert box_violation == 0.0
    assert_allclose(repaired, result.beta, rtol=1e-12)


@every_loss
@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 1e200, 1e308, 5e-324])
def test_a_wild_point_gives_no_finite_nonsense(loss, kernel, wild):
    """NaN, infinities, overflow and underflow: the bounds hold all the same, and no warning escapes."""
    problem = make(loss, kernel)
    truth = gl.solve(problem, "smo", tol=1e-8).certificate
    beta = np.zeros(10)
    beta[:2] = wild
    zero = np.zeros(10)
    points = [gl.Point(beta=beta), gl.Point(beta=np.full(10, wild)), gl.Point(beta=zero, expansion=beta)]
    if problem.is_linear:
        points += [
            gl.Point(w=np.full(3, wild)),
            gl.Point(beta=zero, w=np.full(3, wild), b=wild),
            gl.Point(w=np.zeros(3), b=wild),
        ]
    for point in points:
        found = gl.certify(problem, point)
        assert not math.isnan(found.primal) and not math.isnan(found.dual)
        assert found.primal >= truth.dual
        assert found.dual <= truth.primal
        assert found.gap >= 0


def test_at_bounds_is_a_comparison_up_to_the_repair():
    problem = gl.Problem(np.eye(4), [0, 1, 0, 1], C=2.0)
    at_lower, at_upper = at_bounds(problem, np.array([-2.0, 2.0, -1.0, 1e-13]))
    assert at_lower.tolist() == [True, False, False, True]
    assert at_upper.tolist() == [False, True, False, False]
    squared = gl.Problem(np.eye(4), [0, 1, 0, 1], loss="squared_hinge")
    at_lower, at_upper = at_bounds(squared, np.array([-2.0, 2.0, 0.0, 0.0]))
    assert at_lower.tolist() == [False, False, False, True]
    assert at_upper.tolist() == [False, False, True, False]


# --- where there is no bound


@every_intercept
def test_a_hard_margin_without_separation_has_no_primal_value(intercept):
    X, y = np.array([[-1.0], [2.0], [1.0], [-2.0]]), [0, 0, 1, 1]
    problem = gl.Problem(X, y, C=np.inf, intercept=intercept)
    found = gl.certify(problem, gl.Point(beta=np.array([-1.0, -1.0, 1.0, 1.0])))
    assert found.primal == math.inf
    assert found.gap == math.inf and found.relative_gap == math.inf and found.distance_bound == math.inf


def test_a_separating_w_is_stretched_to_a_margin_of_one():
    problem = gl.Problem([[-2.0], [-1.0], [3.0]], [0, 0, 1], C=np.inf)
    for w in (1e-3, 0.5, 7.0):
        found = gl.certify(problem, gl.Point(w=np.array([w])))
        assert found.primal == pytest.approx(0.125)  # w* = 1/2: a margin of two on either side of 1
        assert found.b_interval == pytest.approx((-0.5, -0.5))
    assert gl.certify(problem, gl.Point(w=np.array([-1.0]))).primal == math.inf


def test_a_hard_tube_must_hold_as_it_is():
    loss = gl.losses.EpsilonInsensitive(0.5)
    problem = gl.Problem([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], loss=loss, C=np.inf)
    # At w = ½ two samples are on the tube's edge, which rounding cannot tell from outside.
    assert gl.certify(problem, gl.Point(w=np.array([0.5 + 1e-14]))).primal == pytest.approx(0.125)
    assert gl.certify(problem, gl.Point(w=np.array([0.4]))).primal == math.inf
    assert gl.certify(problem, gl.Point(w=np.array([1.0]))).b_interval == pytest.approx((-0.5, 0.5))


def test_a_dual_value_is_infinite_for_an_exact_ray_alone():
    """1e-200 squared is zero in float64, and so is the curvature along a β that only one of these rows cancels exactly."""
    for x in (0.0, 1e-200):
        problem = gl.Problem([[x], [1.0]], [1, 0], C=np.inf, intercept="none")
        for independent in (False, True):
            found = gl.certify(problem, gl.Point(beta=np.array([1.0, 0.0])), independent=independent)
            assert found.primal == math.inf
            assert found.dual == math.inf if x == 0.0 else found.dual <= 1.0  # D(1) = 1 − ½ 1e-400


def test_a_point_that_has_run_away_overflows_without_a_word():
    """β of a hard margin that does not exist: its squares overflow, and prove nothing."""
    problem = gl.Problem([[0.0], [1.0], [1.0]], [0, 0, 1], C=np.inf, kernel=kernels.RBF(1.0))
    for offsets in (None, np.zeros(1)):
        found = gl.certify(problem, gl.Point(beta=np.array([-1e200, -1e200, 2e200]), offsets=offsets))
        assert found.primal == math.inf and not found.dual > 0


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_kernel_that_is_not_valid_has_no_dual_bound(intercept):
    problem = make(kernel=kernels.Sigmoid(1.0, -1.0), intercept=intercept)
    found = gl.certify(problem, gl.Point(beta=0.1 * problem.y))
    assert found.dual == -math.inf
    assert found.gap == math.inf and found.relative_gap == math.inf
    assert math.isfinite(found.primal) and math.isfinite(found.kkt_violation)


# --- what follows from the gap


@pytest.mark.parametrize(
    ("primal", "dual", "gap", "relative"),
    [
        (2.0, 1.5, 0.5, 0.25),
        (-2.0, -3.0, 1.0, 0.5),
        (0.0, 0.0, 0.0, 0.0),
        (math.inf, 1.0, math.inf, math.inf),
        (1.0, -math.inf, math.inf, math.inf),
        (math.inf, math.inf, math.inf, math.inf),
    ],
)
def test_the_relative_gap_is_the_gap_over_the_primal(primal, dual, gap, relative):
    certificate = gl.Certificate(primal=primal, dual=dual, offset_intervals=((0.0, 0.0),))
    assert certificate.gap == gap
    assert certificate.relative_gap == relative


def test_the_distance_bound_depends_on_whose_weights_they_are():
    assert gl.Certificate(2.0, 1.5, (0.0, 0.0), own_weights=True).distance_bound == math.sqrt(0.5)
    assert gl.Certificate(2.0, 1.5, (0.0, 0.0), own_weights=False).distance_bound == 1.0
    assert gl.Certificate(1.0, 1.0 + 1e-16, (0.0, 0.0)).distance_bound == 0.0


def test_a_certificate_prints_its_bounds():
    assert str(gl.Certificate(2.0, 1.5, (0.0, 0.0))) == "primal 2, dual 1.5, relative gap 2.50e-01"


@every_loss
@every_intercept
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.01, 0.3, 2.0]))
def test_the_optimum_is_within_the_distance_bound(loss, intercept, seed, scale):
    problem = make(loss, None, intercept)
    best = gl.solve(problem, "smo", tol=1e-12, max_iter=20_000)
    slack = best.certificate.distance_bound
    rng = np.random.default_rng(seed)
    for point in (
        gl.Point(beta=scale * rng.normal(size=10)),
        gl.Point(beta=best.beta + 0.1 * scale * rng.normal(size=10)),
        gl.Point(beta=scale * rng.normal(size=10), w=best.w + scale * rng.normal(size=3), b=best.b),
    ):
        primal, dual = evaluate(problem, point)
        certificate = combine(primal, dual)
        square = float(((primal.w - best.w) ** 2).sum())
        if intercept == "regularized":
            square += (primal.b - best.b) ** 2 / 1.5**2
        assert math.sqrt(square) <= certificate.distance_bound + slack


@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
@every_loss
def test_every_b_of_the_interval_is_optimal_for_the_certified_w(loss, kernel):
    problem = make(loss, kernel, "free", sample_weight=None)
    primal, dual = evaluate(problem, gl.Point(beta=0.2 * (problem.y - problem.y.mean())))
    ((low, high),) = primal.offset_intervals
    assert low <= primal.b <= high
    for b in np.linspace(low, high, 5):
        assert naive_primal(problem, dual.beta, b) == pytest.approx(primal.value, rel=1e-12)
    search = minimize_scalar(lambda b: naive_primal(problem, dual.beta, b), bounds=(-9, 9), method="bounded")
    assert primal.value <= search.fun * (1 + 1e-12)
    for b in (low - 0.05, high + 0.05):
        assert naive_primal(problem, dual.beta, b) > primal.value * (1 + 1e-9)


def test_the_kkt_violation_is_libsvms_criterion():
    problem = gl.Problem([[-1.0], [0.5], [1.0]], [0, 1, 1], C=1.0)
    # β = 0: the samples of class 1 can rise with slope 1, that of class 0 can fall with slope −1.
    assert gl.certify(problem, gl.Point(beta=np.zeros(3))).kkt_violation == 2.0
    boxed = gl.Problem([[-1.0], [0.5], [1.0]], [0, 1, 1], C=1.0, intercept="none")
    assert gl.certify(boxed, gl.Point(beta=np.zeros(3))).kkt_violation == 1.0
    for each in (problem, boxed):
        assert gl.solve(each, "smo", tol=1e-12).certificate.kkt_violation <= 1e-9
    assert math.isnan(gl.certify(make("logistic"), gl.Point(beta=np.zeros(10))).kkt_violation)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
@every_intercept
def test_float32_data_is_certified_in_float64(storage, kernel, intercept):
    """The proof speaks of the data as given: float32 values, summed in float64, equal their float64 copy to rounding."""
    rng = np.random.default_rng(4)
    X = (100.0 + rng.normal(size=(30, 4))).astype(np.float32)
    y = np.where(X[:, 0] > 100, 1, 0)
    beta = rng.normal(size=30)
    form = sp.csr_array if storage == "csr" else np.asarray
    found, expected = (
        gl.certify(gl.Problem(form(data), y, kernel=kernel, intercept=intercept), gl.Point(beta=beta))
        for data in (X, X.astype(np.float64))
    )
    assert found.primal == pytest.approx(expected.primal, rel=1e-12)
    assert found.dual == pytest.approx(expected.dual, rel=1e-12)
    assert found.kkt_violation == pytest.approx(expected.kkt_violation, rel=1e-11)


def test_a_result_is_certified_as_its_own_certificate_says():
    for loss in LOSSES:
        problem = make(loss)
        result = gl.solve(problem, "smo", tol=1e-6)
        again = gl.certify(problem, result)
        assert again.primal <= result.certificate.primal * (1 + 1e-14)
        assert again.dual == pytest.approx(result.certificate.dual, rel=1e-14)
        assert again.n_support == len(result.support) == result.certificate.n_support
