"""Whether the inputs of two searches are the same, in two processes: data by a checksum, parameters as JSON, functions by name and code."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Iterable
from types import CodeType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gapless.data.namespace import as_numpy
from gapless.errors import UnsupportedError
from gapless.kernels import Kernel
from gapless.store.kernel_text import kernel_text

# Functions of these packages are known by their names: another version of the package is no other function.
_KNOWN = ("builtins", "gapless", "numpy", "scipy", "sklearn")
# Parameters that say how a fit is done or shown, and not what comes out.
_WITHOUT_EFFECT = ("verbose", "n_jobs", "callback", "cache_size", "memory", "pre_dispatch")


class NotTold(Exception):
    """A value that two processes cannot compare."""


def described(value: Any, name: str) -> Any:
    """A JSON form of a parameter that is equal in another process exactly where the value is; arrays and data sets are told by a checksum.

    >>> from gapless.model_selection.fingerprint import described
    >>> from gapless.kernels import RBF
    >>> described({"C": 1.0, "kernel": RBF(gamma=0.5)}, "candidate")
    {'C': 1.0, 'kernel': {'kernel': 'RBF(gamma=0.5)'}}
    """
    try:
        return _form(value, frozenset())
    except NotTold:
        raise UnsupportedError(
            f"A search with resume has to know {name} again in another process, which it cannot for {value!r}; give a plain value."
        ) from None


def checksum(data: Any, name: str) -> str:
    """A checksum of an array, a sparse matrix, a data frame or a list: equal where type, shape and all values are."""
    try:
        return _checksum(data)
    except NotTold:
        raise UnsupportedError(
            f"A search with resume has to know {name} again in another process, which it cannot for a {type(data).__name__}; give an array."
        ) from None


def parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that a fit depends on, and those of estimators inside it, by name, as JSON.

    >>> from gapless import LinearSVC
    >>> from gapless.model_selection.fingerprint import parameters
    >>> parameters(LinearSVC(C=3.0, verbose=True))["C"], "verbose" in parameters(LinearSVC())
    (3.0, False)
    """
    found = _with_effect(estimator.get_params(deep=True))
    return {
        name: class_name(type(value)) if isinstance(value, BaseEstimator) else described(value, name)
        for name, value in found.items()
    }


def class_name(cls: type) -> str:
    """The name of a class with its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _form(value: Any, inside: frozenset[int]) -> Any:
    """The JSON form of a value; ``inside`` has the objects that the value is part of."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if id(value) in inside:
        raise NotTold
    form = functools.partial(_form, inside=inside | {id(value)})
    if isinstance(value, list | tuple):
        return [form(each) for each in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(json.dumps(form(each), sort_keys=True) for each in value)}
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: form(each) for key, each in value.items()}
        return {"dict": [[form(key), form(each)] for key, each in value.items()]}
    if isinstance(value, Kernel) and (text := kernel_text(value)) is not None:
        return {"kernel": text}
    if isinstance(value, type):
        return {"class": class_name(value)}
    if isinstance(value, BaseEstimator):
        return {"class": class_name(type(value)), "parameters": form(_with_effect(value.get_params(deep=False)))}
    if isinstance(value, functools.partial):
        return {"partial": form(value.func), "arguments": form(value.args), "named": form(value.keywords)}
    if _is_data(value):
        return {"data": _checksum(value)}
    if isinstance(value, CodeType):
        return {"code": value.co_code.hex(), "constants": form(value.co_consts), "names": list(value.co_names)}
    if callable(value) and hasattr(value, "__qualname__"):
        return _function_form(value, form)
    if isinstance(value, np.random.RandomState | np.random.Generator) or not hasattr(value, "__dict__"):
        raise NotTold
    return {"class": class_name(type(value)), "state": form(vars(value))}


def _with_effect(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sorted(found.items()) if name.rpartition("__")[2] not in _WITHOUT_EFFECT}


def _function_form(function: Any, form: Any) -> Any:
    """A function by its name and, where it is the user's own, by its code, its defaults and what it encloses."""
    name = f"{function.__module__}.{function.__qualname__}"
    owner = getattr(function, "__self__", None)
    if owner is not None and not hasattr(
        owner, "__loader__"
    ):  # a bound method; of a built-in function the owner is its module
        return {"function": name, "of": form(owner)}
    code = getattr(function, "__code__", None)
    if code is None or name.partition(".")[0] in _KNOWN:
        return {"function": name}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return {
        "function": name,
        "code": form(code),
        "defaults": form([function.__defaults__, function.__kwdefaults__]),
        "encloses": form(cells),
    }


def _is_data(value: Any) -> bool:
    return sp.issparse(value) or hasattr(value, "__array__") or hasattr(value, "columns")


def _checksum(data: Any) -> str:
    if data is None:
        return "none"
    if sp.issparse(data):
        rows = data.tocsr()
        return _joined(["sparse", str(rows.shape), *map(_checksum, (rows.data, rows.indices, rows.indptr))])
    if hasattr(data, "columns"):  # a data frame of pandas, polars or another library
        columns = [data.iloc[:, j] if hasattr(data, "iloc") else data[name] for j, name in enumerate(data.columns)]
        return _joined(["frame", *map(str, data.columns), *(_checksum(np.asarray(column)) for column in columns)])
    try:
        array = as_numpy(data, "data", copies=True)
    except ValueError:  # a list of lists of different lengths
        array = None
    if array is None or array.dtype.kind == "O":
        content = data if array is None else array.tolist()
        return _joined(["objects", json.dumps(_form(content, frozenset()), sort_keys=True)])
    digest = hashlib.sha256(f"{array.dtype.newbyteorder('=').str} {array.shape} ".encode())
    content = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    digest.update(content.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _joined(parts: Iterable[str]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
