from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.solvers import SMO
from tests.sample_problems import CATALOGUE
from tests.solvers.driving import assert_rises, drive

FREE = [
    entry
    for entry in CATALOGUE.values()
    if entry.easy and entry.problem().intercept == "free" and not entry.problem().is_hard
]
MOVING = [entry for entry in FREE if entry.name not in ("inside_the_tube", "constant_target", "all_rows_zero")]


@pytest.mark.parametrize("pairs", ["second_order", "maximal_violation"])
@pytest.mark.parametrize("entry", MOVING, ids=lambda entry: entry.name)
def test_the_dual_rises_with_every_pair_and_the_sum_stays_zero(entry, pairs):
    reference, values = entry.reference(), []
    lower, upper = reference.box()
    before = None
    for engine in drive(SMO(pairs=pairs), entry.problem(), 60):
        beta = engine.point().beta
        values.append(reference.dual(beta))
        assert abs(beta.sum()) <= 1e-13 * (1 + np.abs(beta).sum())
        assert (beta >= lower).all() and (beta <= upper).all()
        if before is not None:
            assert np.count_nonzero(beta != before) <= 2
        before = beta
    if entry.problem().loss.name == "logistic":  # it begins in the middle of the box, which may be nearly optimal
        assert (np.diff(values) >= -1e-12 * np.abs(values).max()).all()
    else:
        assert_rises(values)


@pytest.mark.parametrize("entry", FREE, ids=lambda entry: entry.name)
def test_both_ways_to_choose_a_pair_reach_the_optimum(entry):
    results = [gl.solve(entry.problem(), SMO(pairs=pairs)) for pairs in ("second_order", "maximal_violation")]
    assert all(result.status is gl.Status.CONVERGED for result in results)
    assert results[0].certificate.primal == pytest.approx(results[1].certificate.primal, rel=2e-6)


@pytest.mark.parametrize("name", ["rbf_free", "breast_cancer_rbf", "laplacian_tube_free", "composite_free"])
def test_the_second_order_needs_no_more_pairs(name):
    problem = CATALOGUE[name].problem()
    second, maximal = (
        gl.solve(problem, SMO(pairs=pairs), check_every=1) for pairs in ("second_order", "maximal_violation")
    )
    assert second.iterations <= maximal.iterations


def test_the_first_pair_is_the_largest_violation():
    """At β = 0 the violation is y itself; the second order picks, among the others, the nearest in feature space."""
    X, y = np.array([[0.0], [5.0], [6.0], [9.0]]), np.array([-1, 1, 1, -1])
    problem = gl.Problem(X, y, C=1.0)
    for pairs, chosen in (("second_order", [1, 3]), ("maximal_violation", [0, 1])):
        points = (engine.point().beta for engine in drive(SMO(pairs=pairs), problem, 9))
        moved = next(np.flatnonzero(beta) for beta in points if beta.any())
        assert moved.tolist() == chosen


@pytest.mark.parametrize("name", ["rbf_free", "laplacian_tube_free", "polynomial_none", "breast_cancer_rbf"])
def test_room_for_few_kernel_entries_gives_the_same_optimum(name):
    problem = CATALOGUE[name].problem()
    few, ample = SMO(cache_mb=8 * 20**2 / 2**20), SMO()
    *_, engine = drive(few, problem, 3)
    assert engine.native.active <= engine.native.active_room <= 20
    a, b = gl.solve(problem, few), gl.solve(problem, ample)
    assert a.status is b.status is gl.Status.CONVERGED
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-6)


def test_entries_are_computed_once_where_they_fit():
    problem = CATALOGUE["rbf_free"].problem()
    before = problem.panels.entries  # which the proof counts too
    *_, engine = drive(SMO(), problem, 500)
    assert engine.entries is problem.panels
    assert engine.entries.entries - before == problem.n_samples**2 / 2  # each serves its mirror image
    K = CATALOGUE["rbf_free"].reference().K
    np.testing.assert_allclose(engine.native.f(), K @ engine.native.beta(), atol=1e-11)


@pytest.mark.parametrize("name", ["rbf_logistic_free", "logistic_free", "huge_C_logistic", "breast_cancer_raw"])
def test_the_entropy_does_not_stall_far_from_the_optimum(name):
    """Its slopes are infinite at the ends of the box, where there is nothing to gain."""
    result = gl.solve(CATALOGUE[name].problem(), "smo", max_iter=3000)
    assert result.certificate.relative_gap <= 1e-6 or result.status is gl.Status.MAX_ITER


def test_it_ends_by_itself_at_the_limit_of_floating_point():
    result = gl.solve(CATALOGUE["rbf_free"].problem(), "smo", tol=0)
    assert result.status in (gl.Status.STALLED, gl.Status.ROUNDING)
    assert result.certificate.relative_gap < 1e-12


def test_a_kernel_without_bound_ends_stationary():
    result = gl.solve(CATALOGUE["sigmoid_is_no_bound"].problem(), "smo")
    assert result.status is gl.Status.STATIONARY
    assert result.certificate.dual == -np.inf and result.certificate.gap == np.inf
    assert result.certificate.kkt_violation <= 1e-6


def test_options_that_it_refuses():
    for options, message in {
        ("pairs", "random"): "pairs must be one of second_order, maximal_violation; got 'random'.",
        ("cache_mb", 0): "cache_mb must be a positive number; got 0.",
    }.items():
        with pytest.raises(InvalidInputError) as caught:
            SMO(**dict([options]))
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "members", [np.arange(60), np.arange(60)[::-1], np.r_[40:60, 5:30]], ids=["all", "back", "runs"]
)
@pytest.mark.parametrize("intercept", ["free", "regularized"])
def test_samples_of_a_given_matrix(members, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0)[members]
    gram = gl.kernels.Precomputed(gl.kernels.RBF(0.5)(X, X))
    given = gl.Problem(members[:, None].astype(float), y, kernel=gram, C=10.0, intercept=intercept)
    computed = gl.Problem(X[members], y, kernel=gl.kernels.RBF(0.5), C=10.0, intercept=intercept)
    one, other = (gl.solve(problem, SMO(), tol=1e-8, kkt_tol=1e-6) for problem in (given, computed))
    assert one.status is other.status is gl.Status.CONVERGED
    assert abs(one.certificate.primal - other.certificate.primal) <= one.certificate.gap + other.certificate.gap


def test_it_stops_at_the_pairs_that_it_may_take():
    result = gl.solve(CATALOGUE["rbf_free"].problem(), SMO(), max_iter=3)
    assert result.status is gl.Status.MAX_ITER and result.iterations == 3
