"""Kernels as arguments of scikit-learn's own estimators."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from gapless.kernels import RBF, Linear, Polynomial

_rng = np.random.default_rng(0)
X = _rng.normal(size=(40, 3))
Z = _rng.normal(size=(9, 3))
y = np.sin(X[:, 0]) + 0.1 * _rng.normal(size=40)
labels = (y > 0).astype(int)
COMPOSED = 0.5 * RBF(0.1) + Polynomial(2) * Linear()
both_containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_array])


class Spy(RBF):
    """Counts the calls of block in all instances."""

    calls = 0

    def block(self, X, Z):
        Spy.calls += 1
        return super().block(X, Z)


@both_containers
@pytest.mark.parametrize("kernel", [RBF(0.3), COMPOSED], ids=repr)
def test_kernel_ridge(container, kernel):
    ours = KernelRidge(alpha=0.1, kernel=kernel).fit(container(X), y)
    theirs = KernelRidge(alpha=0.1, kernel="precomputed").fit(kernel(X), y)
    assert_allclose(ours.predict(container(Z)), theirs.predict(kernel(Z, X)), rtol=1e-9)


@both_containers
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_kernel_pca(container, n_jobs):
    ours = KernelPCA(3, kernel=RBF(0.3), n_jobs=n_jobs).fit(container(X))
    theirs = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    assert_allclose(ours.transform(container(Z)), theirs.transform(Z), rtol=1e-8, atol=1e-10)


@both_containers
def test_svc(container):
    ours = SVC(kernel=RBF(0.3), C=2.0).fit(container(X), labels)
    theirs = SVC(kernel="rbf", gamma=0.3, C=2.0).fit(X, labels)
    assert_allclose(ours.decision_function(container(Z)), theirs.decision_function(Z), atol=1e-6)


def test_nystroem():
    ours = Nystroem(kernel=RBF(0.3), n_components=8, random_state=0).fit_transform(X)
    theirs = Nystroem(kernel="rbf", gamma=0.3, n_components=8, random_state=0).fit_transform(X)
    assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=1e-7, atol=1e-9)


def test_gaussian_process_with_the_parameters_as_they_are():
    process = GaussianProcessRegressor(kernel=COMPOSED, alpha=0.1).fit(X, y)
    mean, deviation = process.predict(Z, return_std=True)
    assert_allclose(mean, KernelRidge(alpha=0.1, kernel=COMPOSED).fit(X, y).predict(Z), rtol=1e-8)
    explained = COMPOSED(Z, X) @ np.linalg.solve(COMPOSED(X) + 0.1 * np.eye(40), COMPOSED(X, Z))
    assert_allclose(deviation**2, COMPOSED.diag(Z) - np.diag(explained), rtol=1e-6)


def test_whole_matrices_are_asked_for_not_pairs_of_rows():
    Spy.calls = 0
    KernelRidge(kernel=Spy(0.3)).fit(X, y)
    KernelPCA(2, kernel=Spy(0.3)).fit(X)
    SVC(kernel=Spy(0.3)).fit(X, labels)
    assert Spy.calls == 3


@both_containers
def test_pairs_of_rows_work_too(container):
    kernel = RBF(0.3)
    expected = kernel(X[:6], Z)
    # A plain function of two rows is what scikit-learn calls n² times; sparse rows come as matrices of one row.
    K = pairwise_kernels(container(X[:6]), container(Z), metric=lambda x, z: np.squeeze(kernel(x, z)))
    assert_allclose(K, expected, rtol=1e-11)


def test_grid_search_reaches_the_parameters_within():
    grid = {"kernel__left__kernel__gamma": [0.01, 1.0], "kernel__right__left__degree": [1, 2], "C": [1.0]}
    search = GridSearchCV(SVC(kernel=COMPOSED), grid, cv=3).fit(X, labels)
    assert len(search.cv_results_["params"]) == 4
    chosen = search.best_estimator_.kernel
    assert chosen.left.kernel.gamma == search.best_params_["kernel__left__kernel__gamma"]
    assert chosen.right.left.degree == search.best_params_["kernel__right__left__degree"]
    assert 0.5 * RBF(0.1) + Polynomial(2) * Linear() == COMPOSED  # the search worked on clones
