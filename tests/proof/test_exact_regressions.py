"""Certificates that were refuted once, each held against exact values: rationals for linear problems, intervals for kernels.

None of these tests has a tolerance: a certificate that is one unit in the last place off is refuted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint", reason="the exact referees need python-flint")

from flint import arb, ctx, fmpq

import gapless as gl
from gapless.kernels import RBF, Kernel, Polynomial
from gapless.losses import EpsilonInsensitive, Loss, SquaredEpsilonInsensitive
from gapless.proof.certificate import Point, evaluate
from gapless.proof.twofold import refine
from tests.campaign.judge import Verdict, check_status, hold, hold_values
from tests.campaign.referee import BITS, Referee, ShortfallReferee, Statement, certainly_less, rational, rationals
from tests.campaign.rivals import rival_points

TOL = 1e-3


def stated(problem: gl.Problem, kernel: list[Any]) -> Statement:
    """The problem in plain numbers; the kernel is given as the referee calls it."""
    loss = problem.loss
    name = next(name for name, each in gl.losses.LOSSES.items() if type(loss) is each)
    parameter = getattr(loss, "epsilon", 0.0)
    rows = np.asarray(problem.X, dtype=np.float64)
    y, cost = np.asarray(problem.y), np.asarray(problem.cost)
    return Statement(rows, y, cost, name, parameter, problem.intercept, problem.intercept_scale, kernel)


def solve(problem: gl.Problem, solver: str = "auto") -> gl.Result:
    """To TOL, or for some thousand iterations."""
    return gl.solve(problem, solver, tol=TOL, max_iter=5000).certified


def refutations(result: gl.Result, kernel: list[Any]) -> list[str]:
    """What exact values, those of other solvers' points included, say against a result's certificate and status."""
    verdict = Verdict({})
    check_status(verdict, result, TOL)
    statement = stated(result.problem, kernel)
    hold(verdict, statement, result, rival_points(statement))
    return [f"{kind}: {sentence}" for kind, sentence, _ in verdict.failures]


def two_classes(n: int, d: int, offset: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return offset + rng.normal(size=(n, d)), np.arange(n) % 2


# A negative gap is a contradiction, never a proof


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("solver", ["auto", "smo"])
def test_a_dual_above_the_primal_is_no_proof(seed: int, d: int, solver: str) -> None:
    """Of an offset of 2e4 the cubes are 1e13 and more: CONVERGED was said of a primal of 18,805.66 and a dual of 951,870."""
    X, y = two_classes(24, d, 2e4, seed)
    problem = gl.Problem(X, y, loss="logistic", kernel=Polynomial(3, 1.4e-4, 1.0))
    result = solve(problem, solver)
    assert result.certificate.gap >= 0
    assert refutations(result, ["polynomial", 1.4e-4, 3, 1.0]) == []


# The sum of β is repaired without cancellation


@pytest.mark.parametrize("light", [1e-16, 3e-17, 1e-30, 0.3])
def test_a_side_that_is_far_lighter_than_the_other_is_repaired(light: float) -> None:
    """With the weights 1 and 1e-16 the dual was 2.11e-16, above the primal of 2e-16."""
    problem = gl.Problem([[0.0], [1.0]], [1, -1], C=1.0, sample_weight=[1.0, light])
    beta = np.array([1.0, -light]) * np.asarray(problem.y)[0]
    certificate = gl.certify(problem, gl.Point(beta=beta))
    verdict = Verdict({})
    hold_values(verdict, Referee(stated(problem, ["linear"])), certificate, None, beta, [])
    assert verdict.failures == [] and certificate.gap >= 0
    # By hand: β = ±t with t ≤ the lighter cost, and D(t) = 2t − t²/2 rises up to there.
    t = rational(min(light, 2.0))
    optimum = 2 * t - t * t / 2
    assert rational(certificate.dual) <= optimum <= rational(certificate.primal)


@pytest.mark.parametrize("kernel", [["linear"], ["rbf", 1.0]], ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_a_class_whose_bounds_add_up_to_no_more_than_its_total(seed: int, kernel: list[Any]) -> None:
    """In a ν-SVC whose class weights leave a class no room, a sum that was an ulp short of its total made the dual -inf, of one fit in ten."""
    rng = np.random.default_rng(seed)
    y = np.arange(15) % 3 > 0
    X = rng.normal(size=(15, 2)) + 3.0 * y[:, None]
    given = {} if kernel == ["linear"] else {"kernel": RBF(1.0)}
    problem = gl.nu.nu_classification(X, y, nu=0.6, box_weight=np.where(y, 1.0, rng.uniform(0.1, 0.9)), **given)
    optimum = gl.solve(problem, "smo", tol=1e-9).certified.beta
    full = np.flatnonzero(~y)
    for short in range(4):
        beta = optimum.copy()
        beta[full] = -problem.cost[full]
        beta[full[:short]] = np.nextafter(beta[full[:short]], 0.0)
        certificate = gl.certify(problem, gl.Point(beta=beta))
        statement = Statement(
            X, np.asarray(problem.y), np.asarray(problem.cost), "hinge", 0.0, "free", 1.0, kernel, None,
            np.asarray(problem.groups), tuple(float(total) for total in problem.totals),
        )  # fmt: skip
        verdict = Verdict({})
        assert certificate.point is not None and certificate.relative_gap <= 1e-9
        model = certificate.point.w if kernel == ["linear"] else certificate.point.expansion
        exact = (model, certificate.point.offsets)
        hold_values(verdict, ShortfallReferee(statement, np.zeros(15)), certificate, exact, None, [])
        assert verdict.failures == []


def test_a_class_whose_bounds_do_not_reach_its_total_proves_nothing() -> None:
    """By an ulp: in exact arithmetic there is no feasible point, and so no dual bound."""
    problem = gl.nu.nu_classification([[0.0], [1.0], [3.0]], [0, 1, 1], nu=2 / 3, box_weight=[0.5, 1.0, 1.0])
    assert problem.totals.tolist() == [0.5, -0.5]
    problem.totals.setflags(write=True)
    problem.totals[:] = [0.5, -np.nextafter(0.5, 1.0)]
    assert gl.certify(problem, gl.Point(beta=np.array([-0.5, 0.5, 0.0]))).dual == -math.inf


# Hard margins, and costs that are as good as infinite, between nearby points


@pytest.mark.parametrize("distance", [1e-8, 3e-8, 1e-7, 1e-4])
@pytest.mark.parametrize("C", [math.inf, 1e18])
def test_a_hard_margin_between_nearby_points_of_an_rbf_kernel(distance: float, C: float) -> None:
    """Points 1e-8 apart were certified at 7.889e15 with a gap of 0; the optimum, 2 / ‖φ(x) − φ(z)‖², is 1.0e16."""
    result = solve(gl.Problem([[0.0], [distance]], [0, 1], C=C, kernel=RBF(1.0)))
    assert result.status is not gl.Status.NOT_SEPARABLE
    ctx.prec = BITS
    optimum = -1 / (-(arb(distance) ** 2)).expm1()
    low, high = result.certificate.dual, result.certificate.primal
    assert low == -math.inf or not certainly_less(optimum, rational(low))
    assert high == math.inf or not certainly_less(rational(high), optimum)
    assert refutations(result, ["rbf", 1.0]) == []


# NOT_SEPARABLE is said of data that no hyperplane separates


@pytest.mark.parametrize("n", [2, 4, 20])
@pytest.mark.parametrize("solver", ["auto", "smo"])
def test_a_thin_margin_far_from_the_origin_is_a_margin(n: int, solver: str) -> None:
    """One feature, an offset of 1e6 and a margin of 2e-8 were called NOT_SEPARABLE, as if that were proven."""
    side = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = (1e6 + side * (1e-8 + 1e-3 * (np.arange(n) // 2)))[:, None]
    assert X[side > 0].min() > X[side < 0].max()
    result = solve(gl.Problem(X, side, C=math.inf), solver)
    assert result.status is not gl.Status.NOT_SEPARABLE
    assert refutations(result, ["linear"]) == []


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("solver", ["auto", "smo"])
def test_an_rbf_kernel_separates_points_that_differ(n: int, solver: str) -> None:
    """Points 1e-9 apart, whose entries of K are one in float64, were called NOT_SEPARABLE; an RBF kernel separates all that differ."""
    X = (np.arange(n) // 2 + 1e-9 * (np.arange(n) % 2))[:, None]
    result = solve(gl.Problem(X, np.arange(n) % 2, C=math.inf, kernel=RBF(1.0)), solver)
    assert result.status is not gl.Status.NOT_SEPARABLE
    assert refutations(result, ["rbf", 1.0]) == []


def test_equal_points_of_two_classes_are_not_separable() -> None:
    """What is true is still proven."""
    for kernel in (None, RBF(1.0)):
        result = solve(gl.Problem([[1e6], [1e6], [2.0]], [0, 1, 1], C=math.inf, kernel=kernel))
        assert result.status is gl.Status.NOT_SEPARABLE


# The model is as good as its certificate, as stored


def near_ten_thousand(n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)), 1e4 + 1e-6 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", [None, RBF(0.5)], ids=str)
@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.0), EpsilonInsensitive(1e-7), SquaredEpsilonInsensitive(0.0)], ids=str)  # fmt: skip
@pytest.mark.parametrize("intercept", ["free", "regularized"])
def test_targets_near_ten_thousand(kernel: Kernel | None, loss: Loss, intercept: Any) -> None:
    """y ≈ 1e4 + 1e-6: the intercept as stored is rounded by more than a small objective; 6e-15 was reported, 8e-10 true."""
    X, y = near_ten_thousand()
    result = solve(gl.Problem(X, y, loss=loss, kernel=kernel, intercept=intercept))
    assert refutations(result, ["linear"] if kernel is None else ["rbf", 0.5]) == []


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_svr_of_targets_near_ten_thousand_is_as_good_as_its_certificate(kernel: str) -> None:
    """The same of what a user of an estimator reads: ``dual_coef_`` and ``intercept_``."""
    X, y = near_ten_thousand()
    model = gl.SVR(kernel=kernel, gamma=0.5, epsilon=0.0).fit(X, y)
    given = ["linear"] if kernel == "linear" else ["rbf", 0.5]
    statement = Statement(X, y, np.ones(len(y)), "epsilon_insensitive", 0.0, "free", 1.0, given)
    expansion = np.zeros(len(y))
    expansion[model.support_] = model.dual_coef_[0]
    weights = rationals(expansion)
    if kernel == "linear":
        weights = [sum((b * x for b, x in zip(weights, rationals(X[:, j]), strict=True)), fmpq(0)) for j in range(2)]
    own = Referee(statement).primal(weights, rationals(model.intercept_))
    assert not certainly_less(rational(model.certificate_.primal), own)
    assert not certainly_less(own, rational(model.certificate_.dual))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [1.0, math.inf])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_polynomial_of_degree_five_around_ten_thousand(seed: int, C: float, loss: str) -> None:
    """Entries of K are 1e20, and what tells the samples apart is in their last digits."""
    X, y = two_classes(16, 2, 0.0, seed)
    result = solve(gl.Problem(X, y, C=C, loss=loss, kernel=Polynomial(5, 1.0, 1e4)))
    assert refutations(result, ["polynomial", 1.0, 5, 1e4]) == []


def test_weights_whose_squares_underflow() -> None:
    """With twice the digits P was zero, and so below ½‖w‖²."""
    X = np.random.default_rng(0).normal(size=(8, 3))
    problem = gl.Problem(X, 1e-6 * X[:, 0], loss=SquaredEpsilonInsensitive(0.1))
    w = np.array([4e-160, 0.0, -1e-161])
    primal, dual = evaluate(problem, Point(beta=np.zeros(8)))
    refined = refine(problem, replace(primal, w=w, value=1.0), dual)
    assert refined is not None and np.array_equal(refined[0].w, w)
    assert rational(refined[0].value) >= sum(rational(v) ** 2 for v in w) / 2 > 0
