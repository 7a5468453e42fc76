"""``gapless tune``: choose parameters by cross-validation, fit the best ones on all samples, prove the model and save it."""

from __future__ import annotations

import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import scipy.sparse as sp
import typer
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gapless.cli.estimator import fit_aloud, make_estimator, warnings_as_sentences
from gapless.cli.grids import VALUES, default_costs, default_gammas, read_parameter, read_values
from gapless.cli.guard import FAILED, INTERRUPTED, fail, guarded, interrupted
from gapless.cli.models import DataArgument, LabelColumnOption, PositiveOption, ScaleOption, read_data
from gapless.cli.options import KERNELS, new_scaler, scaled, two_classes
from gapless.cli.output import JsonOption, error_console
from gapless.cli.task import RULE, check_task, settled
from gapless.cli.trained import as_json, check_place, print_run, saved
from gapless.cli.tuned import print_search, search_json
from gapless.errors import GaplessError, InvalidInputError
from gapless.model_selection import GridSearchCV, SearchInterrupted

_TASKS = ("auto", "classification", "regression")


@guarded
def tune(
    file: DataArgument,
    out: Annotated[
        Path, typer.Option("--out", "-o", "--model", help="The file to write the best model to.", metavar="FILE")
    ] = Path("model.safetensors"),
    task: Annotated[str, typer.Option(help=f"One of {', '.join(_TASKS)}. {RULE}")] = "auto",
    kernel: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(KERNELS)}; or an expression such as 'RBF(gamma=0.1) + Linear()'.",
            show_default="rbf",
        ),
    ] = None,
    C: Annotated[
        str | None,
        typer.Option(
            "-C", "--C", help=f"C: {VALUES}.", metavar="VALUES", show_default="1e-2:1e4:7; 1e-4:1e2:7 with --linear"
        ),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            help="γ of the kernel: values, ranges, scale or auto.", metavar="VALUES", show_default="7 around scale"
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="ε of a regression: values or ranges.", metavar="VALUES", show_default="0.1; 0 with --linear"
        ),
    ] = None,
    degree: Annotated[
        str | None, typer.Option(help="Degrees of the polynomial kernel: values.", metavar="VALUES", show_default="3")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="Any other parameter of the estimator with its values, as kernel__left__gamma=0.1,1 or class_weight=balanced,none; may be repeated.",
            metavar="NAME=VALUES",
        ),
    ] = None,
    linear: Annotated[bool, typer.Option("--linear", help="Tune LinearSVC or LinearSVR.")] = False,
    loss: Annotated[
        str | None,
        typer.Option(help="With --linear: hinge or squared_hinge; of a regression epsilon_insensitive or its square."),
    ] = None,
    scale: ScaleOption = False,
    cv: Annotated[
        int, typer.Option(help="The number of folds, which are shuffled; those of classes are stratified.", min=2)
    ] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(
            help="The score to choose by, by scikit-learn's name, as f1_macro or neg_mean_absolute_error.",
            show_default="accuracy; r2",
        ),
    ] = None,
    racing: Annotated[
        bool,
        typer.Option("--racing", help="Drop candidates that are proven not to win, which saves their other folds."),
    ] = False,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="A file that keeps each fit as soon as it is done; the same command goes on from it.", metavar="FILE"
        ),
    ] = None,
    tol: Annotated[
        float | None, typer.Option(help="The relative duality gap to prove.", show_default="1e-3; 1e-4 with --linear")
    ] = None,
    label_column: LabelColumnOption = None,
    positive: PositiveOption = None,
    seed: Annotated[int, typer.Option(help="The seed of the folds.")] = 0,
    n_jobs: Annotated[
        int | None,
        typer.Option(help="How many folds are worked on at a time; -1 is one for each core.", show_default="1"),
    ] = None,
    top: Annotated[int, typer.Option(help="How many candidates the table shows.", min=1)] = 10,
    json_output: JsonOption = False,
) -> None:
    """Choose C, γ and other parameters by cross-validation, then fit the best on all samples, prove and save that model, as train does.

    Without options a grid around the usual values is tried. The table shows the best candidates with their mean score over the folds, its spread, and
    what is proven of it: the interval that contains the score of the exact optimum. A terminal shows the fits that are done and the time left.

    After Ctrl-C the candidates that are done are shown, no model is saved, and the exit code is 130; with --resume the same command goes on from
    there, and a larger grid adds to what the file has. With --scale the features are scaled in each fold by its training samples alone.

    Example: [bold]gapless tune a9a.svm[/bold]

    Example: [bold]gapless tune letter.csv --label-column letter --scale -C 1e-1:1e3:5 --gamma 0.01,0.1,1 --racing[/bold]

    Example: [bold]gapless tune house.csv --task regression --linear -C 1e-3:1e3:13 --epsilon 0,0.1 --resume house.fits[/bold]
    """
    check_task(task, positive)
    if task not in _TASKS:
        raise InvalidInputError(f"--task must be one of {', '.join(_TASKS)}; got {task!r}.")
    check_place(out)
    if scoring is not None and scoring not in get_scorer_names():
        raise InvalidInputError(f"--scoring must be a name of a scorer of scikit-learn, as accuracy; got {scoring!r}.")
    asked = {
        name: read_values(text, f"--{name}" if name != "C" else "-C", ("scale", "auto") if name == "gamma" else ())
        for name, text in (("C", C), ("gamma", gamma), ("epsilon", epsilon), ("degree", degree))
        if text is not None
    }
    if "degree" in asked:
        asked["degree"] = [_whole(value) for value in asked["degree"]]
    samples = read_data(file, label_column=label_column, numeric_labels=task == "regression")
    y = two_classes(samples, positive) if positive is not None else samples.y
    task = settled(task, y)
    given = {
        name: value
        for name, value in (("kernel", kernel), ("loss", loss), ("tol", tol), ("random_state", seed))
        if value is not None
    }
    estimator = make_estimator(task, linear, given)
    grid = _grid(estimator, asked, linear, samples.X, scale) | dict(map(read_parameter, param or []))
    prefix = ""
    tuned: Any = estimator
    if scale:
        tuned = make_pipeline(StandardScaler(with_mean=not sp.issparse(samples.X)), estimator)
        prefix = f"{tuned.steps[-1][0]}__"
    _check_names(estimator, grid)
    folds = (StratifiedKFold if task == "classification" else KFold)(cv, shuffle=True, random_state=seed)
    search = GridSearchCV(
        tuned, {f"{prefix}{name}": values for name, values in grid.items()}, cv=folds, scoring=scoring, racing=racing, resume=resume,
        n_jobs=n_jobs, refit=False, error_score="raise", verbose=int(error_console().is_terminal),
    )  # fmt: skip
    title = (
        f"{type(estimator).__name__}, {scoring or ('accuracy' if task == 'classification' else 'R²')} over {cv} folds"
    )
    began = time.perf_counter()
    stop = _search(search, samples.X, y)
    if stop is not None:
        raise _after_ctrl_c(stop, search, title, prefix, top, resume, json_output)
    model = clone(tuned).set_params(**search.best_params_)
    scaler, last = (model[0], model[-1]) if scale else (None, model)
    X = samples.X if scaler is None else scaled(samples.X, scaler.fit(samples.X))
    last.set_params(verbose=True)
    interruption = fit_aloud(last, X, y)
    run = saved(task, last, scaler, samples, out, time.perf_counter() - began)
    if json_output:
        print(json.dumps({"scoring": scoring, "seed": seed, **search_json(search, prefix), **as_json(run)}, indent=2))
    else:
        print_search(search, title, prefix, top)
        print_run(run)
    if interruption is not None:
        raise interrupted(interruption)
    if not run.proven:
        raise fail(f"the model is saved, but it is not proven to tol. {run.worst.status}", FAILED)


def _whole(value: float) -> int:
    if value != int(value):
        raise InvalidInputError(f"--degree takes whole numbers; got {value:g}.")
    return int(value)


def _grid(estimator: Any, asked: dict[str, list[Any]], linear: bool, X: Any, scale: bool) -> dict[str, list[Any]]:
    """The values by parameter, under the names of the estimator: what was asked for, and C and γ where nothing was."""
    grid = {"C": default_costs(linear), **asked}
    kernel = getattr(estimator, "kernel", None)
    if isinstance(kernel, str):
        if "gamma" not in grid and kernel != "linear":
            grid["gamma"] = default_gammas(scaled(X, new_scaler(X)) if scale else X)
        return grid
    # The parameters of a kernel that is an object are inside it.
    inside = set() if kernel is None else set(kernel.get_params(deep=False))
    if "gamma" in inside and "gamma" not in grid:
        grid["gamma"] = default_gammas(scaled(X, new_scaler(X)) if scale else X)
    return {f"kernel__{name}" if name in inside and name != "C" else name: values for name, values in grid.items()}


def _check_names(estimator: Any, grid: dict[str, list[Any]]) -> None:
    """Refuse a parameter that the estimator, or its kernel, does not have."""
    known = estimator.get_params(deep=True)
    for name in grid:
        if name not in known:
            raise InvalidInputError(
                f"{type(estimator).__name__} has no parameter {name!r} to tune; its parameters are {', '.join(sorted(known))}."
            )


def _search(search: GridSearchCV, X: Any, y: Any) -> SearchInterrupted | None:
    """Run the search; return the interruption where Ctrl-C has ended it. What the search prints goes to standard error."""
    with warnings_as_sentences(), redirect_stdout(sys.stderr):
        try:
            search.fit(X, y)
        except SearchInterrupted as stop:
            return stop
        except GaplessError:
            raise
        except ValueError as error:  # of scikit-learn, on folds or a score that the targets do not allow
            raise InvalidInputError(str(error)) from None
    return None


def _after_ctrl_c(
    stop: SearchInterrupted,
    search: GridSearchCV,
    title: str,
    prefix: str,
    top: int,
    resume: Path | None,
    json_output: bool,
) -> typer.Exit:
    """Show the candidates that are done, and return the exit with words on how to go on."""
    if hasattr(search, "best_params_"):
        if json_output:
            print(json.dumps(search_json(search, prefix), indent=2))
        else:
            print_search(search, title, prefix, top)
    further = (
        "with --resume FILE a search keeps its fits, and goes on from them"
        if resume is None
        else "the same command goes on from here"
    )
    return fail(f"interrupted: {stop.done:,} of {stop.total:,} fits are done; {further}.", INTERRUPTED)
