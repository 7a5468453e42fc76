"""skl2onnx: pipelines that end in one of our estimators convert as they are, and onnxruntime computes what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import gapless as gl
from gapless.kernels import RBF, Cosine, Laplacian, Linear, Matern
from tests.packages.installed import Package

skl2onnx = Package("skl2onnx")
onnxruntime = Package("onnxruntime")

X, Y = load_iris(return_X_y=True)
TWO = np.where(Y == 0, "setosa", "other")


def run(pipeline: Any, given: np.ndarray, opset: int | None = None) -> list[np.ndarray]:
    """The outputs of the converted pipeline, in order."""
    model = skl2onnx.to_onnx(pipeline, given[:1], target_opset=opset)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": given})


@pytest.mark.parametrize("opset", [15, 17, None])
@pytest.mark.parametrize("labels", [Y, TWO, Y == 1, Y.astype(np.float64)], ids=["three", "texts", "booleans", "floats"])
@pytest.mark.parametrize(
    "model",
    [
        gl.SVC(),
        gl.SVC(decision_function_shape="ovo", kernel="poly"),
        gl.SVC(kernel="linear", break_ties=True),
        gl.NuSVC(nu=0.2),
        gl.LinearSVC(),
        gl.KernelLogisticRegression(),
    ],
    ids=repr,
)
def test_classifiers(model: Any, labels: np.ndarray, opset: int | None) -> None:
    pipeline = make_pipeline(StandardScaler(), model).fit(X, labels)
    label, decision = run(pipeline, X, opset)
    assert label.tolist() == pipeline.predict(X).tolist()
    expected = pipeline.decision_function(X)
    np.testing.assert_allclose(decision, expected, rtol=1e-9, atol=1e-9, strict=True)


@pytest.mark.parametrize("model", [gl.SVR(), gl.NuSVR(kernel="linear"), gl.LinearSVR(C=0.1)], ids=repr)
def test_regressors_have_one_column_as_those_of_skl2onnx(model: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), model).fit(X[:, :3], X[:, 3])
    (values,) = run(pipeline, X[:, :3])
    np.testing.assert_allclose(values, pipeline.predict(X[:, :3])[:, None], rtol=1e-9, atol=1e-9, strict=True)


def test_a_one_class_machine() -> None:
    pipeline = make_pipeline(StandardScaler(), gl.OneClassSVM(nu=0.2)).fit(X)
    label, decision = run(pipeline, X)
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(decision, pipeline.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.3) + Linear(), Cosine(), Laplacian(0.2), Matern(nu=1.5)], ids=repr)
def test_kernels_of_ours(kernel: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), gl.SVC(kernel=kernel)).fit(X, Y)
    label, decision = run(pipeline, X)
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(decision, pipeline.decision_function(X), rtol=1e-9, atol=1e-9)


def test_single_precision_in_and_out() -> None:
    pipeline = make_pipeline(StandardScaler(), gl.SVC()).fit(X, TWO)
    label, decision = run(pipeline, X.astype(np.float32))
    assert label.tolist() == pipeline.predict(X).tolist() and decision.dtype == np.float32
    np.testing.assert_allclose(decision, pipeline.decision_function(X), atol=1e-5)


def test_an_estimator_alone_and_columns_of_a_table() -> None:
    alone = gl.SVC().fit(X, Y)
    assert run(alone, X)[0].tolist() == alone.predict(X).tolist()
    columns = ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", MinMaxScaler(), [2, 3])])
    pipeline = Pipeline([("columns", columns), ("svc", gl.SVC())]).fit(X, Y)
    label, decision = run(pipeline, X)
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(decision, pipeline.decision_function(X), rtol=1e-9, atol=1e-9)


def test_a_kernel_that_is_a_function_is_refused_in_words() -> None:
    pipeline = make_pipeline(StandardScaler(), gl.SVC(kernel=lambda a, b: a @ b.T)).fit(X, Y)
    with pytest.raises(gl.errors.UnsupportedError, match="ONNX cannot express a model with kernel="):
        skl2onnx.to_onnx(pipeline, X[:1])
