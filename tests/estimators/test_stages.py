"""Small subproblems in stages: what pairs alone would take minutes for takes an interior point, and is proven by the kernel itself."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_moons
from sklearn.svm import SVC as TheirSVC

import gapless as gl
from gapless.estimators import stages
from gapless.estimators.stages import solve_in_stages
from gapless.solvers import SMO

OPTIONS = {"tol": 1e-3, "kkt_tol": 1e-3, "max_iter": None, "max_time": None, "callback": None, "start": None,
           "random_state": 0, "in_samples": True}  # fmt: skip


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # in particular that it stopped early
        return model.fit(X, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_breast_cancer_as_it_is(C):
    X, y = load_breast_cancer(return_X_y=True)
    model = fitted(gl.SVC(kernel="linear", C=C), X, y)
    assert model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3
    assert model.n_iter_[0] <= 200 * len(y)  # pairs alone take 660 n and more
    if C < 1:
        theirs = TheirSVC(kernel="linear", C=C).fit(X, y)
        assert_allclose(model.coef_, theirs.coef_, rtol=0.05, atol=0.02 * np.abs(theirs.coef_).max())
        assert (model.predict(X) == theirs.predict(X)).mean() >= 0.995


@pytest.mark.parametrize("model", [gl.SVC(kernel="linear", C=1e4), gl.SVC(kernel="poly", C=1e4)], ids=repr)
def test_three_classes_as_they_are(model):
    X, y = load_wine(return_X_y=True)
    assert max(each.relative_gap for each in fitted(model, X, y).certificates_) <= 1e-3


def test_a_regression_with_a_large_C():
    X, y = load_diabetes(return_X_y=True)
    model = fitted(gl.SVR(kernel="linear", C=1e4), X, y)
    assert model.certificate_.relative_gap <= 1e-3


def test_a_polynomial_of_huge_entries():
    """Entries of 1e5 to 1e18: pairs had a gap of 1 after half a minute, and the samples on the margin miss it by rounding alone."""
    X, y = load_breast_cancer(return_X_y=True)
    model = fitted(gl.SVC(kernel="poly", gamma="auto"), X, y)
    assert model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_a_nu_svc_of_classes_that_nearly_meet(kernel):
    """The optimum is a millionth of what the data allows, or zero; pairs take millions of steps to tell."""
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = gl.NuSVC(nu=0.1, kernel=kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The optimum of NuSVC with nu=0.1 is zero")
        model.fit(X, y)
    assert model.fit_status_ == 0 and model.n_iter_[0] < 1_000_000


def test_a_nu_svc_as_its_data_is():
    X, y = load_wine(return_X_y=True)
    model = fitted(gl.NuSVC(nu=0.1, kernel="linear"), X, y)
    assert max(each.relative_gap for each in model.certificates_) <= 1e-3
    assert model.n_iter_.sum() < 100_000  # pairs alone take 2.8 million


def wide(n, d, noise, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)) + (3.0 / np.sqrt(d)) * rng.normal(size=(2, d))[y]
    return X, np.where(rng.random(n) < noise, 1 - y, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_wide_samples_that_can_be_told_apart_are_solved_by_pairs(C):
    X, y = wide(2100, 1200, 0.05)
    model = fitted(gl.SVC(kernel="linear", C=C), X, y)
    assert model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3
    assert model._solved[0].solver == "smo" and model.n_iter_[0] < 100 * len(y)
    assert model.score(X, y) > 0.94


def test_wide_samples_with_noise_take_an_interior_point_behind_the_pairs(monkeypatch):
    asked, second = [], stages._second_order
    monkeypatch.setattr(stages, "_second_order", lambda *args, **options: asked.append(1) or second(*args, **options))
    X, y = wide(2100, 150, 0.2)
    assert stages.begins_with_pairs(gl.Problem(X, y, C=100.0), 1e-3)
    model = fitted(gl.SVC(kernel="linear", C=100.0), X, y)
    assert asked and model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3


@pytest.mark.parametrize("C", [0.01, 100.0])
def test_more_than_two_thousand_features_as_they_are(C):
    """Unscaled, and far from zero: ``auto`` took epochs there, which took seconds for what pairs do in a moment, or did not end."""
    rng = np.random.default_rng(0)
    X, y = wide(2100, 2200, 0.02)
    model = fitted(gl.SVC(kernel="linear", C=C, max_time=60.0), np.abs(X) * 100.0 * np.exp(rng.normal(size=2200)), y)
    assert model.certificate_.relative_gap <= 1e-3 and model._solved[0].solver == "smo"


def test_very_wide_samples_with_noise_take_an_interior_point_in_the_end(monkeypatch):
    """Beyond ``_WIDEST`` features the interior point ends at its gap, and pairs go on from there."""
    asked, second = [], stages._second_order
    monkeypatch.setattr(stages, "_second_order", lambda *args, **options: asked.append(1) or second(*args, **options))
    monkeypatch.setattr(stages, "_WIDEST", 100)
    monkeypatch.setattr(stages, "_CREEPING", 3)
    X, y = wide(2100, 150, 0.2)
    model = fitted(gl.SVC(kernel="linear", C=100.0), X, y)
    assert asked and model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_regression_on_wide_samples(C):
    X, y = wide(2100, 300, 0.0)
    target = X[:, 0] + 0.1 * y
    model = fitted(gl.SVR(kernel="linear", C=C), X, target)
    assert model.certificate_.relative_gap <= 1e-3 and model.certificate_.kkt_violation <= 1e-3


def test_pairs_come_first_where_samples_are_wide():
    for n, d, expected in ((2100, 1500, True), (2100, 2200, True), (4000, 4, False), (500, 4, True)):
        X, y = wide(n, d, 0.1)
        assert stages.begins_with_pairs(gl.Problem(X, y), 1e-3) is expected
    X, y = wide(2100, 200, 0.1)
    assert not stages.begins_with_pairs(gl.Problem(X, y, intercept="none"), 1e-3)
    assert not stages.begins_with_pairs(gl.Problem(X, y, kernel=gl.kernels.RBF()), 1e-3)


def hard_for_pairs() -> gl.Problem:
    """A noisy linear problem with a large C: the way of a thousand pairs for each sample leads past as many kinks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    return gl.Problem(X, X[:, 0] + X[:, 1] + rng.normal(size=600) > 0, C=1e3)


def test_max_iter_bounds_all_stages_together(monkeypatch):
    problem = hard_for_pairs()
    for most in (50, 5 * problem.n_samples + 7, 50_000):
        result = solve_in_stages(problem, SMO(), **{**OPTIONS, "max_iter": most})
        assert result.iterations <= most
    assert result.status is gl.Status.CONVERGED
    # Pairs alone take far more.
    monkeypatch.setattr(stages, "turns", lambda X, n: np.inf)
    assert solve_in_stages(problem, SMO(), **{**OPTIONS, "max_iter": 50_000}).status is gl.Status.MAX_ITER


def test_the_history_is_one():
    result = solve_in_stages(hard_for_pairs(), SMO(), **OPTIONS)
    trace = result.trace
    assert result.status is gl.Status.CONVERGED
    assert trace.iterations[-1] == result.iterations and (np.diff(trace.iterations) >= 0).all()
    assert (np.diff(trace.best_primal) <= 0).all() and (np.diff(trace.best_dual) >= 0).all()
    again = gl.certify(result.problem, result)
    assert again.relative_gap <= 1e-3


def test_an_interruption_on_the_way_keeps_what_pairs_have_found(monkeypatch):
    def interrupted(*_, **__):
        raise gl.Interrupted(gl.solve(gl.Problem([[0.0], [1.0]], [0, 1])))

    monkeypatch.setattr(stages, "_second_order", interrupted)
    problem = hard_for_pairs()
    with pytest.raises(gl.Interrupted) as caught:
        solve_in_stages(problem, SMO(), **OPTIONS)
    assert caught.value.result.problem is problem and caught.value.result.status is gl.Status.INTERRUPTED
