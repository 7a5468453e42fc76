from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import gapless as gl
from gapless import kernels
from gapless.losses import LOSSES
from gapless.proof.certificate import evaluate
from gapless.proof.kkt import kkt

INTERCEPTS = ("free", "regularized", "none")
RESIDUALS = ("stationarity", "primal_inequality", "equality", "dual_feasibility", "complementary_slackness")
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)


def make(loss="hinge", kernel=None, intercept="free", C=0.7, n=30, seed=0) -> gl.Problem:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.normal(size=(n, 3)) + 0.7 * y[:, None]
    if LOSSES[loss].task == "regression":
        y = X.sum(axis=1) + rng.normal(size=n)
    return gl.Problem(X, y, loss=loss, kernel=kernel, intercept=intercept, intercept_scale=1.5, C=C)


@every_loss
@every_intercept
@settings(max_examples=10)
@given(kernel=st.sampled_from([None, kernels.RBF(0.3)]), seed=st.integers(0, 10**6))
def test_complementarities_and_stationarity_add_up_to_the_gap(loss, intercept, kernel, seed):
    problem = make(loss, kernel, intercept, n=10)
    rng = np.random.default_rng(seed)
    _, dual = evaluate(problem, gl.Point(beta=rng.normal(size=10)))
    other = 0.2 * rng.normal(size=10)
    b = 0.0 if intercept == "none" else float(rng.normal())
    w, expansion = (problem.weights(other), None) if kernel is None else (None, other)
    report = kkt(problem, gl.Point(beta=dual.beta, w=w, b=b, expansion=expansion))
    K = problem.X @ problem.X.T if kernel is None else kernel(problem.X)
    square = other @ K @ other + (b**2 / 1.5**2 if intercept == "regularized" else 0.0)
    primal = 0.5 * square + problem.cost @ problem.loss.value(problem.y, K @ other + b)
    assert (report.complementarity >= -1e-12).all()
    total = report.complementarity.sum() + 0.5 * report.stationarity**2
    assert total == pytest.approx(primal - dual.value, rel=1e-10)


@every_loss
@every_intercept
@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
def test_the_five_residuals_vanish_at_the_optimum(loss, intercept, kernel):
    result = gl.solve(make(loss, kernel, intercept), "smo", tol=1e-13)
    report = result.kkt()
    for name in RESIDUALS:
        assert 0.0 <= getattr(report, name) <= 1e-6, name
    if result.certificate.own_weights:
        assert report.stationarity <= 1e-9


@every_intercept
@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
def test_the_textbooks_three_cases(intercept, kernel):
    """α = 0 ⇒ y f ≥ 1, 0 < α < C ⇒ y f = 1, α = C ⇒ y f ≤ 1."""
    problem = make("hinge", kernel, intercept)
    report = gl.solve(problem, "smo", tol=1e-10).kkt()
    roles = {role: report.role == role for role in ("none", "free", "bound")}
    assert all(of_role.any() for of_role in roles.values())
    assert (report.margin[roles["none"]] >= 1 - 1e-6).all()
    assert_allclose(report.margin[roles["free"]], 1.0, atol=1e-6)
    assert (report.margin[roles["bound"]] <= 1 + 1e-6).all()
    assert (report.alpha[roles["none"]] == 0.0).all()
    assert (report.alpha[roles["free"]] > 0.0).all() and (report.alpha[roles["free"]] < 0.7).all()
    assert_allclose(report.alpha[roles["bound"]], 0.7, rtol=1e-11)
    assert_allclose(report.slack, np.maximum(0.0, 1.0 - report.margin), atol=1e-15)


@every_intercept
def test_the_three_cases_of_a_regression(intercept):
    """β = 0 inside the tube, 0 < |β| < C on its border, |β| = C outside."""
    report = gl.solve(make("epsilon_insensitive", None, intercept), "smo", tol=1e-10).kkt()
    assert (report.margin[report.role == "none"] >= -1e-6).all()
    assert_allclose(report.margin[report.role == "free"], 0.0, atol=1e-6)
    assert (report.margin[report.role == "bound"] <= 1e-6).all()
    assert_allclose(report.slack, np.maximum(0.0, -report.margin), atol=1e-15)


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_squared_losses_have_no_bound(loss):
    report = gl.solve(make(loss), "smo", tol=1e-10).kkt()
    assert set(report.role) == {"none", "free"}
    assert_allclose(report.alpha, 2 * 0.7 * report.slack, atol=1e-4)


@pytest.mark.parametrize("kernel", [None, kernels.RBF(0.3)], ids=repr)
def test_the_intercept_is_the_mean_over_free_support_vectors(kernel):
    """b = y − ⟨w, φ(x)⟩ at every free support vector."""
    problem = make("hinge", kernel)
    result = gl.solve(problem, "smo", tol=1e-10)
    free = result.kkt().role == "free"
    assert free.any()
    without = result.decision_function(problem.X) - result.b
    assert result.b == pytest.approx(float((problem.y - without)[free].mean()), abs=1e-6)


def test_the_hinge_complementarity_is_the_textbooks():
    problem = make("hinge", n=10)
    rng = np.random.default_rng(3)
    alpha = 0.7 * rng.random(10)
    point = gl.Point(beta=problem.y * alpha, w=rng.normal(size=3), b=0.2)
    report = kkt(problem, point)
    margin = problem.y * (problem.X @ point.w + 0.2)
    slack = np.maximum(0.0, 1.0 - margin)
    assert_allclose(report.complementarity, alpha * (margin - 1 + slack) + (0.7 - alpha) * slack, atol=1e-12)
    assert report.equality == pytest.approx(abs(point.beta.sum()))
    assert report.stationarity == pytest.approx(np.linalg.norm(point.w - problem.weights(point.beta)))
    assert report.complementary_slackness == report.complementarity.max()


def test_what_is_not_given_follows_from_what_is():
    problem = make("hinge", n=10)
    beta = 0.1 * problem.y
    report = kkt(problem, gl.Point(beta=beta))
    assert report.stationarity == 0.0
    assert_allclose(report.margin, problem.y * (problem.X @ problem.weights(beta)))
    nothing = kkt(problem, gl.Point(w=np.zeros(3)))
    assert set(nothing.role) == {"none"} and (nothing.slack == 1.0).all()
    assert nothing.complementarity.sum() == pytest.approx(7.0)  # the gap of the zero point, C n


def test_a_point_outside_the_box_shows_in_its_residual():
    problem = make("hinge", n=10)
    beta = 0.7 * problem.y
    beta[0] = 1.2 * problem.y[0]
    beta[1] = -0.1 * problem.y[1]
    assert kkt(problem, gl.Point(beta=beta)).dual_feasibility == pytest.approx(0.5)


def test_a_hard_margin_shows_its_violations():
    X, y = [[-2.0], [-1.0], [1.0]], [0, 0, 1]
    problem = gl.Problem(X, y, C=np.inf)
    report = kkt(problem, gl.Point(beta=np.zeros(3), w=np.array([0.5]), b=0.0))
    assert report.primal_inequality == 0.5
    solved = gl.solve(problem, tol=1e-12).kkt()
    assert solved.primal_inequality <= 1e-9
    assert solved.role.tolist() == ["none", "free", "free"]


def test_the_report_prints_residuals_and_roles():
    report = gl.solve(gl.Problem([[-2.0], [-1.0], [1.0]], [0, 0, 1], C=10.0)).kkt()
    lines = str(report).splitlines()
    assert [line.split()[0] for line in lines] == [*RESIDUALS, "roles"]
    assert lines[-1].split(maxsplit=1)[1] == "1 none, 2 free, 0 bound"
