"""A fitted estimator as a part of the graph that skl2onnx makes of a pipeline.

skl2onnx asks an estimator that it does not know for ``onnx_parser``, ``onnx_shape_calculator`` and ``onnx_converter``. The estimator's part is the
graph of ``to_onnx``, which computes in float64; where the pipeline computes in float32, casts join the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import is_regressor

from gapless.errors import MissingDependencyError

try:
    from onnx import TensorProto, helper
    from skl2onnx.common import data_types
except ImportError as error:
    raise MissingDependencyError(
        "A pipeline converts to ONNX by the package skl2onnx; install gapless[onnx]."
    ) from error

_TYPES = {
    TensorProto.INT64: data_types.Int64TensorType,
    TensorProto.DOUBLE: data_types.DoubleTensorType,
    TensorProto.BOOL: data_types.BooleanTensorType,
    TensorProto.STRING: data_types.StringTensorType,
}


def parser(estimator: Any) -> Callable[..., list[Any]]:
    """The function that declares the outputs of ``estimator``; their types depend on the estimator, which the function therefore keeps."""

    def declare(scope: Any = None, inputs: Any = None) -> list[Any]:
        return [scope.declare_local_variable(name, kind) for name, kind in _outputs(estimator, inputs[0])]

    return declare


def _outputs(estimator: Any, given: Any) -> list[tuple[str, Any]]:
    """Name and type of each output, in order."""
    number = data_types.DoubleTensorType if _is_double(given) else data_types.FloatTensorType
    if is_regressor(estimator):
        return [("variable", number([None, 1]))]
    label, decision = estimator.to_onnx().graph.output
    columns = [int(each.dim_value) for each in decision.type.tensor_type.shape.dim[1:]]
    return [
        ("label", _TYPES[label.type.tensor_type.elem_type]([None])),
        ("decision", number([None, *columns])),
    ]


def set_shapes(operator: Any) -> None:
    """Set the types of an operator's outputs, with their shapes."""
    for variable, (_, kind) in zip(operator.outputs, _outputs(operator.raw_operator, operator.inputs[0]), strict=True):
        variable.type = kind


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the estimator's graph, under names of its own, to the graph of the pipeline."""
    graph = operator.raw_operator.to_onnx().graph
    names = {each: scope.get_unique_variable_name(each) for each in _values(graph)}
    (given,) = operator.inputs
    names["X"] = given.full_name
    if not _is_double(given):
        names["X"] = scope.get_unique_variable_name("X_float64")
        container.add_node("Cast", given.full_name, names["X"], to=TensorProto.DOUBLE)
    for constant in graph.initializer:
        renamed = TensorProto()
        renamed.CopyFrom(constant)
        renamed.name = names[constant.name]
        container.initializers.append(renamed)
    for node in graph.node:
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        container.add_node(
            node.op_type, [names[each] for each in node.input], [names[each] for each in node.output], **attributes
        )
    for value, variable in zip(graph.output, operator.outputs, strict=True):
        _hand_over(scope, container, names[value.name], variable)


def _values(graph: Any) -> list[str]:
    return [each.name for each in graph.initializer] + [name for node in graph.node for name in node.output]


def _hand_over(scope: Any, container: Any, name: str, variable: Any) -> None:
    """Make a value of the estimator's graph an output of the operator: cast to the declared type, and as a column for a regressor."""
    if variable.raw_name == "variable":
        column = scope.get_unique_variable_name("column")
        axis = scope.get_unique_variable_name("axis")
        container.initializers.append(helper.make_tensor(axis, TensorProto.INT64, [1], [1]))
        container.add_node("Unsqueeze", [name, axis], column)
        name = column
    if isinstance(variable.type, data_types.FloatTensorType):
        container.add_node("Cast", name, variable.full_name, to=TensorProto.FLOAT)
    else:
        container.add_node("Identity", name, variable.full_name)


def _is_double(variable: Any) -> bool:
    return isinstance(variable.type, data_types.DoubleTensorType)
