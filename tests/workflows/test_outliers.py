"""Outliers and novelties: one class, learned from samples that are taken for normal."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from sklearn.base import is_outlier_detector
from sklearn.decomposition import PCA
from sklearn.metrics import average_precision_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.workflows.agreement import assert_close_values, assert_same_form, other

RNG = np.random.RandomState(42)
CENTRES = np.vstack([0.3 * RNG.randn(100, 2) + 2, 0.3 * RNG.randn(100, 2) - 2])
NEW = np.vstack([0.3 * RNG.randn(20, 2) + 2, 0.3 * RNG.randn(20, 2) - 2])
FAR = RNG.uniform(-4, 4, size=(20, 2))


def test_novelties(svm: ModuleType) -> None:
    """Two clusters, samples that are like them, and others: the example of the user guide."""
    model, twin = (each.OneClassSVM(nu=0.1, kernel="rbf", gamma=0.1).fit(CENTRES) for each in (svm, other(svm)))
    for samples in (CENTRES, NEW, FAR):
        values, expected = model.decision_function(samples), twin.decision_function(samples)
        assert_same_form(values, expected)
        np.testing.assert_allclose(values, expected, rtol=0, atol=0.02 * float(np.ptp(twin.decision_function(CENTRES))))
        assert_same_form(model.predict(samples), twin.predict(samples))
        np.testing.assert_array_equal(model.predict(samples), np.where(values < 0, -1, 1))
    errors = [
        np.count_nonzero(model.predict(samples) == wrong) for samples, wrong in ((CENTRES, -1), (NEW, -1), (FAR, 1))
    ]
    assert errors[0] <= 0.13 * len(CENTRES) and errors[1] <= 8 and errors[2] <= 8


def test_outliers_of_the_training_set_itself(svm: ModuleType) -> None:
    X = np.vstack([CENTRES, FAR])
    machine = svm.OneClassSVM(nu=0.1, gamma=0.5)
    found = machine.fit_predict(X)
    assert set(found) == {-1, 1} and found.dtype.kind == "i"
    np.testing.assert_array_equal(found, machine.predict(X))
    assert (found[len(CENTRES) :] == -1).mean() > 0.6 > 0.1 > (found[: len(CENTRES)] == -1).mean()


def test_scores_and_their_offset(svm: ModuleType) -> None:
    """Scores rank samples, and the offset is where the boundary is: people set thresholds of their own by percentiles."""
    model, twin = (each.OneClassSVM(nu=0.2, gamma=0.3, tol=1e-6).fit(CENTRES) for each in (svm, other(svm)))
    assert_same_form(model.offset_, twin.offset_)
    np.testing.assert_allclose(model.offset_, twin.offset_, rtol=1e-3)
    np.testing.assert_allclose(model.score_samples(NEW), model.decision_function(NEW) + model.offset_)
    assert_close_values(model.score_samples(NEW), twin.score_samples(NEW))
    threshold = np.percentile(model.score_samples(CENTRES), 5)
    assert (model.score_samples(CENTRES) < threshold).mean() == pytest.approx(0.05)
    assert model.intercept_ == pytest.approx(-model.offset_)


def test_nu_bounds_the_shares_of_errors_and_support_vectors(svm: ModuleType) -> None:
    for nu in (0.05, 0.2, 0.5):
        model = svm.OneClassSVM(nu=nu, gamma=0.3, tol=1e-8).fit(CENTRES)
        assert (model.decision_function(CENTRES) < -1e-6).mean() <= nu <= len(model.support_) / len(CENTRES)
        assert model.n_support_.tolist() == [len(model.support_)]


def test_in_a_pipeline_with_true_labels_to_score(svm: ModuleType) -> None:
    X, truth = np.vstack([NEW, FAR]), np.r_[np.ones(len(NEW)), -np.ones(len(FAR))]
    models = [
        make_pipeline(StandardScaler(), PCA(2), each.OneClassSVM(nu=0.1, gamma=2.0)).fit(CENTRES)
        for each in (svm, other(svm))
    ]
    assert is_outlier_detector(models[0])
    areas = [roc_auc_score(truth, model.score_samples(X)) for model in models]
    assert areas[0] == pytest.approx(areas[1], abs=0.01) and areas[0] > 0.9
    precisions = [average_precision_score(truth == -1, -model.decision_function(X)) for model in models]
    assert precisions[0] == pytest.approx(precisions[1], abs=0.02)


def test_nu_and_gamma_by_a_search(svm: ModuleType) -> None:
    """Labels only judge; the machine is fitted without them."""
    X, truth = np.vstack([CENTRES, FAR]), np.r_[np.ones(len(CENTRES)), -np.ones(len(FAR))].astype(int)
    grid = {"nu": [0.05, 0.1, 0.2], "gamma": [0.1, 0.5, 2.0]}
    scoring = make_scorer(f1_score, pos_label=-1, zero_division=0)
    folds = KFold(4, shuffle=True, random_state=0)
    search, twin = (
        GridSearchCV(each.OneClassSVM(tol=1e-6), grid, scoring=scoring, cv=folds).fit(X, truth)
        for each in (svm, other(svm))
    )
    assert search.best_params_ == twin.best_params_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], twin.cv_results_["mean_test_score"], atol=0.05)


def test_weights_of_normal_samples(svm: ModuleType) -> None:
    """Samples of the first cluster count little, so that the boundary is drawn tighter there."""
    weight = np.r_[np.full(100, 0.1), np.ones(100)]
    model, twin = (
        each.OneClassSVM(nu=0.1, gamma=0.3, tol=1e-6).fit(CENTRES, sample_weight=weight) for each in (svm, other(svm))
    )
    np.testing.assert_allclose(
        model.decision_function(NEW) / model.offset_, twin.decision_function(NEW) / twin.offset_, atol=1e-3
    )
    assert (model.predict(CENTRES[:100]) == -1).sum() > (model.predict(CENTRES[100:]) == -1).sum()
