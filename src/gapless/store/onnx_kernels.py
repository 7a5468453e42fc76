"""Kernels between the rows of an input and fixed rows V, as nodes of an ONNX graph in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from gapless import kernels
from gapless.errors import UnsupportedError
from gapless.kernels import Kernel


class Graph:
    """The nodes and constants of an ONNX graph; a call of the object adds a node and returns the name of the node's value.

    Each input of a call is such a name, or a number or an array, which becomes a constant; a number becomes one of float64.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def __call__(
        self, operator: str, *inputs: str | float | np.ndarray, name: str | None = None, **attributes: Any
    ) -> str:
        name = name or f"v{len(self.nodes)}"
        self.add(operator, inputs, [name], **attributes)
        return name

    def add(
        self, operator: str, inputs: Sequence[str | float | np.ndarray], names: list[str], **attributes: Any
    ) -> None:
        """Add a node of several values, under these names."""
        given = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        self.nodes.append(helper.make_node(operator, given, names, **attributes))

    def _constant(self, value: float | np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        array = np.array(value, dtype=value.dtype if isinstance(value, np.ndarray) else np.float64, order="C")
        self.constants.append(numpy_helper.from_array(array, name))
        return name


def kernel_values(graph: Graph, kernel: Kernel, x: str, V: np.ndarray) -> str:
    """The matrix of k(xᵢ, vⱼ), for at least two rows V."""
    builder = _BUILDERS.get(type(kernel))
    if builder is None:
        raise UnsupportedError(
            f"ONNX cannot express the kernel {kernel!r}; it takes compositions of {', '.join(sorted(cls.__name__ for cls in _BUILDERS))}."
        )
    return builder(graph, kernel, x, V)


def _inner(graph: Graph, x: str, V: np.ndarray) -> str:
    return graph("MatMul", x, V.T)


def _sum(graph: Graph, x: str, axis: int, keepdims: int = 1) -> str:
    """Sums along an axis by ReduceSum, the one reduction that takes its axis in the same way in every opset from 13 on."""
    return graph("ReduceSum", x, np.array([axis], dtype=np.int64), keepdims=keepdims)


def _squares(graph: Graph, x: str, axis: int, keepdims: int = 1) -> str:
    return _sum(graph, graph("Mul", x, x), axis, keepdims)


def _scaled(graph: Graph, K: str, scale: float, V: np.ndarray) -> str:
    """K times a number, which is repeated for each column: onnxruntime would merge a single number into a product of matrices, as a float32."""
    return graph("Mul", K, np.full(len(V), scale, dtype=np.float64))


def _affine(graph: Graph, K: str, scale: float, shift: float, V: np.ndarray) -> str:
    return graph("Add", _scaled(graph, K, scale, V), shift)


def _squared_distances(graph: Graph, x: str, V: np.ndarray) -> str:
    """‖x − v‖² = ‖x‖² + ‖v‖² − 2⟨x, v⟩ with the centre of V as origin, where less cancels; values that rounding makes negative become 0."""
    centre = V.mean(axis=0)
    x, V = graph("Sub", x, centre), V - centre
    norms = graph("Add", _squares(graph, x, 1), (V**2).sum(axis=1))
    return graph("Relu", graph("Sub", norms, _scaled(graph, _inner(graph, x, V), 2.0, V)))


def _differences(graph: Graph, x: str, V: np.ndarray) -> str:
    """xᵢ − vⱼ as an array of three dimensions. Differences are exact near 0, where a square root or an absolute value would enlarge rounding."""
    return graph("Sub", graph("Unsqueeze", x, np.array([1], dtype=np.int64)), V)


def _rbf(graph: Graph, kernel: kernels.RBF, x: str, V: np.ndarray) -> str:
    return graph("Exp", _scaled(graph, _squared_distances(graph, x, V), -kernel.gamma, V))


def _laplacian(graph: Graph, kernel: kernels.Laplacian, x: str, V: np.ndarray) -> str:
    distances = _sum(graph, graph("Abs", _differences(graph, x, V)), 2, keepdims=0)
    return graph("Exp", _scaled(graph, distances, -kernel.gamma, V))


def _matern(graph: Graph, kernel: kernels.Matern, x: str, V: np.ndarray) -> str:
    squares = _squares(graph, _differences(graph, x, V), 2, keepdims=0)
    if math.isinf(kernel.nu):
        return graph("Exp", _scaled(graph, squares, -0.5 / kernel.length_scale**2, V))
    r = _scaled(graph, graph("Sqrt", squares), math.sqrt(2 * kernel.nu) / kernel.length_scale, V)
    decay = graph("Exp", graph("Neg", r))
    if kernel.nu == 0.5:
        return decay
    factor = graph("Add", r, 1.0)
    if kernel.nu == 2.5:
        factor = graph("Add", factor, graph("Div", graph("Mul", r, r), 3.0))
    return graph("Mul", decay, factor)


def _polynomial(graph: Graph, kernel: kernels.Polynomial, x: str, V: np.ndarray) -> str:
    return graph("Pow", _affine(graph, _inner(graph, x, V), kernel.gamma, kernel.coef0, V), kernel.degree)


def _sigmoid(graph: Graph, kernel: kernels.Sigmoid, x: str, V: np.ndarray) -> str:
    return graph("Tanh", _affine(graph, _inner(graph, x, V), kernel.gamma, kernel.coef0, V))


def _cosine(graph: Graph, kernel: kernels.Cosine, x: str, V: np.ndarray) -> str:
    norms = np.linalg.norm(V, axis=1, keepdims=True)
    length = graph("Sqrt", _squares(graph, x, 1))
    length = graph("Where", graph("Greater", length, 0.0), length, 1.0)
    return graph("Div", _inner(graph, x, V / np.where(norms > 0, norms, 1.0)), length)


def _constant(graph: Graph, kernel: kernels.Constant, x: str, V: np.ndarray) -> str:
    return graph("Add", _inner(graph, x, np.zeros_like(V)), kernel.value)  # the product with zeros has a row for each x


def _kernel_polynomial(graph: Graph, kernel: kernels.KernelPolynomial, x: str, V: np.ndarray) -> str:
    K = kernel_values(graph, kernel.kernel, x, V)
    result = _affine(graph, K, 0.0, kernel.coefficients[-1], V)
    for coefficient in kernel.coefficients[-2::-1]:
        result = graph("Add", graph("Mul", result, K), coefficient)
    return result


def _join(operator: str) -> Callable[..., str]:
    def build(graph: Graph, kernel: Any, x: str, V: np.ndarray) -> str:
        return graph(operator, kernel_values(graph, kernel.left, x, V), kernel_values(graph, kernel.right, x, V))

    return build


_BUILDERS: dict[type[Kernel], Callable[..., str]] = {
    kernels.Linear: lambda graph, kernel, x, V: _inner(graph, x, V),
    kernels.Polynomial: _polynomial,
    kernels.Sigmoid: _sigmoid,
    kernels.Cosine: _cosine,
    kernels.RBF: _rbf,
    kernels.Laplacian: _laplacian,
    kernels.Matern: _matern,
    kernels.Constant: _constant,
    kernels.Sum: _join("Add"),
    kernels.Product: _join("Mul"),
    kernels.Scaled: lambda graph, kernel, x, V: _scaled(
        graph, kernel_values(graph, kernel.kernel, x, V), kernel.scale, V
    ),
    kernels.Power: lambda graph, kernel, x, V: graph("Pow", kernel_values(graph, kernel.kernel, x, V), kernel.exponent),
    kernels.Exp: lambda graph, kernel, x, V: graph("Exp", kernel_values(graph, kernel.kernel, x, V)),
    kernels.KernelPolynomial: _kernel_polynomial,
}
