"""skl2onnx: pipelines that end in one of our estimators convert as they are, and onnxruntime computes what they compute."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
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


def run(pipeline: Any, given: np.ndarray, opset: int | None = None, options: Any = None) -> list[np.ndarray]:
    """The outputs of the converted pipeline, in order."""
    model = skl2onnx.to_onnx(pipeline, given[:1], target_opset=opset, options=options)
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


MANY = np.arange(len(X)) % 5  # labels of five classes that the features say little of: no pair's odds are near 0 or 1


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
@pytest.mark.parametrize("opset", [15, 17, None])
@pytest.mark.parametrize("labels", [Y, TWO, MANY], ids=["three", "texts", "five"])
@pytest.mark.parametrize(
    "model",
    [
        gl.SVC(probability=True),
        gl.SVC(probability=True, kernel="linear", class_weight={1: 5.0}),
        gl.NuSVC(nu=0.2, probability=True, decision_function_shape="ovo"),
        gl.KernelLogisticRegression(),
    ],
    ids=repr,
)
def test_probabilities(model: Any, labels: np.ndarray, opset: int | None) -> None:
    if isinstance(model, gl.SVC) and labels is TWO:
        model = clone(model).set_params(class_weight=None)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, labels)
    label, probabilities = run(pipeline, X, opset)
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=1e-9, atol=1e-9, strict=True)
    _, decision = run(pipeline, X, opset, {id(pipeline[-1]): {"raw_scores": True}})
    np.testing.assert_allclose(decision, pipeline.decision_function(X), rtol=1e-9, atol=1e-9, strict=True)
    single = run(pipeline, X.astype(np.float32), opset)[1]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, pipeline.predict_proba(X.astype(np.float32)), atol=1e-5)


@pytest.mark.parametrize("model", [gl.SVC(), gl.NuSVC(nu=0.2), gl.LinearSVC(), gl.KernelLogisticRegression()], ids=repr)
def test_the_option_zipmap_changes_nothing_as_outputs_are_tensors(model: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    plain = run(pipeline, X)
    last = pipeline[-1]
    for options in ({"zipmap": False}, {id(last): {"zipmap": False}}, {type(last): {"zipmap": False}}):
        for got, expected in zip(run(pipeline, X, options=options), plain, strict=True):
            np.testing.assert_array_equal(got, expected)
    alone = run(last, X, options={"zipmap": False})
    assert alone[0].tolist() == last.predict(X).tolist()
    with pytest.raises(gl.errors.UnsupportedError, match="'columns'} is not offered"):
        run(pipeline, X, options={"zipmap": "columns"})


REPLACED = """
import sys, warnings
from gapless.testing import replace_estimators
replace_estimators()
import numpy as np, onnxruntime
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM
warnings.simplefilter("ignore")

def run(model, given, options):
    graph = to_onnx(model, given[:1], options=options)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": given})

X, Y = load_iris(return_X_y=True)
for labels in (Y, np.where(Y == 0, "a", "b")):
    for model in (SVC(), SVC(probability=True), NuSVC(nu=0.2), LinearSVC(), OneClassSVM(nu=0.2)):
        assert type(model).__module__.startswith("gapless.")
        pipeline = make_pipeline(StandardScaler(), model).fit(X, labels)
        for given in (X, X.astype(np.float32)):
            label, values = run(pipeline, given, None)
            assert label.ravel().tolist() == pipeline.predict(given).tolist()
            if isinstance(values, list):
                values = np.array([[row[each] for each in pipeline.classes_] for row in values])
            own = pipeline.predict_proba(given) if model.get_params().get("probability") is True else pipeline.decision_function(given)
            if own.ndim == 1 and values.ndim == 2:
                own = np.column_stack([-own, own])[:, -values.shape[1]:]
            assert np.allclose(values, own, atol=1e-4), (model, given.dtype)
            if isinstance(model, (SVC, NuSVC)):
                label, values = run(pipeline, given, {"zipmap": False})
                assert label.tolist() == pipeline.predict(given).tolist() and isinstance(values, np.ndarray)
                outputs = run(pipeline, given, {"zipmap": "columns"})
                assert len(outputs) == 1 + len(pipeline.classes_)
pipeline = make_pipeline(StandardScaler(), SVR()).fit(X[:, :3], X[:, 3])
(values,) = run(pipeline, X[:, :3], None)
assert np.allclose(values.ravel(), pipeline.predict(X[:, :3]))
four = SVC(decision_function_shape="ovo").fit(X, np.arange(len(X)) % 4)
try:
    to_onnx(four, X[:1])
except Exception as error:
    print(error)
"""


def test_estimators_that_replaced_those_of_scikit_learn_before_the_import() -> None:
    """skl2onnx then has ours in its tables in the place of scikit-learn's, and makes a dictionary of each row of probabilities or decision values."""
    done = subprocess.run([sys.executable, "-c", REPLACED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("options={'zipmap': False} is needed: the decision values are of 6 pairs")
