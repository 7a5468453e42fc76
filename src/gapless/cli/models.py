"""What the commands on model files share: reading data as a model takes it, and telling what a model is and proves."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer
from rich.console import Console
from sklearn.base import is_outlier_detector, is_regressor

from gapless.cli.options import scaled, two_classes
from gapless.data.files import Samples, read_samples, with_width
from gapless.data.store import is_store, open_store
from gapless.errors import InvalidInputError
from gapless.proof.certificate import Certificate
from gapless.store.scaled import split

FORMATS = "LIBSVM/SVMlight or CSV text (also .gz, .bz2), Parquet, .npz, or a store, which is a folder that gapless convert writes"
ModelArgument = Annotated[str, typer.Argument(help="The model file that train has written.", metavar="MODEL")]
DataArgument = Annotated[str, typer.Argument(help=f"{FORMATS}; - is standard input.", metavar="DATA")]
LabelColumnOption = Annotated[
    str | None,
    typer.Option(
        help="The column of the labels in CSV and Parquet: its name, or its number from 0.", show_default="the last"
    ),
]
PositiveOption = Annotated[
    str | None, typer.Option(help="Set this class (+1) against all others (-1).", metavar="LABEL")
]
ScaleOption = Annotated[
    bool,
    typer.Option(
        "--scale",
        help="Bring each feature to mean 0 and variance 1; in LIBSVM format and other sparse data to variance 1 only.",
    ),
]


def read_data(
    file: str,
    *,
    label_column: str | None = None,
    numeric_labels: bool = False,
    labelled: bool = True,
    n_features: int | None = None,
) -> Samples:
    """The samples of a store, of the file of this name, or of standard input; the options are those of ``read_samples``."""
    if file == "-" or not is_store(file):
        return read_samples(
            sys.stdin.buffer if file == "-" else file,
            label_column=label_column,
            numeric_labels=numeric_labels,
            labelled=labelled,
            n_features=n_features,
        )
    if label_column is not None:
        raise InvalidInputError(
            f"--label-column is for CSV and Parquet files; the store {file} keeps its labels apart."
        )
    samples = open_store(file)
    if numeric_labels and samples.y.dtype.kind == "U":
        raise InvalidInputError(
            f"a regression takes numbers as targets; the store {file} has texts, such as {str(samples.y[0])!r}."
        )
    return samples if n_features is None else with_width(file, samples, n_features)


def read_for(model: Any, file: str, label_column: str | None, positive: str | None) -> Samples:
    """Samples in the form that the estimator of a loaded model takes: as many features, dense or sparse, scaled, labels as its classes."""
    scaler, estimator = split(model)
    samples = read_data(
        file, label_column=label_column, numeric_labels=is_regressor(estimator), n_features=estimator.n_features_in_
    )
    X: Any = samples.X
    y = samples.y
    if positive is not None and samples.labelled:
        y = two_classes(samples, positive)
    classes = getattr(estimator, "classes_", None)
    if samples.labelled and classes is not None and classes.dtype.kind in "OU":
        y = y.astype(str)  # the model's labels are texts, and those in this file may all look like numbers
    sparse = getattr(estimator, "_sparse", sp.issparse(X)) if scaler is None else not scaler.with_mean
    if sparse != sp.issparse(X):
        X = X.toarray() if sp.issparse(X) else sp.csr_array(X)
    return Samples(X if scaler is None else scaled(X, scaler), y, samples.feature_names)


def known_labels(model: Any) -> np.ndarray:
    """The labels that a classifier or a novelty detector may predict."""
    return np.array([-1, 1]) if is_outlier_detector(model) else np.asarray(model.classes_)


def proof(certificate: Certificate) -> dict[str, float | int | None]:
    """A certificate for JSON, which has no infinity: null stands where there is no bound."""
    names = ("primal", "dual", "gap", "relative_gap", "kkt_violation")
    return {name: finite(getattr(certificate, name)) for name in names}


def finite(value: float) -> float | None:
    """A finite number; None for a number that JSON cannot hold."""
    return value if math.isfinite(value) else None


def n_support(model: Any) -> int | None:
    """The number of support vectors; None for a model that does not count them."""
    return int(np.sum(model.n_support_)) if hasattr(model, "n_support_") else None


def scaling(scaler: Any) -> str:
    """What a scaler does, in words."""
    return "each feature to mean 0 and variance 1" if scaler.with_mean else "each feature to variance 1"


def title(model: Any) -> str:
    """The class of a model, with its kernel where it has one."""
    kernel = getattr(model, "_kernel_object", None)
    return type(model).__name__ if kernel is None else f"{type(model).__name__} with the kernel {kernel!r}"


def print_facts(out: Console, facts: Sequence[tuple[str, Any]]) -> None:
    """Print names and values in two columns, each pair on its line."""
    width = max(len(name) for name, _ in facts) + 2
    for name, value in facts:
        out.print(f"{name:<{width}}{value}", markup=False, soft_wrap=True)
