from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import gapless as gl
from gapless.errors import InvalidInputError, TooLargeError
from gapless.solvers import ProjectedGradient
from gapless.solvers.textbook.spectrum import largest_eigenvalue
from tests.sample_problems import CATALOGUE
from tests.solvers.driving import assert_rises, drive

BOXES = [
    entry
    for entry in CATALOGUE.values()
    if entry.easy and entry.problem().intercept != "free" and not entry.problem().is_hard
]


@pytest.mark.parametrize("entry", BOXES, ids=lambda entry: entry.name)
def test_the_dual_rises_at_every_step(entry):
    reference = entry.reference()
    assert_rises([reference.dual(state.beta) for state in drive(ProjectedGradient(), entry.problem(), 60)])


@pytest.mark.parametrize(
    "name", ["hinge_none_C_mean", "rbf_regularized_squared_hinge", "tube_regularized_lam_sum", "weights_of_all_sizes"]
)
def test_the_step_is_one_over_the_largest_eigenvalue(name):
    entry = CATALOGUE[name]
    reference, dual = entry.reference(), entry.problem().dual
    shift = 1.0 if reference.intercept == "regularized" else 0.0
    bend = 0.0 if dual.epsilon.any() else dual.d  # what is not smooth is maximised inside the projection
    state = next(drive(ProjectedGradient(), entry.problem(), 0))
    assert (
        pytest.approx(
            np.linalg.eigvalsh(reference.K + shift + np.diag(bend * np.ones(len(reference.K))))[-1], rel=1e-13
        )
        == state.L
    )


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(("n", "d"), [(1500, 3), (30, 1200), (1100, 1200)])
@pytest.mark.parametrize("intercept", ["none", "regularized"])
def test_the_largest_eigenvalue_of_any_shape(intercept, n, d, storage):
    """By the d×d matrix, by the n×n matrix, and by Lanczos."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    problem = gl.Problem(
        X if storage == "dense" else sp.csr_array(X),
        y,
        loss="squared_hinge",
        intercept=intercept,
        sample_weight=1 + np.arange(n) % 3,
    )
    shift = 1.0 if intercept == "regularized" else 0.0
    for bend in (None, np.full(n, 0.5), np.asarray(problem.dual.d)):
        matrix = X @ X.T + shift + np.diag(np.zeros(n) if bend is None else bend)
        exact = scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=(n - 1, n - 1))[0]
        assert largest_eigenvalue(problem, None, bend) == pytest.approx(exact, rel=1e-12)
        K = X @ X.T + shift
        assert largest_eigenvalue(problem, K, bend) == pytest.approx(exact, rel=1e-12)


def test_the_step_of_the_textbook():
    """α ← clip(α + ε(1 − Qα), 0, C), ε = 1/L or as given; a given one that is too large stays what it is."""
    entry = CATALOGUE["hinge_none_C_mean"]
    reference = entry.reference()
    y, C, Q = reference.y, reference.cost[0], np.outer(reference.y, reference.y) * reference.K
    for eta in (None, 0.01, 1.0):
        alpha, values = np.zeros(len(y)), []
        states = drive(ProjectedGradient(eta=eta), entry.problem(), 30)
        L = next(states).L
        epsilon = 1 / L if eta is None else eta
        for state in states:
            alpha = np.clip(alpha + epsilon * (1 - Q @ alpha), 0.0, C)
            np.testing.assert_allclose(y * state.beta, alpha, atol=1e-12)
            values.append(reference.dual(state.beta))
        assert (np.diff(values) < -1e-9).any() == (eta == 1.0)


def test_a_step_that_runs_away_ends_at_a_number():
    problem = CATALOGUE["squared_hinge_none"].problem()
    result = gl.solve(problem, ProjectedGradient(eta=100.0), max_iter=500)
    assert result.status is gl.Status.STALLED and np.isfinite(result.certificate.primal)


def test_a_step_that_is_none_is_refused():
    with pytest.raises(InvalidInputError, match=r"^eta must be a positive number; got 0\.$"):
        ProjectedGradient(eta=0)


@pytest.mark.parametrize("name", ["hinge_none_C_mean", "squared_tube_regularized", "polynomial_none"])
def test_momentum_needs_fewer_iterations(name):
    problem = CATALOGUE[name].problem()
    plain, accelerated = (
        gl.solve(problem, ProjectedGradient(acceleration=value), check_every=25) for value in (False, True)
    )
    assert plain.status is accelerated.status is gl.Status.CONVERGED
    assert accelerated.iterations < 0.5 * plain.iterations
    assert accelerated.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-6)


def test_it_refuses_a_kernel_matrix_that_does_not_fit(monkeypatch):
    X, y = np.ones((20_000, 1)), np.arange(20_000) % 2
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 2**30)
    with pytest.raises(TooLargeError) as caught:
        gl.solve(gl.Problem(X, y, kernel=gl.kernels.RBF(), intercept="none"), "projected_gradient")
    assert str(caught.value) == (
        "projected_gradient holds the whole kernel matrix: 20,000 x 20,000 in float64, which needs 2.98 GiB, "
        "but only 1.00 GiB of memory is available."
    )
    # A linear problem needs X(Xᵀβ) alone.
    assert gl.solve(gl.Problem(X, y, intercept="none"), "projected_gradient", max_iter=2).certificate.primal < np.inf
