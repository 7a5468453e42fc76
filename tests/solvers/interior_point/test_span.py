"""Fewer samples than features, with offsets and scales that no one has removed: solved in coordinates of the samples' span."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.solvers.interior_point.span import RowSpan, is_wide

LOSSES = ("hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive")
INTERCEPTS = ("free", "regularized", "none")


def unscaled(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns with strong offsets, and scales over four orders of magnitude; targets of noise."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-2, 2, size=d)
    return scale * (rng.normal(size=(n, d)) + 50 * rng.normal(size=d)), 100 * rng.normal(size=n)


def target_of(loss: str, y: np.ndarray) -> np.ndarray:
    return y > 0 if "hinge" in loss else y


@pytest.mark.parametrize("C", [1e-2, 1e2, 1e6])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_some_dozen_steps_do_for_any_C(loss, intercept, C):
    X, y = unscaled(60, 500)
    weight = np.random.default_rng(1).integers(0, 4, size=60)
    problem = gl.Problem(X, target_of(loss, y), loss=loss, C=C, intercept=intercept, sample_weight=weight)
    result = gl.solve(problem, "interior_point", tol=1e-6)
    assert result.status is gl.Status.CONVERGED
    assert result.iterations < 60
    assert result.w.shape == (500,)


@pytest.mark.parametrize("loss", LOSSES)
def test_csr_rows_with_empty_columns_have_the_same_optimum(loss):
    X, y = unscaled(40, 300)
    X[:, ::3] = 0.0
    problems = [
        gl.Problem(stored, target_of(loss, y), loss=loss, C=1e4, intercept="regularized")
        for stored in (X, sp.csr_array(X))
    ]
    dense, other = (gl.solve(problem, "interior_point", tol=1e-8) for problem in problems)
    assert dense.status is other.status is gl.Status.CONVERGED
    assert other.certificate.primal == pytest.approx(dense.certificate.primal, rel=3e-8)
    assert not other.w[::3].any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_quadratic_program_has_the_same_value(loss, intercept):
    X, y = unscaled(25, 80)
    X /= np.abs(X).max()
    problem = gl.Problem(X, target_of(loss, y / 100), loss=loss, C=100.0, intercept=intercept)
    ours, theirs = gl.solve(problem, "interior_point", tol=1e-8), gl.solve(problem, "qp", tol=1e-5)
    assert ours.status is gl.Status.CONVERGED
    assert theirs.certificate.dual <= ours.certificate.primal * (1 + 1e-12)
    assert ours.certificate.dual <= theirs.certificate.primal * (1 + 1e-12)
    assert ours.certificate.primal == pytest.approx(theirs.certificate.primal, rel=2e-5)


def test_the_coordinates_keep_lengths_and_products():
    X, _ = unscaled(20, 70)
    X[3] = X[4]  # of a lower rank
    for stored in (X, sp.csr_array(np.where(X > 0, X, 0.0)), X.astype(np.float32)):
        problem = gl.Problem(stored, np.arange(20) % 2, intercept="none")
        assert is_wide(problem)
        span = RowSpan(problem)
        dense = np.asarray(problem.X.toarray() if sp.issparse(problem.X) else problem.X, dtype=np.float64)
        u = np.random.default_rng(0).normal(size=span.rank)
        w = span.outside(u)
        assert np.linalg.norm(w) == pytest.approx(np.linalg.norm(u), rel=1e-12)
        np.testing.assert_allclose(dense @ w, span.L @ u, atol=1e-12 * np.abs(dense).max() * np.abs(u).sum())
        np.testing.assert_allclose(span.inside(w), u, atol=1e-12)


def test_a_start_is_taken_into_the_span():
    X, y = unscaled(40, 300)
    problem = gl.Problem(X, y > 0, C=1e3)
    solved = gl.solve(problem, "interior_point", tol=1e-6)
    again = gl.solve(problem, "interior_point", tol=1e-6, start=solved)
    assert again.status is gl.Status.CONVERGED
    assert again.iterations == 0
    nearby = gl.solve(gl.Problem(X, y > 0, C=1.1e3), "interior_point", tol=1e-6, start=solved)
    assert nearby.status is gl.Status.CONVERGED


# --- by the solver that is chosen, and through the estimators


@pytest.mark.parametrize("shape", [(60, 500), (50, 1600), (80, 90)])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_chosen_solver_ends_within_tol(loss, intercept, shape):
    X, y = unscaled(*shape)
    for C in (1e2, 1e6):
        result = gl.solve(
            gl.Problem(X, target_of(loss, y), loss=loss, C=C, intercept=intercept), tol=1e-4, max_iter=1000
        )
        assert result.status is gl.Status.CONVERGED, result


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_linear_estimators_end_without_a_warning(storage):
    X, y = unscaled(60, 500)
    models = [
        gl.LinearSVC(C=1e5), gl.LinearSVC(C=1e5, loss="hinge"), gl.LinearSVR(C=1e5), gl.LinearSVR(C=1e5, loss="squared_epsilon_insensitive"),
    ]  # fmt: skip
    for model in models:
        model.fit(storage(X), y if isinstance(model, gl.LinearSVR) else y > 0)
        assert model.certificate_.relative_gap <= model.tol


def test_models_of_samples_end_without_a_warning():
    """Fewer samples than features of a kernel machine, where pairs alone take hundreds for each sample."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 600)) + 50 * rng.normal(size=600)
    y = rng.normal(size=80)
    for model in (gl.SVC(kernel="linear", C=1e6), gl.SVR(kernel="linear", C=1e6)):
        model.fit(X, y if isinstance(model, gl.SVR) else y > 0)
        assert model.certificate_.relative_gap <= model.tol


def test_sparse_rows_that_use_fewer_features_than_there_are_samples():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(30, 5))
    X = sp.hstack([sp.csr_array(dense), sp.csr_array((30, 50))], format="csr")
    span = RowSpan(gl.Problem(X, np.arange(30) % 2))
    u = rng.normal(size=5)
    w = span.outside(u)
    np.testing.assert_allclose(X @ w, span.L @ u, atol=1e-12)
    np.testing.assert_allclose(span.inside(w), u, atol=1e-12)
