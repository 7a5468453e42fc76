"""Experiment 2: the three algorithms of a computer lab, with three strengths of regularisation on three toy sets: one curve falls and two rise.

The lab's problem Σ max(0, 1 − yᵢ⟨xᵢ, a⟩) + (c/2)‖a‖² is stated as ``lam_sum=c``, with a = (w, b): the lab's samples have a last entry of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from gapless.compare import Row, compare
from gapless.demo.base import Check, Outcome, Table, Tell
from gapless.demo.lab_loop import lab_row
from gapless.plot import ConvergenceDisplay, DecisionDisplay
from gapless.plot.convergence import Side
from gapless.plot.style import new_figure, save
from gapless.problems.problem import Problem
from gapless.result import Result
from gapless.solve import solve
from gapless.solvers import CoordinateAscent, ProjectedGradient, Solver, Subgradient

_STRENGTHS = (1.0, 3.0, 5.0)
# Coordinate ascent visits the samples in their order, as the lab's loop does, so that the iterates are the same.
_SOLVERS: dict[str, Solver] = {
    "subgradient": Subgradient(),
    "projected_gradient": ProjectedGradient(),
    "coordinate_ascent": CoordinateAscent(sampling="cyclic"),
}
_SIDES: dict[str, Side] = {"subgradient": "primal", "projected_gradient": "dual", "coordinate_ascent": "dual"}
_LAB = "the lab's loop"
_TOL = 1e-4
# The sub-gradient method, whose rate of 1/t does not promise the tolerance, is stopped here; the others reach the tolerance before their own caps.
_MAX_EPOCHS: dict[str, int | None] = {"subgradient": 1000}


@dataclass(frozen=True)
class _Cell:
    """One data set with one c: by solver, the row of the table, which is timed, and the result for the curves, which has a check after each epoch."""

    rows: dict[str, Row]
    curves: dict[str, Result]


def toy_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """One set of points that a line separates, and two that no line separates."""
    return {
        "separable": make_blobs(200, centers=[[-2.0, -2.0], [2.0, 2.0]], cluster_std=1.0, random_state=0),
        "overlapping": make_blobs(200, centers=[[-1.2, -1.2], [1.2, 1.2]], cluster_std=1.3, random_state=0),
        "moons": make_moons(200, noise=0.25, random_state=0),
    }


def run(folder: Path | None, tell: Tell) -> Outcome:
    """Sub-gradient descent on the primal; projected gradient and coordinate ascent on the dual, the latter also as the lab's interpreted loop."""
    sets = toy_sets()
    cells: dict[tuple[str, float], _Cell] = {}
    for name, (X, y) in sets.items():
        for c in _STRENGTHS:
            tell(f"{name}, c = {c:g}", len(cells) / (len(sets) * len(_STRENGTHS)))
            cells[name, c] = _measure(Problem(X, y, lam_sum=c, intercept="regularized"), c)
    tables = tuple(
        Table(
            f"{name}: (c/2)‖(w, b)‖² + Σ hinge loss, which is lam_sum=c",
            tuple(row for c in _STRENGTHS for row in cells[name, c].rows.values()),
        )
        for name in sets
    )
    tell("figure", 0.95)
    figures = () if folder is None else (_draw(sets, cells, folder),)
    seconds, epochs = _totals(list(cells.values()))
    checks = (
        _directions(cells), _weak_duality(cells), _interpreted(seconds, epochs), _fastest(seconds, cells)
    )  # fmt: skip
    return Outcome(tables, checks, figures)


def _measure(problem: Problem, c: float) -> _Cell:
    rows, curves = {}, {}
    for name, solver in _SOLVERS.items():
        options: dict[str, Any] = {"tol": _TOL, "max_iter": _MAX_EPOCHS.get(name)}
        (rows[name],) = compare(problem, [solver], **options).rows()
        curves[name] = solve(problem, solver, check_every=1, **options)
    rows[_LAB] = lab_row(_LAB, problem, rows["coordinate_ascent"].iterations)
    return _Cell({name: replace(row, solver=f"{name}, c = {c:g}") for name, row in rows.items()}, curves)


def _totals(cells: Sequence[_Cell]) -> tuple[dict[str, float], dict[str, float]]:
    """(seconds, epochs) of all runs together, by solver."""
    names = list(cells[0].rows)
    return (
        {name: sum(cell.rows[name].seconds for cell in cells) for name in names},
        {name: sum(cell.rows[name].iterations for cell in cells) for name in names},
    )


def _directions(cells: dict[tuple[str, float], _Cell]) -> Check:
    """A sub-gradient step may raise the objective, so that the best iterate counts; the methods on the dual raise it with every epoch."""
    traces = [(side, cell.curves[name].trace) for cell in cells.values() for name, side in _SIDES.items()]
    falls = [trace.best_primal[-1] < trace.primal[0] for side, trace in traces if side == "primal"]
    rises = [bool((np.diff(trace.dual) > 0).all()) for side, trace in traces if side == "dual"]
    return Check(
        f"One objective falls and two rise: {sum(falls)} of {len(falls)} primal curves end below their start, and {sum(rises)} of {len(rises)} "
        "dual ones rise with every epoch.",
        bool(all(falls) and all(rises)),
    )


def _weak_duality(cells: dict[tuple[str, float], _Cell]) -> Check:
    """The falling primal curve stays above the rising dual curves, and ends near them."""
    ends = [[cell.rows[name] for name in _SIDES] for cell in cells.values()]
    between = [(min(row.primal for row in rows), max(row.dual for row in rows)) for rows in ends]
    crossing = max((dual - primal) / abs(primal) for primal, dual in between)
    apart = max((rows[0].primal - dual) / abs(dual) for rows, (_, dual) in zip(ends, between, strict=True))
    return Check(
        f"No rising curve crosses the falling one, which ends within {apart:.1e} of the higher of them in all {len(cells)} runs.",
        crossing <= 1e-12 and apart <= 1e-2,
    )


def _interpreted(seconds: dict[str, float], epochs: dict[str, float]) -> Check:
    """In the lab coordinate ascent was the slowest method, because its loop is interpreted."""
    each = {name: 1e3 * seconds[name] / epochs[name] for name in seconds}
    others = " and ".join(f"{each[name]:.2g} ms with {name}" for name in ("subgradient", "projected_gradient"))
    return Check(
        "The lab found coordinate ascent the slowest of its three, and its loop still is: interpreted, masking the k-th entry and multiplying the "
        f"rest anew for each sample, it takes {each[_LAB]:.2g} ms an epoch, against {others}, whose epoch is a matrix product.",
        each[_LAB] > max(each["subgradient"], each["projected_gradient"]),
    )


def _fastest(seconds: dict[str, float], cells: dict[tuple[str, float], _Cell]) -> Check:
    """Compiled, coordinate ascent is the fastest of the three."""
    own = seconds["coordinate_ascent"]
    reached = sum(cell.rows["coordinate_ascent"].relative_gap <= _TOL for cell in cells.values())
    others = ", ".join(f"{name} {seconds[name]:.2g} s" for name in ("projected_gradient", "subgradient"))
    return Check(
        "Here it is the fastest of the three: compiled, and with Qα kept up to date instead of multiplied anew, it makes the same epochs in "
        f"{own:.2g} s instead of {seconds[_LAB]:.2g} s, certificates included, and reaches a gap of {_TOL:g} in {reached} of {len(cells)} runs "
        f"({others}).",
        own < min(seconds[name] for name in seconds if name != "coordinate_ascent") and reached == len(cells),
    )


def _draw(sets: dict[str, Any], cells: dict[tuple[str, float], _Cell], folder: Path) -> Path:
    figure, panels = new_figure(len(sets), 1 + len(_STRENGTHS), (15.0, 10.4))
    longest = 1.3 * max(result.iterations for cell in cells.values() for result in cell.curves.values())
    for i, name in enumerate(sets):
        first = panels[i, 0]
        model = cells[name, _STRENGTHS[0]].curves["coordinate_ascent"]
        DecisionDisplay.from_result(model).plot(
            first, legend=False, title=f"{name}: the model for c = {_STRENGTHS[0]:g}"
        )
        for j, c in enumerate(_STRENGTHS, start=1):
            cell = cells[name, c]
            accuracy = 100 * cell.rows["coordinate_ascent"].score
            display = ConvergenceDisplay.from_results(cell.curves, sides=_SIDES)
            # The dual curve shows the values of the iterates themselves, as the lab draws them, and not the better ones that a certificate may prove.
            display.curves = [
                replace(each, dual=np.array(cell.curves[each.label].trace.dual)) for each in display.curves
            ]
            display.plot(panels[i, j], legend=False, title=f"{name}, c = {c:g}: {accuracy:.1f} % right")
            # All panels have the same axis of epochs, so that they can be compared.
            panels[i, j].set_xlim(0.0, longest)
            panels[i, j].set_xticks([0, *10 ** np.arange(int(np.log10(longest)) + 1)])
            if j > 1:
                panels[i, j].set_ylabel("")
            if i < len(sets) - 1:
                panels[i, j].set_xlabel("")
    handles = [*display.handles(), *DecisionDisplay.from_result(model, grid=2).handles()[2:]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return save(figure, folder / "2-regularisation.png")
