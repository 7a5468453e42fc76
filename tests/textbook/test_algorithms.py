"""The textbooks' algorithms, written down naively, beside what the package computes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gapless as gl
from tests.textbook.samples import C, N, X, hinge_sum, run, visits, y

# On the primal


def test_subgradient_is_the_masked_matrix_product_and_returns_the_best_iterate():
    problem = gl.Problem(X, y, C=C, intercept="none")
    w, visited = np.zeros(3), [np.zeros(3)]
    for t in range(1, 61):
        v = w - C * (y * (y * (X @ w) < 1)) @ X
        w = w - 1 / t * v
        visited.append(w)
    values = [0.5 * w @ w + C * hinge_sum(w) for w in visited]
    result = run(problem, gl.solvers.Subgradient(eta=1.0), 60, check_every=1)
    assert_allclose(result.trace.primal, values, rtol=1e-12)
    assert_allclose(result.w, visited[int(np.argmin(values))], atol=1e-12)
    assert (np.diff(values) > 0).any() and values[-1] > min(values)  # not a descent method


def test_step_rules_a_constant_step_reaches_only_a_neighbourhood():
    problem = gl.Problem(X, y, C=C, intercept="none")
    gaps = {
        rule: gl.solve(problem, gl.solvers.Subgradient(rule, eta=0.5 if rule == "constant" else 1.0), max_iter=2000)
        for rule in ("constant", "decay", "search")
    }
    optimum = gl.solve(problem, "smo", tol=1e-12).certificate.primal
    excess = {rule: result.certificate.primal / optimum - 1 for rule, result in gaps.items()}
    assert excess["decay"] < 1e-3 and excess["search"] < 1e-2
    assert excess["constant"] > 3 * excess["decay"]


def test_sgd_shrinks_w_and_moves_w_and_b_when_the_margin_is_missed():
    problem = gl.Problem(X, y, C=C)
    w, b, t0 = np.zeros(3), 0.0, 100.0
    tail_w, tail_b = [], []
    for t, i in enumerate(visits(4), start=1):
        eta = 1 / (t + t0)
        missed = y[i] * (X[i] @ w + b) < 1
        w = (1 - eta) * w + (eta * N * C * y[i] * X[i] if missed else 0.0)
        b = b + (eta * N * C * y[i] if missed else 0.0)
        if t > 2 * N:  # the average starts anew after 1, 2, 4, … epochs
            tail_w.append(w)
            tail_b.append(b)
    last = gl.solvers.SGD(t0=t0, averaging="none")
    point = run(problem, last, 4)
    assert_allclose([*point.w, point.b], [*w, b], atol=1e-12)
    tail = gl.solvers.SGD(t0=t0, averaging="tail")
    point = run(problem, tail, 4)
    assert_allclose([*point.w, point.b], [*np.mean(tail_w, axis=0), np.mean(tail_b)], atol=1e-12)


def test_sgd_draws_uniformly_or_in_reshuffled_epochs():
    epochs = np.array(visits(3)).reshape(3, N)
    assert (np.sort(epochs, axis=1) == np.arange(N)).all() and (epochs[0] != epochs[1]).any()
    assert len(set(visits(1, "uniform"))) < N
    problem = gl.Problem(X, y, C=C, intercept="none")
    w = np.zeros(3)
    for t, i in enumerate(visits(2, "uniform"), start=1):
        w = (1 - 1 / (t + N)) * w + (N * C / (t + N) * y[i] * X[i] if y[i] * (X[i] @ w) < 1 else 0.0)
    solver = gl.solvers.SGD(averaging="none", sampling="uniform")
    assert_allclose(run(problem, solver, 2).w, w, atol=1e-12)


def test_pegasos_is_theta_over_lambda_t_and_the_average_of_all_iterates():
    lam = 0.1
    problem = gl.Problem(X, y, lam_mean=lam, intercept="none")
    theta, iterates = np.zeros(3), []
    for t, i in enumerate(visits(5, "uniform"), start=1):
        w = theta / (lam * t)
        iterates.append(w)
        if y[i] * (X[i] @ w) < 1:
            theta = theta + y[i] * X[i]
    average, last = (run(problem, gl.solvers.Pegasos(average=average), 5) for average in (True, False))
    assert_allclose(average.w, np.mean(iterates, axis=0), atol=1e-12)
    assert_allclose(last.w, theta / (lam * (5 * N + 1)), atol=1e-12)  # the next iterate


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.5)])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_a_qp_library_solves_primal_and_dual_to_the_same_value(intercept, kernel):
    problem = gl.Problem(X, y, C=C, intercept=intercept, kernel=kernel)
    values = [gl.solve(problem, gl.solvers.QP(form=form)).certificate.primal for form in ("primal", "dual")]
    assert_allclose(values, gl.solve(problem, "smo", tol=1e-9).certificate.primal, rtol=1e-6)


# On the dual


def test_projected_gradient_is_a_step_of_one_over_l_and_a_clip():
    problem = gl.Problem(X, y, C=C, intercept="none")
    K = X @ X.T
    L = np.linalg.eigvalsh(K)[-1]
    beta = np.zeros(N)
    for _ in range(20):
        beta = y * np.clip(y * (beta + (y - K @ beta) / L), 0, C)
    assert_allclose(run(problem, gl.solvers.ProjectedGradient(), 20).beta, beta, atol=1e-12)


def test_nesterov_acceleration_needs_fewer_steps():
    problem = gl.Problem(X, y, C=C, intercept="none")
    plain, fast = (gl.solve(problem, gl.solvers.ProjectedGradient(acceleration=on)) for on in (False, True))
    assert plain.status is fast.status is gl.Status.CONVERGED
    assert fast.iterations < plain.iterations


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.5)])
def test_coordinate_ascent_is_the_clipped_newton_step_on_q(kernel):
    problem = gl.Problem(X, y, C=C, intercept="none", kernel=kernel)
    Q = np.outer(y, y) * (X @ X.T if kernel is None else kernel(X))
    alpha = np.zeros(N)
    for k in visits(3):
        alpha[k] = np.clip(alpha[k] + (1 - Q[k] @ alpha) / Q[k, k], 0, C)
    assert_allclose(run(problem, gl.solvers.CoordinateAscent(), 3).alpha(), alpha, atol=1e-12)


def test_sdca_keeps_w_and_a_zero_row_goes_to_its_bound():
    rows = X.copy()
    rows[7] = 0.0
    problem = gl.Problem(rows, y, C=C, intercept="none")
    alpha, w = np.zeros(N), np.zeros(3)
    for i in visits(3):
        square = rows[i] @ rows[i]
        new = C if square == 0 else np.clip(alpha[i] + (1 - y[i] * (w @ rows[i])) / square, 0, C)
        w += (new - alpha[i]) * y[i] * rows[i]
        alpha[i] = new
    result = run(problem, gl.solvers.SDCA(shrinking=False, second_order=False), 3)
    assert_allclose(result.alpha(), alpha, atol=1e-12)
    assert_allclose(result.w, w, atol=1e-12)
    assert result.alpha()[7] == C


@pytest.mark.parametrize("sampling", ["epochs", "uniform", "cyclic"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_sdca_raises_the_dual_at_every_step(loss, sampling):
    problem = gl.Problem(X, y, C=C, intercept="regularized", loss=loss)
    trace = run(problem, gl.solvers.SDCA(sampling=sampling), 3, check_every=1 / N).trace  # a sample a step
    assert len(trace) == 3 * N + 1 and trace.iterations[-1] == pytest.approx(3)
    assert (np.diff(trace.dual) >= -1e-12).all() and trace.dual[-1] > trace.dual[0]


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.5)])
@pytest.mark.parametrize("pairs", ["second_order", "maximal_violation"])
def test_smo_moves_the_pair_that_the_kkt_conditions_choose_in_closed_form(pairs, kernel):
    K = X @ X.T if kernel is None else kernel(X)
    lower, upper = np.minimum(C * y, 0), np.maximum(C * y, 0)
    beta = np.zeros(N)
    for _ in range(25):
        v = y - K @ beta
        can_rise, can_fall = np.flatnonzero(beta < upper), np.flatnonzero(beta > lower)
        i = can_rise[np.argmax(v[can_rise])]
        others = can_fall[v[can_fall] < v[i]]
        eta = K[i, i] + np.diag(K)[others] - 2 * K[i, others]
        gain = (v[i] - v[others]) ** 2 / eta if pairs == "second_order" else v[i] - v[others]
        j, curvature = others[np.argmax(gain)], eta[np.argmax(gain)]
        step = min((v[i] - v[j]) / curvature, upper[i] - beta[i], beta[j] - lower[j])
        beta[i], beta[j] = beta[i] + step, beta[j] - step
    result = run(gl.Problem(X, y, C=C, kernel=kernel), gl.solvers.SMO(pairs=pairs), 25)
    assert_allclose(result.beta, beta, atol=1e-12)
