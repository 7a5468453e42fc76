"""A sample has the same prediction, to the last bit, alone, in any batch, and at any place of it."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless import kernels
from gapless.estimators import base

KERNELS = {
    "linear": "linear",
    "rbf": "rbf",
    "poly": "poly",
    "sigmoid": "sigmoid",
    "laplacian": kernels.Laplacian(0.3),
    "matern": kernels.Matern(0.5),
    "cosine": kernels.Cosine(),
    "chi2": kernels.Chi2(),
    "sum": kernels.RBF(0.2) + 0.5 * kernels.Linear(),
    "product": kernels.Matern(2.0) * kernels.Polynomial(2),
    "exp": kernels.exp(0.1 * kernels.Linear()),
}
# Wide samples stay sparse; narrow ones are made dense, which the estimators do with small data.
STORAGES = {"dense": (np.asarray, 17), "csr": (sp.csr_array, 17), "wide csr": (sp.csr_array, 60_000)}
N, TESTS = 90, 140
ESTIMATORS = {
    "SVC": (lambda kernel: gl.SVC(kernel=kernel, max_iter=500), 2),
    "SVC of three classes": (lambda kernel: gl.SVC(kernel=kernel, max_iter=500), 3),
    "NuSVC": (lambda kernel: gl.NuSVC(nu=0.3, kernel=kernel, max_iter=500), 2),
    "SVR": (lambda kernel: gl.SVR(kernel=kernel, max_iter=500), 0),
    "NuSVR": (lambda kernel: gl.NuSVR(kernel=kernel, max_iter=500), 0),
    "OneClassSVM": (lambda kernel: gl.OneClassSVM(kernel=kernel, max_iter=500), 0),
    "KernelPerceptron": (lambda kernel: gl.KernelPerceptron(kernel=kernel, max_iter=2), 3),
    "KernelPerceptron, voted": (lambda kernel: gl.KernelPerceptron(kernel=kernel, max_iter=1, form="voted"), 2),
    "KernelLogisticRegression": (lambda kernel: gl.KernelLogisticRegression(kernel=kernel, max_iter=20), 2),
    "KernelFisherDiscriminant": (lambda kernel: gl.KernelFisherDiscriminant(kernel=kernel, alpha=0.1), 3),
}
LINEAR = {
    "LinearSVC": (lambda: gl.LinearSVC(max_iter=20), 2),
    "LinearSVC of three classes": (lambda: gl.LinearSVC(max_iter=20), 3),
    "LinearSVR": (lambda: gl.LinearSVR(max_iter=20), 0),
}
NOT_VALID = [(name, "sigmoid") for name in ("KernelLogisticRegression", "KernelFisherDiscriminant")]


@cache
def samples(storage: str) -> tuple[Any, Any]:
    """(training, test) samples, non-negative and half of them zero."""
    form, d = STORAGES[storage]
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(N + TESTS, 17))) * (rng.random((N + TESTS, 17)) < 0.5)
    X[:, 0] += 0.1
    if d == 17:
        return form(X[:N]), form(X[N:])
    places = np.sort(rng.choice(d, 17, replace=False))
    wide = sp.csr_array((X.ravel(), np.tile(places, N + TESTS), np.arange(0, X.size + 1, 17)), shape=(N + TESTS, d))
    return wide[:N], wide[N:]


@cache
def fitted(estimator: str, kernel: str | None, storage: str) -> tuple[Any, np.ndarray]:
    """A model's function of samples, and its values on all test samples at once."""
    make, classes = (LINEAR if kernel is None else ESTIMATORS)[estimator]
    X, test = samples(storage)
    total = np.asarray(X.sum(axis=1)).ravel()
    y = np.digitize(total, np.quantile(total, np.arange(1, classes) / classes)) if classes else total
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations are enough here
        model = (make() if kernel is None else make(KERNELS[kernel])).fit(X, y)  # type: ignore[call-arg, arg-type]
    function = getattr(model, "decision_function", model.predict)
    return function, function(test)


def check(estimator: str, kernel: str | None, storage: str, places: list[int]) -> None:
    function, all_at_once = fitted(estimator, kernel, storage)
    test = samples(storage)[1]
    np.testing.assert_array_equal(function(test[places]), all_at_once[places])
    np.testing.assert_array_equal(function(test[places[:1]]), all_at_once[places[:1]])


PLACES = st.lists(st.integers(0, TESTS - 1), min_size=1, max_size=70)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
@settings(max_examples=40)
@given(kernel=st.sampled_from(sorted(KERNELS)), places=PLACES)
def test_kernel_estimators(estimator: str, storage: str, kernel: str, places: list[int]) -> None:
    if (estimator, kernel) not in NOT_VALID and not (
        storage == "wide csr" and kernel == "chi2"
    ):  # chi2 makes blocks dense
        check(estimator, kernel, storage, places)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("estimator", LINEAR)
@settings(max_examples=60)
@given(places=PLACES)
def test_linear_estimators(estimator: str, storage: str, places: list[int]) -> None:
    check(estimator, None, storage, places)


@settings(max_examples=40)
@given(places=PLACES)
def test_precomputed_kernels(places: list[int]) -> None:
    X, test = (np.asarray(each) for each in samples("dense"))
    model = gl.SVR(kernel="precomputed").fit(X @ X.T, X.sum(axis=1))
    K = np.ascontiguousarray(test @ X.T)
    np.testing.assert_array_equal(model.predict(K[places]), model.predict(K)[places])


def test_sigmoid_entries_at_the_edge_of_a_tile_are_those_inside() -> None:
    """Two copies of one loop were contracted in two ways: SVC of three classes differed in the last digit."""
    for place in range(TESTS):
        check("SVC of three classes", "sigmoid", "dense", [place])


@pytest.mark.parametrize("scale", [1e30, 1e39, 1e160, 1e300])
def test_values_beyond_float32_have_one_label_alone_and_in_a_batch(scale: float) -> None:
    """Many samples are tried in float32 first, where these are NaN, and NaN passed as a value far from zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    model = gl.SVC().fit(X, np.linalg.norm(X, axis=1) > 1.5)
    test = np.vstack([*[X] * 4, scale * X[:50]])
    assert len(test) * len(model.support_) >= base._MANY, "enough for float32"
    alone = np.concatenate([model.predict(row[None]) for row in test[-50:]])
    np.testing.assert_array_equal(model.predict(test)[-50:], alone)
