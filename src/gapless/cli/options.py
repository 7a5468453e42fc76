"""From the words on the command line to losses, kernels, labels and scalers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from gapless.data.files import Samples
from gapless.data.memory import require_memory
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Chi2, Cosine, Kernel, Laplacian, Linear, Matern, Polynomial, Sigmoid
from gapless.losses import LOSSES
from gapless.solvers import SOLVERS

KERNELS: dict[str, type[Kernel]] = {
    cls.__name__.lower(): cls for cls in (Linear, RBF, Polynomial, Laplacian, Matern, Cosine, Chi2, Sigmoid)
}


def choose_loss(task: str | None, loss: str | None) -> str:
    """The name of the loss: the given one, which must be for the task, or the usual one of the task."""
    if task not in (None, "classification", "regression"):
        raise InvalidInputError(f"--task must be classification or regression; got {task!r}.")
    if loss is None:
        return "epsilon_insensitive" if task == "regression" else "hinge"
    if loss not in LOSSES:
        raise InvalidInputError(f"--loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
    if task is not None and LOSSES[loss].task != task:
        raise InvalidInputError(f"--loss {loss} is for {LOSSES[loss].task}; --task says {task}.")
    return loss


def choose_kernel(name: str, **parameters: float | None) -> Kernel:
    """The kernel with the parameters that were given; a parameter that the kernel does not have is refused."""
    if name not in KERNELS:
        raise InvalidInputError(f"--kernel must be one of {', '.join(KERNELS)}; got {name!r}.")
    given = {key: value for key, value in parameters.items() if value is not None}
    accepted = inspect.signature(KERNELS[name]).parameters
    for key in given:
        if key not in accepted:
            raise InvalidInputError(f"--{key} is no parameter of the kernel {name}.")
    return KERNELS[name](**given)


def check_solver(name: str | None) -> None:
    """Refuse a name that no solver has; None leaves the choice to the estimator."""
    if name not in (None, "auto", *SOLVERS):
        raise InvalidInputError(f"--solver must be one of auto, {', '.join(SOLVERS)}; got {name!r}.")


def two_classes(samples: Samples, positive: str | None) -> np.ndarray:
    """The labels as they are where there are two classes; with ``positive``, +1 for this class and −1 for all others."""
    classes = np.unique(samples.y)
    shown = ", ".join(str(label) for label in classes[:10]) + (", …" if len(classes) > 10 else "")
    if positive is None:
        if len(classes) > 2:
            raise InvalidInputError(
                f"two classes are needed, but the file has {len(classes)}: {shown}; "
                "--positive LABEL sets one against the rest, --task regression takes the labels as numbers."
            )
        return samples.y
    matches = [label for label in classes if str(label) == positive or _same_number(label, positive)]
    if not matches:
        raise InvalidInputError(f"--positive must be a label of the file ({shown}); got {positive!r}.")
    return np.where(samples.y == matches[0], 1, -1)


def new_scaler(X: Any) -> StandardScaler:
    """A fitted scaler that brings each feature of X to mean 0 and variance 1; of a sparse X to variance 1 only, so that zeros stay zeros."""
    return StandardScaler(with_mean=not sp.issparse(X)).fit(X)


def scaled(X: Any, scaler: StandardScaler) -> Any:
    """A scaled copy of X, which is in memory: a copy that would not fit is refused before it is made."""
    require_memory(X.dtype.itemsize * (X.nnz if sp.issparse(X) else X.size), "a scaled copy of the data")
    return scaler.transform(X)


def _same_number(label: Any, text: str) -> bool:
    try:
        return float(label) == float(text)
    except ValueError:
        return False
