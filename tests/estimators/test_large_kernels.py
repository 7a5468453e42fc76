"""Kernel estimators at sizes beyond every threshold of smo: all samples in the active set, entries in float64, solves on growing parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import make_friedman1

import gapless as gl
from gapless.estimators import tube_width
from gapless.estimators.tube_width import begin_at_width
from gapless.proof.certificate import evaluate

ROUNDING = 1e-12  # a coefficient below this share of the largest one is rounding


def noisy(n: int):
    return make_friedman1(n, noise=1.0, random_state=0)


def discrete(n: int):
    """Rows and targets of few values: most rows occur several times, with different targets."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(n, 6)).astype(float)
    return X, np.round(X.sum(axis=1) + rng.normal(size=n))


def heavy_tailed(n: int):
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(n, 8)) * np.logspace(-1, 2, 8)
    return X, 0.3 * X[:, 0] + np.sqrt(np.abs(X[:, 1])) + rng.standard_t(2, size=n)


KINDS = [noisy, discrete, heavy_tailed]
SIZES = [2500, 6000, 12000]


def classes_of(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (y > np.median(y)).astype(int)


def check_support(model) -> None:
    """Every support vector has weight."""
    alpha = np.abs(model.dual_coef_)
    largest = alpha.max(axis=1, keepdims=True)
    assert not ((alpha > 0) & (alpha < ROUNDING * largest)).any()
    assert (alpha.max(axis=0) > 0).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_nu_svr(kind, size):
    X, y = kind(size)
    model = gl.NuSVR().fit(X, y)
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)


@pytest.mark.parametrize("kind", KINDS)
def test_nu_svr_of_a_large_cost(kind):
    X, y = kind(2500)
    model = gl.NuSVR(C=30.0).fit(X, y)
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)


def wide(n: int):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 200))
    return X, X[:, :10].sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize("kind", [noisy, discrete, wide])
def test_a_linear_nu_svr(kind):
    """Its pairs begin at the right width of the tube: from the first samples they took up to ten million steps, and a gap was left."""
    X, y = kind(2500)
    model = gl.NuSVR(kernel="linear", C=10.0).fit(X, y)
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)


def test_the_width_that_nu_asks_for():
    """The point that pairs begin at has the sums of its groups, is within the box, and is close to the optimum."""
    X, y = noisy(1500)
    problem = gl.nu.nu_regression(X, y, nu=0.3, C=2.0)
    point = begin_at_width(problem, 1e-3, None)
    np.testing.assert_allclose(np.bincount(problem.groups, weights=point.beta), problem.totals, rtol=1e-9)
    assert (problem.dual.lower <= point.beta).all() and (point.beta <= problem.dual.upper).all()
    primal, dual = evaluate(problem, point)
    assert primal.value - dual.value <= 1e-2 * abs(primal.value)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_svr(kind, size):
    model = gl.SVR().fit(*kind(size))
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nu", [0.02, 0.3])
def test_one_class(kind, nu, size):
    X, _ = kind(size)
    model = gl.OneClassSVM(nu=nu).fit(X)
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)
    assert nu * size <= len(model.support_)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [noisy, discrete])
def test_nu_svc(kind, size):
    X, y = kind(size)
    model = gl.NuSVC(nu=0.6).fit(X, classes_of(X, y))
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)


def test_a_nu_svc_that_learns_nothing_says_so():
    """Under heavy tails the default gamma makes most samples alike: the reduced hulls of the classes meet, as far as the data's size tells."""
    X, y = heavy_tailed(6000)
    with pytest.warns(UserWarning, match="The optimum of NuSVC with nu=0.6 is zero"):
        model = gl.NuSVC(nu=0.6).fit(X, classes_of(X, y))
    assert model.fit_status_ == 0 and model.certificate_.kkt_violation <= model.tol
    check_support(model)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_svc(kind, size):
    X, y = kind(size)
    model = gl.SVC().fit(X, classes_of(X, y))
    assert model.fit_status_ == 0 and model.certificate_.relative_gap <= model.tol
    check_support(model)


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "squared_hinge"])
def test_every_intercept(loss, intercept):
    X, y = noisy(9000)
    y = y if loss == "epsilon_insensitive" else classes_of(X, y)
    problem = gl.Problem(X, y, loss=loss, kernel=gl.kernels.RBF(gamma=0.5), C=1.0, intercept=intercept)
    result = gl.solve(problem, "smo", tol=1e-4)
    assert result.status is gl.Status.CONVERGED
    assert np.abs(result.beta[result.support]).min() > ROUNDING * np.abs(result.beta).max()


@pytest.mark.parametrize("kind", KINDS)
def test_optima_are_those_of_scikit_learn(kind):
    """The objective of scikit-learn's model is within both gaps of ours, and it has about as many support vectors."""
    X, y = kind(4200)
    models: list[Any] = [
        (gl.NuSVR(), sklearn.svm.NuSVR(), y),
        (gl.OneClassSVM(nu=0.3), sklearn.svm.OneClassSVM(nu=0.3), None),
    ]
    if kind is not heavy_tailed:  # there the optimum of a ν-SVC is zero
        models.append((gl.NuSVC(nu=0.6), sklearn.svm.NuSVC(nu=0.6), classes_of(X, y)))
    for ours, theirs, target in models:
        data = (X,) if target is None else (X, target)
        proof = ours.fit(*data).certificate_
        judged = gl.certify(theirs.fit(*data), *data)
        assert judged.primal >= proof.dual and proof.primal >= judged.dual
        if kind is not discrete:  # among equal rows the weight may be shared in many ways
            assert len(ours.support_) == pytest.approx(len(theirs.support_), rel=0.02)


def test_nu_svr_keeps_its_targets_where_rows_are_equal():
    """Equal rows with different targets are different samples of a ν-SVR, above the size from which equal samples are joined."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(700, 2)).astype(float)
    y = X.sum(axis=1) + rng.normal(size=700)
    model = gl.NuSVR(C=0.1, tol=1e-8).fit(X, y)
    assert model.fit_status_ == 0
    problem = gl.nu.nu_regression(X, y, nu=0.5, C=0.1, kernel=gl.kernels.RBF(gamma=1 / (2 * X.var())))
    by_quadratic_program = gl.solve(problem, "interior_point", tol=1e-8)
    np.testing.assert_allclose(model.certificate_.primal, by_quadratic_program.certificate.primal, rtol=1e-7)


def test_wide_samples_of_a_nu_regression_are_done_by_pairs_where_few_are_enough(monkeypatch):
    """No width of the tube is searched where pairs alone are done sooner; where they are not, the search goes on from there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 600))
    y = X @ rng.normal(size=600)
    calls = []
    monkeypatch.setattr(tube_width, "begin_at_width", lambda *given: calls.append(given) or begin_at_width(*given))
    model = gl.NuSVR(kernel="linear", nu=0.5, C=1e-3).fit(X, y)
    assert not calls and model.certificate_.relative_gap <= 1e-3
    noisy = gl.NuSVR(kernel="linear", nu=0.5, C=1.0).fit(X[:2100, :500], rng.normal(size=2100))
    assert len(calls) == 1 and noisy.certificate_.relative_gap <= 1e-3
    assert noisy.trace_.iterations[-1] > 10 * 2100


@pytest.mark.filterwarnings("error")
def test_a_nu_regression_of_targets_that_are_all_zero_is_quiet():
    model = gl.NuSVR(kernel="linear", C=0.03).fit(np.arange(8.0)[:, None] * 1e3, np.zeros(8))
    assert model.predict([[5.0]]) == [0.0]
