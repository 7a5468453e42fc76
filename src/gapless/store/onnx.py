"""A fitted estimator as an ONNX model of plain operators in float64.

The operators SVMClassifier and SVMRegressor of ai.onnx.ml work in float32 and have signs and labels of their own; plain operators give the
estimator's labels and its decision values to rounding, for compositions of kernels too.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

from gapless.errors import MissingDependencyError, UnsupportedError

try:
    from onnx import ModelProto, TensorProto, checker, helper
except ImportError as error:
    raise MissingDependencyError("to_onnx needs the package onnx; install gapless[onnx].") from error

from gapless.store.onnx_kernels import Graph, kernel_values

_OPSET = 17
_IR_VERSION = 8  # the file format of that opset's time, so that older runtimes read it too
_COLUMNS = np.array([1], dtype=np.int64)  # the axis
_LABEL_TYPES = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_, "U": np.object_, "O": np.object_}


def export(estimator: Any) -> ModelProto:
    """The graph from ``X`` to ``label`` and ``decision`` (classifiers, one-class), or to ``prediction`` (regressors)."""
    graph = Graph()
    outputs: list[tuple[str, int, list[Any]]]  # name, type and shape
    kernelised = hasattr(estimator, "support_vectors_")
    values = _expansion(graph, estimator) if kernelised else _scores(graph, estimator)
    if is_regressor(estimator):
        graph("Squeeze", values, _COLUMNS, name="prediction")
        outputs = [("prediction", TensorProto.DOUBLE, ["n"])]
    elif is_classifier(estimator):
        classes = _labels(estimator.classes_)
        index = (_one_vs_one if _in_pairs(estimator) else _one_vs_rest)(graph, estimator, values)
        graph("Gather", classes, index, name="label")
        columns = [] if len(classes) == 2 else [_columns(estimator)]
        outputs = [
            ("label", helper.np_dtype_to_tensor_dtype(classes.dtype), ["n"]),
            ("decision", TensorProto.DOUBLE, ["n", *columns]),
        ]
    else:
        graph("Squeeze", values, _COLUMNS, name="decision")
        inside = graph("Not", graph("Less", "decision", 0.0))
        graph("Where", inside, np.array(1, dtype=np.int64), np.array(-1, dtype=np.int64), name="label")
        outputs = [("label", TensorProto.INT64, ["n"]), ("decision", TensorProto.DOUBLE, ["n"])]
    return _model(graph, estimator, outputs)


def _in_pairs(estimator: Any) -> bool:
    """Whether it is a classifier of pairs of classes, and not of one function a class."""
    return hasattr(estimator, "decision_function_shape")


def _model(graph: Graph, estimator: Any, outputs: list[tuple[str, int, list[Any]]]) -> ModelProto:
    X = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n", estimator.n_features_in_])
    ends = [helper.make_tensor_value_info(*output) for output in outputs]
    name = type(estimator).__name__
    model = helper.make_model(
        helper.make_graph(graph.nodes, name, [X], ends, graph.constants),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="gapless",
        producer_version=version("gapless"),
        doc_string=f"{name}: {getattr(estimator, 'certificate_', 'without a certificate')}",
    )
    checker.check_model(model)
    return model


def _scores(graph: Graph, estimator: Any) -> str:
    """⟨w, x⟩ + b, a column a model."""
    coef = np.atleast_2d(estimator.coef_)
    intercept = np.broadcast_to(estimator.intercept_, len(coef)).astype(np.float64)
    return graph("Add", graph("MatMul", "X", coef.T), intercept)


def _expansion(graph: Graph, estimator: Any) -> str:
    """Σ over support vectors of k(x, v) · coefficient, plus the intercept: a column a model, or a pair of classes (positive for its first)."""
    if estimator._kernel_object is None:
        raise UnsupportedError(
            f"ONNX cannot express a model with kernel={estimator.kernel!r}, which works on kernel values from elsewhere; "
            "use a kernel of gapless.kernels."
        )
    V = np.asarray(_dense(estimator.support_vectors_), dtype=np.float64)
    dual, intercept = _dense(estimator.dual_coef_), estimator.intercept_
    if _in_pairs(estimator):
        # Of two classes the attributes count the second one positive, of more each pair's first.
        sign = -1.0 if len(estimator.classes_) == 2 else 1.0
        coefficients, intercept = _pair_columns(sign * dual, estimator.n_support_), sign * intercept
    else:
        coefficients = dual.T
    missing = 2 - len(V)
    if (
        missing > 0
    ):  # vectors of weight zero: runtimes treat products over nothing, or scales of one entry, in ways of their own
        V = np.vstack([V.reshape(-1, estimator.n_features_in_), np.zeros((missing, estimator.n_features_in_))])
        coefficients = np.vstack([coefficients, np.zeros((missing, len(intercept)))])
    K = kernel_values(graph, estimator._kernel_object, "X", V)
    return graph("Add", graph("MatMul", K, coefficients), intercept)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def _pair_columns(dual: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """The coefficient of each support vector in each pair of classes, from LIBSVM's layout, where a row is an opponent."""
    first, second = np.triu_indices(len(n_support), 1)
    of = np.repeat(np.arange(len(n_support)), n_support)[:, None]
    return np.where(of == first, dual[second - 1].T, np.where(of == second, dual[first].T, 0.0))


def _one_vs_one(graph: Graph, estimator: Any, pairs: str) -> str:
    """Add ``decision`` and return the index of the label: votes of all pairs, as ``predict`` and ``decision_function`` count them."""
    count = len(estimator.classes_)
    first, second = np.triu_indices(count, 1)
    signs = np.eye(count)[first] - np.eye(count)[second]  # a pair's first class gains what its second one loses
    won = graph("Cast", graph("Greater", pairs, 0.0), to=TensorProto.DOUBLE)
    votes = graph("Add", graph("MatMul", won, signs), np.bincount(second, minlength=count).astype(np.float64))
    if count == 2:
        graph("Squeeze", graph("Neg", pairs), _COLUMNS, name="decision")
    elif estimator.decision_function_shape == "ovo":
        graph("Identity", pairs, name="decision")
    else:
        lost = graph("Cast", graph("Less", pairs, 0.0), to=TensorProto.DOUBLE)
        ranks = graph("Add", graph("MatMul", lost, -signs), np.bincount(first, minlength=count).astype(np.float64))
        margin = graph("MatMul", pairs, signs)
        tie_break = graph("Div", margin, graph("Mul", graph("Add", graph("Abs", margin), 1.0), 3.0))
        graph("Add", ranks, tie_break, name="decision")
        if estimator.break_ties:
            votes = "decision"
    return graph("ArgMax", votes, axis=1, keepdims=0)


def _one_vs_rest(graph: Graph, estimator: Any, scores: str) -> str:
    """Add ``decision`` and return the index of the label: the largest score, or the sign of the only one."""
    if len(estimator.classes_) > 2:
        graph("Identity", scores, name="decision")
        return graph("ArgMax", scores, axis=1, keepdims=0)
    graph("Squeeze", scores, _COLUMNS, name="decision")
    return graph("Cast", graph("Greater", "decision", 0.0), to=TensorProto.INT64)


def _columns(estimator: Any) -> int:
    count = len(estimator.classes_)
    return count * (count - 1) // 2 if getattr(estimator, "decision_function_shape", "ovr") == "ovo" else count


def _labels(classes: np.ndarray) -> np.ndarray:
    kind = classes.dtype.kind
    if kind not in _LABEL_TYPES or (kind == "O" and not all(isinstance(each, str) for each in classes)):
        raise UnsupportedError(
            f"ONNX cannot express the classes {classes!r}; it takes texts, whole numbers, floats and booleans."
        )
    return classes.astype(_LABEL_TYPES[kind])
