"""The fits of a search that share their work: each is the estimator that a fit by itself gives, within what both have proven."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.model_selection
from numpy.testing import assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless import _native
from gapless.kernels import Panels
from gapless.model_selection import GridSearchCV
from gapless.model_selection.shared import SharedFits

CV = StratifiedKFold(3, shuffle=True, random_state=0)
SCORES = [f"split{k}_test_score" for k in range(3)]


def data(classes: int = 3, n: int = 90, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(classes, 4))[y] + 0.8 * rng.normal(size=(n, 4)), np.array(["b", "a", "d", "c"])[y]


def fits_of(search, X, y):
    """The estimators that a search fits: for each candidate those of all folds."""
    seen = defaultdict(list)

    def score(estimator, X, y):
        seen[str(estimator.get_params())].append(estimator)
        return float((estimator.predict(X) == y).mean())

    search.set_params(scoring=score, refit=False).fit(X, y)
    return seen


GRIDS = {
    "rbf": {"C": [10.0, 0.1, 1.0], "gamma": [0.1, 1.0]},
    "scale": {"C": [1.0, 100.0], "gamma": ["scale", "auto"]},
    "kernels": {"kernel": ["linear", "poly", "sigmoid", gl.kernels.RBF(0.3) + gl.kernels.Linear()], "C": [0.5, 5.0]},
    "weights": {"class_weight": [None, "balanced", {"a": 3.0}], "C": [0.1, 10.0]},
    "tol": {"tol": [1e-2, 1e-6], "C": [1.0, 30.0]},
}


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("grid", GRIDS)
def test_each_fit_is_that_of_the_estimator_by_itself(grid, classes):
    X, y = data(classes)
    ours = fits_of(GridSearchCV(gl.SVC(), GRIDS[grid], cv=CV), X, y)
    alone = fits_of(sklearn.model_selection.GridSearchCV(gl.SVC(), GRIDS[grid], cv=CV), X, y)
    assert ours.keys() == alone.keys()
    for name in ours:
        for one, other in zip(ours[name], alone[name], strict=True):
            assert one.fit_status_ == 0 and one.shape_fit_ == other.shape_fit_ and "_given" not in vars(one)
            assert_array_equal(one.classes_, other.classes_)
            assert (one.predict(X) == other.predict(X)).mean() >= 0.95
            for a, b in zip(one.certificates_, other.certificates_, strict=True):
                assert a.kkt_violation <= one.tol
                if one.kernel != "sigmoid":  # which has no gap
                    assert a.relative_gap <= one.tol and max(a.dual, b.dual) <= min(a.primal, b.primal)


def test_a_shared_model_proves_what_it_says():
    """Both bounds of every pair, from the definition, at the model that the estimator keeps."""
    X, y = data(3)
    for models in fits_of(GridSearchCV(gl.SVC(gamma=0.3), {"C": [0.1, 10.0, 1e3]}, cv=CV), X, y).values():
        for fold, model in enumerate(models):
            train = list(CV.split(X, y))[fold][0]
            for k, (solved, certificate) in enumerate(zip(model._solved, model.certificates_, strict=True)):
                rows = train[model._members[k]]
                K = np.exp(-0.3 * ((X[rows][:, None] - X[rows][None]) ** 2).sum(-1))
                sign = np.where(y[rows] == np.unique(y[rows])[1], 1.0, -1.0)
                f = K @ solved.beta
                primal = 0.5 * solved.beta @ f + model.C * np.maximum(0.0, 1.0 - sign * (f + solved.b)).sum()
                assert primal <= certificate.primal * (1 + 1e-9)
                assert certificate.dual <= primal * (1 + 1e-9)


def test_a_gram_matrix_is_computed_once_a_kernel(monkeypatch):
    X, y = data(3)
    computed = []
    original, distances = Panels.square, _native.squared_distances
    monkeypatch.setattr(Panels, "square", lambda self, rows: (computed.append(len(rows)), original(self, rows))[1])
    monkeypatch.setattr(_native, "squared_distances", lambda X, out: (computed.append("d"), distances(X, out))[1])
    for grid, expected in (
        ({"gamma": [0.1, 1.0, 10.0]}, ["d"]),  # the distances of all γ
        ({"gamma": [0.1, 1.0], "kernel": ["poly", "rbf"]}, [90, "d", 90]),
    ):
        computed.clear()
        grid["C"] = [0.1, 1.0, 10.0]
        search = GridSearchCV(gl.SVC(), grid, cv=CV, refit=False, scoring="accuracy").fit(X, y)
        assert computed == expected and not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_a_pipeline_shares_within_a_fold(monkeypatch):
    X, y = data(3)
    prepared = []
    original = SharedFits.fit_all
    monkeypatch.setattr(
        SharedFits,
        "fit_all",
        lambda self, c, folds, wishes: (prepared.append((len(c), len(folds))), original(self, c, folds, wishes))[1],
    )
    grid = {"svc__C": [0.1, 1.0, 10.0]}
    pipeline = make_pipeline(StandardScaler(), gl.SVC(gamma=0.2))
    ours = GridSearchCV(pipeline, grid, cv=CV).fit(X, y)
    alone = sklearn.model_selection.GridSearchCV(pipeline, grid, cv=CV).fit(X, y)
    assert prepared == [(3, 1)] * 3
    for key in SCORES:
        assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])
    assert ours.best_params_ == alone.best_params_


@pytest.mark.parametrize(
    "X", [data(3)[0], data(3)[0].astype(np.float32), sp.csr_array(data(3)[0]), data(3)[0].tolist()]
)
def test_samples_of_every_kind(X):
    y = data(3)[1]
    ours = GridSearchCV(gl.SVC(), {"C": [0.1, 10.0]}, cv=CV).fit(X, y)
    alone = sklearn.model_selection.GridSearchCV(gl.SVC(), {"C": [0.1, 10.0]}, cv=CV).fit(X, y)
    for key in SCORES:
        assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])


def test_what_is_out_of_the_ordinary_is_fitted_as_always():
    X, y = data(3)
    K = X @ X.T
    cases = [
        (gl.SVC(kernel="precomputed"), {"C": [1.0, 2.0]}, K, {}),
        (gl.SVC(), {"C": [1.0, 2.0]}, X, {"sample_weight": np.linspace(0.5, 2.0, len(y))}),
        (gl.SVC(kernel=lambda A, B: A @ B.T), {"C": [1.0, 2.0]}, X, {}),
        (gl.SVC(solver="smo"), {"C": [1.0, 2.0]}, X, {}),
    ]
    for estimator, grid, samples, params in cases:
        ours = GridSearchCV(estimator, grid, cv=CV).fit(samples, y, **params)
        alone = sklearn.model_selection.GridSearchCV(estimator, grid, cv=CV).fit(samples, y, **params)
        for key in SCORES:
            assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])


def test_a_fold_without_a_class_and_parameters_that_are_wrong():
    X, y = data(3)
    y = np.sort(y)
    ours = GridSearchCV(gl.SVC(), {"C": [1.0, 5.0]}, cv=KFold(3)).fit(X, y)  # each fold leaves out a class
    alone = sklearn.model_selection.GridSearchCV(gl.SVC(), {"C": [1.0, 5.0]}, cv=KFold(3)).fit(X, y)
    for key in SCORES:
        assert_array_equal(ours.cv_results_[key], alone.cv_results_[key])
    X, y = data(3)
    with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 9"):
        search = GridSearchCV(gl.SVC(), {"C": [1.0, -1.0, 5.0]}, cv=CV, error_score=0.0).fit(X, y)
    assert (search.cv_results_["mean_test_score"] == 0.0).tolist() == [False, True, False]
