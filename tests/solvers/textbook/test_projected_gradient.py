from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import TooLargeError
from gapless.solvers import ProjectedGradient
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


@pytest.mark.parametrize("name", ["hinge_none_C_mean", "rbf_regularized_squared_hinge", "tube_regularized_lam_sum"])
def test_the_step_is_one_over_the_largest_eigenvalue(name):
    entry = CATALOGUE[name]
    reference = entry.reference()
    shift = 1.0 if reference.intercept == "regularized" else 0.0
    state = next(drive(ProjectedGradient(), entry.problem(), 0))
    largest = np.linalg.eigvalsh(reference.K + shift)[-1]
    assert largest <= state.L <= 1.05 * largest


def test_the_step_of_the_textbook():
    """α ← clip(α + (1 − Qα)/L, 0, C)."""
    entry = CATALOGUE["hinge_none_C_mean"]
    reference = entry.reference()
    y, C, Q = reference.y, reference.cost[0], np.outer(reference.y, reference.y) * reference.K
    alpha = np.zeros(len(y))
    states = drive(ProjectedGradient(), entry.problem(), 30)
    L = next(states).L
    for state in states:
        alpha = np.clip(alpha + (1 - Q @ alpha) / L, 0.0, C)
        np.testing.assert_allclose(y * state.beta, alpha, atol=1e-12)


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
