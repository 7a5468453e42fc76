"""``gapless compare``: several solvers on one data set."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from gapless.cli.guard import FAILED, fail, guarded, interrupted
from gapless.cli.models import DataArgument, LabelColumnOption, PositiveOption, ScaleOption, read_data
from gapless.cli.options import KERNELS, choose_kernel, choose_loss, new_scaler, scaled, two_classes
from gapless.cli.output import (
    FIGURES,
    FiguresOption,
    JsonOption,
    NoFiguresOption,
    console,
    count,
    figure_folder,
    print_rows,
    progress_bar,
)
from gapless.compare import Comparison, ComparisonInterrupted, compare
from gapless.losses import LOSSES
from gapless.problems.problem import Problem
from gapless.result import Status
from gapless.solvers import SOLVERS
from gapless.trace import Progress

# Above this many samples the solver qp, whose one call cannot be stopped half-way, runs only when it is asked for by name. By hand: the time of
# that call grows with the cube of the samples.
_QP_LIMIT = 2000


@guarded
def compare_file(
    file: DataArgument,
    solvers: Annotated[
        str | None, typer.Option(help=f"Names, separated by commas: {', '.join(SOLVERS)}.", show_default="all")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classification or regression.", show_default="what the loss is for")
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(LOSSES)}.", show_default="hinge; epsilon_insensitive for a regression"),
    ] = None,
    kernel: Annotated[str, typer.Option(help=f"One of {', '.join(KERNELS)}.")] = "linear",
    gamma: Annotated[
        float | None, typer.Option(help="γ of the kernels rbf, laplacian, polynomial, sigmoid, chi2.")
    ] = None,
    degree: Annotated[int | None, typer.Option(help="Degree of the polynomial kernel.")] = None,
    coef0: Annotated[float | None, typer.Option(help="Constant term of the polynomial and sigmoid kernels.")] = None,
    C: Annotated[
        float | None, typer.Option("--C", help="½‖w‖² + C Σξ; inf is the hard margin.", show_default="1")
    ] = None,
    C_mean: Annotated[float | None, typer.Option("--C-mean", help="½‖w‖² + (C/n) Σξ.")] = None,
    lam_mean: Annotated[float | None, typer.Option(help="(λ/2)‖w‖² + (1/n) Σξ.")] = None,
    lam_mean_full: Annotated[float | None, typer.Option(help="λ‖w‖² + (1/n) Σξ.")] = None,
    lam_sum: Annotated[float | None, typer.Option(help="(λ/2)‖w‖² + Σξ.")] = None,
    intercept: Annotated[
        str, typer.Option(help="The intercept: regularized (every solver covers it), free or none.")
    ] = "regularized",
    tol: Annotated[float, typer.Option(help="The relative duality gap to reach.")] = 1e-6,
    max_time: Annotated[float | None, typer.Option(help="The most seconds for each solver.")] = 60.0,
    max_iter: Annotated[
        float | None, typer.Option(help="The most iterations for each solver, in its own unit (epochs, pairs, …).")
    ] = None,
    scale: ScaleOption = False,
    label_column: LabelColumnOption = None,
    positive: PositiveOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the stochastic solvers.")] = 0,
    figures: FiguresOption = FIGURES,
    no_figures: NoFiguresOption = False,
    json_output: JsonOption = False,
) -> None:
    """Solve one problem by several solvers: a table of what each solver proves, and figures of how it got there.

    A solver that does not cover the problem is listed with its reason. The seconds are those of a solve that finds
    all code loaded and nothing computed beforehand; of a short solve the fastest of several runs counts.

    Example: [bold]gapless compare heart.csv --label-column disease --scale --C 0.1[/bold]

    Example: [bold]gapless compare a9a.svm --solvers sdca,smo --lam-mean 1e-4[/bold]

    Example: [bold]zcat iris.csv.gz | gapless compare - --positive setosa --kernel rbf --gamma 0.5[/bold]
    """
    chosen_loss = choose_loss(task, loss)
    chosen_kernel = choose_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0)
    names = None if solvers is None else [name.strip() for name in solvers.split(",") if name.strip()]
    regression = LOSSES[chosen_loss].task == "regression"
    samples = read_data(file, label_column=label_column, numeric_labels=regression)
    problem = Problem(
        scaled(samples.X, new_scaler(samples.X)) if scale else samples.X,
        samples.y if regression else two_classes(samples, positive),
        loss=chosen_loss,
        kernel=chosen_kernel,
        C=C,
        C_mean=C_mean,
        lam_mean=lam_mean,
        lam_mean_full=lam_mean_full,
        lam_sum=lam_sum,
        intercept=intercept,  # type: ignore[arg-type]
    )
    folder = figure_folder(figures, no_figures)
    left_out: dict[str, str] = {}
    if names is None:
        names = list(SOLVERS)
        if problem.n_samples > _QP_LIMIT:
            names.remove("qp")
            left_out["qp"] = (
                f"left out above {_QP_LIMIT:,} samples, where its one call takes long; --solvers qp runs it."
            )
    interruption = None
    try:
        comparison = _run(problem, names, tol=tol, max_time=max_time, max_iter=max_iter, random_state=seed)
    except ComparisonInterrupted as stop:
        interruption, comparison = stop, stop.comparison
    # After Ctrl-C no figures are drawn, so that the prompt comes back at once.
    paths = [] if folder is None or interruption is not None else _draw(comparison, folder, samples.feature_names)
    (_print_json if json_output else _print_table)(comparison, {**comparison.refused, **left_out}, paths)
    if interruption is not None:
        raise interrupted(interruption)
    if not comparison.results:
        raise fail("no solver covers this problem.", FAILED)


def _run(problem: Problem, names: list[str], **options: Any) -> Comparison:
    with progress_bar() as bar:
        row = bar.add_task("", total=len(names))
        seen: list[str] = []

        def progress(label: str, state: Progress) -> None:
            if label not in seen:
                seen.append(label)
            text = f"{label}: relative gap {state.certificate.relative_gap:.1e}, {state.seconds:.1f} s"
            bar.update(row, description=text, completed=len(seen) - 1)

        return compare(problem, names, progress=progress, **options)


def _print_json(comparison: Comparison, refused: dict[str, str], paths: list[Path]) -> None:
    difference = comparison.disagreement()
    content = {
        "problem": repr(comparison.problem),
        "tol": comparison.tol,
        "rows": [row.as_dict() for row in comparison.rows()],
        "refused": refused,
        "disagreement": None if math.isnan(difference) else difference,
        "figures": [str(path) for path in paths],
    }
    print(json.dumps(content, indent=2))


def _print_table(comparison: Comparison, refused: dict[str, str], paths: list[Path]) -> None:
    out = console()
    if comparison.results:
        print_rows(out, repr(comparison.problem), comparison.columns(), comparison.rows())
        out.print()
    unfinished = {n: str(r.status) for n, r in comparison.results.items() if r.status is not Status.CONVERGED}
    for name, sentence in {**unfinished, **refused}.items():
        out.print(f"{name}: {sentence}", markup=False)
    difference = comparison.disagreement()
    if not math.isnan(difference):
        out.print(
            f"Largest relative difference between the objective values of the solvers that converged: {difference:.1e}."
        )
    if paths:
        out.print(f"{count(len(paths), 'figure')} in {paths[0].parent}.", soft_wrap=True)


def _draw(comparison: Comparison, folder: Path, names: tuple[str, ...] | None) -> list[Path]:
    from gapless.plot import ConvergenceDisplay, DecisionDisplay, GapDisplay
    from gapless.plot.style import new_figure, save

    results = {name: r for name, r in comparison.results.items() if math.isfinite(r.certificate.primal)}
    if not results:
        return []
    paths = []
    figure, panels = new_figure(1, 1, (9.6, 5.4))
    ConvergenceDisplay.from_results(results).plot(panels[0, 0], scale="symlog")
    paths.append(save(figure, folder / "objective.png"))
    figure, panels = new_figure(1, 1, (9.6, 5.0))
    GapDisplay.from_results(results, tol=comparison.tol).plot(panels[0, 0])
    paths.append(save(figure, folder / "gap.png"))
    problem = comparison.problem
    if problem.n_features == 2 and problem.classes is not None:
        best = min(results, key=lambda name: results[name].certificate.relative_gap)
        figure, panels = new_figure(1, 1, (6.2, 6.0))
        labels = ("x₁", "x₂") if names is None else (names[0], names[1])
        display = DecisionDisplay.from_result(results[best])
        display.plot(panels[0, 0], title=f"Decision regions, by {best}", axis_labels=labels)
        paths.append(save(figure, folder / "regions.png"))
    return paths
