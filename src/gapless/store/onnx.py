"""A fitted estimator as an ONNX model of plain operators in float64.

ONNX's own operators SVMClassifier and SVMRegressor (ai.onnx.ml) work in float32 and have other conventions for signs and labels. Plain operators give
the estimator's labels, and its decision values to rounding, for compositions of kernels too.
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
from gapless.store.onnx_probabilities import add_probabilities, has_probabilities

# The version of the set of operators, of 2022, and the version of the file format that came with it: old enough for runtimes of that time.
_OPSET = 17
_IR_VERSION = 8
_COLUMNS = np.array([1], dtype=np.int64)  # the axis of the columns, as the operator Squeeze takes it
_LABEL_TYPES = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_, "U": np.object_, "O": np.object_}


def export(estimator: Any) -> ModelProto:
    """The graph from ``X`` to ``label`` and ``decision`` (classifiers, one-class) and ``probabilities`` (where there are), or to ``prediction``
    (regressors).
    """
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
        if has_probabilities(estimator):
            add_probabilities(graph, estimator, values, index)
            outputs.append(("probabilities", TensorProto.DOUBLE, ["n", len(classes)]))
    else:
        graph("Squeeze", values, _COLUMNS, name="decision")
        inside = graph("Not", graph("Less", "decision", 0.0))
        graph("Where", inside, np.array(1, dtype=np.int64), np.array(-1, dtype=np.int64), name="label")
        outputs = [("label", TensorProto.INT64, ["n"]), ("decision", TensorProto.DOUBLE, ["n"])]
    return _model(graph, estimator, outputs)


def _in_pairs(estimator: Any) -> bool:
    """Whether the classifier has a decision function for each pair of classes, rather than for each class."""
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
    """⟨w, x⟩ + b, a column for each row of ``coef_``."""
    coef = np.atleast_2d(estimator.coef_)
    intercept = np.broadcast_to(estimator.intercept_, len(coef)).astype(np.float64)
    return graph("Add", graph("MatMul", "X", coef.T), intercept)


def _expansion(graph: Graph, estimator: Any) -> str:
    """Σ over support vectors of k(x, v) · coefficient, plus the intercept: a column for each pair of classes (positive for the first) or model."""
    if estimator._kernel_object is None:
        raise UnsupportedError(
            f"ONNX cannot express a model with kernel={estimator.kernel!r}, which works on kernel values from elsewhere; "
            "use a kernel of gapless.kernels."
        )
    V = np.asarray(_dense(estimator.support_vectors_), dtype=np.float64)
    dual, intercept = _dense(estimator.dual_coef_), estimator.intercept_
    if _in_pairs(estimator):
        # The attributes of a model of two classes are positive for the second class; with more classes, for the first class of each pair.
        sign = -1.0 if len(estimator.classes_) == 2 else 1.0
        coefficients, intercept = _pair_columns(sign * dual, estimator.n_support_), sign * intercept
    else:
        coefficients = dual.T
    missing = 2 - len(V)
    if missing > 0:
        # Vectors of weight zero are added: runtimes differ in products over no vector and in scales of one entry.
        V = np.vstack([V.reshape(-1, estimator.n_features_in_), np.zeros((missing, estimator.n_features_in_))])
        coefficients = np.vstack([coefficients, np.zeros((missing, len(intercept)))])
    K = kernel_values(graph, estimator._kernel_object, "X", V)
    return graph("Add", graph("MatMul", K, coefficients), intercept)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def _pair_columns(dual: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """The coefficient of each support vector in each pair of classes, from LIBSVM's layout, in which each row is for one opposing class."""
    first, second = np.triu_indices(len(n_support), 1)
    of = np.repeat(np.arange(len(n_support)), n_support)[:, None]
    return np.where(of == first, dual[second - 1].T, np.where(of == second, dual[first].T, 0.0))


def _one_vs_one(graph: Graph, estimator: Any, pairs: str) -> str:
    """Add the output ``decision`` and return the index of the label: the votes of all pairs, as ``predict`` and ``decision_function`` count them."""
    count = len(estimator.classes_)
    first, second = np.triu_indices(count, 1)
    signs = np.eye(count)[first] - np.eye(count)[second]  # the first class of a pair gains what the second loses
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
    """Add the output ``decision`` and return the index of the label: that of the largest score or, with two classes, the sign of the only score."""
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
