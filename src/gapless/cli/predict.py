"""``gapless predict``: predictions of a saved model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_regressor
from sklearn.metrics import r2_score

from gapless.cli.guard import guarded
from gapless.cli.models import DataArgument, LabelColumnOption, ModelArgument, PositiveOption, known_labels, read_for
from gapless.cli.output import error_console
from gapless.errors import InvalidInputError
from gapless.store import load
from gapless.store.scaled import split


@guarded
def predict(
    model_file: ModelArgument,
    file: DataArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file in place of standard output.", metavar="FILE")
    ] = None,
    decision: Annotated[
        bool,
        typer.Option("--decision", help="Print the values of the decision function, separated by tabs, and no labels."),
    ] = False,
    label_column: LabelColumnOption = None,
    positive: PositiveOption = None,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, with the score, in place of lines.")
    ] = False,
) -> None:
    """Predict with a saved model: a line for each sample, with its label or value.

    Where the data has labels, the accuracy or R² is told on standard error. A table with as many columns as the model has features is taken to have
    no labels.

    Example: [bold]gapless predict model.safetensors a9a.t --out labels.txt[/bold]

    Example: [bold]cat new.csv | gapless predict model.safetensors - --decision[/bold]
    """
    loaded = load(model_file)
    model = split(loaded)[1]
    if decision and is_regressor(model):
        raise InvalidInputError(
            f"--decision is for classifiers; {type(model).__name__} predicts its values as they are."
        )
    samples = read_for(loaded, file, label_column, positive)
    predictions = model.predict(samples.X)
    score = _score(model, predictions, samples.y)
    values = model.decision_function(samples.X) if decision else predictions
    if json_output:
        text = json.dumps({"decisions" if decision else "predictions": values.tolist(), **(score or {})}) + "\n"
    else:
        text = "".join(f"{_line(value)}\n" for value in values.tolist())
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")
    for name, value in (score or {}).items():
        error_console().print(f"{_SHOWN[name]} {value:.6g} on {len(predictions):,} samples", markup=False)


_SHOWN = {"accuracy": "accuracy", "r2": "R²"}


def _line(value: Any) -> str:
    return "\t".join(map(str, value)) if isinstance(value, list) else str(value)


def _score(model: Any, predictions: np.ndarray, y: np.ndarray) -> dict[str, float] | None:
    """The score by its name; None where there are no labels, or only placeholders that the model does not know, as LIBSVM's format needs them."""
    if not len(y):
        return None
    if is_regressor(model):
        return {"r2": float(r2_score(y, predictions))} if len(y) > 1 else None
    if not set(y.tolist()) & set(known_labels(model).tolist()):
        return None
    return {"accuracy": float(np.mean(predictions == y))}
