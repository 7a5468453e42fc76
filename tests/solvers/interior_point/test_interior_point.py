from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless import _native
from gapless.errors import UnsupportedError
from gapless.losses import DualBox
from gapless.solvers import InteriorPoint
from gapless.solvers.base import Budget, Outcome, Targets
from gapless.solvers.interior_point.active_set import pin
from gapless.solvers.newton.row_sampling import draw, gathered, leverage
from tests.sample_problems import CATALOGUE

COVERED = [entry for entry in CATALOGUE.values() if InteriorPoint().unsupported(entry.problem()) is None]
INTERCEPTS = ("free", "regularized", "none")


def many(n: int = 30_000, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """So many rows that most are left out, one in a thousand with a feature of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = np.where(np.arange(n) % 1000 == 0, 30.0 * rng.normal(size=n), 0.0)
    return X, X @ rng.normal(size=d) + 0.3 + rng.normal(size=n)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_rows_left_out_cost_nothing(loss, intercept, C):
    X, target = many()
    y = target > 0 if loss == "hinge" else target
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    result = gl.solve(
        gl.Problem(X, y, loss=loss, C=C, intercept=intercept, sample_weight=weight), "interior_point", tol=1e-8
    )
    assert result.status is gl.Status.CONVERGED
    assert result.certificate.relative_gap <= 1e-8


def test_most_rows_are_left_out():
    X, target = many()
    problem = gl.Problem(X, target > 0, C=1.0)
    engine = InteriorPoint().init(problem, None, np.random.default_rng(0))
    sizes, outcome = [], Outcome.RUNNING
    while outcome is Outcome.RUNNING:
        sizes.append(len(engine.part.barrier.A))
        outcome = engine.step(Budget(1.0), Targets(1e-6)).outcome
    assert outcome is Outcome.READY
    assert 0 < max(sizes) < 0.3 * len(X)
    assert gl.certify(problem, engine.point()).relative_gap <= 1e-6


@pytest.mark.parametrize("storage", ["csr", "float32"])
def test_storages_agree_where_rows_are_left_out(storage):
    X, target = many()
    X = X.astype(np.float32)
    stored = sp.csr_array(X.astype(np.float64)) if storage == "csr" else X
    dense, other = (
        gl.solve(gl.Problem(data, target > 0), "interior_point", tol=1e-7) for data in (X.astype(np.float64), stored)
    )
    assert dense.status is other.status is gl.Status.CONVERGED
    np.testing.assert_allclose(
        other.w, dense.w, atol=dense.certificate.distance_bound + other.certificate.distance_bound
    )


@pytest.mark.parametrize("entry", [entry for entry in COVERED if entry.easy], ids=lambda entry: entry.name)
def test_the_active_set_ends_at_rounding_level(entry):
    result = gl.solve(entry.problem(), "interior_point", tol=1e-12)
    assert result.certificate.relative_gap <= 1e-11


def test_a_warm_start_needs_no_sample():
    X, target = many()
    cold = gl.solve(gl.Problem(X, target > 0, C=1.0), "interior_point")
    warm = gl.solve(gl.Problem(X, target > 0, C=1.1), "interior_point", start=cold)
    assert warm.status is gl.Status.CONVERGED
    assert warm.iterations < cold.iterations


def test_a_step_of_the_barrier_solves_the_newton_equations():
    """The first step's stationarity residual shrinks by exactly the step's length, whatever the corrector aims at."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    problem = gl.Problem(X, y, C=0.7)
    A, rho = np.hstack([X, np.ones((50, 1))]), np.array([1.0, 1.0, 1.0, 0.0])
    barrier = _native.Barrier(A, problem.dual, None, rho, np.zeros(4), 0.0, np.zeros(4), 3.0)
    products = barrier.surplus * barrier.alpha, barrier.slack * (0.7 - barrier.alpha)
    for product in products:
        np.testing.assert_allclose(product, 0.7 * 3.0)
    before, w = rho * barrier.w - A.T @ barrier.beta(), barrier.w.copy()
    barrier.iterate()
    after = rho * barrier.w - A.T @ barrier.beta()
    share = (after @ before) / (before @ before)
    assert 0 <= share < 1 and not np.array_equal(w, barrier.w)
    np.testing.assert_allclose(after, share * before, atol=1e-10 * np.abs(before).max())
    np.testing.assert_allclose(y * barrier.f - 1, barrier.surplus - barrier.slack, atol=1e-12)


def test_halves_are_the_loss():
    rng = np.random.default_rng(0)
    y, w, factor = rng.normal(size=40), 2 * rng.normal(size=40), 1.0 + rng.random(40)
    for loss, target in (("hinge", y > 0), ("epsilon_insensitive", y)):
        problem = gl.Problem(np.eye(40), target, loss=loss, sample_weight=rng.random(40))
        g = rng.normal(size=40)
        barrier = _native.Barrier(np.eye(40), problem.dual, factor, np.ones(40), g, 7.0, w, 1.0)
        losses = problem.cost * problem.loss.value(problem.y, w)
        assert barrier.value == pytest.approx(0.5 * w @ w - g @ w + 7.0 + factor @ losses, rel=1e-12)
        beta = rng.uniform(problem.dual.lower, problem.dual.upper)
        gap = losses + problem.cost * problem.loss.conjugate(problem.y, -beta / problem.cost) + beta * w
        assert _native.fenchel_gap(problem.dual, w, beta) == pytest.approx(gap.sum(), abs=1e-12)


def test_the_active_set_of_a_problem_by_hand():
    """2 max(0, 1 − w) + ½ max(0, 1 + w) + ½w² has its minimum at the kink w = 1, where β = 1.5 − 0.5; found from a guess that is off."""
    dual = DualBox(np.array([1.0, -1.0]), np.zeros(2), np.zeros(2), np.array([0.0, -0.5]), np.array([2.0, 0.0]))
    A = np.ones((2, 1))
    found = pin(A, np.ones(1), np.zeros(1), dual, np.array([0.9, 0.9]), np.array([1.4, -0.5]), np.array([0.9]), 1.0)
    assert found is not None
    np.testing.assert_allclose(found.w, [1.0])
    np.testing.assert_allclose(found.beta, [1.5, -0.5])
    assert found.gap == pytest.approx(0.0, abs=1e-15)


def test_rows_of_high_leverage_are_drawn_for_sure_and_factors_make_up_for_it():
    X, target = many()
    problem = gl.Problem(X, target > 0)
    weight = leverage(problem)
    rows, factor = draw(weight, 2000, np.random.default_rng(0))
    assert 1500 < len(rows) < 2500
    assert factor.sum() == pytest.approx(len(X), rel=0.1)
    heavy = np.argsort(weight)[-5:]
    assert set(heavy) <= set(rows)
    A = gathered("it", problem.rows, rows, 5, 6)
    np.testing.assert_array_equal(A, np.hstack([X[rows], np.ones((len(rows), 1))]))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"kernel": gl.kernels.Sigmoid()},
            "interior_point needs a kernel that is positive semi-definite; use solver='smo'.",
        ),
        (
            {"kernel": gl.kernels.RBF(), "loss": "logistic"},
            "interior_point needs a finite C, and with a kernel a loss whose dual is quadratic; use solver='smo' or 'qp'.",
        ),
        ({"C": np.inf}, "interior_point needs a finite C and one offset without a price; use solver='smo' or 'qp'."),
        (
            {"loss": "logistic"},
            "interior_point is for losses that are linear or quadratic between kinks, which logistic is not; use solver='sdca'.",
        ),
    ],
)
def test_problems_that_it_refuses(options, reason):
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(np.eye(2), [0, 1], **options), "interior_point")
    assert str(caught.value).startswith(reason)
