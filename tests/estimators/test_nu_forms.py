"""The ν-forms as problems: class weights in the box, and optima that leave a choice or vanish."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.estimators.special import favour_other_class
from gapless.proof.zero import vanishes, zero_level
from tests.estimators.data import cancer


def test_box_weights_scale_the_box_by_their_ratio():
    X, y = cancer()
    v = np.where(y == 1, 6.0, 3.0)
    problem = gl.nu.nu_classification(X, y, nu=0.2, box_weight=v, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(problem.cost, np.where(y == 1, 2.0, 1.0))
    np.testing.assert_allclose(problem.totals, [0.2 * len(y), -0.2 * len(y)])


def test_a_class_that_cannot_carry_its_share_carries_all_it_can():
    X, y = cancer()
    v = np.where(y == 1, 1e-2, 1.0)
    problem = gl.nu.nu_classification(X, y, nu=0.5, box_weight=v, kernel=gl.kernels.RBF(0.03))
    np.testing.assert_allclose(problem.totals[0], 1e-2 * (y == 1).sum())
    result = gl.solve(problem, tol=1e-9)
    assert result.status.proven
    chosen = favour_other_class(result)
    assert chosen.offsets[0] < result.offsets[0] and chosen.offsets[1] == result.offsets[1]
    f = problem.expand(result.expansion)
    assert np.isclose(f[y == 1].max() + chosen.offsets.mean(), 0.0)
    # The primal value does not change: the certificate stands.
    shortfall = problem.loss.value(problem.y, f + chosen.offsets[problem.groups])
    value = 0.5 * result.expansion @ f + problem.cost @ shortfall + problem.totals @ chosen.offsets
    np.testing.assert_allclose(value, result.certificate.primal, rtol=1e-9)
    assert chosen.certificate.offset_intervals[0] == (chosen.offsets[0], chosen.offsets[0])


def test_nothing_to_choose_where_no_class_or_each_class_is_full():
    X, y = cancer()
    y = np.repeat([0, 1], 100)
    for nu in (0.5, 1.0):
        result = gl.solve(gl.nu.nu_classification(X, y, nu=nu, kernel=gl.kernels.RBF(0.1)), tol=1e-4)
        assert favour_other_class(result) is result


def test_feasibility_is_judged_without_box_weights():
    with pytest.raises(
        InvalidInputError, match=r"specified nu is infeasible: nu=0.9 asks for 1.8 weighted support vectors a class"
    ):
        gl.nu.nu_classification([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1], nu=0.9, box_weight=[100.0, 1, 1, 1])


ZERO = "The optimum of NuSVC with nu=0.5 is zero"


@pytest.mark.parametrize("size", [50, 1500])
def test_a_one_class_machine_around_the_origin_says_so(size):
    """The origin within the data: w* = 0, where no relative gap says anything, and the decision function is of rounding."""
    half = np.random.default_rng(0).normal(size=(size, 2))
    X = np.vstack([half, -half])
    with pytest.warns(
        UserWarning, match="The optimum of OneClassSVM with nu=0.5 is zero: the origin lies so far within"
    ):
        model = gl.OneClassSVM(kernel="linear", nu=0.5).fit(X)
    assert model.fit_status_ == 0
    assert np.linalg.norm(model.coef_) < 0.1
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("size", [50, 1500])
def test_a_nu_svc_of_classes_that_coincide_says_so(size, tmp_path):
    """w* = 0: a warning says so, every decision is zero, and the model is proven by its file and the data as any other."""
    X, y = np.repeat(np.random.default_rng(0).normal(size=(size, 2)), 2, axis=0), np.tile([0, 1], size)
    with pytest.warns(UserWarning, match=ZERO + ": the classes overlap so far .* A larger nu may have another optimum"):
        model = gl.NuSVC(kernel="linear", nu=0.5).fit(X, y)
    assert model.fit_status_ == 0
    assert not model.decision_function(X).any() and len(set(model.predict(X))) == 1
    model.save(tmp_path / "model")
    loaded = gl.load(tmp_path / "model")
    assert not loaded.decision_function(X).any()
    for each in (model, loaded):
        proof = gl.certify(each, X, y)
        np.testing.assert_allclose(proof.primal, model.certificate_.primal, atol=1e-9 * size**2)
        np.testing.assert_allclose(proof.dual, model.certificate_.dual, atol=1e-9 * size**2)


def test_a_nu_svc_names_the_pairs_of_classes_that_coincide():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    X[30:60] = X[:30]
    X[60:] += 20.0
    with pytest.warns(UserWarning, match=f"{ZERO} in 1 of 3 pairs of classes"):
        model = gl.NuSVC(kernel="linear", nu=0.5, decision_function_shape="ovo").fit(X, y)
    decisions = model.decision_function(X)
    assert not decisions[:, 0].any() and decisions[:, 1:].all()
    assert (model.predict(X[60:]) == 2).all()


def test_what_counts_as_zero_follows_tol():
    """A w is zero within a tenth of tol of S·R, where R is the root mean square of the samples' distances; at least 1e-6 and at most 1e-4 of it."""
    X, y = np.array([[-1.0], [-3.0], [1.0], [3.0]]), [0, 0, 1, 1]
    whole = 0.5 * (2.0 * np.sqrt(5.0)) ** 2  # S = νn = 2, and R² = (1 + 9 + 1 + 9)/4
    for kernel in (None, gl.kernels.FunctionKernel(lambda A, B: A @ B.T)):
        problem = gl.nu.nu_classification(X, y, nu=0.5, kernel=kernel)
        for tol, share in [(1e-3, 1e-4), (1e-2, 1e-4), (1e-4, 1e-5), (1e-5, 1e-6), (1e-9, 1e-6)]:
            assert zero_level(problem, tol) == pytest.approx(whole * share**2, rel=1e-9)
    assert zero_level(gl.Problem(X, y), 1e-3) == 0.0
    assert zero_level(gl.nu.nu_regression(X, [1.0, 2.0, 3.0, 4.0]), 1e-3) == 0.0


@given(
    seed=st.integers(0, 2**32 - 1), nu=st.sampled_from([1.0, 0.999999999999999, 0.5]), decades=st.sampled_from([0, 12])
)
def test_totals_are_within_reach_in_exact_arithmetic(seed, nu, decades):
    """Σβ = total has a solution in the box, as rational numbers: a float64 sum of the box may be above the exact one, and no dual point exist."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    X, weight = rng.normal(size=(n, 1)), rng.random(n) * 10.0 ** rng.uniform(-decades / 2, decades / 2, size=n)
    y = np.arange(n) % 2
    problems = [
        gl.nu.one_class(X, nu=nu, sample_weight=weight),
        gl.nu.nu_regression(X, X[:, 0], nu=nu, sample_weight=weight),
    ]
    share = 2.0 * min(weight[y == 0].sum(), weight[y == 1].sum()) / weight.sum()
    problems.append(gl.nu.nu_classification(X, y, nu=min(1.0, nu * share), sample_weight=weight))
    problems.append(
        gl.nu.nu_classification(X, y, nu=0.9 * min(1.0, share), sample_weight=weight, box_weight=1.0 + 9.0 * y)
    )
    for problem in problems:
        for g, total in enumerate(problem.totals.tolist()):
            most = sum(map(Fraction, problem.cost[problem.groups == g].tolist()), Fraction(0))
            assert Fraction(abs(total)) <= most


def test_an_optimum_away_from_zero_is_not_taken_for_zero():
    """An absolute gap of 5e-13 (νnR)² is small against zero alone: at tol=1e-12 a fit of an optimum of -0.05 stopped at 4e-11 without a word."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    X[y == 1] += 2.0
    problem = gl.nu.nu_classification(X, y, nu=0.3, kernel=gl.kernels.RBF(0.5))
    certificate = gl.solve(problem, tol=1e-10).certificate
    assert certificate.primal < -0.01
    rough = replace(certificate, dual=certificate.primal - 1e-12, kkt_violation=0.0)
    assert not vanishes(problem, rough, 1e-12)
    assert vanishes(problem, replace(rough, primal=1e-13, dual=-1e-13), 1e-12)


def test_vanishing_is_of_nu_forms_alone():
    X, y = cancer()
    problem = gl.Problem(X, y, C=1e-9)
    assert not vanishes(problem, gl.solve(problem).certificate, 1e-3)
