from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.solvers import SDCA
from tests.problems import CATALOGUE
from tests.solvers.driving import assert_rises, drive, visits

BOXES = [
    entry
    for entry in CATALOGUE.values()
    if entry.easy and entry.problem().is_linear and entry.problem().intercept != "free" and not entry.problem().is_hard
]


@pytest.mark.parametrize("sampling", ["epochs", "uniform"])
@pytest.mark.parametrize("entry", BOXES, ids=lambda entry: entry.name)
def test_the_dual_rises_at_every_step(entry, sampling):
    reference = entry.reference()
    assert_rises([reference.dual(state.beta) for state in drive(SDCA(sampling=sampling), entry.problem(), 100)])


@pytest.mark.parametrize("intercept", ["regularized", "none"])
def test_the_step_of_the_textbook(intercept):
    """δ = (1 − yᵢ⟨w,xᵢ⟩)/‖xᵢ‖², ᾱ = clip(αᵢ + δ, 0, C), w += (ᾱ − αᵢ) yᵢ xᵢ on x̃ = (x, s)."""
    rng = np.random.default_rng(0)
    X, y, C, s = rng.normal(size=(12, 3)), np.where(np.arange(12) % 2 == 0, 1.0, -1.0), 0.3, 2.0
    augmented = np.hstack([X, np.full((12, 1), s if intercept == "regularized" else 0.0)])
    alpha, w = np.zeros(12), np.zeros(4)
    problem = gl.Problem(X, y, C=C, intercept=intercept, intercept_scale=s)
    states = drive(SDCA(), problem, 40, seed=5)
    next(states)
    for i, state in zip(visits(12, "epochs", 40, seed=5), states, strict=True):
        x = augmented[i]
        new = min(max(alpha[i] + (1 - y[i] * w @ x) / (x @ x), 0.0), C)
        w += (new - alpha[i]) * y[i] * x
        alpha[i] = new
        np.testing.assert_allclose(state.beta, y * alpha, atol=1e-13)
        np.testing.assert_allclose(state.w, w[:3], atol=1e-13)
        np.testing.assert_allclose(state.b, s * w[3], atol=1e-13)


def test_uniform_draws_reach_the_optimum_too():
    problem = CATALOGUE["hinge_none_C_mean"].problem()
    epochs, uniform = (gl.solve(problem, SDCA(sampling=sampling)) for sampling in ("epochs", "uniform"))
    assert epochs.status is uniform.status is gl.Status.CONVERGED
    assert epochs.certificate.primal == pytest.approx(uniform.certificate.primal, rel=2e-6)


def test_options_and_problems_that_it_refuses():
    with pytest.raises(InvalidInputError) as caught:
        SDCA(sampling="cyclic")
    assert str(caught.value) == "sampling must be one of epochs, uniform; got 'cyclic'."
    X, y = np.eye(2), [0, 1]
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y), "sdca")
    assert str(caught.value) == (
        "sdca moves dual variables one by one or all at once inside a box, but a free intercept couples them by Σβ = 0; "
        "use solver='smo', or intercept='regularized' or 'none'."
    )
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y, kernel=gl.kernels.RBF(), intercept="none"), "sdca")
    assert str(caught.value) == (
        "sdca keeps w as a vector, which a kernel does not have; use solver='smo' or 'coordinate_ascent', or map the features."
    )
