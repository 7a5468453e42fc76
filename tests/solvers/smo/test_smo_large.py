"""smo beyond the sizes at which it keeps all kernel entries: float32 panels, active sets, growing parts, equal samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_friedman1
from sklearn.svm import SVC

import gapless as gl
from gapless.kernels import RBF
from gapless.proof.feasible import feasible, first_point
from gapless.solvers import SMO
from gapless.solvers.base import Budget, Targets


def blobs(n, d=4, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + noise * rng.normal(size=n) > 0, 1, -1)


def naive(problem, beta):
    """(P, D) of a hinge problem with a free intercept, from a Gram matrix in plain NumPy."""
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    D = (X**2).sum(1)[:, None] + (X**2).sum(1) - 2 * X @ X.T
    f = np.exp(-problem.kernel.gamma * np.maximum(D, 0)) @ beta
    y, cost, square = problem.y, problem.cost, float(beta @ f)
    knots = np.sort(y - f)
    values = [
        0.5 * square + float(cost @ np.maximum(0, 1 - y * (f + b)))
        for b in knots[np.searchsorted(np.cumsum(cost), cost[y > 0].sum()) + np.arange(-1, 2)]
    ]
    return min(values), float(np.abs(beta).sum()) - 0.5 * square


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_proof_is_the_naive_one_and_the_optimum_scikit_learns(C, storage):
    X, y = blobs(3000)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    problem = gl.Problem(storage(X), y, C=C, kernel=RBF(0.3))
    result = gl.solve(problem, "smo", tol=1e-5)
    assert result.status is gl.Status.CONVERGED
    primal, dual = naive(problem, result.beta)
    rounding = result.certificate.rounding  # which the naive sums do not count
    assert result.certificate.primal == pytest.approx(primal, rel=1e-9, abs=rounding)
    assert result.certificate.dual == pytest.approx(dual, rel=1e-9, abs=rounding)
    assert rounding <= 1e-7 * primal
    theirs = SVC(C=C, gamma=0.3, tol=1e-5).fit(X, y)
    known = gl.certify(theirs, X, y)
    assert abs(known.primal - result.certificate.primal) <= known.gap + result.certificate.gap


def test_a_tight_gap_from_float32_entries():
    """f is refreshed in float64, so that the solver goes on where float32 alone would stall."""
    X, y = blobs(2500)
    result = gl.solve(gl.Problem(X, y, C=10.0, kernel=RBF(0.2)), "smo", tol=1e-9)
    assert result.certificate.relative_gap <= 1e-9


def test_many_samples_grow_from_a_part_of_them():
    X, y = blobs(9000, d=2)
    problem = gl.Problem(X, y, C=1.0, kernel=RBF(1.0))
    solver = SMO()
    engine = solver.init(problem, None, np.random.default_rng(0))
    assert engine.native.reach < 9000
    result = gl.solve(problem, solver, tol=1e-3)
    assert result.status is gl.Status.CONVERGED
    primal, dual = naive(problem, result.beta)
    assert result.certificate.gap - result.certificate.rounding == pytest.approx(primal - dual, abs=1e-9 * primal)
    again = gl.solve(problem, solver, tol=1e-3, start=result)
    assert again.iterations <= 0.1 * result.iterations


def test_equal_samples_are_one_variable_of_their_joint_cost():
    X, y = blobs(1500)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    weight = np.tile([1.0, 2.0, 0.5], 1500)
    problem = gl.Problem(X, y, C=2.0, kernel=RBF(0.3), sample_weight=weight)
    engine = SMO().init(problem, None, np.random.default_rng(0))
    assert len(engine.native.beta()) == 1500
    result = gl.solve(problem, "smo", tol=1e-6)
    once = gl.solve(gl.Problem(X[::3], y[::3], C=7.0, kernel=RBF(0.3)), "smo", tol=1e-6)
    assert abs(result.certificate.primal - once.certificate.primal) <= result.certificate.gap + once.certificate.gap
    np.testing.assert_allclose(result.beta[0::3] * 2, result.beta[1::3], atol=1e-12)


@pytest.mark.parametrize(
    "options", [{"intercept": "none"}, {"intercept": "regularized"}, {"loss": "squared_hinge"}], ids=str
)
def test_other_intercepts_and_losses_agree_with_few_kernel_entries(options):
    X, y = blobs(1600)
    problem = gl.Problem(X, y, C=1.0, kernel=RBF(0.3), **options)
    few, many = (gl.solve(problem, SMO(cache_mb=mb), tol=1e-5).certificate for mb in (0.3, 512.0))
    assert few.relative_gap <= 1e-5 >= many.relative_gap
    assert abs(few.primal - many.primal) <= few.gap + many.gap


def test_the_nu_forms_and_the_tube_in_active_sets(monkeypatch):
    X, y = blobs(1500)
    target = X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=1500)
    for problem in (
        gl.nu.one_class(X, nu=0.2, kernel=RBF(0.3)),
        gl.nu.nu_classification(X, y, nu=0.5, kernel=RBF(0.3)),
        gl.nu.nu_regression(X, target, nu=0.3, kernel=RBF(0.3)),
        gl.Problem(X, target, loss="epsilon_insensitive", C=1.0, kernel=RBF(0.3)),
    ):
        whole = gl.solve(problem, "smo", tol=1e-5).certificate
        part = gl.solve(problem, SMO(cache_mb=0.5), tol=1e-5).certificate
        assert whole.relative_gap <= 1e-5 >= part.relative_gap
        assert abs(whole.primal - part.primal) <= whole.gap + part.gap


def test_the_same_seed_gives_the_same_model():
    X, y = blobs(9000, d=2)
    problem = gl.Problem(X, y, C=1.0, kernel=RBF(1.0))
    one, other = (gl.solve(problem, "smo", tol=1e-2).beta for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_costly_kernels_are_solved_from_rows_that_are_kept():
    wide = np.random.default_rng(5).normal(size=(4500, 420)) / 20.0
    y = np.where(wide[:, 0] * wide[:, 1] + 0.02 * wide[:, 2] > 0, 1, -1)
    problem = gl.Problem(wide, y, C=1.0, kernel=RBF(1.0))
    solver = gl.solvers.SMO()
    assert solver.init(problem, None, np.random.default_rng(0)).native.keeps_rows
    kept, computed = gl.solve(problem, solver, tol=1e-4), gl.solve(problem, gl.solvers.SMO(cache_mb=100.0), tol=1e-4)
    narrow = gl.Problem(wide[:, :300], y, kernel=RBF(1.0))
    assert not solver.init(narrow, None, np.random.default_rng(0)).native.keeps_rows
    for result in (kept, computed):
        assert result.status is gl.Status.CONVERGED
    assert abs(kept.certificate.primal - computed.certificate.primal) <= kept.certificate.gap + computed.certificate.gap


def test_errors_of_float32_that_large_coefficients_make_are_not_chased():
    """Many samples of one feature and a large C: Σ|β| is 1e5, and entries in float32 left violations of 8e-3 that ten million pairs did not mend."""
    rng = np.random.default_rng(0)
    X = np.sort(5 * rng.random((6000, 1)), axis=0)
    y = np.sin(X).ravel()
    y[::5] += 3 * (0.5 - rng.random(1200))
    problem = gl.Problem(X, y, loss="epsilon_insensitive", C=100.0, kernel=gl.kernels.RBF(10.0))
    result = gl.solve(problem, "smo", tol=1e-3, kkt_tol=2.5e-4)
    assert result.status is gl.Status.CONVERGED and result.iterations < 2_000_000
    assert result.certificate.kkt_violation <= 2.5e-4


@pytest.mark.parametrize(("megabytes", "dtype"), [(100.0, np.float64), (20.0, np.float32)])
def test_entries_stay_float32_where_float64_has_no_room_for_the_free_support_vectors(megabytes, dtype, monkeypatch):
    """Else rounds on parts of them cycle: SVR(C=100) took half as long again on 12,000 samples with scikit-learn's 200 MB."""
    monkeypatch.setattr("gapless.solvers.smo.solver._LONG", 1.0)
    X, y = make_friedman1(2500, noise=1.0, random_state=0)
    problem = gl.Problem(X, y, loss="epsilon_insensitive", C=1000.0, kernel=RBF(0.5))
    engine = SMO(cache_mb=megabytes).init(problem, None, np.random.default_rng(0))
    pairs = 0.0
    while pairs <= 2500:
        pairs += engine.step(Budget(np.inf, 2500.0), Targets(1e-3, 0.0)).iterations
    # In 20 MB there is room for 1,619 samples in float64: the free support vectors are half of them, and 1,024 enter.
    assert np.count_nonzero(engine.point().beta) > 700
    assert engine.entries.dtype == dtype
    assert gl.solve(problem, SMO(cache_mb=megabytes), tol=1e-6).status is gl.Status.CONVERGED


@pytest.mark.parametrize("nu", [0.1, 0.3])
def test_the_sums_of_the_first_proof_are_those_of_the_solver(nu):
    """A ν-form begins where its first proof has been: the engine takes over Kβ, of the distinct samples in its own order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    X = np.vstack([X, X[:200]])
    problem = gl.nu.one_class(X, nu=nu, kernel=RBF(0.5))
    begin = feasible(problem, first_point(problem))[0]
    f, _ = problem.expand_bounded(begin)
    assert problem.known_sums(begin) is f and problem.known_sums(2.0 * begin) is None
    engine = SMO().init(problem, None, np.random.default_rng(0))
    np.testing.assert_array_equal(engine.native.f(), f[engine.samples.order])
    assert gl.solve(problem, "smo", tol=1e-6).status.proven
