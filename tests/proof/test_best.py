"""What a solve has proven so far, with as many digits as its tol takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import gapless as gl
from gapless.kernels import RBF, Polynomial
from gapless.proof import best
from gapless.proof.best import Best, hides, prove, sharpened
from gapless.proof.certificate import Point, combine, evaluate
from gapless.proof.values import expansion_error
from gapless.solvers.base import Advance, Engine, Solver


def make(offset: float = 0.0, kernel: gl.kernels.Kernel | None = None, **options: object) -> gl.Problem:
    rng = np.random.default_rng(0)
    return gl.Problem(rng.normal(size=(40, 3)) + offset, rng.integers(0, 2, 40), kernel=kernel, **options)


@pytest.mark.parametrize("kernel", [None, RBF(0.5), Polynomial(2)], ids=str)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", ["free", "regularized"])
def test_twice_the_digits_prove_more_of_the_same_points(kernel, loss, intercept):
    problem = make(1e3, kernel, loss=loss, intercept=intercept)
    beta = gl.solve(problem, "smo", tol=1e-6, max_time=0.2).certified.beta
    rough = evaluate(problem, Point(beta=beta))
    fine = prove(
        problem, Point(beta=beta), tol=combine(*rough).relative_gap - 0.5 * combine(*rough).rounding / rough[0].value
    )
    assert rough[1].value <= fine[1].value <= fine[0].value <= rough[0].value
    assert combine(*fine).rounding < combine(*rough).rounding
    if problem.is_linear:
        np.testing.assert_array_equal(fine[0].w, rough[0].w)


def test_values_in_float32_leave_nothing_in_the_bounds():
    """Of many samples some values are float32's: only where no loss depends on them, also at the best multiple of β, whose errors are larger."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 300))
    problem = gl.Problem(X, X[:, 0] > 0, C=100.0, kernel=RBF(1 / 300))
    beta = np.where(np.arange(5000) % 2 == 0, rng.uniform(0.5, 1.0, 5000), 0.0) * problem.y
    primal, _ = evaluate(problem, Point(beta=beta))
    in_full = expansion_error(beta, *problem.magnitudes)
    assert 0.0 < primal.rounding <= 2.0 * float(problem.cost @ in_full)


def test_nothing_is_proven_twice_without_need():
    problem = make()
    points = evaluate(problem, Point(beta=gl.solve(problem).beta))
    assert sharpened(problem, points, 1e-3) is points
    assert not hides(points, 1e-3) and not hides((replace(points[0], value=2 * points[0].value), points[1]), 1e-3)


def test_rounding_hides_what_it_may_account_for():
    primal, dual = evaluate(make(), Point())
    primal, dual = replace(primal, value=1.0 + 1e-9, rounding=1e-9), replace(dual, value=1.0 - 1e-9, rounding=1e-9)
    assert hides((primal, dual), 1e-12) and not hides((primal, dual), 1e-8)
    assert not hides((replace(primal, value=2.0), dual), 1e-12)
    assert hides((replace(primal, value=math.inf, rounding=math.inf), dual), 1e-3)


def test_the_better_of_each_side_is_kept():
    problem = make()
    best = Best(problem, 1e-9, one_point=False)
    good, poor = gl.solve(problem, tol=1e-6).beta, np.zeros(40)
    best.keep(Point(beta=good))
    known = best.certificate
    best.keep(Point(beta=0.5 * good + 0.5 * poor))
    assert best.certificate.primal <= known.primal and best.certificate.dual >= known.dual
    assert best.keep(Point()) is best.zero


def test_a_status_tells_that_rounding_is_in_the_way():
    """w = 1 and b = -1e6, of which all sums are whole numbers: the optimum to the digit on every processor, and still no bound is as close as tol."""
    problem = gl.Problem([[1e6 - 1.0], [1e6 + 1.0]], [0, 1])
    result = gl.solve(problem, "smo", tol=1e-17)
    assert result.w.tolist() == [1.0] and result.b == -1e6
    assert result.status is gl.Status.ROUNDING and not result.status.proven
    certificate = result.certificate
    assert 1e-17 < certificate.relative_gap < 1e-14
    assert certificate.gap - certificate.rounding <= 1e-17 * certificate.primal
    assert "Floating point cannot prove more on data of this scale" in str(result.status)
    assert "Centred features of a similar scale" in str(result.status)


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e6, 1e7])
@pytest.mark.parametrize("tol", [1e-10, 1e-12, 1e-14])
def test_no_status_says_more_than_the_bounds(offset, tol):
    """Far from the origin each processor's rounding stops a solve elsewhere; what the status says is true wherever that is."""
    result = gl.solve(make(offset), tol=tol).certified
    certificate = result.certificate
    assert result.status.proven == (certificate.relative_gap <= tol)
    if result.status is gl.Status.ROUNDING:
        assert certificate.gap - certificate.rounding <= tol * certificate.primal


@dataclass(frozen=True)
class Halving(Solver):
    """Halves the distance from a known optimum with each step."""

    optimum: np.ndarray
    name: ClassVar[str] = "halving"
    max_iter: ClassVar[int] = 100

    def unsupported(self, problem):
        return None

    def init(self, problem, start, rng):
        return HalvingEngine(self.optimum)


class HalvingEngine(Engine):
    def __init__(self, optimum):
        self.optimum, self.left = optimum, 1.0

    def step(self, budget, targets):
        self.left *= 0.5
        return Advance(1.0, 1.0)

    def point(self):
        return Point(beta=(1.0 - self.left) * self.optimum + self.left * self.optimum[::-1])


@pytest.mark.parametrize("share", [1.2, 1.5, 3.0])
def test_a_solve_goes_on_where_rounding_takes_a_part_of_what_tol_allows(share, monkeypatch):
    """A point whose gap is within tol without what rounding may add to it is not the last one: a better one is proven to be within tol."""
    problem = make(30.0, RBF(0.5), loss="squared_epsilon_insensitive", C=100.0)
    optimum = gl.solve(problem, "smo", tol=1e-13).beta
    monkeypatch.setattr("gapless.proof.twofold._AFFORDABLE", 0.0)  # else twice the digits leave nothing to rounding
    known = combine(*evaluate(problem, Point(beta=optimum)))
    assert known.gap < 1.05 * known.rounding
    result = gl.solve(problem, Halving(optimum), tol=share * known.rounding / known.primal, check_every=1)
    assert result.status is gl.Status.CONVERGED
    less = gl.solve(problem, Halving(optimum), tol=0.8 * known.rounding / known.primal, check_every=1)
    assert less.status is gl.Status.ROUNDING and less.iterations < 100


def test_a_dual_value_above_the_primal_one_proves_nothing():
    primal, dual = evaluate(make(), Point())
    certificate = combine(primal, replace(dual, value=1.1 * primal.value))
    assert certificate.dual == -math.inf and certificate.relative_gap == math.inf


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_the_exact_primal_value_is_within_the_bounds_of_both_ways(loss, offset, tol):
    """P of the stored w and b in rationals, on data far from the origin: the bound is above it, by at most twice what it says of its rounding."""
    problem = make(offset, loss=loss)
    result = gl.solve(problem, tol=tol).certified
    w, b = [Fraction(float(v)) for v in result.w], Fraction(result.b)
    exact = sum(v * v for v in w) / 2
    for x, y in zip(problem.X.tolist(), problem.y.tolist(), strict=True):
        short = max(Fraction(0), 1 - Fraction(y) * (sum(Fraction(a) * v for a, v in zip(x, w, strict=True)) + b))
        exact += short if loss == "hinge" else short**2
    certificate = result.certificate
    assert Fraction(certificate.dual) <= exact <= Fraction(certificate.primal)
    assert exact >= Fraction(certificate.primal) - 2 * Fraction(certificate.rounding)


def test_a_start_of_a_nu_form_is_proven_once(monkeypatch):
    """In place of the point zero, which is not feasible there, and of the point that a solve without a start begins with."""
    problem = gl.nu.one_class(np.random.default_rng(0).normal(2.0, 1.0, size=(60, 3)), nu=0.3, kernel=RBF(0.1))
    solved = gl.solve(problem, "smo", tol=1e-6)
    seen = []
    monkeypatch.setattr(best, "evaluate", lambda *given: seen.append(given) or evaluate(*given))
    again = gl.solve(problem, "smo", tol=1e-6, start=solved.beta)
    assert again.status.proven and again.iterations == 0 and len(again.trace) == len(seen) == 1
    np.testing.assert_array_equal(again.beta, solved.beta)
