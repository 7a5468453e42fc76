"""Kernels of one's own: functions, Gram matrices, and those of other modules."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, RationalQuadratic, WhiteKernel
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    chi2_kernel,
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    pairwise_kernels,
    rbf_kernel,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, train_test_split
from sklearn.preprocessing import KernelCenterer

from tests.estimators.data import cancer, diabetes, iris
from tests.workflows.agreement import assert_close_values, assert_same_form, assert_same_labels, other


def skewed(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A product in which the first feature counts twice."""
    return A @ np.diag([2.0, 1.0, 1.0, 1.0]) @ B.T


@pytest.mark.parametrize(
    "kernel",
    [skewed, linear_kernel, partial(rbf_kernel, gamma=0.1), laplacian_kernel, cosine_similarity, chi2_kernel],
    ids=["skewed", "linear", "rbf", "laplacian", "cosine", "chi2"],
)
def test_functions_of_two_matrices(svm: ModuleType, kernel: Any) -> None:
    X, y = iris()
    model, twin = (each.SVC(kernel=kernel, tol=1e-6).fit(X, y) for each in (svm, other(svm)))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    for name in ("support_", "support_vectors_", "dual_coef_", "intercept_"):
        assert_same_form(getattr(model, name)[:0], getattr(twin, name)[:0])
    assert model.support_vectors_.shape == (0, 0) and model.shape_fit_ == (150, 4)
    assert cross_val_score(svm.SVC(kernel=kernel, C=10), X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize(
    "kernel",
    [RBF(2.0), RationalQuadratic() + ConstantKernel(0.5), 2.0 * RBF([1.0, 2.0, 1.0, 3.0]) + WhiteKernel(0.01)],
    ids=["rbf", "sum", "anisotropic"],
)
def test_kernels_of_gaussian_processes(svm: ModuleType, kernel: Any) -> None:
    X, y = iris()
    model, twin = (each.SVC(kernel=kernel, tol=1e-6).fit(X, y) for each in (svm, other(svm)))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))


def test_search_over_kernels_of_gaussian_processes(svm: ModuleType) -> None:
    X, y = iris()
    search = GridSearchCV(svm.SVC(kernel=RBF(1.0)), {"kernel": [RBF(0.5), RBF(2.0)], "C": [1, 10]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95


def test_gram_matrix_and_its_rows_for_new_samples(svm: ModuleType) -> None:
    X, y = cancer()
    X, X_new, y, y_new = train_test_split(X, y, random_state=0)
    K, K_new = rbf_kernel(X, gamma=0.02), rbf_kernel(X_new, X, gamma=0.02)
    model, twin = (each.SVC(kernel="precomputed").fit(K, y) for each in (svm, other(svm)))
    assert_same_labels(model, twin, K_new)
    plain = svm.SVC(gamma=0.02).fit(X, y)
    np.testing.assert_allclose(model.decision_function(K_new), plain.decision_function(X_new), atol=5e-3)
    assert model.score(K_new, y_new) > 0.9
    for given in (pd.DataFrame(K), K.tolist(), K.astype(np.float32)):
        again = svm.SVC(kernel="precomputed").fit(given, y)
        np.testing.assert_allclose(again.decision_function(K), model.decision_function(K), atol=5e-3)
    with pytest.raises(ValueError, match=r"X has 10 features, but SVC is expecting 150 features"):
        model.predict(K_new[:, :10])


def test_gram_matrix_cut_by_hand_in_folds(svm: ModuleType) -> None:
    X, y = iris()
    K = pairwise_kernels(X, metric="poly", degree=2)
    folds = StratifiedKFold(3)
    by_hand = []
    for train, test in folds.split(X, y):
        model = svm.SVC(kernel="precomputed", C=0.01).fit(K[np.ix_(train, train)], y[train])
        by_hand.append(model.score(K[np.ix_(test, train)], y[test]))
    np.testing.assert_array_equal(by_hand, cross_val_score(svm.SVC(kernel="precomputed", C=0.01), K, y, cv=folds))


def test_centred_gram_matrix(svm: ModuleType) -> None:
    X, y = cancer()
    K = rbf_kernel(X, gamma=0.02)
    model, twin = (
        each.SVC(kernel="precomputed", tol=1e-6).fit(KernelCenterer().fit_transform(K), y) for each in (svm, other(svm))
    )
    assert_same_labels(model, twin, KernelCenterer().fit_transform(K))


def test_samples_that_are_places_in_a_table(svm: ModuleType) -> None:
    """The trick for searches over a Gram matrix: samples are numbers of rows, and the kernel looks up."""
    X, y = iris()
    K = rbf_kernel(X, gamma=0.1)

    def looked_up(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]

    places = np.arange(150)[:, None]
    scores = cross_val_score(svm.SVC(kernel=looked_up, tol=1e-6), places, y, cv=5)
    np.testing.assert_array_equal(scores, cross_val_score(svm.SVC(gamma=0.1, tol=1e-6), X, y, cv=5))


def shared_letters(A: Any, B: Any) -> np.ndarray:
    return np.array(
        [[sum(a.count(letter) * b.count(letter) for letter in "abcdxyz") for b in B] for a in A], dtype=float
    )


def test_samples_that_are_words(svm: ModuleType) -> None:
    words, labels = ["aab", "abb", "cad", "xyz", "yzz", "xzy"], [0, 0, 0, 1, 1, 1]
    model = svm.SVC(kernel=shared_letters).fit(words, labels)
    assert model.predict(["bab", "zzz", "dc"]).tolist() == [0, 1, 0]
    twin = other(svm).SVC(kernel=shared_letters).fit(words, labels)
    np.testing.assert_allclose(model.decision_function(words), twin.decision_function(words), atol=5e-3)


def test_frames_and_sparse_samples_reach_the_function(svm: ModuleType) -> None:
    X, y = iris()
    plain = svm.SVC(kernel=linear_kernel).fit(X, y)
    for given in (pd.DataFrame(X, columns=list("abcd")), sp.csr_matrix(X)):
        model = svm.SVC(kernel=linear_kernel).fit(given, y)
        np.testing.assert_array_equal(model.predict(given), plain.predict(X))


def test_regressions_and_one_class_with_a_function(svm: ModuleType) -> None:
    X, y = diabetes()
    kernel = partial(rbf_kernel, gamma=0.05)
    for name, parameters in (("SVR", {"C": 2.0}), ("NuSVR", {"nu": 0.3}), ("OneClassSVM", {"nu": 0.2, "tol": 1e-6})):
        model, twin = (getattr(each, name)(kernel=kernel, **parameters).fit(X, y) for each in (svm, other(svm)))
        outputs = [
            getattr(each, "decision_function" if name == "OneClassSVM" else "predict")(X) for each in (model, twin)
        ]
        assert_close_values(*outputs)


def test_two_kinds_of_features_in_one_kernel(svm: ModuleType) -> None:
    """Counts by a χ² kernel, measurements by an RBF: the sum is a kernel."""
    X, y = cancer()
    counts = np.round(np.abs(X[:, :5]) * 10)

    def mixed(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.exp(0.1 * additive_chi2_kernel(A[:, :5], B[:, :5])) + rbf_kernel(A[:, 5:], B[:, 5:], gamma=0.05)

    both = np.column_stack([counts, X[:, 5:]])
    model, twin = (each.SVC(kernel=mixed, tol=1e-6).fit(both, y) for each in (svm, other(svm)))
    assert_same_labels(model, twin, both)
    assert cross_val_score(svm.SVC(kernel=mixed), both, y, cv=3).mean() > 0.9


def test_a_machine_of_ones_own(svm: ModuleType) -> None:
    """A subclass with parameters of its own is cloned and searched like any estimator."""

    class Wide(svm.SVC):  # type: ignore[misc, name-defined]
        def __init__(self, C: float = 1.0, width: float = 1.0) -> None:
            super().__init__(C=C, gamma=1.0 / (2.0 * width**2))
            self.width = width

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.gamma = 1.0 / (2.0 * self.width**2)
            return super().fit(np.sqrt(X), y, sample_weight=sample_weight)

        def decision_function(self, X: Any) -> np.ndarray:
            return super().decision_function(np.sqrt(X))

        def predict(self, X: Any) -> np.ndarray:
            return super().predict(np.sqrt(X))

    X, y = iris()
    X, y = X[y > 0], y[y > 0]
    search = GridSearchCV(Wide(), {"width": [0.5, 1.0, 2.0], "C": [1.0, 10.0]}, cv=4).fit(X, y)
    best = search.best_params_
    plain = svm.SVC(C=best["C"], gamma=1.0 / (2.0 * best["width"] ** 2)).fit(np.sqrt(X), y)
    np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(np.sqrt(X)))
    assert set(clone(search.best_estimator_).get_params()) == {"C", "width"}
