"""What ``sizes.py`` compares our estimators with: those of scikit-learn and sklearnex, and what scikit-learn has in place of the ones it lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
from _racing import OURS, SKLEARN, Samples
from _size_data import samples as drawn
from _size_rows import WITH_MATRIX, Row
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel

ACCELERATED = ("SVC", "NuSVC", "SVR", "NuSVR")
"""The estimators that sklearnex has an own implementation of."""
ANOTHER_PROBLEM = ("KernelPerceptron", "KernelFisherDiscriminant")
"""Estimators whose reference solves a problem of its own: the score is compared, the seconds are not."""


def samples(row: Row) -> Samples:
    """The samples of a row."""
    found = drawn(row.kind, row.n)
    return Samples(found.X, found.y, found.weight if row.weighted else None, found.X_test, found.y_test)


def make(name: str, row: Row) -> Any:
    """The estimator of a contender for a row; None where it has none."""
    if name == OURS:
        import gapless

        return getattr(gapless, row.estimator)(**row.parameters)
    if name == SKLEARN and row.estimator in WITH_MATRIX:
        return Reference(row.estimator, row.options)
    if name == SKLEARN:
        import sklearn.svm

        return getattr(sklearn.svm, row.estimator)(**row.parameters)
    if row.estimator in ACCELERATED:
        import sklearnex.svm

        return getattr(sklearnex.svm, row.estimator)(**row.parameters)
    return None


class Reference(ClassifierMixin, BaseEstimator):
    """A linear model of scikit-learn's on the features of the RBF kernel, which a Cholesky factor of its matrix gives.

    For kernel logistic regression the problem is then the same one. In place of the kernel perceptron stands the averaged one of
    ``SGDClassifier``, in that of Fisher's discriminant a ridge regression on the classes, whose direction is the same where there are two.
    """

    def __init__(self, estimator: str, options: tuple[tuple[str, Any], ...]) -> None:
        self.estimator = estimator
        self.options = options

    def fit(self, X: Any, y: np.ndarray) -> Reference:
        """Make the features and fit the linear model."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        variance = X.multiply(X).mean() - X.mean() ** 2 if hasattr(X, "multiply") else X.var()
        self._X, self._gamma = X, 1.0 / (X.shape[1] * variance)
        K = rbf_kernel(X, gamma=self._gamma)
        options = dict(self.options)
        if self.estimator == "KernelFisherDiscriminant":
            ridge = KernelRidge(alpha=1e-3 * len(y), kernel="precomputed")
            self._model: Any = ridge.fit(K, np.eye(len(self.classes_))[codes])
            return self
        K[np.diag_indices_from(K)] += 1e-10
        self._root = la.cholesky(K, lower=True, overwrite_a=True)
        if self.estimator == "KernelLogisticRegression":
            self._model = LogisticRegression(max_iter=1000, **options)
        else:
            self._model = SGDClassifier(
                loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, average=True, tol=None,
                max_iter=options["max_iter"], random_state=0,
            )  # fmt: skip
        self._model.fit(self._root, codes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The labels of the samples."""
        K = rbf_kernel(X, self._X, gamma=self._gamma)
        if self.estimator == "KernelFisherDiscriminant":
            return self.classes_[self._model.predict(K).argmax(axis=1)]
        return self.classes_[self._model.predict(la.solve_triangular(self._root, K.T, lower=True).T)]
