"""Arrays of other libraries (PyTorch, CuPy, JAX, the array API): read as NumPy's at the edge, and answered in kind.

Training and prediction are NumPy's and C++'s, on the CPU. So the methods of an estimator convert what comes in once, work in NumPy, and, where
scikit-learn's ``array_api_dispatch`` is on, turn arrays that go out into arrays of X's library, on X's device. No library is imported here: an
array knows its own. Fitted attributes are NumPy's, whatever X was, so that a model does not depend on the library that trained it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np
from sklearn import get_config

from gapless.errors import InvalidInputError

_METHODS = (
    "fit", "partial_fit", "fit_predict", "fit_transform", "predict", "predict_proba", "predict_log_proba", "decision_function",
    "decision_interval", "score", "score_samples", "transform", "inverse_transform",
)  # fmt: skip
# What the types of such arrays define: the array API's own, PyTorch's, and that of libraries on Nvidia's devices.
_MARKS = ("__array_namespace__", "__torch_function__", "__cuda_array_interface__")


class NamespaceMixin:
    """Methods that take arrays of any library, and answer in that of X where ``array_api_dispatch`` is on.

    The methods are wrapped when a class is made, those that it inherits from scikit-learn among them. Inside a wrapped method every array is NumPy's.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _METHODS:
            method = getattr(cls, name, None)
            # A method that is there under a condition (scikit-learn's available_if) has to be wrapped where it is defined: what the class shows of
            # it is another function, without the condition.
            if isinstance(method, FunctionType) and not hasattr(method, "_takes_any_library"):
                setattr(cls, name, taking_any_library(method))

    def _reads_arrays(self) -> bool:
        """Whether X becomes NumPy's array; a kernel that is a function of the user's gets X as it came."""
        return True


def taking_any_library(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes arrays of any library, from one that takes NumPy's."""

    @wraps(function)
    def method(self: Any, *args: Any, **named: Any) -> Any:
        # Small fits take some hundred microseconds: what is NumPy's, or no array at all, costs a look at its type.
        for value in args:
            if type(value) not in _PLAIN and _is_foreign(value):
                break
        else:
            if not named:
                return function(self, *args)
            if not any(_is_foreign(value) for value in named.values()):
                return function(self, *args, **named)
        return _answer(function, self, args, named)

    method._takes_any_library = True  # type: ignore[attr-defined]
    return method


# The types of arguments that were found to be no array of another library.
_PLAIN: set[type] = {np.ndarray, type(None)}


def _is_foreign(value: Any) -> bool:
    kind = type(value)
    if kind in _PLAIN:
        return False
    if issubclass(kind, (np.ndarray, np.generic)) or not any(hasattr(kind, mark) for mark in _MARKS):
        _PLAIN.add(kind)
        return False
    return True


def _answer(function: Callable[..., Any], estimator: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The answer of a method some of whose arguments are arrays of another library."""
    dispatches = get_config()["array_api_dispatch"]
    X = args[0] if args else named.get("X")
    names = ("X", "y", "sample_weight")

    def read(value: Any, name: str) -> Any:
        keeps = not _is_foreign(value) or (value is X and not estimator._reads_arrays())
        return value if keeps else as_numpy(value, name, dispatches)

    args = tuple(read(value, name) for value, name in zip(args, (*names, *[names[-1]] * len(args)), strict=False))
    answer = function(estimator, *args, **{name: read(value, name) for name, value in named.items()})
    if not dispatches or not _is_foreign(X):
        return answer
    if isinstance(answer, tuple):
        return tuple(_like(each, X) for each in answer)
    return _like(answer, X)


def as_numpy(array: Any, name: str, copies: bool) -> np.ndarray:
    """An array of another library as NumPy's; ``copies`` lets one come from another device, or out of a record of gradients."""
    try:
        return np.asarray(array)
    except (TypeError, RuntimeError, ValueError) as error:
        refusal = error
    if copies:
        for way in (_from_torch, _from_cupy, _from_any):
            try:
                return np.asarray(way(array))
            except (AttributeError, BufferError, TypeError, RuntimeError, ValueError):
                continue
    library = type(array).__module__.partition(".")[0]
    where = f" on the device {array.device}" if hasattr(array, "device") else ""
    remedy = "" if copies else ", or call under sklearn.config_context(array_api_dispatch=True), which copies it"
    raise InvalidInputError(
        f"{name} is an array of {library}{where}, which NumPy cannot read ({refusal}); Gapless computes on the CPU: copy {name} there first{remedy}."
    ) from refusal


def _from_torch(array: Any) -> Any:
    return array.detach().cpu()


def _from_cupy(array: Any) -> Any:
    return array.get()


def _from_any(array: Any) -> Any:
    return np.from_dlpack(array, device="cpu")


def _like(answer: Any, X: Any) -> Any:
    """The answer as an array of X's library on X's device; what is no array of numbers, such as string labels, as it is."""
    if type(answer) is not np.ndarray or answer.dtype.kind not in "biuf":
        return answer
    library = _library(X)
    try:
        return library.asarray(answer, device=X.device)
    except TypeError:
        pass
    if answer.dtype == np.float64 and getattr(X.device, "type", None) == "mps":  # which has no float64
        return library.asarray(answer.astype(np.float32), device=X.device)
    # CuPy's asarray takes no device: it makes arrays on the current one.
    there: AbstractContextManager[Any] = X.device if hasattr(X.device, "__enter__") else nullcontext()
    with there:
        return library.asarray(answer)


def _library(X: Any) -> Any:
    """The module that X's class is from; where the user has derived a class from PyTorch's, that is PyTorch."""
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__()
    own = next(kind for kind in reversed(type(X).__mro__) if any(hasattr(kind, mark) for mark in _MARKS))
    return sys.modules[own.__module__.partition(".")[0]]
