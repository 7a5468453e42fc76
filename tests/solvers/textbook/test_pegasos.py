from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import UnsupportedError
from gapless.solvers import Pegasos
from tests.solvers.driving import drive, visits


def data(n: int = 15, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("intercept", ["none", "regularized"])
def test_the_steps_of_the_textbook(intercept, average):
    """θ ← 0; w = ηₜθ with ηₜ = 1/(λt); θ += yᵢxᵢ where yᵢ⟨w,xᵢ⟩ < 1; the average of all wₜ, or the next. Intercept: x̃ = (x, s)."""
    X, y = data()
    lam, s = 0.05, 2.0
    augmented = np.hstack([X, np.full((15, 1), s if intercept == "regularized" else 0.0)])
    problem = gl.Problem(X, y, lam_mean=lam, intercept=intercept, intercept_scale=s)
    states = drive(Pegasos(average=average), problem, 60, seed=3)
    next(states)
    theta, total = np.zeros(4), np.zeros(4)
    for t, (i, state) in enumerate(zip(visits(15, "uniform", 60, seed=3), states, strict=True), start=1):
        w = theta / (lam * t)
        total += w
        if y[i] * w @ augmented[i] < 1:
            theta += y[i] * augmented[i]
        point = state.point()
        expected = total / t if average else theta / (lam * (t + 1))
        np.testing.assert_allclose(point.w, expected[:3], atol=1e-12)
        assert point.b == pytest.approx(s * expected[3], abs=1e-12)
        np.testing.assert_allclose(X.T @ point.beta, point.w, atol=1e-12)


def test_weights_scale_each_samples_step():
    X, y = data()
    weight = np.arange(15) % 3
    problem = gl.Problem(X, y, C=0.2, intercept="none", sample_weight=weight)
    states = drive(Pegasos(), problem, 60)
    next(states)
    theta = np.zeros(3)
    for t, (i, state) in enumerate(zip(visits(15, "uniform", 60), states, strict=True), start=1):
        if y[i] * theta @ X[i] / t < 1:  # n cᵢ yᵢxᵢ: an unbiased sub-gradient of the weighted sum
            theta += 15 * 0.2 * weight[i] * y[i] * X[i]
        np.testing.assert_allclose(state.theta, theta, atol=1e-12)


def test_it_begins_at_zero_and_visits_what_it_is_told():
    X, y = data()
    problem = gl.Problem(X, y, lam_mean=0.05, intercept="none")
    for average in (True, False):
        states = drive(Pegasos(average=average, sampling=[4, 2]), problem, 2)
        assert not next(states).point().w.any()
        assert np.flatnonzero(next(states).errors).tolist() == [4]
        assert np.flatnonzero(next(states).errors).tolist() == [2, 4]
    assert Pegasos(sampling=np.array([4, 2])) == Pegasos(sampling=[4, 2])


def test_it_comes_as_near_as_its_rate_allows():
    X, y = data(n=60)
    result = gl.solve(gl.Problem(X, y, lam_mean=0.1, intercept="none"), "pegasos", max_iter=2000)
    assert 0 <= result.certificate.relative_gap < 2e-2


def test_problems_that_it_refuses():
    X, y = data()
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y, loss="squared_hinge", intercept="none"), "pegasos")
    assert str(caught.value) == "pegasos is defined for the hinge loss, not for squared_hinge; use solver='sgd'."
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y), "pegasos")
    assert str(caught.value) == (
        "pegasos needs a strongly convex objective, which P is not with a free intercept; "
        "use solver='sgd', or intercept='regularized' or 'none'."
    )
