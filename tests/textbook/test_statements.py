"""What the textbooks state of the primal, the dual and the way back, written down naively, beside what the package computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import gapless as gl
from tests.textbook.samples import APART, RNG, C, N, X, hinge_sum, y

BOUND = st.floats(-10, 10)


# Formulations


@pytest.mark.parametrize(
    ("name", "value", "objective"),
    [
        ("C", C, lambda w, xi: 0.5 * w @ w + C * xi),
        ("C_mean", C * N, lambda w, xi: 0.5 * w @ w + (C * N / N) * xi),
        ("lam_mean", 1 / (C * N), lambda w, xi: 0.5 / (C * N) * w @ w + xi / N),
        ("lam_mean_full", 0.5 / (C * N), lambda w, xi: 0.5 / (C * N) * w @ w + xi / N),
        ("lam_sum", 1 / C, lambda w, xi: 0.5 / C * w @ w + xi),
    ],
)
def test_five_regularisations_are_one_problem_read_in_five_ways(name, value, objective):
    problem = gl.Problem(X, y, **{name: value})
    result = gl.solve(problem, tol=1e-10)
    assert_allclose(result.w, gl.solve(gl.Problem(X, y, C=C), tol=1e-10).w, atol=1e-6)
    expected = objective(result.w, hinge_sum(result.w, result.b))
    assert result.trace.primal[-1] == pytest.approx(expected, rel=1e-12)
    assert problem.primal(result.w, result.b) == pytest.approx(expected, rel=1e-13)
    proven = result.certificate.point
    expected = objective(proven.w, hinge_sum(proven.w, proven.b))
    assert result.certificate.primal == pytest.approx(expected, rel=1e-12)


def test_the_hard_margin_meets_its_constraints_and_its_dual_has_no_upper_bound():
    problem = gl.Problem(APART, y, C=math.inf)
    result = gl.solve(problem, tol=1e-9).certified
    assert (y * (APART @ result.w + result.b)).min() >= 1 - 1e-9
    assert result.certificate.primal == pytest.approx(0.5 * result.w @ result.w)
    assert np.isinf(np.abs(problem.dual.upper - problem.dual.lower)).all()
    alpha = result.alpha()
    assert alpha.sum() - 0.5 * (alpha * y) @ APART @ APART.T @ (alpha * y) == pytest.approx(result.certificate.primal)


def test_the_optimal_slack_is_the_hinge_of_the_margin():
    result = gl.solve(gl.Problem(X, y, C=C))
    slack = result.kkt().slack
    assert_allclose(slack, np.maximum(0, 1 - y * result.decision_function(X)))
    assert result.trace.primal[-1] == pytest.approx(0.5 * result.w @ result.w + C * slack.sum(), rel=1e-12)


def test_a_free_intercept_makes_the_dual_variables_sum_to_zero():
    result = gl.solve(gl.Problem(X, y, C=C))
    assert abs(result.beta.sum()) <= 1e-14 * N


def test_the_regularised_intercept_is_a_column_of_ones():
    augmented = gl.solve(gl.Problem(np.column_stack([X, np.ones(N)]), y, C=C, intercept="none"), tol=1e-11)
    named = gl.solve(gl.Problem(X, y, C=C, intercept="regularized"), tol=1e-11)
    assert_allclose([*named.w, named.b], augmented.w, atol=1e-6)
    assert named.certificate.primal == pytest.approx(augmented.certificate.primal, rel=1e-10)


@pytest.mark.parametrize("free", [True, False])
def test_the_logistic_loss_is_scikit_learns_logistic_regression(free):
    result = gl.solve(gl.Problem(X, y, loss="logistic", C=C, intercept="free" if free else "none"), tol=1e-10)
    theirs = LogisticRegression(C=C, fit_intercept=free, tol=1e-10).fit(X, y)
    assert_allclose(result.w, theirs.coef_[0], atol=1e-4)
    assert result.b == pytest.approx(float(np.ravel(theirs.intercept_)[0]), abs=1e-4)


@pytest.mark.parametrize("regularization", [{"C": C}, {"C_mean": 30.0}, {"lam_mean": 0.05}, {"lam_sum": 2.0}])
def test_alpha_in_its_three_scalings_states_one_dual(regularization):
    problem = gl.Problem(X, y, intercept="none", **regularization)
    result = gl.solve(problem, tol=1e-10)
    cost, lam = problem.unit_cost, 1 / problem.unit_cost
    Q = np.diag(y) @ X @ X.T @ np.diag(y)
    alpha, unit, fenchel = (result.alpha(scaling) for scaling in ("C", "unit", "fenchel"))
    assert alpha.min() >= 0 and alpha.max() <= cost
    assert unit.min() >= 0 and unit.max() <= 1
    assert fenchel.min() >= -1 and fenchel.max() <= 0
    dual = problem.in_convention(result.certificate.dual, "C")
    assert alpha.sum() - 0.5 * alpha @ Q @ alpha == pytest.approx(dual)
    assert cost * (unit.sum() - unit @ Q @ unit / (2 * lam)) == pytest.approx(dual)
    assert cost * (-fenchel.sum() - fenchel @ Q @ fenchel / (2 * lam)) == pytest.approx(dual)
    for w in (X.T @ (alpha * y), X.T @ (unit * y) / lam, -X.T @ (fenchel * y) / lam):
        assert_allclose(w, result.w, atol=1e-4)


# Duality


@example(np.zeros(3), 0.0, np.full(N, 1.37e-250))  # whose squares underflow
@given(arrays(float, 3, elements=BOUND), BOUND, arrays(float, N, elements=st.floats(0, 1)))
def test_weak_duality_at_every_pair_of_points(w, b, share):
    alpha = C * share
    for label in (1, -1):  # bring the heavier class down to Σ αᵢyᵢ = 0
        excess = float(alpha @ y) * label
        if excess > 0:
            alpha[y == label] *= 1 - excess / alpha[y == label].sum()
    dual = alpha.sum() - 0.5 * ((alpha * y) @ X) @ (X.T @ (alpha * y))
    assert dual <= 0.5 * w @ w + C * hinge_sum(w, b) + 1e-9
    certificate = gl.certify(gl.Problem(X, y, C=C), gl.Point(beta=alpha * y, w=w, b=b))
    assert certificate.dual >= dual - 1e-9
    assert certificate.primal <= 0.5 * w @ w + C * hinge_sum(w, b) + 1e-9


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smoothed_hinge", "logistic"])
def test_strong_duality_both_bounds_meet(loss, intercept):
    result = gl.solve(gl.Problem(X, y, C=C, loss=loss, intercept=intercept), tol=1e-10)
    assert result.status is gl.Status.CONVERGED
    assert result.certificate.gap + 1e-12 >= 0 and result.certificate.relative_gap <= 1e-10


def test_the_five_kkt_residuals_vanish_at_the_optimum_and_add_up_to_the_gap_before():
    problem = gl.Problem(X, y, C=C)
    optimum = gl.solve(problem, tol=1e-12).kkt()
    names = ("stationarity", "primal_inequality", "equality", "dual_feasibility", "complementary_slackness")
    assert max(getattr(optimum, name) for name in names) <= 1e-5
    early = gl.solve(problem, "sgd", max_iter=3).certified
    report = early.kkt()
    gap = report.complementarity.sum() + 0.5 * report.stationarity**2
    assert gap == pytest.approx(early.certificate.gap, rel=1e-9) and gap > 1e-3


def test_alpha_tells_on_which_side_of_the_margin_a_sample_lies():
    report = gl.solve(gl.Problem(X, y, C=C), tol=1e-12).kkt()
    assert set(report.role) == {"none", "free", "bound"}
    assert (report.margin[report.role == "none"] >= 1 - 1e-5).all() and (report.alpha[report.role == "none"] == 0).all()
    assert_allclose(report.margin[report.role == "free"], 1, atol=1e-5)
    assert (report.margin[report.role == "bound"] <= 1 + 1e-5).all()
    assert_allclose(report.alpha[report.role == "bound"], C)


def test_back_to_the_primal_w_is_the_sum_and_b_the_average_over_free_samples():
    result = gl.solve(gl.Problem(X, y, C=C), tol=1e-12)
    assert_allclose(result.w, (result.alpha() * y) @ X, atol=1e-10)
    free = result.kkt().role == "free"
    assert result.b == pytest.approx(float(np.mean(y[free] - X[free] @ result.w)), abs=1e-5)


def test_where_no_sample_is_free_every_b_of_the_interval_is_optimal():
    result = gl.solve(gl.Problem([[-1.0], [1.0]], [-1, 1], C=0.1))
    assert (result.kkt().role == "bound").all()
    low, high = result.certificate.b_interval
    assert (low, high) == pytest.approx((-0.8, 0.8))

    def primal(b: float) -> float:
        return 0.5 * result.w[0] ** 2 + 0.1 * sum(max(0, 1 - s * (result.w[0] * s + b)) for s in (-1, 1))

    for b in (low, 0.3, high):
        assert primal(b) == pytest.approx(result.certificate.primal, rel=1e-12)
    assert min(primal(low - 0.1), primal(high + 0.1)) > result.certificate.primal + 1e-3


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.5)])
def test_the_support_vectors_alone_are_the_model(kernel):
    result = gl.solve(gl.Problem(X, y, C=C, kernel=kernel), tol=1e-10)
    support = result.support
    assert 0 < len(support) < N and (result.beta[support] != 0).all()
    k = gl.kernels.Linear() if kernel is None else kernel
    new = RNG.normal(size=(7, 3))
    assert_allclose(result.decision_function(new), k(new, X[support]) @ result.beta[support] + result.b, atol=1e-8)
    again = gl.solve(gl.Problem(X[support], y[support], C=C, kernel=kernel), tol=1e-10)
    assert again.certificate.primal == pytest.approx(result.certificate.primal, rel=1e-8)
