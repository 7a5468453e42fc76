"""The histories of one or several results as curves over iterations or seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gapless.errors import InvalidInputError
from gapless.plot.style import solver_color
from gapless.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

XAxis = Literal["iterations", "seconds"]
Results = Result | Sequence[Result] | Mapping[str, Result]


@dataclass(frozen=True)
class Curve:
    """One result's history: x, the best primal and dual value up to each check in the caller's convention, and the relative gap."""

    label: str
    x: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    color: str


def as_mapping(results: Results) -> dict[str, Result]:
    """Results by their labels; the solver's name is the label where none is given."""
    if isinstance(results, Result):
        return {results.solver: results}
    if isinstance(results, Mapping):
        named = dict(results)
    else:
        named = {result.solver: result for result in results}
        if len(named) < len(results):
            raise InvalidInputError("results must be given by name, as a dict, when two come from the same solver.")
    if not named:
        raise InvalidInputError("results must hold at least one result; got none.")
    return named


def read_curves(results: Results, x: XAxis | None) -> tuple[list[Curve], str]:
    """(curves, label of the x-axis); x None is the iterations where all results count the same unit, else the seconds."""
    named = as_mapping(results)
    units = sorted({result.trace.unit for result in named.values()})
    if x is None:
        x = "iterations" if len(units) == 1 else "seconds"
    if x not in ("iterations", "seconds"):
        raise InvalidInputError(f"x must be 'iterations' or 'seconds'; got {x!r}.")
    if x == "iterations" and len(units) > 1:
        raise InvalidInputError(
            f"x='iterations' needs one unit, but the results count {', '.join(units)}; use x='seconds'."
        )
    seen: dict[str, int] = {}
    curves = []
    for label, result in named.items():
        trace = result.trace
        variant = seen.get(result.solver, 0)
        seen[result.solver] = variant + 1
        curves.append(
            Curve(
                label=label,
                x=np.asarray(trace.iterations if x == "iterations" else trace.seconds),
                primal=trace.best_primal,
                dual=trace.best_dual,
                gap=trace.relative_gap,
                color=solver_color(result.solver, variant),
            )
        )
    return curves, units[0] if x == "iterations" else "seconds"


def scale_x(ax: Axes, curves: list[Curve], label: str) -> None:
    """Seconds on a log axis; iterations too, with a linear first unit so that the start shows."""
    ax.set_xlabel(label)
    if label == "seconds":
        ax.set_xscale("log")
    elif max(curve.x.max() for curve in curves) > 20:
        ax.set_xscale("symlog", linthresh=1.0, linscale=0.3)
        ax.set_xlim(left=0.0)
        ax.xaxis.set_major_formatter(_plain_number)
    ax.xaxis.set_minor_locator(no_minor())


def _plain_number(value: float, _: float) -> str:
    return f"{value:,.0f}"


def no_minor() -> Any:
    """A locator for an axis without minor ticks."""
    from matplotlib.ticker import NullLocator

    return NullLocator()
