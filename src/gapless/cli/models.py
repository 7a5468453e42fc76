"""What the commands on model files share: data as a model takes it, and what a model proves, for people and for programs."""

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

from gapless.cli.options import two_classes
from gapless.data.files import Samples, read_samples
from gapless.proof.certificate import Certificate

ModelArgument = Annotated[str, typer.Argument(help="The model file that train has written.", metavar="MODEL")]
DataArgument = Annotated[
    str, typer.Argument(help="LIBSVM-format (also .gz, .bz2), CSV, Parquet or .npz file; - is standard input.")
]
LabelColumnOption = Annotated[
    str | None,
    typer.Option(help="CSV, Parquet: name or number (from 0) of the label's column.", show_default="the last"),
]
PositiveOption = Annotated[
    str | None, typer.Option(help="Of several classes, this one (+1) against the rest (-1).", metavar="LABEL")
]


def source(file: str) -> Any:
    """What to read: the file of this name, or standard input."""
    return sys.stdin.buffer if file == "-" else file


def read_for(model: Any, file: str, label_column: str | None, positive: str | None) -> Samples:
    """Samples in the form that a fitted model takes: its number of features, its storage, labels of the kind of its classes."""
    numeric = is_regressor(model)
    samples = read_samples(
        source(file), label_column=label_column, numeric_labels=numeric, n_features=model.n_features_in_
    )
    X: Any = samples.X
    y = samples.y
    if positive is not None and samples.labelled:
        y = two_classes(samples, positive)
    classes = getattr(model, "classes_", None)
    if samples.labelled and classes is not None and classes.dtype.kind in "OU":
        y = y.astype(str)  # texts, of which this file happens to have those that look like numbers
    if getattr(model, "_sparse", sp.issparse(X)) != sp.issparse(X):
        X = X.toarray() if sp.issparse(X) else sp.csr_array(X)
    return Samples(X, y, samples.feature_names)


def known_labels(model: Any) -> np.ndarray:
    """The labels that a classifier or a novelty detector may predict."""
    return np.array([-1, 1]) if is_outlier_detector(model) else np.asarray(model.classes_)


def proof(certificate: Certificate) -> dict[str, float | int | None]:
    """A certificate for JSON, which has no infinity: null is where there is no bound."""
    names = ("primal", "dual", "gap", "relative_gap", "kkt_violation")
    return {name: finite(getattr(certificate, name)) for name in names}


def finite(value: float) -> float | None:
    """A number, or None where JSON has none."""
    return value if math.isfinite(value) else None


def n_support(model: Any) -> int | None:
    """The number of support vectors; None of a model that does not count them."""
    return int(np.sum(model.n_support_)) if hasattr(model, "n_support_") else None


def title(model: Any) -> str:
    """``SVC``, with its kernel."""
    kernel = getattr(model, "_kernel_object", None)
    return type(model).__name__ if kernel is None else f"{type(model).__name__} with the kernel {kernel!r}"


def print_facts(out: Console, facts: Sequence[tuple[str, Any]]) -> None:
    """Names and values, one a line, in two columns."""
    width = max(len(name) for name, _ in facts) + 2
    for name, value in facts:
        out.print(f"{name:<{width}}{value}", markup=False, soft_wrap=True)
