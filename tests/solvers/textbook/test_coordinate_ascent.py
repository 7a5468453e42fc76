from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError, TooLargeError
from gapless.solvers import SDCA, CoordinateAscent
from tests.sample_problems import CATALOGUE
from tests.solvers.driving import assert_rises, drive

BOXES = [
    entry
    for entry in CATALOGUE.values()
    if entry.easy and entry.problem().intercept != "free" and not entry.problem().is_hard
]


@pytest.mark.parametrize("sampling", ["epochs", "uniform", "cyclic", [7, 1, 10]])
@pytest.mark.parametrize("entry", BOXES, ids=lambda entry: entry.name)
def test_the_dual_rises_at_every_step(entry, sampling):
    reference = entry.reference()
    assert_rises(
        [reference.dual(state.beta) for state in drive(CoordinateAscent(sampling=sampling), entry.problem(), 100)]
    )


def test_it_walks_with_sdca():
    """Two bookkeepings of one algorithm: f = Kβ against w."""
    problem = CATALOGUE["tube_regularized_lam_sum"].problem()
    for ours, theirs in zip(
        drive(CoordinateAscent(), problem, 200),
        drive(SDCA(shrinking=False, second_order=False), problem, 200),
        strict=True,
    ):
        np.testing.assert_allclose(ours.beta, theirs.beta, atol=1e-11)


def test_f_is_kept_up_to_date():
    entry = CATALOGUE["rbf_regularized_squared_hinge"]
    *_, state = drive(CoordinateAscent(), entry.problem(), 300)
    np.testing.assert_allclose(state.f, (entry.reference().K + 1.0) @ state.beta, atol=1e-11)


def test_uniform_draws_reach_the_optimum_too():
    problem = CATALOGUE["polynomial_none"].problem()
    results = [gl.solve(problem, CoordinateAscent(sampling=sampling)) for sampling in ("epochs", "uniform")]
    assert all(result.status is gl.Status.CONVERGED for result in results)
    assert results[0].certificate.primal == pytest.approx(results[1].certificate.primal, rel=2e-6)


def test_it_refuses_what_does_not_fit(monkeypatch):
    with pytest.raises(
        InvalidInputError, match=r"^sampling must be one of epochs, uniform, cyclic, or indices of samples; got 3\.$"
    ):
        CoordinateAscent(sampling=3)
    monkeypatch.setattr("gapless.data.memory.available_bytes", lambda: 2**30)
    for kernel in (None, gl.kernels.RBF()):  # K is explicit for a linear problem as well
        problem = gl.Problem(np.ones((20_000, 1)), np.arange(20_000) % 2, kernel=kernel, intercept="none")
        with pytest.raises(TooLargeError) as caught:
            gl.solve(problem, "coordinate_ascent")
        assert str(caught.value) == (
            "coordinate_ascent holds the whole kernel matrix: 20,000 x 20,000 in float64, which needs 2.98 GiB, "
            "but only 1.00 GiB of memory is available."
        )
