from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.errors import UnsupportedError
from gapless.solvers import SmoothedNewton
from gapless.solvers.newton.row_sampling import first_size
from tests.sample_problems import CATALOGUE
from tests.solvers.interior_point.test_interior_point import INTERCEPTS, many

COVERED = [entry for entry in CATALOGUE.values() if SmoothedNewton().unsupported(entry.problem()) is None]


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_many_rows(loss, intercept, C):
    X, target = many()
    y = target > 0 if loss == "hinge" else target + 100.0
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    problem = gl.Problem(X, y, loss=loss, C=C, intercept=intercept, sample_weight=weight)
    result = gl.solve(problem, "smoothed_newton", tol=1e-8)
    assert result.status is gl.Status.CONVERGED
    assert result.iterations <= 60


@pytest.mark.parametrize("storage", ["csr", "float32"])
def test_storages_agree(storage):
    X, target = many()
    X = X.astype(np.float32)
    stored = sp.csr_array(X.astype(np.float64)) if storage == "csr" else X
    dense, other = (
        gl.solve(gl.Problem(data, target > 0), "smoothed_newton", tol=1e-7) for data in (X.astype(np.float64), stored)
    )
    assert dense.status is other.status is gl.Status.CONVERGED
    np.testing.assert_allclose(
        other.w, dense.w, atol=dense.certificate.distance_bound + other.certificate.distance_bound
    )


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_wide_rows_begin_with_an_eighth_of_them_in_float32(tol, monkeypatch):
    monkeypatch.setattr("gapless.solvers.newton.row_sampling._LONG", 1)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 40)).astype(np.float32)
    y = X @ rng.normal(size=40) + 3 * rng.normal(size=len(X)) > 0
    assert first_size(*X.shape) == max(6000 // 8, 24 * 40)
    problem = gl.Problem(X, y)
    result = gl.solve(problem, "smoothed_newton", tol=tol)
    assert result.status is gl.Status.CONVERGED
    assert result.certificate.primal == pytest.approx(gl.solve(problem, "sdca", tol=1e-9).certificate.primal, rel=tol)


@pytest.mark.parametrize("entry", [entry for entry in COVERED if entry.easy], ids=lambda entry: entry.name)
def test_the_rounds_end_at_rounding_level(entry):
    result = gl.solve(entry.problem(), "smoothed_newton", tol=1e-12)
    assert result.certificate.relative_gap <= 1e-11


@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_separable_data(C):
    X = many(9000)[0]
    y = X @ np.ones(5) > 0
    result = gl.solve(gl.Problem(X, y, C=C), "smoothed_newton", tol=1e-8)
    assert result.status is gl.Status.CONVERGED


def test_a_warm_start_needs_fewer_steps():
    X, target = many()
    cold = gl.solve(gl.Problem(X, target > 0, C=1.0), "smoothed_newton", tol=1e-3)
    warm = gl.solve(gl.Problem(X, target > 0, C=1.0), "smoothed_newton", tol=1e-3, start=cold)
    assert warm.status is gl.Status.CONVERGED
    assert warm.iterations == 0
    other = gl.solve(gl.Problem(X, target > 0, C=1.1), "smoothed_newton", tol=1e-6, start=cold)
    assert other.status is gl.Status.CONVERGED


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_along_C_warm_starts_save_steps(loss):
    X, target = many()
    y = target > 0 if loss == "hinge" else target
    cold, warm, start = 0.0, 0.0, None
    for C in np.geomspace(0.1, 1000, 9):
        problem = gl.Problem(X, y, loss=loss, C=C, intercept="regularized")
        cold += gl.solve(problem, "smoothed_newton", tol=1e-4).iterations
        start = gl.solve(
            problem, "smoothed_newton", tol=1e-4, start=start and gl.Point(w=start.w, b=start.b), prove_start=False
        )
        assert start.status is gl.Status.CONVERGED
        warm += start.iterations
    assert warm < 0.8 * cold


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kernel": gl.kernels.RBF()}, "smoothed_newton keeps w as a vector, which a kernel does not have"),
        ({"C": np.inf}, "smoothed_newton needs a finite C and one offset without a price; use solver='smo' or 'qp'."),
        (
            {"loss": "squared_hinge"},
            "smoothed_newton is for losses that are linear between kinks, which squared_hinge is not; use",
        ),
    ],
)
def test_problems_that_it_refuses(options, reason):
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(np.eye(2), [0, 1], **options), "smoothed_newton")
    assert str(caught.value).startswith(reason)
