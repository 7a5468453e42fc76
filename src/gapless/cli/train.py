"""``gapless train``: fit a model, prove it and save it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gapless.cli.estimator import fit_aloud, make_estimator
from gapless.cli.guard import FAILED, fail, guarded, interrupted
from gapless.cli.models import DataArgument, LabelColumnOption, PositiveOption, ScaleOption, read_data
from gapless.cli.options import KERNELS, check_solver, new_scaler, scaled, two_classes
from gapless.cli.output import JsonOption
from gapless.cli.task import RULE, TASKS, check_task, settled
from gapless.cli.trained import check_place, print_json, print_run, saved
from gapless.solvers import SOLVERS


@guarded
def train(
    file: DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.", metavar="FILE")] = Path(
        "model.safetensors"
    ),
    task: Annotated[str, typer.Option(help=f"One of {', '.join(TASKS)}. {RULE}")] = "auto",
    kernel: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(KERNELS)}; or an expression such as '0.5 * RBF(gamma=0.1) + Linear()'.",
            show_default="rbf",
        ),
    ] = None,
    C: Annotated[
        float | None, typer.Option("-C", "--C", help="½‖w‖² + C Σξ; inf is the hard margin.", show_default="1")
    ] = None,
    nu: Annotated[
        float | None,
        typer.Option(
            help="ν of the ν-forms: in place of C in a classification, of ε in a regression; or of a one-class machine."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="ε of a regression: errors up to ε cost nothing.", show_default="0.1; 0 with --linear"),
    ] = None,
    gamma: Annotated[
        str | None, typer.Option(help="γ of the kernel: a number, scale or auto.", show_default="scale")
    ] = None,
    degree: Annotated[int | None, typer.Option(help="Degree of the polynomial kernel.", show_default="3")] = None,
    coef0: Annotated[
        float | None, typer.Option(help="Constant term of the polynomial and sigmoid kernels.", show_default="0")
    ] = None,
    linear: Annotated[
        bool,
        typer.Option("--linear", help="Fit LinearSVC or LinearSVR, which keep the weights w and no support vectors."),
    ] = False,
    loss: Annotated[
        str | None,
        typer.Option(
            help="With --linear: hinge or squared_hinge; of a regression epsilon_insensitive or squared_epsilon_insensitive.",
            show_default="squared_hinge; epsilon_insensitive",
        ),
    ] = None,
    intercept: Annotated[
        str | None, typer.Option(help="With --linear: regularized, free or none.", show_default="regularized")
    ] = None,
    scale: ScaleOption = False,
    solver: Annotated[
        str | None,
        typer.Option(
            help=f"One of auto, {', '.join(SOLVERS)}; a solver that does not cover the problem says why.",
            show_default="auto",
        ),
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(help="The relative duality gap to prove.", show_default="1e-3; 1e-4 with --linear"),
    ] = None,
    max_time: Annotated[
        float | None, typer.Option(help="The most seconds for the whole fit, its certificates included.")
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(help="The most iterations for each subproblem, in the solver's unit (epochs, pairs, …)."),
    ] = None,
    label_column: LabelColumnOption = None,
    positive: PositiveOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the stochastic solvers.")] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option(help="How many subproblems are solved at a time; -1 is one for each core.", show_default="1"),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Train a model, prove how close it is to the optimum, and save model and proof in one file without pickle.

    The exit code is 0 when the gap is proven to be at most tol, and 1 when training stopped before; the model is saved all the same.
    After Ctrl-C the best model so far is saved, and the exit code is 130.

    The features are taken as they are, or brought to one scale by --scale. With --scale the model file holds the scaler too: predict and verify take
    data that is not scaled, and scale it themselves.

    Example: [bold]gapless train a9a.svm --kernel rbf -C 10 --out model.safetensors[/bold]

    Example: [bold]gapless train house.csv --label-column price --task regression --scale --linear --solver newton[/bold]

    Example: [bold]gapless train a-store --linear[/bold], a folder that gapless convert has written and that stays on disk.

    Example: [bold]zcat iris.csv.gz | gapless train - --kernel '0.5 * RBF(gamma=0.1) + Linear()' --tol 1e-6[/bold]
    """
    check_task(task, positive)
    check_solver(solver)
    check_place(out)
    given: dict[str, Any] = {
        "kernel": kernel, "C": C, "nu": nu, "epsilon": epsilon, "gamma": gamma, "degree": degree, "coef0": coef0, "loss": loss,
        "intercept": intercept, "solver": solver, "tol": tol, "max_time": max_time, "max_iter": max_iter, "random_state": seed, "n_jobs": n_jobs,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    samples = read_data(
        file, label_column=label_column, numeric_labels=task == "regression", labelled=task != "one-class"
    )
    y = two_classes(samples, positive) if positive is not None else samples.y
    task = settled(task, y)
    model = make_estimator(task, linear, given, verbose=True)
    began = time.perf_counter()
    scaler = new_scaler(samples.X) if scale else None
    X = samples.X if scaler is None else scaled(samples.X, scaler)
    interruption = fit_aloud(model, X, None if task == "one-class" else y)
    seconds = time.perf_counter() - began
    run = saved(task, model, scaler, samples, out, seconds)
    (print_json if json_output else print_run)(run)
    if interruption is not None:
        raise interrupted(interruption)
    if not run.proven:
        raise fail(f"the model is saved, but it is not proven to tol. {run.worst.status}", FAILED)
