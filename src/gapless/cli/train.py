"""``gapless train``: fit a model, prove it and save it."""

from __future__ import annotations

import inspect
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from gapless.cli.guard import FAILED, fail, guarded, interrupted
from gapless.cli.models import DataArgument, LabelColumnOption, PositiveOption, ScaleOption, read_data
from gapless.cli.options import KERNELS, check_solver, choose_kernel, new_scaler, scaled, two_classes
from gapless.cli.output import JsonOption, error_console
from gapless.cli.task import RULE, TASKS, check_task, decide
from gapless.cli.trained import Run, print_json, print_run
from gapless.errors import Interrupted, InvalidInputError
from gapless.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from gapless.result import Status
from gapless.solvers import SOLVERS
from gapless.store import parse_kernel, save
from gapless.store.scaled import joined

# The kernels that estimators take by name, and choose γ of from the data, with the options that each kernel takes.
_NAMED = {
    "linear": (),
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
}
_INTERCEPTS = ("regularized", "free", "none")


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
    if not out.absolute().parent.is_dir() or out.is_dir():
        raise InvalidInputError(f"--out must be a file in a folder that exists; got {str(out)!r}.")
    given: dict[str, Any] = {
        "kernel": kernel, "C": C, "nu": nu, "epsilon": epsilon, "gamma": gamma, "degree": degree, "coef0": coef0, "loss": loss,
        "intercept": intercept, "solver": solver, "tol": tol, "max_time": max_time, "max_iter": max_iter, "random_state": seed, "n_jobs": n_jobs,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    samples = read_data(
        file, label_column=label_column, numeric_labels=task == "regression", labelled=task != "one-class"
    )
    y = two_classes(samples, positive) if positive is not None else samples.y
    if task == "auto":
        task, told = decide(y)
        if told is not None:
            error_console().print(f"gapless: {told}", markup=False)
    model = _estimator(task, linear, given)
    began = time.perf_counter()
    scaler = new_scaler(samples.X) if scale else None
    X = samples.X if scaler is None else scaled(samples.X, scaler)
    interruption = _fit(model, X, None if task == "one-class" else y)
    seconds = time.perf_counter() - began
    model.set_params(verbose=False)
    save(joined(scaler, model), out)
    worst = max(model._solved, key=lambda solved: (not solved.proven, solved.certificate.relative_gap))
    proven = worst.proven and worst.status is not Status.STATIONARY
    run = Run(task, model, scaler, samples, out, worst, proven, seconds)
    (print_json if json_output else print_run)(run)
    if interruption is not None:
        raise interrupted(interruption)
    if not proven:
        raise fail(f"the model is saved, but it is not proven to tol. {worst.status}", FAILED)


def _estimator(task: str, linear: bool, given: dict[str, Any]) -> Any:
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
    return cls(**parameters, verbose=True)


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
    if name in _NAMED:
        for key in own:
            if key not in _NAMED[name]:
                raise InvalidInputError(f"--{key} is no parameter of the kernel {name}.")
        return {**rest, "kernel": "poly" if name == "polynomial" else name, **own}
    if "(" not in name:
        if isinstance(own.get("gamma"), str):
            raise InvalidInputError(f"--gamma must be a number for the kernel {name}; got {own['gamma']!r}.")
        return {**rest, "kernel": choose_kernel(name, **own)}
    if own:
        raise InvalidInputError(f"--{next(iter(own))} belongs into the kernel's expression, as in RBF(gamma=0.1).")
    return {**rest, "kernel": parse_kernel(name)}


def _fit(model: Any, X: Any, y: np.ndarray | None) -> Interrupted | None:
    """Fit, and print warnings as sentences; return the interruption where Ctrl-C has ended the fit and left a fitted model."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        error_console().print(f"gapless: {message}", markup=False)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)  # the sentence that comes with the exit code says the same
        warnings.showwarning = show
        try:
            model.fit(X, y)
        except Interrupted as stop:
            return stop
    return None
