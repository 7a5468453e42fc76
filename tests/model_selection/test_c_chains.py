"""Fits that differ in C alone and share no table: each begins where the last one ended, and is as good as by itself."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import KFold

import gapless as gl
from gapless.kernels import RBF, Panels
from gapless.model_selection import GridSearchCV, shared
from gapless.problems.along_c import first_of_chain, with_c
from gapless.solvers.smo.solver import SmoEngine

CV = KFold(2, shuffle=True, random_state=0)
SCORES = ["split0_test_score", "split1_test_score"]


@pytest.fixture
def no_tables(monkeypatch):
    """Searches of few samples as of many, for which tables do not pay."""
    monkeypatch.setattr(shared, "pays", lambda *sizes: False)


def seen_by(scores):
    """A scorer that keeps the fitted estimators."""

    def score(estimator, X, y):
        scores.append(estimator)
        return estimator.score(X, y)

    return score


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (gl.SVC(tol=1e-7), make_classification(700, 6, flip_y=0.1, random_state=0)),
        (gl.SVC(tol=1e-7), make_classification(700, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)),
        (gl.SVR(tol=1e-7), make_friedman1(700, noise=1.0, random_state=0)),
    ],
    ids=["SVC", "three classes", "SVR"],
)
def test_scores_are_those_of_fits_by_themselves(no_tables, estimator, data, n_jobs):
    grid = {"C": [10.0, 0.1, 1.0], "gamma": [0.02, 0.5]}
    models = []
    ours = GridSearchCV(estimator, grid, cv=CV, n_jobs=n_jobs).fit(*data)
    theirs = sklearn.model_selection.GridSearchCV(estimator, grid, cv=CV).fit(*data)
    for name in SCORES:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-5)
    assert ours.best_params_ == theirs.best_params_
    GridSearchCV(estimator, grid, cv=CV, scoring=seen_by(models), refit=False).fit(*data)
    assert len(models) == 12
    for model in models:
        assert all(each.relative_gap <= 1e-7 and each.kkt_violation <= 1e-7 for each in model.certificates_)
        assert not {"_chain", "_quiet"} & vars(model).keys()


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_fit_that_fails_is_told_by_itself(no_tables):
    X, y = make_classification(120, 4, random_state=0)
    with pytest.warns(sklearn.exceptions.FitFailedWarning, match="gamma"):
        search = GridSearchCV(gl.SVC(), {"C": [1.0, 2.0], "gamma": [0.1, -1.0]}, cv=CV, refit=False).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True, False, True]


@pytest.mark.parametrize("n", [1300, 2600])
def test_entries_stay_for_the_next_c(n):
    """Of problems that differ in C alone the second is solved with the entries that the first has left; its proof is as good."""
    X, y = make_classification(n, 8, flip_y=0.1, random_state=0)
    first = first_of_chain(gl.Problem(X, y, C=1.0, kernel=RBF(0.1)))
    second = with_c(first, 3.0)
    solved = gl.solve(first, "smo", tol=1e-4)
    samples, panels = first.left["smo"]
    assert second.left is first.left and isinstance(panels, Panels)
    before = panels.entries
    last = gl.solve(second, "smo", tol=1e-4, start=gl.Point(beta=2.0 * solved.beta))
    with_entries = panels.entries - before
    alone = first_of_chain(gl.Problem(X, y, C=3.0, kernel=RBF(0.1)))
    gl.solve(alone, "smo", tol=1e-4, start=gl.Point(beta=2.0 * solved.beta))
    assert with_entries < 0.7 * alone.left["smo"][1].entries
    assert last.certificate.relative_gap <= 1e-4
    assert gl.certify(gl.Problem(X, y, C=3.0, kernel=RBF(0.1)), last, independent=True).relative_gap <= 1e-4
    assert len(samples.groups) == n


def test_a_start_on_the_way_is_proven_only_where_the_solve_is_interrupted(monkeypatch):
    X, y = make_classification(400, 5, flip_y=0.1, random_state=0)
    problem = first_of_chain(gl.Problem(X, y, C=1.0, kernel=RBF(0.1)))
    beta = gl.solve(problem, "smo", tol=1e-3).beta
    again = gl.solve(with_c(problem, 1.0), "smo", tol=1e-3, start=gl.Point(beta=beta), prove_start=False)
    assert len(again.trace) == 1 and again.certificate.relative_gap <= 1e-3

    def interrupt(*step):
        raise KeyboardInterrupt

    monkeypatch.setattr(SmoEngine, "step", interrupt)
    with pytest.raises(gl.errors.Interrupted) as stop:
        gl.solve(with_c(problem, 1.0), "smo", tol=1e-3, start=gl.Point(beta=beta), prove_start=False)
    assert stop.value.result.certificate.relative_gap <= 1e-2
