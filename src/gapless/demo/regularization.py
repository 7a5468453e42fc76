"""Experiment 2: one falling curve and two rising ones, for three strengths of regularisation on three toy sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from gapless.compare import Comparison, as_row, compare
from gapless.demo.base import Check, Outcome, Table, Tell
from gapless.plot import ConvergenceDisplay, DecisionDisplay
from gapless.plot.convergence import Side
from gapless.plot.style import new_figure, save
from gapless.problems.problem import Problem

_STRENGTHS = (1.0, 3.0, 5.0)
_SIDES: dict[str, Side] = {"subgradient": "primal", "projected_gradient": "dual", "coordinate_ascent": "dual"}
_TOL = 1e-4
_MAX_EPOCHS = 2000


def toy_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """One set that a line separates, and two that it does not."""
    return {
        "separable": make_blobs(200, centers=[[-2.0, -2.0], [2.0, 2.0]], cluster_std=1.0, random_state=0),
        "overlapping": make_blobs(200, centers=[[-1.2, -1.2], [1.2, 1.2]], cluster_std=1.3, random_state=0),
        "moons": make_moons(200, noise=0.25, random_state=0),
    }


def run(folder: Path | None, tell: Tell) -> Outcome:
    """Sub-gradient descent on the primal; projected gradient and coordinate ascent on the dual."""
    sets = toy_sets()
    runs: dict[tuple[str, float], Comparison] = {}
    for name, (X, y) in sets.items():
        for strength in _STRENGTHS:
            tell(f"{name}, λ = {strength:g}", len(runs) / (len(sets) * len(_STRENGTHS)))
            problem = Problem(X, y, lam_sum=strength, intercept="regularized")
            runs[name, strength] = compare(problem, _SIDES, tol=_TOL, max_iter=_MAX_EPOCHS, check_every=1)
    tables = tuple(
        Table(
            f"{name}: (λ/2)‖w‖² + Σ hinge loss",
            tuple(
                as_row(f"{solver}, λ = {strength:g}", result)
                for strength in _STRENGTHS
                for solver, result in runs[name, strength].results.items()
            ),
        )
        for name in sets
    )
    tell("figure", 0.95)
    figures = () if folder is None else (_draw(sets, runs, folder),)
    return Outcome(tables, (_directions(runs), _weak_duality(runs)), figures)


def _directions(runs: dict[tuple[str, float], Comparison]) -> Check:
    falls: list[float] = []
    rises: list[float] = []
    for comparison in runs.values():
        for solver, side in _SIDES.items():
            trace = comparison.results[solver].trace
            (falls if side == "primal" else rises).append(
                trace.best_primal[0] - trace.best_primal[-1]
                if side == "primal"
                else trace.best_dual[-1] - trace.best_dual[0]
            )
    return Check(
        f"One objective falls and two rise: {sum(f > 0 for f in falls)} of {len(falls)} primal curves end below their start, "
        f"{sum(r > 0 for r in rises)} of {len(rises)} dual ones above.",
        bool(min(falls) > 0 and min(rises) > 0),
    )


def _weak_duality(runs: dict[tuple[str, float], Comparison]) -> Check:
    """The falling curve stays above the rising ones, and ends near them."""
    certificates = [[r.certificate for r in comparison.results.values()] for comparison in runs.values()]
    between = [(min(c.primal for c in group), max(c.dual for c in group)) for group in certificates]
    crossing = max((dual - primal) / abs(primal) for primal, dual in between)
    apart = max((group[0].primal - dual) / abs(dual) for group, (_, dual) in zip(certificates, between, strict=True))
    return Check(
        f"No rising curve crosses the falling one, which ends within {apart:.1e} of the higher of them in all {len(runs)} runs.",
        crossing <= 1e-12 and apart <= 1e-2,
    )


def _draw(sets: dict[str, Any], runs: dict[tuple[str, float], Comparison], folder: Path) -> Path:
    figure, panels = new_figure(len(sets), 1 + len(_STRENGTHS), (15.0, 10.4))
    for i, name in enumerate(sets):
        first = panels[i, 0]
        model = runs[name, _STRENGTHS[0]].results["coordinate_ascent"]
        DecisionDisplay.from_result(model).plot(
            first, legend=False, title=f"{name}: the model for λ = {_STRENGTHS[0]:g}"
        )
        for j, strength in enumerate(_STRENGTHS, start=1):
            comparison = runs[name, strength]
            accuracy = 100 * as_row("", comparison.results["coordinate_ascent"]).score
            display = ConvergenceDisplay.from_results(dict(comparison.results), sides=_SIDES)
            display.plot(panels[i, j], legend=False, title=f"{name}, λ = {strength:g}: {accuracy:.1f} % right")
            if j > 1:
                panels[i, j].set_ylabel("")
            if i < len(sets) - 1:
                panels[i, j].set_xlabel("")
    handles = [*display.handles(), *DecisionDisplay.from_result(model, grid=2).handles()[2:]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return save(figure, folder / "2-regularisation.png")
