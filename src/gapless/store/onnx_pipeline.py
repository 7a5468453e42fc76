"""A fitted estimator as a part of the graph that skl2onnx makes of a pipeline.

skl2onnx asks an estimator that it does not know for ``onnx_parser``, ``onnx_shape_calculator`` and ``onnx_converter``. The estimator's part is the
graph of ``to_onnx``, which computes in float64; where the pipeline computes in float32, casts join the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import is_regressor

from gapless.errors import MissingDependencyError, UnsupportedError

try:
    from onnx import TensorProto, helper
    from skl2onnx import _parse, _supported_operators
    from skl2onnx.common import _registration, data_types
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


# The options that skl2onnx's own converters of machines have, and that have a meaning here. Outputs are tensors, whatever ``zipmap`` says.
_OPTIONS: dict[str, Any] = {"zipmap": None, "raw_scores": [True, False]}


def parser(estimator: Any) -> Callable[..., list[Any]]:
    """The function that declares the outputs of ``estimator``; their types depend on the estimator, which the function therefore keeps."""

    def declare(scope: Any = None, inputs: Any = None) -> list[Any]:
        _register(type(estimator))
        return [
            scope.declare_local_variable(name, kind)
            for name, kind in _outputs(estimator, inputs[0], _form(estimator, scope))
        ]

    return declare


def _register(kind: type) -> None:
    """Make the estimator's class known to skl2onnx, which takes options for known classes alone."""
    if kind not in _supported_operators.sklearn_operator_name_map:
        name = f"Gapless{kind.__name__}"
        _supported_operators.sklearn_operator_name_map[kind] = name
        _registration.register_converter(name, convert, overwrite=True, options=_OPTIONS)
        _registration.register_shape_calculator(name, set_shapes, overwrite=True)


@dataclass(frozen=True)
class _Form:
    """What the second output of a classifier holds."""

    raw: bool  # the decision values, even where there are probabilities
    mapped: bool  # a column for each class in any case, and float32: skl2onnx makes a dictionary of each row, for which ONNX takes nothing else
    columns: bool  # a column for each class in any case, which skl2onnx makes outputs of their own


def _form(estimator: Any, scope: Any) -> _Form:
    """The form that the options ask for. Where scikit-learn's estimators had been replaced by ours before skl2onnx was imported, it takes ours for
    scikit-learn's, and makes dictionaries of their outputs by itself.
    """
    # Without options skl2onnx makes dictionaries. It tells nothing of an estimator whose converter knows none of these options.
    options = scope.get_options(estimator, {"zipmap": True}, fail=False) or {"zipmap": False}
    wrapped = _parse.sklearn_parsers_map.get(type(estimator)) is _parse._parse_sklearn_classifier
    if options["zipmap"] == "columns" and not wrapped:
        raise UnsupportedError(
            "options={'zipmap': 'columns'} is not offered: the probabilities or decision values are one tensor."
        )
    columns = wrapped and options["zipmap"] == "columns"
    return _Form(bool(options.get("raw_scores")), wrapped and bool(options["zipmap"]) and not columns, columns)


def _outputs(estimator: Any, given: Any, form: _Form) -> list[tuple[str, Any]]:
    """Name and type of each output, in order."""
    number = data_types.DoubleTensorType if _is_double(given) and not form.mapped else data_types.FloatTensorType
    if is_regressor(estimator):
        return [("variable", number([None, 1]))]
    label, decision, *probabilities = estimator.to_onnx().graph.output
    kind = ("label", _TYPES[label.type.tensor_type.elem_type]([None]))
    if probabilities and not form.raw:
        return [kind, ("probabilities", number([None, len(estimator.classes_)]))]
    columns = [int(each.dim_value) for each in decision.type.tensor_type.shape.dim[1:]]
    if form.mapped or form.columns:
        if columns and columns[0] != len(estimator.classes_):
            raise UnsupportedError(
                f"options={{'zipmap': False}} is needed: the decision values are of {columns[0]} pairs of classes, not of "
                f"{len(estimator.classes_)} classes."
            )
        return [kind, ("scores", number([None, len(estimator.classes_)]))]
    return [kind, ("decision", number([None, *columns]))]


def set_shapes(operator: Any) -> None:
    """Nothing is left to do: the outputs of an operator were declared with their shapes. skl2onnx asks for such a function nevertheless."""


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
    of = {"variable": "prediction", "scores": "decision"}
    for variable in operator.outputs:
        _hand_over(scope, container, names[of.get(variable.raw_name, variable.raw_name)], variable)


def _values(graph: Any) -> list[str]:
    return [each.name for each in graph.initializer] + [name for node in graph.node for name in node.output]


def _hand_over(scope: Any, container: Any, name: str, variable: Any) -> None:
    """Make a value of the estimator's graph an output of the operator: cast to the declared type, and as a column for a regressor.

    ``scores`` have a column for each class: of two classes, whose decision values are one column, the first has the opposite of the second's.
    """
    binary = variable.raw_name == "scores" and variable.type.shape[1] == 2
    if variable.raw_name == "variable" or binary:
        column, axis = scope.get_unique_variable_name("column"), scope.get_unique_variable_name("axis")
        container.initializers.append(helper.make_tensor(axis, TensorProto.INT64, [1], [1]))
        container.add_node("Unsqueeze", [name, axis], column)
        name = column
    if binary:
        both, opposite = scope.get_unique_variable_name("both"), scope.get_unique_variable_name("opposite")
        container.add_node("Neg", name, opposite)
        container.add_node("Concat", [opposite, name], both, axis=1)
        name = both
    if isinstance(variable.type, data_types.FloatTensorType):
        container.add_node("Cast", name, variable.full_name, to=TensorProto.FLOAT)
    else:
        container.add_node("Identity", name, variable.full_name)


def _is_double(variable: Any) -> bool:
    return isinstance(variable.type, data_types.DoubleTensorType)
