"""Fits of ν-forms in a search that share their work: each is the estimator that a fit by itself gives, within what both have proven."""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.model_selection
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, StratifiedKFold

import gapless as gl
from gapless.estimators.kernel_fold import moved
from gapless.kernels import RBF
from gapless.model_selection import GridSearchCV
from gapless.model_selection.kernel_chain import KernelChains

CV = StratifiedKFold(3, shuffle=True, random_state=0)
ROWS = KFold(3, shuffle=True, random_state=0)
NUS = [0.3, 0.1, 0.2]


def labelled(classes: int = 2, n: int = 120, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(classes, 4))[y] + 0.8 * rng.normal(size=(n, 4)), np.array(["b", "a", "d"])[y]


def measured(n: int = 120, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=n)


def fits_of(search, X, y, **params):
    """The estimators that a search fits: for each candidate those of all folds, in their order, which fits side by side do not keep."""
    seen = defaultdict(dict)
    first = {_numbers(X[test[:1]]): fold for fold, (_, test) in enumerate(search.cv.split(X, y))}

    def score(estimator, X, y):
        seen[str(estimator.get_params())][first[_numbers(X[:1])]] = estimator
        return 0.0

    search.set_params(scoring=score, refit=False).fit(X, y, **params)
    return {name: [fits[fold] for fold in sorted(fits)] for name, fits in seen.items()}


def _numbers(row):
    return (row.toarray() if sp.issparse(row) else row).tobytes()


CASES = {
    "two classes": (gl.NuSVC(), {"nu": NUS, "gamma": [0.01, 1.0]}, labelled()),
    "three classes": (gl.NuSVC(), {"nu": NUS, "gamma": [0.01, 1.0]}, labelled(3)),
    "sparse": (gl.NuSVC(), {"nu": NUS}, (sp.csr_array(labelled()[0]), labelled()[1])),
    "class weights": (gl.NuSVC(class_weight={"a": 0.5, "b": 1.0}), {"nu": NUS}, labelled()),
    "linear": (gl.NuSVC(kernel="linear"), {"nu": NUS}, labelled()),
    "no table": (gl.NuSVC(gamma=1.0), {"nu": NUS}, labelled(n=2100)),
    "regression": (gl.NuSVR(), {"C": [10.0, 0.1], "nu": NUS}, measured()),
    "C alone": (gl.NuSVR(), {"C": [10.0, 0.1, 1.0]}, measured()),
    "regression without a table": (gl.NuSVR(), {"nu": NUS, "C": [0.1, 10.0]}, measured(2100)),
    "one class": (gl.OneClassSVM(), {"nu": NUS, "gamma": [0.01, 1.0]}, labelled()),
    "optimum of zero": (gl.OneClassSVM(kernel="linear"), {"nu": NUS}, measured()),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_fits_are_those_of_the_estimator(case, tol):
    """Both models are proven, and so near to the optimum that their intervals have a value in common at each sample."""
    estimator, grid, (X, y) = CASES[case]
    estimator = clone(estimator).set_params(tol=tol)
    splitter = CV if isinstance(estimator, gl.NuSVC) else ROWS
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*w = 0 is optimal")
        seen = fits_of(GridSearchCV(estimator, grid, cv=splitter), X, y)
        assert len(seen) == len(sklearn.model_selection.ParameterGrid(grid))
        for fitted in seen.values():
            for own, (train, test) in zip(fitted, splitter.split(X, y), strict=True):
                alone = clone(own).fit(X[train], y[train])
                assert own.fit_status_ == alone.fit_status_ == 0
                assert all(mine.status == other.status for mine, other in zip(own._solved, alone._solved, strict=True))
                (low, high), (least, most) = own.decision_interval(X[test]), alone.decision_interval(X[test])
                assert (low <= most).all() and (least <= high).all()


def test_weights_of_samples_count():
    X, y = measured()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    settings = {"estimator": gl.NuSVR(tol=1e-8), "param_grid": {"nu": NUS}, "cv": ROWS}
    mine, other = (
        module.GridSearchCV(**settings).fit(X, y, sample_weight=weight).cv_results_["mean_test_score"]
        for module in (gl.model_selection, sklearn.model_selection)
    )
    np.testing.assert_allclose(mine, other, atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_names_of_features_are_kept():
    X, y = labelled()
    frame = pd.DataFrame(X, columns=list("abcd"))
    search = GridSearchCV(gl.NuSVC(), {"nu": NUS}, cv=CV).fit(frame, y)
    assert list(search.best_estimator_.feature_names_in_) == list("abcd")
    assert search.best_score_ == GridSearchCV(gl.NuSVC(), {"nu": NUS}, cv=CV).fit(X, y).best_score_


def test_a_fit_that_scales_takes_no_pairs():
    """Where no β is at its bound, the optimum of the next ν is a multiple of that of the last one."""
    X, y = labelled()
    seen = fits_of(GridSearchCV(gl.NuSVC(gamma=50.0), {"nu": NUS}, cv=CV), X, y)
    for fits in zip(*seen.values(), strict=True):
        first, *others = sorted(fits, key=lambda each: each.nu)
        assert all(2 * other.n_iter_[0] <= first.n_iter_[0] for other in others)


def test_a_moved_solution_keeps_the_samples_at_their_bounds():
    X, y = labelled(n=60)
    before = gl.nu.nu_classification(X, y, nu=0.4, kernel=RBF(0.1))
    beta = gl.solve(before, "smo").beta
    problem = gl.nu.nu_classification(X, y, nu=0.6, kernel=RBF(0.1))
    start = moved(before, beta, problem)
    assert (np.abs(start)[np.abs(beta) == 1.0] == 1.0).all() and np.abs(start).max() <= 1.0
    np.testing.assert_allclose(np.bincount(problem.groups, weights=start), problem.totals)
    # The start is nearer to the optimum than the point that a solve begins with otherwise.
    best, begin = gl.solve(problem, "smo", tol=1e-8).trace.dual, gl.solve(problem, "smo", start=start).trace.dual
    assert begin[0] > best[0] and best[-1] >= begin[0]


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_nu_that_is_not_feasible_fails_alone():
    X, y = labelled()
    keep = np.concatenate([np.flatnonzero(y == "a"), np.flatnonzero(y == "b")[:12]])
    with pytest.warns(FitFailedWarning):
        search = GridSearchCV(gl.NuSVC(), {"nu": [0.1, 0.9, 0.2]}, cv=CV).fit(X[keep], y[keep])
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True, False]


@pytest.mark.parametrize(
    "params",
    [{"max_iter": 5}, {"warm_start": True}, {"callback": lambda progress: None}, {"solver": "smo"}, {"max_time": 60.0}],
    ids=lambda params: next(iter(params)),
)
def test_what_is_out_of_the_ordinary_is_fitted_alone(params):
    X, y = labelled()
    fits = KernelChains(gl.NuSVC(**params), X, y, {})
    assert fits.explain([{"nu": nu} for nu in NUS]) == "NuSVC: 3 candidates are fitted one by one."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine = GridSearchCV(gl.NuSVC(**params), {"nu": NUS}, cv=CV, refit=False).fit(X, y)
        other = sklearn.model_selection.GridSearchCV(gl.NuSVC(**params), {"nu": NUS}, cv=CV, refit=False).fit(X, y)
    np.testing.assert_array_equal(mine.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("racing", [False, True])
def test_kernels_that_are_objects_are_fitted_beside_chains(n_jobs, racing):
    X, y = labelled()
    grid = [{"nu": NUS}, {"nu": NUS, "kernel": [RBF(0.1)]}, {"nu": [0.2], "kernel": ["rbf"], "gamma": [0.1, "scale"]}]
    mine = GridSearchCV(gl.NuSVC(), grid, cv=CV, n_jobs=n_jobs, racing=racing, prove="full").fit(X, y)
    other = sklearn.model_selection.GridSearchCV(gl.NuSVC(tol=1e-6), grid, cv=CV).fit(X, y)
    assert mine.best_score_ == pytest.approx(other.best_score_, abs=0.03)
    assert len(mine.cv_results_["params"]) == 8
