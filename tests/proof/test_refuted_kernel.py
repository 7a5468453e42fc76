"""Kernels that are taken at the user's word, and whose own numbers refute it: no dual value counts, and a sentence says why."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
import sklearn.svm

import gapless as gl
from gapless.kernels import RBF, FunctionKernel, Precomputed
from gapless.kernels.refuted import entry_rounding, refutation

K = np.array([[0.4, 0.5, 0.9], [0.5, 0.6, 0.6], [0.9, 0.6, 0.8]])
Y = np.array([0, 1, 0])
PLACES = np.arange(3.0)[:, None]
NAMED = "The kernel is not positive semi-definite, so that no dual value bounds the optimum: "


def entries(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The same numbers as K, as a function."""
    return K[np.ix_(X[:, 0].astype(int), Z[:, 0].astype(int))]


@pytest.mark.parametrize("solver", ["auto", "smo", "qp"])
@pytest.mark.parametrize(
    "kernel", [Precomputed(K), FunctionKernel(entries, vectorized=True)], ids=["matrix", "function"]
)
def test_a_minor_that_is_negative_refutes_the_matrix(solver: str, kernel: Any):
    """There is a point with P = 10, and β at a corner of the box has D = P = 20."""
    problem = gl.Problem(PLACES, Y, C=10.0, kernel=kernel)
    result = gl.solve(problem, solver)
    assert result.status is gl.Status.STATIONARY or not result.status.proven
    proofs = [result.certificate, *(gl.certify(problem, result, independent=flag) for flag in (False, True))]
    proofs += [
        gl.certify(problem, gl.Point(beta=np.array([-5.0, 10.0, -5.0])), independent=flag) for flag in (False, True)
    ]
    for certificate in proofs:
        assert certificate.dual == -math.inf and certificate.relative_gap == math.inf
        assert certificate.refutation.startswith(NAMED) and certificate.refutation in str(certificate)


@pytest.mark.parametrize("model", [gl.SVC, sklearn.svm.SVC])
def test_estimators_and_certify_see_it_too(model: Any):
    fitted = model(kernel="precomputed", C=10.0).fit(K, Y)
    for certificate in (gl.certify(fitted, K, Y), gl.certify(fitted, K, Y, independent=True)):
        assert certificate.dual == -math.inf and certificate.refutation.startswith(NAMED)
    if model is gl.SVC:
        assert fitted.certificate_.dual == -math.inf
        called = gl.SVC(kernel=entries, C=10.0).fit(PLACES, Y)
        assert called.certificate_.dual == -math.inf


def test_a_part_of_the_matrix_is_judged_by_itself():
    """The first sample's row refutes K; the others form a matrix that is positive definite."""
    gram = np.array([[1.0, 5.0, 5.0], [5.0, 2.0, 0.5], [5.0, 0.5, 2.0]])
    part = gl.solve(gl.Problem(np.array([[1.0], [2.0]]), [0, 1], kernel=Precomputed(gram)))
    assert part.status is gl.Status.CONVERGED and not part.certificate.refutation
    whole = gl.solve(gl.Problem(PLACES, Y, kernel=Precomputed(gram)))
    assert whole.certificate.dual == -math.inf


def test_a_negative_square_refutes_what_minors_do_not():
    """Every minor of two samples is positive, and a factorisation of a few samples misses the three that are not."""
    n = 200
    gram = np.eye(n)
    odd = np.array([1, 2, 3])
    gram[np.ix_(odd, odd)] = -0.6 + 1.6 * np.eye(3)  # eigenvalues 1.6, 1.6 and -0.2
    assert refutation(gram) == ""
    y = np.zeros(n, dtype=int)
    y[odd] = 1
    beta = np.zeros(n)
    beta[odd] = 1.0
    for independent in (False, True):
        problem = gl.Problem(np.arange(float(n))[:, None], y, C=10.0, kernel=Precomputed(gram), intercept="none")
        certificate = gl.certify(problem, gl.Point(beta=beta), independent=independent)
        assert certificate.dual == -math.inf
        assert certificate.refutation == NAMED + "βᵀKβ = -0.6 is negative."
        # What was proven before is forgotten, too.
        assert gl.certify(problem, gl.Point(beta=np.zeros(n)), independent=independent).dual == -math.inf


def test_a_solve_forgets_dual_values_from_before_the_refutation():
    n = 200
    gram = np.eye(n)
    odd = np.array([1, 2, 3])
    gram[np.ix_(odd, odd)] = -0.6 + 1.6 * np.eye(3)
    y = np.zeros(n, dtype=int)
    y[odd] = 1
    weight = np.where(y, 1.0, 1e-3)  # so that β of the three decides the square
    problem = gl.Problem(
        np.arange(float(n))[:, None], y, C=10.0, kernel=Precomputed(gram), intercept="none", sample_weight=weight
    )
    result = gl.solve(problem, "smo")
    assert result.certificate.dual == -math.inf and result.certificate.refutation.startswith(NAMED)
    assert result.status is not gl.Status.CONVERGED


def test_random_indefinite_matrices_never_certify_with_a_negative_square():
    rng, negative = np.random.default_rng(0), 0
    for _ in range(180):
        n = int(rng.integers(3, 7))
        gram = rng.normal(size=(n, n))
        gram = np.round(gram + gram.T + rng.uniform(0.0, 4.0) * np.eye(n), 2)
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        for independent in (False, True):
            problem = gl.Problem(np.arange(float(n))[:, None], y, C=10.0, kernel=Precomputed(gram))
            found = gl.certify(problem, gl.Point(beta=rng.normal(size=n)), independent=independent)
            beta = found.point.beta
            if beta @ gram @ beta < -1e-9:
                negative += 1
                assert found.dual == -math.inf and found.refutation
    assert negative > 20


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_rounding_refutes_nothing(seed: int, dtype: Any):
    """Positive semi-definite matrices of low rank, centred ones and Gaussian ones of nearby samples, each entry rounded, as users compute them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).astype(dtype)
    X[40:] = X[:40] + dtype(1e-7) * rng.normal(size=(40, 3)).astype(dtype)
    wide = (1e4 * rng.normal(size=(60, 500)) + 1e5).astype(dtype)
    far = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    centred = wide @ wide.T
    centred = centred - centred.mean(axis=0)
    centred = centred - centred.mean(axis=1)[:, None]
    centred = dtype(0.5) * (centred + centred.T)
    outer = np.outer(X[:, 0], X[:, 0])
    for gram in (X @ X.T, np.exp(-far), wide @ wide.T, centred, outer, np.ones((9, 9), dtype), np.zeros((4, 4), dtype)):
        gram = (gram + gram.T) / dtype(2)
        for given in (gram, gram.astype(np.float64)):
            assert given.dtype == np.float64 or dtype is np.float32
            assert refutation(given) == "", entry_rounding(given)
        n = len(gram)
        problem = gl.Problem(np.arange(float(n))[:, None], np.arange(n) % 2, C=1e3, kernel=Precomputed(gram))
        null = np.linalg.eigh(gram.astype(np.float64))[1][:, 0]
        for independent in (False, True):
            assert not gl.certify(problem, gl.Point(beta=1e3 * null), independent=independent).refutation


def test_a_function_that_is_not_symmetric_is_refuted():
    kernel = FunctionKernel(lambda x, z: 1.0 + x[0] * z[0] + 0.1 * (x[0] - z[0]))
    certificate = gl.solve(gl.Problem([[1.0], [2.0], [4.0]], Y, kernel=kernel)).certificate
    assert certificate.dual == -math.inf and certificate.refutation.startswith("The kernel is not symmetric")


def test_kernels_that_are_valid_by_construction_are_not_looked_at(monkeypatch: pytest.MonkeyPatch):
    def no_look(*args: Any) -> None:
        raise AssertionError("looked at")

    monkeypatch.setattr(importlib.import_module("gapless.kernels.base"), "refutation", no_look)
    assert gl.solve(gl.Problem([[1.0], [2.0], [4.0]], Y, kernel=RBF(1.0))).status is gl.Status.CONVERGED


def test_another_matrix_is_judged_anew():
    kernel = Precomputed(K)
    assert kernel.refutation(PLACES)
    assert not kernel.set_params(gram=np.eye(3)).refutation(PLACES)
