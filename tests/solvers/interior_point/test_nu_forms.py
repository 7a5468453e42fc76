"""The interior point of the ν-forms: the optimum that pairs find, and that a quadratic program finds, on rows of any storage."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_linnerud

import gapless as gl
from gapless.solvers import SMO

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + 1.0
Y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 1.0).astype(int)
TARGET = 10 * X[:, 1] + RNG.normal(size=60)
WEIGHT = RNG.uniform(0.2, 2.0, size=60)

FORMS = {
    "one-class": lambda X: gl.nu.one_class(X, nu=0.3),
    "one-class weighted": lambda X: gl.nu.one_class(X, nu=0.3, sample_weight=WEIGHT),
    "classification": lambda X: gl.nu.nu_classification(X, Y, nu=0.4),
    "classification weighted": lambda X: gl.nu.nu_classification(X, Y, nu=0.3, sample_weight=WEIGHT, box_weight=1.0 + Y),
    "regression": lambda X: gl.nu.nu_regression(X, TARGET, nu=0.3, C=5.0),
}  # fmt: skip


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, np.float32], ids=["dense", "sparse", "single"])
@pytest.mark.parametrize("form", FORMS)
def test_the_optimum_that_pairs_find(form, storage):
    problem = FORMS[form](storage(X))
    result, pairs = (gl.solve(problem, solver, tol=1e-8) for solver in ("interior_point", SMO()))
    assert result.certificate.relative_gap <= 1e-8 and result.iterations <= 40
    slack = result.certificate.gap + pairs.certificate.gap
    assert abs(result.certificate.primal - pairs.certificate.primal) <= slack
    sums = np.bincount(problem.groups, weights=result.beta)
    np.testing.assert_allclose(sums, problem.totals, rtol=1e-9)


def test_few_samples_that_pairs_take_ten_million_steps_for():
    """Twenty men, three exercises, not scaled: pairs alone end with a relative gap of 0.19."""
    X, y = load_linnerud().data, load_linnerud().target[:, 0]
    result = gl.solve(gl.nu.nu_regression(X, y, C=1e4), "interior_point", tol=1e-6)
    assert result.certificate.relative_gap <= 1e-6 and result.iterations <= 40


def test_an_optimum_of_zero_comes_close_to_zero():
    """The origin is the mean of the samples, so that w = 0 is optimal: no gap is small relative to it."""
    problem = gl.nu.one_class(X - X.mean(axis=0), nu=0.9)
    certificate = gl.solve(problem, "interior_point", tol=1e-3).certificate
    assert 0 <= certificate.primal - certificate.dual <= 1e-9


def test_an_end_by_max_iter_is_a_point_with_its_totals():
    X, y = load_diabetes(return_X_y=True)
    problem = gl.nu.nu_regression(X, y, C=10.0)
    result = gl.solve(problem, "interior_point", tol=1e-9, max_iter=3)
    assert result.iterations == 3
    np.testing.assert_allclose(np.bincount(problem.groups, weights=result.certified.beta), problem.totals, rtol=1e-9)


def test_pairs_of_groups_that_are_side_by_side_or_mixed():
    """Sorted by class, the samples are one block as they stand; mixed, they are gathered into blocks. The optimum is the same."""
    order = np.argsort(Y, kind="stable")
    results = [
        gl.solve(gl.nu.nu_classification(X[rows], Y[rows], nu=0.4, kernel=gl.kernels.RBF(0.3)), "smo", tol=1e-9)
        for rows in (order, np.arange(60))
    ]
    assert [result.status for result in results] == [gl.Status.CONVERGED] * 2
    sorted_, mixed = results
    assert sorted_.certificate.primal == pytest.approx(mixed.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(sorted_.beta, mixed.beta[order], atol=1e-4)
