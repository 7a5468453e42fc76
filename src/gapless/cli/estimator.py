"""From the options of ``gapless train`` and ``gapless tune`` to an estimator, and its fit with warnings as sentences."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gapless.cli.options import choose_kernel
from gapless.cli.output import error_console
from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from gapless.store import parse_kernel

# The kernels that estimators take by name, and choose γ of from the data, with the options that each kernel takes.
NAMED = {
    "linear": (),
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
}
_INTERCEPTS = ("regularized", "free", "none")


def make_estimator(task: str, linear: bool, given: dict[str, Any], verbose: bool = False) -> Any:
    """The estimator that the options ask for; an option that this estimator does not have is refused."""
    if linear and task == "one-class":
        raise InvalidInputError(
            "--linear is for --task classification and regression; a one-class machine takes --kernel linear."
        )
    with_nu = "nu" in given
    cls: type
    if task == "one-class":
        cls = OneClassSVM
    elif linear:
        cls = LinearSVC if task == "classification" else LinearSVR
    elif task == "classification":
        cls = NuSVC if with_nu else SVC
    else:
        cls = NuSVR if with_nu else SVR
    seed = given.pop("random_state", None)
    accepted = inspect.signature(cls).parameters
    for name in given:
        if name not in accepted:
            flag = "-C" if name == "C" else f"--{name.replace('_', '-')}"
            raise InvalidInputError(
                f"{flag} is no option of {cls.__name__}, which {_because(task, linear, with_nu)} asks for."
            )
    parameters = _kernel_parameters(given) if "kernel" in accepted else given
    if linear and "intercept" in parameters:
        kind = parameters.pop("intercept")
        if kind not in _INTERCEPTS:
            raise InvalidInputError(f"--intercept must be one of {', '.join(_INTERCEPTS)}; got {kind!r}.")
        parameters |= {"fit_intercept": False} if kind == "none" else {"intercept": kind}
    if seed is not None and "random_state" in accepted:
        parameters["random_state"] = seed
    return cls(**parameters, verbose=verbose)


def _because(task: str, linear: bool, with_nu: bool) -> str:
    words = [f"the task {task}"] + ["--linear"] * linear + ["--nu"] * (with_nu and not linear)
    return " with ".join(words)


def _kernel_parameters(given: dict[str, Any]) -> dict[str, Any]:
    """The options ``given``, with the kernel and its parameters in the form that an estimator takes."""
    rest = {name: value for name, value in given.items() if name not in ("kernel", "gamma", "degree", "coef0")}
    own: dict[str, Any] = {name: given[name] for name in ("gamma", "degree", "coef0") if name in given}
    if "gamma" in own and own["gamma"] not in ("scale", "auto"):
        try:
            own["gamma"] = float(own["gamma"])
        except ValueError:
            raise InvalidInputError(f"--gamma must be a number, scale or auto; got {own['gamma']!r}.") from None
    name = given.get("kernel", "rbf")
    if name in NAMED:
        for key in own:
            if key not in NAMED[name]:
                raise InvalidInputError(f"--{key} is no parameter of the kernel {name}.")
        return {**rest, "kernel": "poly" if name == "polynomial" else name, **own}
    if "(" not in name:
        if isinstance(own.get("gamma"), str):
            raise InvalidInputError(f"--gamma must be a number for the kernel {name}; got {own['gamma']!r}.")
        return {**rest, "kernel": choose_kernel(name, **own)}
    if own:
        raise InvalidInputError(f"--{next(iter(own))} belongs into the kernel's expression, as in RBF(gamma=0.1).")
    return {**rest, "kernel": parse_kernel(name)}


def fit_aloud(model: Any, X: Any, y: np.ndarray | None) -> Interrupted | None:
    """Fit, and print warnings as sentences; return the interruption where Ctrl-C has ended the fit and left a fitted model."""
    with warnings_as_sentences():
        try:
            model.fit(X, y)
        except Interrupted as stop:
            return stop
    return None


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Print warnings on standard error, a sentence each; that a fit has stopped early is told with the exit code, and not here."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        error_console().print(f"gapless: {message}", markup=False)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.showwarning = show
        yield
