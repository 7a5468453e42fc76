"""Saving, loading and exporting models: ``model.save(path)``, ``gapless.load(path)`` and ``model.to_onnx()``."""

from __future__ import annotations

import os
import warnings
from dataclasses import is_dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gapless.errors import InvalidInputError, ModelFileError, UnsupportedError
from gapless.store import model_file
from gapless.store.kinds import fits
from gapless.store.later import make_all
from gapless.store.scaled import PIPELINE, joined, restored_scaler, scaler_forms, split
from gapless.store.state import from_plain, to_plain
from gapless.store.values import RECORDS, NotData, Reader, Writer

_ESTIMATORS: dict[str, type] = {}
_ELSEWHERE: dict[str, str] = {}  # the modules that register more classes, by the names of these
_Class = TypeVar("_Class", bound=type)

_TRIED = 2**22  # the most features of a dense sample that a loaded model is tried out on: such a sample takes 32 MiB

_REMEDIES = {
    "kernel": "Compose the kernel of gapless.kernels, or give kernel='precomputed' and the matrices that it returns.",
    "approximation": "Save it after set_params(approximation=None): the model does not need its features any more.",
    "callback": "Save it after set_params(callback=None).",
    "solver": "Save it after set_params(solver='auto'), or another solver's name.",
    "random_state": "Save it after set_params(random_state=None), or a whole number.",
}


def register(cls: _Class) -> _Class:
    """Class decorator that makes a class known to ``save`` and ``load`` by its name.

    Parameters
    ----------
    cls : type
        An estimator that has :class:`StoringMixin` among its bases, or a dataclass that the fitted attributes of an estimator hold.

    Returns
    -------
    type
        The class itself.

    Examples
    --------
    >>> import gapless
    >>> from gapless.store import register
    >>> @register
    ... class MySVC(gapless.SVC):
    ...     pass
    """
    (RECORDS if is_dataclass(cls) else _ESTIMATORS)[cls.__name__] = cls
    return cls


def register_later(name: str, module: str) -> None:
    """Make a class known to ``load`` whose module registers it, and is imported only when a file holds such a model.

    Parameters
    ----------
    name : str
        The name of the class.
    module : str
        The module that defines and registers it.

    Examples
    --------
    >>> from gapless.store import register_later
    >>> register_later("SVCCV", "gapless.model_selection")
    """
    _ELSEWHERE[name] = module


class StoringMixin:
    """The methods ``save`` and ``to_onnx`` of an estimator whose class is registered (:func:`register`).

    ``_stored`` names the attributes that a file keeps besides the constructor's parameters; of these, a file holds those that the fit has set.
    """

    _stored: ClassVar[tuple[str, ...]] = (
        *("n_features_in_", "feature_names_in_", "classes_", "class_weight_", "shape_fit_"),
        *("support_", "support_vectors_", "dual_coef_", "intercept_", "coef_", "n_iter_", "fit_status_"),
        *("certificate_", "certificates_"),
        *("_kernel_object", "_gamma", "_sparse", "_n_support", "_dual_coef_", "_intercept_"),
        *("_solved", "_members", "_scales", "_zero", "_probA", "_probB"),
    )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model with its certificate, trace and kernel to a safetensors file, which :func:`gapless.load` reads.

        The file holds numbers and text, never code. A file that is there already is replaced in one stroke, so that an interruption does not lose it.

        >>> import os, tempfile
        >>> import gapless
        >>> model = gapless.SVC(kernel="linear").fit([[-1.0], [1.0]], ["no", "yes"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.safetensors")
        ...     model.save(path)
        ...     again = gapless.load(path)
        >>> again.predict([[3.0]]).tolist(), again.certificate_ == model.certificate_
        (['yes'], True)
        """
        save(self, path)

    def _description(self, writer: Writer) -> dict[str, Any]:
        """The JSON form of the class, its parameters and its fitted attributes; the writer collects the arrays."""
        check_is_fitted(self)
        name = type(self).__name__
        if _ESTIMATORS.get(name) is not type(self):
            raise UnsupportedError(
                f"{name} cannot be saved, since load would not know the class; name it by gapless.store.register({name})."
            )
        make_all(self)
        state = vars(self)
        parameters = {key: _form(writer, name, key, value) for key, value in self.get_params(deep=False).items()}  # type: ignore[attr-defined]
        fitted = {key: _form(writer, name, key, state[key]) for key in self._stored if key in state}
        return {"class": name, "parameters": parameters, "fitted": fitted}

    def __getstate__(self) -> dict[str, Any]:
        """The state that pickle, copies and skops keep: the attributes, with proofs, traces and kernels as text and arrays."""
        make_all(self)
        return to_plain(super().__getstate__(), self._stored)  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(from_plain(state))  # type: ignore[misc]

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that no fit sets, by an error of any kind, and compute the attributes that follow from others."""

    def to_onnx(self) -> Any:
        """The fitted model as an ``onnx.ModelProto`` in double precision, which onnxruntime and others run without Python.

        This needs the package onnx, which the extra ``gapless[onnx]`` brings. The model's input is ``X``, of float64. A classifier and OneClassSVM
        have the outputs ``label`` (as ``predict``) and ``decision`` (as ``decision_function``). Where the model has ``predict_proba``, its values are
        the output ``probabilities``. A regressor has the output ``prediction``.

        >>> import gapless
        >>> model = gapless.SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1])
        >>> [output.name for output in model.to_onnx().graph.output]
        ['label', 'decision']
        """
        from gapless.store.onnx import export

        check_is_fitted(self)
        return export(self)

    def onnx_parser(self) -> Any:
        """For skl2onnx: the function that declares the outputs.

        skl2onnx asks an estimator itself how to convert it, so that ``skl2onnx.to_onnx(pipeline, X)`` converts a pipeline with nothing to register.
        The outputs are ``label`` and ``decision``, or ``label`` and ``probabilities`` where the model has these and ``options={"raw_scores": True}``
        does not ask for ``decision``; a regressor has ``variable`` with one column, as skl2onnx's own regressors have. Values are float64 where the
        input is float64, and float32 otherwise. The outputs are tensors, as with ``options={"zipmap": False}``, unless
        :func:`gapless.testing.replace_estimators` ran before skl2onnx was imported: skl2onnx then takes the estimator for scikit-learn's.

        >>> from gapless import SVC
        >>> callable(SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]).onnx_parser())
        True
        """
        from gapless.store.onnx_pipeline import parser

        return parser(self)

    def onnx_shape_calculator(self) -> Any:
        """For skl2onnx: the function that tells the shapes of the outputs.

        >>> from gapless import SVC
        >>> callable(SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]).onnx_shape_calculator())
        True
        """
        from gapless.store.onnx_pipeline import set_shapes

        return set_shapes

    def onnx_converter(self) -> Any:
        """For skl2onnx: the function that adds the model's operators to a graph.

        >>> from gapless import SVC
        >>> callable(SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]).onnx_converter())
        True
        """
        from gapless.store.onnx_pipeline import convert

        return convert


def _form(writer: Writer, owner: str, key: str, value: Any) -> Any:
    """The JSON form of a parameter or an attribute; where it has none, an error that says what to do."""
    try:
        return writer.encode(value, key)
    except NotData:
        remedy = _REMEDIES.get(key, "Give it a plain value.")
        raise UnsupportedError(
            f"{owner} cannot be saved with {key}={value!r}, since a model file holds numbers and text, never code. {remedy}"
        ) from None


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator, or a pipeline of a StandardScaler and an estimator, to a file that :func:`load` reads.

    Of a pipeline the file keeps the scaler's numbers too, so that the loaded model takes data that is not scaled.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of Gapless, or a :class:`sklearn.pipeline.Pipeline` of a StandardScaler and such an estimator.
    path : str or path
        The file to write; one that is there already is replaced in one stroke.

    Examples
    --------
    >>> import os, tempfile
    >>> import gapless
    >>> from gapless.store import save
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> model = make_pipeline(StandardScaler(), gapless.SVC()).fit([[-100.0], [300.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     save(model, path)
    ...     again = gapless.load(path)
    >>> again.predict([[250.0]]).tolist(), [name for name, _ in again.steps]
    (['yes'], ['standardscaler', 'svc'])
    """
    writer = Writer()
    if isinstance(model, StoringMixin):
        description = model._description(writer)
    else:
        scaler, estimator = split(model)
        if scaler is None or not isinstance(estimator, StoringMixin):
            raise UnsupportedError(
                f"save takes an estimator of Gapless, or a pipeline of a StandardScaler and one; got {type(model).__name__}."
            )
        forms = scaler_forms(scaler, writer)
        description = {"class": PIPELINE, "scaler": forms, "model": estimator._description(writer)}
    model_file.write(path, {"gapless": version("gapless"), **description}, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` has written; its predictions are equal to the last bit. No code in a file is ever run.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator or Pipeline
        The fitted model; a model that was saved with its scaler is a :class:`sklearn.pipeline.Pipeline` of the two.

    Raises
    ------
    ModelFileError
        The file is missing, damaged, of another program or of a newer format.

    Examples
    --------
    >>> import os, tempfile
    >>> import gapless
    >>> model = gapless.LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     model.save(path)
    ...     gapless.load(path).predict([[3.0]]).tolist()
    ['yes']
    >>> gapless.load("nowhere.safetensors")
    Traceback (most recent call last):
    ...
    gapless.errors.ModelFileError: There is no model file 'nowhere.safetensors'.
    """
    description, arrays = model_file.read(path)
    try:
        return _restore(description, arrays)
    except Exception as error:  # any error that a description leads to is a fault of the file
        raise ModelFileError(
            f"The file {str(path)!r} does not describe a model that this version of Gapless knows ({type(error).__name__}: {error})."
        ) from None


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a model file says of itself, without building the model.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        The version of Gapless that wrote the file (``"gapless"``), the class, the parameters and the fitted attributes, in their JSON forms.

    Examples
    --------
    >>> from gapless.store import describe
    >>> describe("nowhere.safetensors")
    Traceback (most recent call last):
    ...
    gapless.errors.ModelFileError: There is no model file 'nowhere.safetensors'.
    """
    return model_file.read(path)[0]


def _restore(description: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if not isinstance(description.get("gapless"), str):
        raise InvalidInputError("it does not tell the version of Gapless that wrote it")
    reader = Reader(arrays)
    if description["class"] != PIPELINE:
        return _restore_estimator(description, reader)
    scaler = restored_scaler(description["scaler"], reader)
    return joined(scaler, _restore_estimator(description["model"], reader))


def _restore_estimator(description: dict[str, Any], reader: Reader) -> Any:
    name = description["class"]
    if name in _ELSEWHERE and name not in _ESTIMATORS:
        import_module(_ELSEWHERE[name])
    if name not in _ESTIMATORS:
        raise InvalidInputError(f"its class {name!r} is none of {', '.join(sorted({*_ESTIMATORS, *_ELSEWHERE}))}")
    cls = _ESTIMATORS[name]
    model = cls(**{key: reader.decode(form) for key, form in description["parameters"].items()})
    for key, form in description["fitted"].items():
        if key not in cls._stored:  # type: ignore[attr-defined]
            raise InvalidInputError(f"{name} has no attribute {key!r}")
        setattr(model, key, reader.decode(form))
    model._check_loaded()
    _try_out(model)
    return model


def _try_out(model: Any) -> None:
    """Predict one sample of zeros: arrays of a file that do not fit together fail here, where the file is blamed, and not in use."""
    check_is_fitted(model)
    columns = model.shape_fit_[0] if getattr(model, "kernel", None) == "precomputed" else model.n_features_in_
    for width in (columns, model.n_features_in_):
        if not fits(width, int) or not 0 < width < 2**32:
            raise InvalidInputError(f"its number of features is {width!r}")
    vectors = getattr(model, "support_vectors_", None)
    if vectors is not None and getattr(model, "kernel", None) != "precomputed" and vectors.shape[1] != columns:
        raise InvalidInputError(f"its support vectors have {vectors.shape[1]:,} features of {columns:,}")
    counts = getattr(model, "n_support_", 0)  # a kind of model without this attribute passes
    if np.asarray(counts).dtype.kind not in "iu":
        raise InvalidInputError(f"its numbers of support vectors are {counts!r}")
    if not getattr(model, "_sparse", False) and columns > _TRIED:
        return
    zeros: Any = sp.csr_array((1, columns)) if getattr(model, "_sparse", False) else np.zeros((1, columns))
    dual: Any = getattr(model, "_dual_coef_", None)
    support = getattr(model, "support_", None)
    # A sparse matrix of any shape may be without entries, so that a wrong shape would not fail in the prediction below.
    if sp.issparse(dual) and (support is None or dual.shape[1] != len(support)):
        raise InvalidInputError(f"its dual coefficients have the shape {dual.shape}, unlike its support vectors")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != columns:
        raise InvalidInputError(f"it has {len(names)} names for {columns} features")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that the features of the sample have no names
        if model.predict(zeros).shape != (1,):
            raise InvalidInputError("it does not predict one value for each sample")
        classes = getattr(model, "classes_", None)
        if classes is None:
            return
        count = len(classes)
        values = model.decision_function(zeros).shape
        columns = count * (count - 1) // 2 if getattr(model, "decision_function_shape", "ovr") == "ovo" else count
        # The class of a sample is found by the column of its largest value, which for zeros may be one of the first.
        if values != ((1,) if count == 2 else (1, columns)):
            raise InvalidInputError(f"it has {values[-1]} decision values for {count} classes")
