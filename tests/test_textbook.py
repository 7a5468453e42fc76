"""The textbooks' statements and algorithms, written down naively, beside what the package computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import gapless as gl
from gapless.solvers.base import Budget, Targets
from gapless.solvers.textbook.sampling import Order
from tests.solvers import driving

_rng = np.random.default_rng(3)
X = _rng.normal(size=(40, 3))
y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.7 * _rng.normal(size=40) > 0, 1.0, -1.0)
APART = X + 2.0 * y[:, None]  # separable
N, C, SEED = len(y), 0.7, 5
BOUND = st.floats(-10, 10)


def run(problem: gl.Problem, solver: gl.solvers.Solver, iterations: float) -> Any:
    """The solver's own engine after some iterations, without the loop."""
    return driving.run(solver, problem, iterations, seed=SEED)


def visits(epochs: int, sampling: str = "epochs") -> list[int]:
    """The samples that a stochastic solver visits from this seed."""
    order = Order(N, sampling, np.random.default_rng(SEED))
    return [int(i) for _ in range(epochs) for i in order.next(N)]


def hinge_sum(w: np.ndarray, b: float = 0.0) -> float:
    return float(np.maximum(0, 1 - y * (X @ w + b)).sum())


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
    assert problem.in_convention(result.certificate.primal) == pytest.approx(expected, rel=1e-12)


def test_the_hard_margin_meets_its_constraints_and_its_dual_has_no_upper_bound():
    problem = gl.Problem(APART, y, C=math.inf)
    result = gl.solve(problem, tol=1e-9)
    assert (y * (APART @ result.w + result.b)).min() >= 1 - 1e-9
    assert result.certificate.primal == pytest.approx(0.5 * result.w @ result.w)
    assert np.isinf(np.abs(problem.dual.upper - problem.dual.lower)).all()
    alpha = result.alpha()
    assert alpha.sum() - 0.5 * (alpha * y) @ APART @ APART.T @ (alpha * y) == pytest.approx(result.certificate.primal)


def test_the_optimal_slack_is_the_hinge_of_the_margin():
    result = gl.solve(gl.Problem(X, y, C=C))
    slack = result.kkt().slack
    assert_allclose(slack, np.maximum(0, 1 - y * result.decision_function(X)))
    assert result.certificate.primal == pytest.approx(0.5 * result.w @ result.w + C * slack.sum(), rel=1e-12)


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
    dual = result.certificate.dual
    assert alpha.sum() - 0.5 * alpha @ Q @ alpha == pytest.approx(dual)
    assert cost * (unit.sum() - unit @ Q @ unit / (2 * lam)) == pytest.approx(dual)
    assert cost * (-fenchel.sum() - fenchel @ Q @ fenchel / (2 * lam)) == pytest.approx(dual)
    for w in (X.T @ (alpha * y), X.T @ (unit * y) / lam, -X.T @ (fenchel * y) / lam):
        assert_allclose(w, result.w, atol=1e-4)


# Duality


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
    early = gl.solve(problem, "sgd", max_iter=3)
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
    new = _rng.normal(size=(7, 3))
    assert_allclose(result.decision_function(new), k(new, X[support]) @ result.beta[support] + result.b, atol=1e-8)
    again = gl.solve(gl.Problem(X[support], y[support], C=C, kernel=kernel), tol=1e-10)
    assert again.certificate.primal == pytest.approx(result.certificate.primal, rel=1e-8)


# Algorithms on the primal


def test_subgradient_is_the_masked_matrix_product_and_returns_the_best_iterate():
    problem = gl.Problem(X, y, C=C, intercept="none")
    w, best, values = np.zeros(3), (math.inf, np.zeros(3)), []
    for t in range(60):
        values.append(0.5 * w @ w + C * hinge_sum(w))
        if values[-1] < best[0]:
            best = (values[-1], w)
        v = w - C * (y * (y * (X @ w) < 1)) @ X
        w = w - 1 / (t + 1) * v
        w = w * min(1.0, math.sqrt(2 * best[0] / max(w @ w, 1e-300)))  # the ball that holds the optimum
    state = run(problem, gl.solvers.Subgradient(eta=1.0, t0=1.0), 60)
    assert_allclose(state.w, w, atol=1e-12)
    assert_allclose(state.point().w, best[1], atol=1e-12)
    assert (np.diff(values) > 0).any() and values[-1] > best[0]  # not a descent method


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
    for t, i in enumerate(visits(4)):
        eta = 1 / (t + t0)
        missed = y[i] * (X[i] @ w + b) < 1
        w = (1 - eta) * w + (eta * N * C * y[i] * X[i] if missed else 0.0)
        b = b + (eta * N * C * y[i] if missed else 0.0)
        if t >= 2 * N:  # the average starts anew after 1, 2, 4, … epochs
            tail_w.append(w)
            tail_b.append(b)
    last = gl.solvers.SGD(t0=t0, averaging="none")
    point = run(problem, last, 4).point()
    assert_allclose([*point.w, point.b], [*w, b], atol=1e-12)
    tail = gl.solvers.SGD(t0=t0, averaging="tail")
    point = run(problem, tail, 4).point()
    assert_allclose([*point.w, point.b], [*np.mean(tail_w, axis=0), np.mean(tail_b)], atol=1e-12)


def test_sgd_draws_uniformly_or_in_reshuffled_epochs():
    epochs = np.array(visits(3)).reshape(3, N)
    assert (np.sort(epochs, axis=1) == np.arange(N)).all() and (epochs[0] != epochs[1]).any()
    assert len(set(visits(1, "uniform"))) < N
    problem = gl.Problem(X, y, C=C, intercept="none")
    w = np.zeros(3)
    for t, i in enumerate(visits(2, "uniform")):
        w = (1 - 1 / (t + N)) * w + (N * C / (t + N) * y[i] * X[i] if y[i] * (X[i] @ w) < 1 else 0.0)
    solver = gl.solvers.SGD(averaging="none", sampling="uniform")
    assert_allclose(run(problem, solver, 2).point().w, w, atol=1e-12)


def test_pegasos_is_theta_over_lambda_t_and_the_average_of_all_iterates():
    lam = 0.1
    problem = gl.Problem(X, y, lam_mean=lam, intercept="none")
    theta, iterates = np.zeros(3), []
    for t, i in enumerate(visits(5, "uniform"), start=1):
        w = theta / (lam * t)
        iterates.append(w)
        if y[i] * (X[i] @ w) < 1:
            theta = theta + y[i] * X[i]
    average, last = (run(problem, gl.solvers.Pegasos(average=average), 5).point() for average in (True, False))
    assert_allclose(average.w, np.mean(iterates, axis=0), atol=1e-12)
    assert_allclose(last.w, theta / (lam * 5 * N), atol=1e-12)


@pytest.mark.parametrize("kernel", [None, gl.kernels.RBF(0.5)])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_a_qp_library_solves_primal_and_dual_to_the_same_value(intercept, kernel):
    problem = gl.Problem(X, y, C=C, intercept=intercept, kernel=kernel)
    values = [gl.solve(problem, gl.solvers.QP(form=form)).certificate.primal for form in ("primal", "dual")]
    assert_allclose(values, gl.solve(problem, "smo", tol=1e-9).certificate.primal, rtol=1e-6)


# Algorithms on the dual


def test_projected_gradient_is_a_step_of_one_over_l_and_a_clip():
    problem = gl.Problem(X, y, C=C, intercept="none")
    K = X @ X.T
    state = run(problem, gl.solvers.ProjectedGradient(), 20)
    assert pytest.approx(np.linalg.eigvalsh(K)[-1], rel=0.05) == state.L
    beta = np.zeros(N)
    for _ in range(20):
        beta = y * np.clip(y * (beta + (y - K @ beta) / state.L), 0, C)
    assert_allclose(state.beta, beta, atol=1e-12)


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
    state = run(problem, gl.solvers.CoordinateAscent(), 3)
    assert_allclose(state.beta, y * alpha, atol=1e-11)
    assert_allclose(state.f, y * (Q @ alpha), atol=1e-11)  # Qα is kept, not recomputed


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
    state = run(problem, gl.solvers.SDCA(shrinking=False), 3)
    assert_allclose(state.beta, y * alpha, atol=1e-11)
    assert_allclose(state.w, w, atol=1e-11)
    assert abs(state.beta[7]) == C


@pytest.mark.parametrize("sampling", ["epochs", "uniform"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_sdca_raises_the_dual_at_every_step(loss, sampling):
    problem = gl.Problem(X, y, C=C, intercept="regularized", loss=loss)
    solver = gl.solvers.SDCA(sampling=sampling)
    engine = solver.init(problem, None, np.random.default_rng(SEED))
    values, iterations = [], 0.0
    for _ in range(3 * N):
        iterations += engine.step(Budget(work=1.0), Targets()).iterations  # a sample a step
        beta = engine.point().beta
        separable = problem.loss.dual_value(problem.y, problem.cost, beta).sum()
        values.append(separable - 0.5 * beta @ (X @ X.T + 1.0) @ beta)
    assert iterations == pytest.approx(3) and (np.diff(values) >= -1e-12).all() and values[-1] > values[0]


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
    state = run(gl.Problem(X, y, C=C, kernel=kernel), gl.solvers.SMO(pairs=pairs), 25)
    assert_allclose(state.point().beta, beta, atol=1e-10)


# Kernels and feature maps


def test_training_and_prediction_touch_data_only_through_the_kernel():
    kernel = gl.kernels.RBF(0.5)
    new = _rng.normal(size=(5, 3))
    gram = kernel(np.vstack([X, new]))
    by_index = gl.solve(gl.Problem(np.arange(N)[:, None], y, C=C, kernel=gl.kernels.Precomputed(gram)), tol=1e-9)
    by_value = gl.solve(gl.Problem(X, y, C=C, kernel=kernel), tol=1e-9)
    expected = by_value.decision_function(new)
    assert_allclose(by_index.decision_function(np.arange(N, N + 5)[:, None]), expected, atol=1e-6)
    assert_allclose(gram[N:, :N] @ (by_value.alpha() * y) + by_value.b, expected, atol=1e-6)


def test_the_map_of_one_plus_dot_plus_dot_squared_has_one_plus_d_plus_d_squared_columns():
    psi = gl.features.Polynomial(degree=2, ordered=True).fit(X)
    Z = psi.transform(X)
    assert Z.shape[1] == 1 + 3 + 3**2
    assert_allclose(Z @ Z.T, 1 + X @ X.T + (X @ X.T) ** 2, rtol=1e-13, atol=1e-13)
    assert_allclose(psi.kernel()(X), Z @ Z.T, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("d", [5, 40, 200])
def test_the_kernel_reads_d_numbers_a_sample_where_the_map_makes_d_squared(d):
    Z = _rng.normal(size=(3, d))
    psi = gl.features.Polynomial(degree=2, ordered=True).fit(Z)
    products = []

    class Counting(gl.kernels.Linear):
        def block(self, X, Z):
            products.append(X.shape[1])
            return super().block(X, Z)

    kernel = psi.kernel().set_params(kernel=Counting())
    assert_allclose(kernel(Z), psi.transform(Z) @ psi.transform(Z).T, rtol=1e-11, atol=1e-11)
    assert products == [d]  # one inner product of length d an entry
    assert psi.n_output_features_ == 1 + d + d * d


def test_the_first_layers_of_a_network_are_a_feature_map():
    network = MLPClassifier((6,), activation="tanh", solver="lbfgs", max_iter=2000, random_state=0).fit(X, y)

    def first_layer(Z: np.ndarray) -> np.ndarray:
        return np.tanh(Z @ network.coefs_[0] + network.intercepts_[0])

    kernel = gl.kernels.FeatureMapKernel(first_layer)
    mapped = gl.solve(gl.Problem(first_layer(X), y, C=C), tol=1e-9)
    assert gl.solve(gl.Problem(X, y, C=C, kernel=kernel), tol=1e-9).certificate.primal == pytest.approx(
        mapped.certificate.primal, rel=1e-8
    )


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize(
    "phi",
    [
        gl.features.Polynomial(degree=2),
        gl.features.Polar(),
        gl.features.Distance(n_prototypes=5, random_state=0),
    ],
    ids=lambda phi: type(phi).__name__,
)
def test_linear_on_the_features_and_their_kernel_have_the_same_optimum(phi, intercept):
    phi = phi.fit(X)
    kernel = gl.kernels.FeatureMapKernel(phi)
    linear = gl.solve(gl.Problem(phi.transform(X), y, C=C, intercept=intercept), tol=1e-9)
    kernelised = gl.solve(gl.Problem(X, y, C=C, intercept=intercept, kernel=kernel), tol=1e-9)
    assert linear.certificate.primal == pytest.approx(kernelised.certificate.primal, rel=1e-8)
    assert_allclose(linear.decision_function(phi.transform(X)), kernelised.decision_function(X), atol=1e-3)
