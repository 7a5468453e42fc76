from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

import gapless as gl
from gapless import LinearSVC
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.proof.certificate import Point, evaluate
from gapless.solvers import CrammerSingerDual

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
Z_IRIS = scale(X_IRIS)
X_WINE, Y_WINE = load_wine(return_X_y=True)
Z_WINE = scale(X_WINE)


def primal(X, codes, W, b, cost, s=1.0):
    """P by its formula, sample by sample."""
    losses = [
        max((m != y) + x @ W[:, m] + b[m] - x @ W[:, y] - b[y] for m in range(W.shape[1]))
        for x, y in zip(X, codes, strict=True)
    ]
    return 0.5 * math.fsum(W.ravel() ** 2) + 0.5 * math.fsum(b**2) / s**2 + math.fsum(cost * losses)


def dual(X, codes, beta, cost, s):
    """D by its formula, −inf where β is not feasible to rounding; s = 0 is no intercept."""
    true = beta[np.arange(len(codes)), codes]
    wrong = beta.copy()
    wrong[np.arange(len(codes)), codes] = 0.0
    slack = 1e-12 * cost.max()
    if (wrong > 0).any() or (true > cost + slack).any() or np.abs(beta.sum(axis=1)).max() > slack:
        return -math.inf
    W, b = X.T @ beta, s * beta.sum(axis=0)
    return math.fsum(true) - 0.5 * math.fsum(W.ravel() ** 2) - 0.5 * math.fsum(b**2)


def clouds(n=40, d=3, k=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    X = rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(k, d))[codes]
    return np.where(rng.random((n, d)) < 0.2, 0.0, X), codes


# --- the certificate


@given(seed=st.integers(0, 2**32 - 1), C=st.floats(1e-2, 1e2), intercept=st.sampled_from(["regularized", "none"]))
def test_bounds_hold_at_every_point(seed, C, intercept):
    rng = np.random.default_rng(seed)
    X, codes = clouds(n=12, seed=seed % 1000)
    weight = rng.integers(0, 3, size=12) + (np.arange(12) < 1)
    problem = CrammerSingerProblem(X, codes, C=C, intercept=intercept, intercept_scale=2.0, sample_weight=weight)
    s = 2.0 if intercept == "regularized" else 0.0
    W, b = rng.normal(size=(3, 4)), s * rng.normal(size=4)
    best = gl.solve(problem, tol=1e-7).certificate
    value = primal(X, codes, W, b, problem.cost, 2.0)
    as_it_stands = evaluate(problem, Point(w=W, offsets=b))[0]
    assert as_it_stands.value == pytest.approx(value, rel=1e-12)
    for point in (Point(beta=C * rng.normal(size=(12, 4))), Point(w=W, beta=-C * rng.random((12, 4))), Point()):
        certified, proof = evaluate(problem, point)
        assert certified.value == pytest.approx(
            primal(X, codes, certified.w, certified.offsets, problem.cost, 2.0), rel=1e-9
        )
        assert proof.value == pytest.approx(dual(X, codes, proof.beta, problem.cost, s), rel=1e-9, abs=1e-12)
        assert proof.value <= best.primal * (1 + 1e-12)
        assert best.dual * (1 - 1e-12) <= min(certified.value, value)


def test_what_was_repaired_is_told():
    problem = CrammerSingerProblem([[1.0], [2.0]], [0, 1], C=1.0)
    certificate = gl.certify(problem, Point(beta=np.array([[3.0, -1.0], [0.5, 0.5]])))
    assert certificate.box_violation == 2.0
    assert certificate.sum_violation == 2.0
    assert certificate.n_support == 1


def test_certified_again():
    problem = CrammerSingerProblem(*clouds())
    result = gl.solve(problem, tol=1e-8)
    again = gl.certify(problem, result)
    assert again.relative_gap <= 1e-8
    assert again.primal == pytest.approx(result.certificate.primal, rel=1e-12)


def test_the_distance_bound_holds():
    problem = CrammerSingerProblem(*clouds())
    exact = gl.solve(problem, tol=1e-10)
    for tol in (1e-1, 1e-3, 1e-5):
        rough = gl.solve(problem, tol=tol)
        distance = np.sqrt(((rough.w - exact.w) ** 2).sum() + ((rough.b - exact.b) ** 2).sum())
        assert distance <= rough.certificate.distance_bound + exact.certificate.distance_bound


# --- the solver


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("X", "codes"), [(Z_IRIS, Y_IRIS), (Z_WINE, Y_WINE)], ids=["iris", "wine"])
def test_agrees_with_liblinear(X, codes, C):
    result = gl.solve(CrammerSingerProblem(X, codes, C=C), tol=1e-9)
    theirs = svm.LinearSVC(multi_class="crammer_singer", C=C, tol=1e-9, max_iter=1_000_000, random_state=0).fit(
        X, codes
    )
    value = primal(X, codes, theirs.coef_.T, theirs.intercept_, C * np.ones(len(codes)))
    assert result.certificate.relative_gap <= 1e-9
    assert result.certificate.primal == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(result.w.T, theirs.coef_, atol=1e-4 * np.abs(result.w).max())
    np.testing.assert_allclose(result.b, theirs.intercept_, atol=1e-4 * np.abs(result.w).max())


@pytest.mark.parametrize("intercept", ["regularized", "none"])
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix, np.asfortranarray, lambda X: X.astype(np.float32)])
def test_every_storage_gives_the_same_model(intercept, storage):
    X, codes = clouds()
    X = X.astype(np.float32).astype(np.float64)
    options = {"C": 0.7, "intercept": intercept, "intercept_scale": 3.0}
    dense = gl.solve(CrammerSingerProblem(X, codes, **options), tol=1e-10)
    other = gl.solve(CrammerSingerProblem(storage(X), codes, **options), tol=1e-10)
    np.testing.assert_allclose(other.w, dense.w, atol=1e-4)
    np.testing.assert_allclose(other.b, dense.b, atol=1e-4)
    assert dense.b.any() == (intercept == "regularized")
    assert other.certificate.primal == pytest.approx(dense.certificate.primal, rel=1e-9)


def test_the_intercept_is_one_more_feature():
    X, codes = clouds()
    result = gl.solve(CrammerSingerProblem(X, codes, intercept_scale=3.0), tol=1e-10)
    wide = gl.solve(CrammerSingerProblem(np.column_stack([X, np.full(40, 3.0)]), codes, intercept="none"), tol=1e-10)
    np.testing.assert_allclose(np.vstack([result.w, result.b / 3.0]), wide.w, atol=1e-4)
    assert result.certificate.primal == pytest.approx(wide.certificate.primal, rel=1e-9)


def test_weights_are_repetitions():
    X, codes = clouds()
    weight = np.arange(40) % 3
    weighted = gl.solve(CrammerSingerProblem(X, codes, sample_weight=weight), tol=1e-10)
    repeated = gl.solve(CrammerSingerProblem(np.repeat(X, weight, axis=0), np.repeat(codes, weight)), tol=1e-10)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-4)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-9)
    assert not weighted.beta[weight == 0].any()


def test_two_classes_are_the_hinge_at_half_the_cost():
    """W = (−w/2, w/2) has ½‖W‖² = ¼‖w‖² and the loss max(0, 1 − y f): twice P is the binary machine with 2C."""
    X, codes = clouds(k=2)
    both = gl.solve(CrammerSingerProblem(X, codes, C=0.5), tol=1e-9)
    one = gl.solve(gl.Problem(X, codes, C=1.0, intercept="regularized"), tol=1e-9)
    assert 2 * both.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(both.w[:, 1] - both.w[:, 0], one.w, atol=1e-3)


def test_samples_of_zeros_cost_one_each():
    X, codes = clouds()
    X[:4] = 0.0
    problem = CrammerSingerProblem(X, codes, C=2.0, intercept="none")
    result = gl.solve(problem, tol=1e-8)
    without = gl.solve(CrammerSingerProblem(X[4:], codes[4:], C=2.0, intercept="none"), tol=1e-8)
    assert result.status is gl.Status.CONVERGED
    assert result.certificate.primal == pytest.approx(without.certificate.primal + 4 * 2.0, rel=1e-7)


def test_a_class_without_samples():
    X, codes = clouds(k=3)
    result = gl.solve(CrammerSingerProblem(X, codes, 5), tol=1e-7)
    assert result.w.shape == (3, 5)
    assert result.certificate.relative_gap <= 1e-7


def test_digits():
    X, codes = load_digits(return_X_y=True)
    result = gl.solve(CrammerSingerProblem(sp.csr_array(X / 16), codes, C=0.1), tol=1e-6)
    assert result.status is gl.Status.CONVERGED
    assert np.mean(result.predict(X / 16) == codes) > 0.97


# --- in the loop


def test_the_loop_serves_it():
    problem = CrammerSingerProblem(Z_IRIS, Y_IRIS)
    short = gl.solve(problem, CrammerSingerDual(), max_iter=2)
    assert short.status is gl.Status.MAX_ITER
    assert 2 <= short.iterations < 2.1
    resumed = gl.solve(problem, start=short, tol=1e-7)
    assert resumed.status is gl.Status.CONVERGED
    assert gl.solve(problem, start=resumed, tol=1e-7).iterations == 0
    assert gl.solve(problem, max_time=1e-9).status is gl.Status.MAX_TIME
    assert gl.solve(problem, callback=lambda progress: True).status is gl.Status.CALLBACK
    assert (np.diff(resumed.trace.best_dual) >= 0).all()


def test_the_dual_rises_at_every_check():
    trace = gl.solve(CrammerSingerProblem(Z_IRIS, Y_IRIS), tol=1e-7, check_every=1).trace
    assert len(trace) > 10
    assert (np.diff(trace.dual) >= -1e-12 * trace.dual[-1]).all()


def test_an_interruption_keeps_the_best_iterate():
    def press(progress):
        if progress.iterations > 0:
            raise KeyboardInterrupt

    with pytest.raises(gl.Interrupted) as caught:
        gl.solve(CrammerSingerProblem(Z_IRIS, Y_IRIS), tol=1e-12, callback=press)
    assert caught.value.result.w.any()


def test_the_same_seed_gives_the_same_model():
    first, second = (gl.solve(CrammerSingerProblem(Z_IRIS, Y_IRIS), random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)


def test_results_have_a_column_a_class():
    result = gl.solve(CrammerSingerProblem(Z_IRIS, Y_IRIS))
    assert result.alpha().shape == (150, 3)
    assert result.b.shape == (3,)
    np.testing.assert_array_equal(result.support, np.flatnonzero(np.abs(result.beta).sum(axis=1)))
    assert result.certificate.n_support == len(result.support) < 150
    np.testing.assert_allclose(result.decision_function(Z_IRIS), Z_IRIS @ result.w + result.b)


# --- what is refused


@pytest.mark.parametrize(
    ("codes", "options", "sentence"),
    [
        ([0, 1], {"intercept": "free"}, "intercept must be 'regularized' or 'none' for Crammer and Singer's machine; got 'free'."),
        ([0, 1], {"C": math.inf}, "C must be a positive finite number; got inf."),
        ([0, 1], {"intercept_scale": 0.0}, "intercept_scale must be a positive finite number; got 0.0."),
        ([0.5, 1.0], {}, "codes must be whole numbers, one for each of the 2 samples; got float64 of the shape (2,)."),
        ([0, 1, 2], {}, "codes must be whole numbers, one for each of the 2 samples; got int64 of the shape (3,)."),
        ([0, 0], {}, "codes must lie between 0 and n_classes - 1, of two classes at least; got 0 to 0 and n_classes=1."),
        ([-1, 1], {}, "codes must lie between 0 and n_classes - 1, of two classes at least; got -1 to 1 and n_classes=2."),
        ([0, 2], {"n_classes": 2}, "codes must lie between 0 and n_classes - 1, of two classes at least; got 0 to 2 and n_classes=2."),
    ],
)  # fmt: skip
def test_refused_problems(codes, options, sentence):
    with pytest.raises(InvalidInputError) as caught:
        CrammerSingerProblem([[0.0], [1.0]], codes, **options)
    assert str(caught.value) == sentence


def test_refused_uses():
    problem = CrammerSingerProblem(Z_IRIS, Y_IRIS)
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(problem, "smo")
    assert str(caught.value) == (
        "solver must be 'auto' or a CrammerSingerDual for a CrammerSingerProblem, which no other solves; got 'smo'."
    )
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(Z_IRIS, Y_IRIS > 0), CrammerSingerDual())
    assert str(caught.value) == "crammer_singer_dual solves a CrammerSingerProblem alone; got a Problem."
    with pytest.raises(InvalidInputError) as caught:
        gl.solve(problem, start=Point(beta=np.zeros(150)))
    assert str(caught.value) == "beta must have the shape (150, 3); got (150,)."
    result = gl.solve(problem)
    with pytest.raises(UnsupportedError, match=r"kkt\(\) reports one dual variable for each sample"):
        result.kkt()
    with pytest.raises(InvalidInputError, match="scaling must be C for Crammer and Singer's machine; got 'unit'"):
        result.alpha("unit")


# --- LinearSVC(multi_class="crammer_singer")


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("y", [Y_IRIS, Y_IRIS > 0], ids=["three", "two"])
def test_the_estimator_agrees_with_scikit_learn(y, fit_intercept):
    options = {"multi_class": "crammer_singer", "C": 0.5, "fit_intercept": fit_intercept, "class_weight": "balanced"}
    ours = LinearSVC(**options, tol=1e-9, max_iter=100_000).fit(Z_IRIS, y)
    theirs = svm.LinearSVC(**options, tol=1e-9, max_iter=1_000_000, random_state=0).fit(Z_IRIS, y)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * np.abs(ours.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4 * np.abs(ours.coef_).max())
    np.testing.assert_array_equal(ours.predict(Z_IRIS), theirs.predict(Z_IRIS))
    assert ours.decision_function(Z_IRIS).shape == theirs.decision_function(Z_IRIS).shape
    assert ours.certificate_.relative_gap <= 1e-9
    assert ours.certificates_ == [ours.certificate_]
    assert ours.alpha_.shape == (150, len(np.unique(y)))


def test_penalty_loss_and_dual_are_ignored():
    plain = LinearSVC(multi_class="crammer_singer").fit(Z_IRIS, Y_IRIS)
    other = LinearSVC("l1", "hinge", dual=True, multi_class="crammer_singer").fit(Z_IRIS, Y_IRIS)
    np.testing.assert_array_equal(plain.coef_, other.coef_)


def test_the_estimators_weights_are_repetitions():
    X, codes = clouds(k=3)
    weight = np.arange(40) % 4
    weight[codes == 2] = 0
    labels = np.array(["a", "b", "c"])[codes]
    model = LinearSVC(multi_class="crammer_singer", tol=1e-9, max_iter=100_000)
    weighted = model.fit(sp.csr_array(X), labels, sample_weight=weight).coef_
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(labels, weight)).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-3)
    assert model.classes_.tolist() == ["a", "b"]


def test_a_warm_start_goes_on_and_survives_a_change_of_kind():
    model = LinearSVC(multi_class="crammer_singer", warm_start=True).fit(Z_IRIS, Y_IRIS)
    assert model.n_iter_ > 1
    assert model.fit(Z_IRIS, Y_IRIS).n_iter_ == 1
    two = Y_IRIS > 0
    for options in ({}, {"multi_class": "ovr"}, {"penalty": "l1"}, {"multi_class": "crammer_singer"}):
        assert model.set_params(**options).fit(Z_IRIS, two).certificate_.relative_gap <= 1e-4


def test_the_estimator_refuses_what_the_problem_refuses():
    with pytest.raises(InvalidInputError, match="intercept must be 'regularized' or 'none' for Crammer and Singer's"):
        LinearSVC(multi_class="crammer_singer", intercept="free").fit(X_IRIS, Y_IRIS)
    with pytest.raises(UnsupportedError, match="solver must be 'auto' or a CrammerSingerDual"):
        LinearSVC(multi_class="crammer_singer", solver="sdca").fit(X_IRIS, Y_IRIS)


# --- two classes


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", ["regularized", "none"])
@pytest.mark.parametrize("C", [0.1, 1e3])
def test_two_classes_are_the_hinge_with_twice_the_costs(storage, intercept, C):
    X, codes = clouds(n=60, d=5, k=2)
    X[7] = 0.0
    weight = np.linspace(0.0, 2.0, 60)
    options = {"intercept": intercept, "intercept_scale": 3.0}
    problem = CrammerSingerProblem(storage(X), codes, 2, C=C, sample_weight=weight, **options)
    both = gl.solve(problem, tol=1e-9)
    binary = gl.solve(
        gl.Problem(X, codes, loss="hinge", C=2.0 * C, sample_weight=weight, **options), "qp", tol=1e-6
    ).certificate
    assert both.status is gl.Status.CONVERGED and both.certificate.relative_gap <= 1e-9
    assert 2.0 * both.certificate.dual <= binary.primal and binary.dual <= 2.0 * both.certificate.primal
    np.testing.assert_array_equal(both.w[:, 0], -both.w[:, 1])
    scale = 3.0 if intercept == "regularized" else 0.0
    assert math.isclose(both.certificate.primal, primal(X, codes, both.w, both.offsets, C * weight, 3.0), rel_tol=1e-8)
    assert dual(X, codes, both.certificate.point.beta, C * weight, scale) >= both.certificate.dual * (1 - 1e-12)


def test_two_classes_go_on_from_a_start():
    X, codes = clouds(n=80, d=6, k=2, seed=3)
    problem = CrammerSingerProblem(X, codes, 2, C=10.0)
    first = gl.solve(problem, tol=1e-8)
    again = gl.solve(problem, tol=1e-7, start=first)
    assert again.status is gl.Status.CONVERGED and again.iterations < first.iterations


def test_a_machine_of_two_classes_is_judged_before_its_method_has_moved():
    """The interior point behind it has no β before its first step, and the first check of the fit failed."""
    X = [[-137651.0], [64285.0], [67725.0], [-57981.0], [22510.0], [-26686.0], [-57155.0], [-26043.0]]
    model = gl.LinearSVC(multi_class="crammer_singer", C=25.7, tol=1e-9).fit(X, [0, 1, 1, 0, 1, 0, 0, 0])
    assert model.certificate_.relative_gap <= 1e-9
