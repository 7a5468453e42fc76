"""Probabilities of classes, as nodes of an ONNX graph in float64: what ``predict_proba`` computes, by operators that all runtimes have."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from gapless.store.onnx_kernels import Graph

_COLUMNS = np.array([1], dtype=np.int64)  # the axis of the columns


def add_probabilities(graph: Graph, estimator: Any, values: str, label: str) -> None:
    """Add the output ``probabilities``. ``values`` are the decision values, a column for each pair of classes or function; ``label`` is the index of
    the label.
    """
    if not hasattr(estimator, "_probA"):  # kernel logistic regression: the odds are the decision values
        if len(estimator.classes_) > 2:
            graph("Softmax", values, axis=1, name="probabilities")
        else:
            sides = np.array([[1.0, -1.0]])
            graph("Reciprocal", graph("Add", graph("Exp", graph("Mul", values, sides)), 1.0), name="probabilities")
        return
    least, lead = estimator._least_and_lead
    odds = graph("Exp", graph("Add", graph("Mul", values, estimator._probA), estimator._probB))
    r = graph("Max", graph("Reciprocal", graph("Add", odds, 1.0)), least)
    r = graph("Min", r, 1.0 - least)
    count = len(estimator.classes_)
    p = graph("Concat", r, graph("Sub", 1.0, r), axis=1) if count == 2 else _coupled(graph, r, count, least)
    _agreeing(graph, p, label, count, lead)


def has_probabilities(estimator: Any) -> bool:
    """Whether the fitted classifier has ``predict_proba``, of its own or by calibration."""
    return hasattr(estimator, "_probA") if hasattr(estimator, "probability") else hasattr(estimator, "predict_proba")


def _coupled(graph: Graph, r: str, count: int, least: float) -> str:
    """The p that minimises Σ over pairs s ≠ t of (r_ts p_s − r_st p_t)², Σ p = 1 (estimators/platt.py).

    With Q_tt = Σ_s r_st² and Q_ts = −r_ts r_st the minimum solves Q p = b e for a number b, so that (Q + e eᵀ) p is a multiple of e. This matrix is
    positive definite, so that Gauss–Jordan elimination needs no pivots: ONNX has no operator that solves a system.
    """
    first, second = np.triu_indices(count, 1)
    pairs = len(first)
    # Products with these put r of each pair into its place in a matrix (rows of the result), and 1 − r into the opposite one.
    place, opposite = np.zeros((2, pairs, count * count))
    place[np.arange(pairs), first * count + second] = 1.0
    opposite[np.arange(pairs), second * count + first] = 1.0
    others = graph("Sub", 1.0, r)
    flat = graph("Add", graph("MatMul", r, place), graph("MatMul", others, opposite))
    R = graph("Reshape", flat, np.array([-1, count, count], dtype=np.int64))
    squares = graph("ReduceSum", graph("Mul", R, R), np.array([1], dtype=np.int64), keepdims=1)
    products = graph("Mul", R, graph("Transpose", R, perm=[0, 2, 1]))
    Q = graph("Sub", graph("Mul", squares, np.eye(count)[None]), products)
    # Q + e eᵀ, and the right side e as a column more: a product with a wider identity adds an empty column to Q.
    matrix = graph("Add", graph("MatMul", Q, np.eye(count, count + 1)), 1.0)
    for k in range(count):
        at = np.array([k], dtype=np.int64)
        row, column = graph("Gather", matrix, at, axis=1), graph("Gather", matrix, at, axis=2)
        row = graph("Div", row, graph("Gather", row, at, axis=2))
        rest = graph("Sub", column, np.eye(count)[None, :, k : k + 1])
        matrix = graph("Sub", matrix, graph("Mul", rest, row))
    solved = graph("Gather", matrix, np.array([count], dtype=np.int64), axis=2)
    p = graph("Squeeze", solved, np.array([2], dtype=np.int64))
    p = graph("Div", p, graph("ReduceSum", p, _COLUMNS, keepdims=1))
    p = graph("Max", p, least)
    return graph("Div", p, graph("ReduceSum", p, _COLUMNS, keepdims=1))


def _agreeing(graph: Graph, p: str, label: str, count: int, lead: float) -> None:
    """Add the nearest distribution whose largest entry is that of the label (estimators/platt.py)."""
    index = graph("Unsqueeze", label, _COLUMNS)
    chosen = graph("Cast", graph("Equal", index, np.arange(count, dtype=np.int64)[None]), to=TensorProto.DOUBLE)
    own = graph("ReduceSum", graph("Mul", p, chosen), _COLUMNS, keepdims=1)
    unchosen = graph("Sub", 1.0, chosen)
    others = graph("Mul", p, unchosen)
    largest = f"largest{len(graph.nodes)}"
    graph.add("TopK", [others, np.array([count - 1], dtype=np.int64)], [largest, f"{largest}_places"], axis=1)
    sums = graph("MatMul", largest, np.triu(np.ones((count - 1, count - 1))))
    means = graph("Div", graph("Add", sums, own), np.arange(2.0, count + 1)[None])
    # The largest of the means, by an operator whose form no later set of operators has changed.
    level_name = f"level{len(graph.nodes)}"
    graph.add("TopK", [means, np.array([1], dtype=np.int64)], [level_name, f"{level_name}_place"], axis=1)
    share = graph("Sub", 1.0, graph("Mul", graph("Add", own, 1.0), lead))
    cut = graph("Mul", graph("Min", others, graph("Mul", level_name, share)), unchosen)
    left = graph("Sub", 1.0, graph("ReduceSum", cut, _COLUMNS, keepdims=1))
    graph("Add", cut, graph("Mul", left, chosen), name="probabilities")
