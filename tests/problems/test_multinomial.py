"""MultinomialProblem: its bounds against naive formulas, weak duality at every pair of points, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.kernels import RBF
from gapless.problems.multinomial import MultinomialProblem
from gapless.proof.certificate import Point
from gapless.proof.multinomial import best_offsets
from gapless.solvers.newton.kernel_newton import KernelNewton
from gapless.solvers.newton.multinomial_newton import MultinomialNewton

KERNEL = RBF(gamma=0.4)


def problem(seed: int = 0, n: int = 20, k: int = 3, **options) -> MultinomialProblem:
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = rng.normal(size=(n, 2)) + codes[:, None]
    return MultinomialProblem(X, codes, k, **{"kernel": KERNEL, "C": 2.0, **options})


def naive_primal(p: MultinomialProblem, A: np.ndarray, b: np.ndarray) -> float:
    K = KERNEL(p.X)
    total = 0.5 * sum(A[:, m] @ K @ A[:, m] for m in range(p.n_classes))
    for i, y in enumerate(p.y):
        f = [K[i] @ A[:, m] + b[m] for m in range(p.n_classes)]
        total += p.cost[i] * (math.log(sum(math.exp(each) for each in f)) - f[y])
    return total


def naive_dual(p: MultinomialProblem, beta: np.ndarray) -> float:
    K = KERNEL(p.X)
    total = -0.5 * sum(beta[:, m] @ K @ beta[:, m] for m in range(p.n_classes))
    for i, y in enumerate(p.y):
        for m in range(p.n_classes):
            share = float(m == y) - beta[i, m] / p.cost[i]
            total -= p.cost[i] * (share * math.log(share) if share > 1e-15 else 0.0)
    return total


@pytest.mark.parametrize("intercept", ["free", "none"])
def test_the_certificate_is_the_naive_one(intercept):
    p = problem(intercept=intercept)
    result = gl.solve(p, tol=1e-10)
    assert result.status is gl.Status.CONVERGED and result.certificate.relative_gap <= 1e-10
    rounding = result.certificate.rounding  # by which the certificate's values are rounded outwards
    primal, dual = naive_primal(p, result.expansion, result.b), naive_dual(p, result.beta)
    assert rounding < 1e-10 * primal
    assert result.certificate.primal == pytest.approx(primal, rel=1e-12, abs=rounding)
    assert result.certificate.dual == pytest.approx(dual, rel=1e-12, abs=rounding)
    again = gl.certify(p, result)
    assert again.primal == pytest.approx(result.certificate.primal, rel=1e-12, abs=rounding)
    np.testing.assert_allclose(result.beta.sum(axis=1), 0.0, atol=1e-12)
    if intercept == "free":
        np.testing.assert_allclose(result.beta.sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("intercept", ["free", "none"])
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.01, 10.0))
def test_no_dual_value_exceeds_a_primal_value(intercept, seed, size):
    p = problem(intercept=intercept)
    optimum = gl.solve(p, tol=1e-12).certificate
    rng = np.random.default_rng(seed)
    point = Point(beta=size * rng.normal(size=(20, 3)), expansion=size * rng.normal(size=(20, 3)))
    wild = gl.certify(p, point)
    assert wild.dual <= optimum.primal * (1 + 1e-10) and wild.primal >= optimum.dual * (1 - 1e-10)
    assert np.isfinite(wild.gap)


def test_offsets_are_the_best_ones():
    rng = np.random.default_rng(0)
    for spread in (0.1, 1.0, 30.0, 300.0):
        F, cost = spread * rng.normal(size=(40, 4)), rng.uniform(0.1, 2.0, size=40)
        targets = np.bincount(np.arange(40) % 4, weights=cost)
        b = best_offsets(F, targets, cost)
        p = np.exp(F + b - (F + b).max(axis=1)[:, None])
        p /= p.sum(axis=1)[:, None]
        np.testing.assert_allclose(cost @ p, targets, rtol=1e-9)
        assert abs(b.sum()) < 1e-9


def test_two_classes_are_the_binary_problem_of_half_the_scale():
    """w₁ = −w₀ = w/2, so that ½(‖w₀‖² + ‖w₁‖²) = ¼‖w‖²: the binary problem with twice the C, halved."""
    two = problem(k=2, C=1.0)
    binary = gl.Problem(two.X, two.y, loss="logistic", kernel=KERNEL, C=2.0)
    value = gl.solve(binary, KernelNewton(), tol=1e-12).certificate.primal
    assert gl.solve(two, tol=1e-12).certificate.primal == pytest.approx(value / 2, rel=1e-10)


def test_linear_and_sparse_are_the_same_problem():
    p = problem()
    values = [
        gl.solve(MultinomialProblem(X, p.y, C=2.0, kernel=kernel), tol=1e-11).certificate.primal
        for X in (p.X, sp.csr_array(p.X))
        for kernel in (None, gl.kernels.Linear())
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-9)


def test_a_start_is_taken_up():
    p = problem(n=60)
    far = gl.solve(p, tol=1e-3)
    near = gl.solve(p, tol=1e-10, start=far)
    assert near.iterations < gl.solve(p, tol=1e-10).iterations
    assert near.certificate.relative_gap <= 1e-10


def test_an_ill_conditioned_problem_is_solved():
    p = problem(n=200, C=1e5)
    result = gl.solve(p, tol=1e-8)
    assert result.status is gl.Status.CONVERGED and result.iterations < 60


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"intercept": "regularized"},
            "intercept must be 'free' or 'none' for multinomial regression; got 'regularized'.",
        ),
        ({"C": math.inf}, "C must be a positive finite number; got inf."),
        ({"kernel": "rbf"}, "kernel must be a kernel of gapless.kernels or None for linear; got 'rbf'."),
        ({"k": 1}, "codes must lie between 0 and n_classes - 1, of two classes at least; got 0 to 0 and n_classes=1."),
        (
            {"sample_weight": np.r_[0.0, np.ones(2)], "n": 3},
            "codes must name every class: one without samples of positive weight has no best offset.",
        ),
    ],
)
def test_errors_name_the_parameter(options, message):
    with pytest.raises(InvalidInputError) as caught:
        problem(**options)
    assert str(caught.value) == message


def test_what_has_no_meaning_here_is_refused_in_words():
    result = gl.solve(problem())
    with pytest.raises(UnsupportedError, match="one dual variable for each sample"):
        result.kkt()
    with pytest.raises(InvalidInputError, match="scaling must be C"):
        result.alpha("unit")
    with pytest.raises(InvalidInputError, match=r"beta must have the shape \(20, 3\); got \(20, 2\)"):
        gl.certify(problem(), Point(beta=np.zeros((20, 2))))
    with pytest.raises(UnsupportedError, match="solves a MultinomialProblem alone; got a Problem"):
        gl.solve(gl.Problem([[0.0], [1.0]], [0, 1]), MultinomialNewton())
    with pytest.raises(UnsupportedError, match="needs the second derivative of the logistic loss"):
        gl.solve(gl.Problem([[0.0], [1.0]], [0, 1]), KernelNewton())
    with pytest.raises(UnsupportedError, match="needs a positive semi-definite kernel"):
        gl.solve(problem(kernel=gl.kernels.Sigmoid()))


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
def test_newton_on_two_classes_agrees_with_coordinate_and_pair_solvers(intercept):
    p = problem(k=2)
    binary = gl.Problem(p.X, p.y, loss="logistic", kernel=KERNEL, C=3.0, intercept=intercept)
    newton = gl.solve(binary, KernelNewton(), tol=1e-11)
    other = gl.solve(binary, "smo" if intercept == "free" else "coordinate_ascent", tol=1e-10)
    assert newton.certificate.relative_gap <= 1e-11
    assert newton.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-9)
