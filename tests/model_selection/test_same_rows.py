"""Samples that are the same are one row of a search's table: nothing of what is found may depend on it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.model_selection
from hypothesis import given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless.model_selection import GridSearchCV
from gapless.model_selection.class_families import ClassFamilies
from gapless.model_selection.same_rows import first_of_same, numbers_of_rows

GRID = {"C": [0.1, 1.0, 30.0], "gamma": [0.3, 2.0]}


def repeated(seed: int, n: int = 90, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Samples on a coarse grid, so that many are the same, with labels that contradict each other at times."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 2)).astype(float)
    y = (X.sum(axis=1).astype(int) + (rng.random(n) < 0.2)) % classes
    return X, y


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=12))
def test_first_of_same_by_comparing_each_with_each(samples: list[tuple[int, int, int]]) -> None:
    X, y = np.array(samples)[:, :2].astype(float), np.array(samples)[:, 2]
    first, which = first_of_same(numbers_of_rows(X), y)
    for i, sample in enumerate(samples):
        assert first[which[i]] == samples.index(sample)
    assert list(first) == sorted(first)


def test_sparse_rows_are_their_own() -> None:
    first, which = first_of_same(numbers_of_rows(sp.csr_matrix(np.ones((3, 2)))), np.zeros(3))
    assert list(first) == list(which) == [0, 1, 2]


def test_the_table_has_each_sample_once() -> None:
    X, y = repeated(0)
    folds = [(np.arange(0, 60), np.arange(60, 90))]
    families = ClassFamilies(X, y, np.full(90, 2.0), folds)
    assert len(families.rows) == len({(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)}) < 20
    assert families.weights(0, (1.0, 3.0)).sum() == 2.0 * (60 + 2 * (y[:60] == 1).sum())
    assert (families.rows[families.place] == X).all()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_and_choice_are_those_of_fits_one_by_one(classes: int, weighted: bool) -> None:
    X, y = repeated(1, classes=classes)
    params = {"sample_weight": np.random.default_rng(2).uniform(0.5, 2.0, len(y))} if weighted else {}
    ours = GridSearchCV(gl.SVC(class_weight="balanced"), GRID).fit(X, y, **params)
    theirs = sklearn.model_selection.GridSearchCV(gl.SVC(class_weight="balanced", tol=1e-8), GRID).fit(X, y, **params)
    for fold in range(5):
        low, high = (ours.cv_results_[f"split{fold}_test_score_{bound}"] for bound in ("low", "high"))
        score = theirs.cv_results_[f"split{fold}_test_score"]
        assert ((low - 1e-12 <= score) & (score <= high + 1e-12)).all()
        decided = low == high
        assert decided.sum() >= 4
        np.testing.assert_array_equal(ours.cv_results_[f"split{fold}_test_score"][decided], score[decided])


def test_errors_of_regressions_are_those_of_fits_one_by_one() -> None:
    X, y = repeated(3)
    ours, theirs = (
        module.GridSearchCV(gl.SVR(tol=tol), GRID, scoring="neg_mean_absolute_error").fit(X, y.astype(float))
        for module, tol in ((gl.model_selection, 1e-3), (sklearn.model_selection, 1e-9))
    )
    for fold in range(5):
        low, high = (ours.cv_results_[f"split{fold}_test_score_{bound}"] for bound in ("low", "high"))
        score = theirs.cv_results_[f"split{fold}_test_score"]
        assert ((low - 1e-6 <= score) & (score <= high + 1e-6)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fitted_clone_has_a_proof_of_its_own_samples(classes: int) -> None:
    X, y = repeated(4, classes=classes)
    seen: list[float] = []

    def proven(estimator: gl.SVC, X: np.ndarray, y: np.ndarray) -> float:
        assert len(estimator.dual_coef_[0]) == len(estimator.support_)
        again = gl.SVC(C=estimator.C, gamma=estimator.gamma, tol=1e-8).fit(*proven.train)  # type: ignore[attr-defined]
        np.testing.assert_allclose(estimator.decision_function(X), again.decision_function(X), atol=2e-2)
        seen.append(max(each.relative_gap for each in np.ravel(estimator.certificate_)))
        return estimator.score(X, y)

    train, test = np.arange(60), np.arange(60, 90)
    proven.train = X[train], y[train]  # type: ignore[attr-defined]
    GridSearchCV(gl.SVC(), GRID, scoring=proven, cv=[(train, test)], refit=False).fit(X, y)
    assert len(seen) == 6
    assert max(seen) <= 1e-3
