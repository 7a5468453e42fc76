"""Values at any point, as the formulas of the texts give them, in the convention that a problem was stated in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError

N = 40
CONVENTIONS = ("C", "C_mean", "lam_mean", "lam_mean_full", "lam_sum")


def forty_samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, 3))
    return X, np.sign(X @ [1.0, -1.0, 0.5] + 0.4 * rng.normal(size=N))


def stated_primal(convention: str, value: float, w: np.ndarray, losses: np.ndarray) -> float:
    """The five objectives as the texts write them."""
    square, total, n = float(w @ w), float(losses.sum()), len(losses)
    return {
        "C": 0.5 * square + value * total,
        "C_mean": 0.5 * square + value / n * total,
        "lam_mean": value / 2 * square + total / n,
        "lam_mean_full": value * square + total / n,
        "lam_sum": value / 2 * square + total,
    }[convention]


def stated_dual(convention: str, value: float, alpha: np.ndarray, Q: np.ndarray) -> float:
    """The Lagrange duals of the five."""
    scale = {"C": 1.0, "C_mean": 1.0, "lam_mean": value, "lam_mean_full": 2 * value, "lam_sum": value}[convention]
    return float(alpha.sum() - alpha @ Q @ alpha / (2 * scale))


def box(convention: str, value: float) -> float:
    return {"C": value, "C_mean": value / N, "lam_mean": 1 / N, "lam_mean_full": 1 / N, "lam_sum": 1.0}[convention]


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_hinge_at_random_points(convention, intercept):
    X, y = forty_samples()
    rng = np.random.default_rng(1)
    problem = gl.Problem(X, y, intercept=intercept, **{convention: 0.7})
    w, b = rng.normal(size=3), 0.0 if intercept == "none" else 0.3
    losses = np.maximum(0, 1 - y * (X @ w + b))
    extended = np.append(w, b) if intercept == "regularized" else w
    assert problem.primal(w, b) == pytest.approx(stated_primal(convention, 0.7, extended, losses), rel=1e-14)
    Q = np.outer(y, y) * (X @ X.T + (intercept == "regularized"))
    assert_allclose(problem.Q, Q, rtol=1e-13, atol=1e-13)
    top = box(convention, 0.7)
    alpha = top * rng.uniform(size=N)
    if intercept == "free":  # Σ αᵢyᵢ = 0
        heavier = y == np.sign(alpha @ y)
        alpha[heavier] *= 1 - abs(alpha @ y) / alpha[heavier].sum()
    assert problem.dual_function(alpha) == pytest.approx(stated_dual(convention, 0.7, alpha, Q), rel=1e-12)
    outside = alpha + 2 * top
    assert problem.dual_function(outside) == -math.inf
    plain = stated_dual(convention, 0.7, outside, Q)
    assert problem.dual_function(outside, anywhere=True) == pytest.approx(plain, rel=1e-12)
    assert problem.dual_function(alpha) <= problem.primal(w, b)
    certificate = gl.certify(problem, gl.Point(beta=problem.signed(alpha), w=w, b=b))
    assert certificate.dual >= problem.dual_function(alpha) * (1 - 1e-12) - 1e-12
    assert certificate.primal <= problem.primal(w, b) * (1 + 1e-12)


def test_a_free_dual_point_off_its_sum_is_not_feasible():
    X, y = forty_samples()
    alpha = np.where(np.arange(N) == 0, 0.5, 0.0)
    assert gl.Problem(X, y).dual_function(alpha) == -math.inf
    assert gl.Problem(X, y).dual_function(alpha, anywhere=True) == pytest.approx(0.5 - 0.125 * X[0] @ X[0])


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.3)], ids=["linear", "rbf"])
def test_other_losses_and_kernels(loss, kernel):
    X, y = forty_samples()
    problem = gl.Problem(X, y, loss=loss, kernel=kernel, lam_sum=2.0, intercept="none")
    result = gl.solve(problem, "smo", tol=1e-9)
    w = result.w if kernel is None else result.expansion
    alpha = result.alpha() if problem.classes is not None else 2.0 * result.beta
    assert result.trace.primal[-1] == pytest.approx(problem.primal(w, result.b), rel=1e-12)
    assert result.trace.dual[-1] == pytest.approx(problem.dual_function(alpha), rel=1e-12)
    assert problem.primal(w, result.b) == pytest.approx(problem.dual_function(alpha), rel=1e-4)


def test_the_lagrangian_between_primal_and_dual():
    """L(w, b, ξ, α, μ) is P where the slacks are the hinges and the multipliers vanish, D at its minimiser, and between them at a saddle point."""
    X, y = forty_samples()
    problem = gl.Problem(X, y, C_mean=4.0)
    result = gl.solve(problem, tol=1e-12)
    kkt = result.kkt()
    assert_allclose(kkt.alpha + kkt.slack_multiplier, 4.0 / N)
    w, b, zero = result.w, result.b, np.zeros(N)
    assert problem.lagrangian(w, b, kkt.slack, zero, zero) == pytest.approx(problem.primal(w, b), rel=1e-13)
    saddle = problem.lagrangian(w, b, kkt.slack, kkt.alpha, kkt.slack_multiplier)
    assert saddle == pytest.approx(result.certificate.primal, rel=1e-5)
    rng = np.random.default_rng(2)
    for _ in range(20):  # with w = Σ αᵢyᵢxᵢ, Σ αᵢyᵢ = 0 and α + μ = C/n the minimum over (w, b, ξ) is the dual function
        at = problem.lagrangian(
            w + rng.normal(size=3), rng.normal(), rng.normal(size=N), kkt.alpha, kkt.slack_multiplier
        )
        assert at >= problem.dual_function(kkt.alpha) - 1e-6
    with pytest.raises(UnsupportedError) as error:
        gl.Problem(X, y, loss="logistic").lagrangian(w, b, zero, zero, zero)
    assert str(error.value) == "lagrangian is that of the hinge loss with slacks; this problem has logistic."


def test_a_hard_margin_that_is_missed_costs_infinitely_much():
    problem = gl.Problem([[-1.0], [1.0]], [0, 1], C=math.inf)
    assert problem.primal([1.0]) == 0.5 and problem.primal([0.9]) == math.inf
    assert problem.dual_function([0.5, 0.5]) == 0.5 and problem.dual_function([50.0, 50.0]) == 100.0 - 0.5 * 100.0**2


def test_points_of_the_wrong_shape_are_refused():
    problem = gl.Problem(*forty_samples())
    for call, message in (
        (lambda: problem.primal([1.0]), "w must have the shape (3,); got (1,)."),
        (lambda: problem.dual_function(np.zeros(3)), "alpha must have the shape (40,); got (3,)."),
    ):
        with pytest.raises(InvalidInputError) as error:
            call()
        assert str(error.value) == message


def test_forty_samples_by_projected_gradient():
    """Step 1/L on max αᵀ1 − (1/2λ)αᵀQα, α ∈ [0,1]ⁿ: what the trace, the result and the steps show is the run by hand, to the digit."""
    X, y = forty_samples()
    lam = 0.5
    Q = np.outer(y, y) * (X @ X.T)
    step = lam / np.linalg.eigvalsh(Q)[-1]
    alpha, values, points = np.zeros(N), [0.0], [np.zeros(N)]
    for _ in range(5):
        alpha = np.clip(alpha + step * (1 - Q @ alpha / lam), 0, 1)
        values.append(alpha.sum() - alpha @ Q @ alpha / (2 * lam))
        points.append(alpha)
    problem = gl.Problem(X, y, lam_sum=lam, intercept="none")
    result = gl.solve(problem, "projected_gradient", tol=0, max_iter=5, check_every=1)
    assert_allclose(result.trace.dual, values, rtol=1e-12, atol=1e-13)
    assert_allclose(result.alpha(), alpha, rtol=1e-12)
    seen = list(gl.steps(problem, "projected_gradient", max_steps=5))
    for one, by_hand, value in zip(seen, points, values, strict=True):
        assert_allclose(one.alpha, by_hand, rtol=1e-12, atol=1e-15)
        assert one.dual == pytest.approx(value, rel=1e-12, abs=1e-13)
    # Five runs of one step from each other's result are one run of five steps.
    one = None
    for _ in range(5):
        one = gl.solve(problem, "projected_gradient", tol=0, max_iter=1, start=one)
    assert_allclose(one.alpha(), alpha, rtol=1e-12)
    # The certificate's bounds are of a point of its own, and better.
    point = result.certificate.point
    assert result.certificate.dual > result.trace.dual[-1]
    best = problem.dual_function(lam * np.abs(point.beta))
    assert result.certificate.dual == pytest.approx(best, rel=1e-12)
    assert problem.primal(point.w) == pytest.approx(result.certificate.primal, rel=1e-12)
    all_of_them = np.full(N, 0.9)
    by_hand = all_of_them.sum() - all_of_them @ Q @ all_of_them / (2 * lam)
    assert by_hand < 0 and problem.dual_function(all_of_them) == pytest.approx(by_hand, rel=1e-13)
    assert gl.certify(problem, gl.Point(beta=problem.signed(all_of_them))).dual > 0
