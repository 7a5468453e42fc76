"""What onnxruntime computes is what the estimator computes: labels exactly, values to rounding in double precision."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF as GaussianProcessRBF

import gapless as gl
from gapless.errors import MissingDependencyError, UnsupportedError
from gapless.kernels import (
    RBF,
    Chi2,
    Constant,
    Cosine,
    FeatureMapKernel,
    FunctionKernel,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
)
from tests.store.models import CASES, COMPOSITE, Case, data, fitted

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

TOLERANCE = 1e-9


def run(model: Any, X: Any) -> dict[str, np.ndarray]:
    """The outputs of the exported model, by name."""
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    values = session.run(names, {"X": np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)})
    return dict(zip(names, values, strict=True))


def assert_parity(model: Any, X: Any) -> None:
    """Equal labels, equal shapes, and values that agree to rounding."""
    got = run(model, X)
    if "prediction" in got:
        assert got.keys() == {"prediction"}
        np.testing.assert_allclose(got["prediction"], model.predict(X), rtol=TOLERANCE, atol=TOLERANCE, strict=True)
        return
    assert got.keys() == {"label", "decision"} | ({"probabilities"} if hasattr(model, "predict_proba") else set())
    if "probabilities" in got:
        expected = model.predict_proba(X)
        np.testing.assert_allclose(got["probabilities"], expected, rtol=TOLERANCE, atol=TOLERANCE, strict=True)
    assert got["label"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(got["decision"], model.decision_function(X), rtol=TOLERANCE, atol=TOLERANCE, strict=True)


@pytest.mark.parametrize("case", [case for case in CASES if case.kernel != "precomputed"], ids=str)
def test_every_estimator_and_kernel(case: Case) -> None:
    assert_parity(*fitted(case))


@pytest.mark.parametrize(
    "kernel",
    [
        Cosine(),
        Laplacian(gamma=0.3),
        *(Matern(length_scale=1.5, nu=nu) for nu in (0.5, 1.5, 2.5, float("inf"))),
        Constant(0.5) + Linear(),
        2 * Cosine() * Laplacian(),
        np.float32(0.1) * Polynomial(np.int64(2), np.float32(0.3), np.float32(0.7)) ** np.int8(2),
    ],
    ids=repr,
)
def test_kernels_without_a_name_in_scikit_learn(kernel: Kernel) -> None:
    X, y = data(3)
    model = gl.SVC(kernel=kernel).fit(X, y)
    assert_parity(model, X)  # distances of exactly 0 among them
    assert_parity(model, np.vstack([np.zeros(4), 3 * X]))


@pytest.mark.parametrize(
    "options",
    [{"decision_function_shape": "ovo"}, {"break_ties": True}, {"kernel": COMPOSITE}, {"kernel": "linear", "C": 0.1}],
    ids=str,
)
def test_votes_of_many_classes(options: dict[str, Any]) -> None:
    X, y = make_classification(150, 6, n_informative=5, n_redundant=1, n_classes=5, class_sep=0.6, random_state=0)
    model = gl.SVC(**options).fit(X, y)
    new = np.random.default_rng(0).normal(size=(1000, 6)) * 2
    assert_parity(model, new)
    votes = np.sort(model.set_params(decision_function_shape="ovr").decision_function(new).round(), axis=1)
    assert (votes[:, -1] == votes[:, -2]).any(), "ties are part of what is tested"


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1, 1],
        [3, 5, 9],
        [True, False],
        [1.0, 2.0, 4.0],
        ["no", "yes"],
        np.array(["a", "é", "c"], dtype=object),
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", [gl.SVC, gl.LinearSVC])
def test_labels_of_every_type(labels: Any, estimator: Any) -> None:
    X, _ = data(3)
    labels = np.asarray(labels)
    model = estimator().fit(X, labels[np.arange(len(X)) % len(labels)])
    assert_parity(model, X)
    assert run(model, X)["label"].dtype.kind == ("O" if labels.dtype.kind in "UO" else labels.dtype.kind)


def test_decisions_of_exactly_zero_get_the_estimators_label() -> None:
    X = np.array([[-1.0], [1.0]])
    for model in (gl.SVC(kernel="linear", tol=1e-9).fit(X, [0, 1]), gl.LinearSVC().fit(X, [0, 1])):
        assert model.decision_function([[0.0]]) == [0.0]
        assert_parity(model, np.array([[0.0]]))


def test_one_class_labels_are_plus_and_minus_one() -> None:
    X, _ = data(0)
    labels = run(gl.OneClassSVM(nu=0.3).fit(X), np.vstack([X, 9 + X]))["label"]
    assert labels.dtype == np.int64
    assert set(labels.tolist()) == {-1, 1}


@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"intercept": "free"}, {"loss": "hinge"}], ids=str)
def test_linear_models_with_every_intercept(options: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_parity(gl.LinearSVC(tol=1e-2, **options).fit(X, y), X)
    if "loss" not in options:
        assert_parity(gl.LinearSVR(epsilon=0.5, tol=1e-2, **options).fit(X, y.astype(float)), X)


def test_data_far_from_the_origin_keeps_its_digits() -> None:
    X, y = data(2)
    assert_parity(gl.SVC(gamma=0.5).fit(X + 1e6, y), X + 1e6)


def test_a_single_support_vector() -> None:
    X, _ = data(0)
    model = gl.OneClassSVM(kernel=0.1 * (0.3 * Linear())).fit(X[:1])
    assert len(model.support_) == 1
    assert_parity(model, X)


def test_single_precision_support_vectors() -> None:
    X, y = data(2)
    model = gl.SVC().fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    assert_parity(model, X)


def test_a_model_without_support_vectors_is_constant() -> None:
    X, _ = data(0)
    model = gl.SVR(epsilon=10.0).fit(X, np.linspace(0.0, 1.0, len(X)))
    assert len(model.support_) == 0
    assert_parity(model, X)


@pytest.mark.parametrize("rows", [0, 1])
def test_any_number_of_rows_is_taken(rows: int) -> None:
    model, X = fitted(Case("SVC", "rbf", 3, False))
    got = run(model, X[:rows])
    assert got["label"].shape == (rows,)
    assert got["decision"].shape == (rows, 3)


def test_the_model_says_who_made_it_and_what_is_proven() -> None:
    model, _ = fitted(Case("SVC", "rbf", 2, False))
    exported = model.to_onnx()
    assert (exported.producer_name, exported.producer_version) == ("gapless", gl.__version__)
    assert exported.doc_string == f"SVC: {model.certificate_}"


def _function(X: Any, Z: Any) -> Any:
    return X @ Z.T


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            _function,
            r"^ONNX cannot express a model with kernel=<function _function at .*>, which works on kernel values from elsewhere; ",
        ),
        (
            "precomputed",
            r"^ONNX cannot express a model with kernel='precomputed', which .*; use a kernel of gapless\.kernels\.$",
        ),
        (
            Chi2(),
            r"^ONNX cannot express the kernel Chi2\(gamma=1\.0\); it takes compositions of Constant, Cosine, Exp, ",
        ),
        (RBF() + FunctionKernel(_function, vectorized=True), r"^ONNX cannot express the kernel FunctionKernel\("),
        (FeatureMapKernel(np.sin), r"^ONNX cannot express the kernel FeatureMapKernel\("),
        (GaussianProcessRBF(), r"^ONNX cannot express "),
    ],
    ids=["function", "precomputed", "Chi2", "FunctionKernel", "FeatureMapKernel", "gaussian process"],
)
def test_what_onnx_cannot_express_is_refused_by_name(kernel: Any, message: str) -> None:
    X, y = data(2)
    X = np.abs(X) if not isinstance(kernel, str) else X @ X.T
    with pytest.raises(UnsupportedError, match=message):
        gl.SVC(kernel=kernel).fit(X, y).to_onnx()


def test_classes_that_onnx_has_no_type_for_are_refused() -> None:
    X, y = data(2)
    model = gl.SVC().fit(X, y)
    model.classes_ = np.array([None, "yes"], dtype=object)
    with pytest.raises(
        UnsupportedError,
        match=r"^ONNX cannot express the classes array\(.*; it takes texts, whole numbers, floats and booleans\.$",
    ):
        model.to_onnx()


def test_an_unfitted_model_is_refused() -> None:
    with pytest.raises(NotFittedError, match="This SVC instance is not fitted yet"):
        gl.SVC().to_onnx()


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "gapless.store.onnx", raising=False)
    model, _ = fitted(Case("SVC", "rbf", 2, False))
    with pytest.raises(MissingDependencyError, match=r"^to_onnx needs the package onnx; install gapless\[onnx\]\.$"):
        model.to_onnx()
