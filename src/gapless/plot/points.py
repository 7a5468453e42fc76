"""Scores at points of the plane of two parameters, for candidates that were drawn at random and so make up no grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gapless.plot.cells import DASHED, HATCH, NO_SCORE, colours
from gapless.plot.scores import Table
from gapless.plot.style import CHOSEN
from gapless.plot.values import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_FILLED = 0.5  # a table with fewer of its cells filled is one of points
_AREA = 110.0  # of a point, in square points


def is_scattered(table: Table) -> bool:
    """Whether most pairs of the values were not tried, as after random draws from distributions."""
    assert table.y is not None
    return table.x.numeric and table.y.numeric and bool((table.counts > 0).mean() < _FILLED)


def draw_points(ax: Axes, table: Table, image_options: dict[str, Any]) -> PathCollection:
    """A point for each pair of values that was tried, coloured by its score, with the marks that cells have."""
    assert table.y is not None
    scale(ax, "x", table.x)
    scale(ax, "y", table.y)
    scored = np.isfinite(table.mean)

    def at(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = np.nonzero(cells)
        x, y = (np.asarray(values.values, dtype=float) for values in (table.x, table.y) if values is not None)
        return x[columns], y[rows]

    missing = at(table.dropped | table.failed)
    ax.scatter(*missing, s=_AREA, marker="s", color=NO_SCORE, edgecolors="#AAAAAA", linewidths=0.8, zorder=2)
    points = ax.scatter(
        *at(scored),
        c=table.mean[scored],
        s=_AREA,
        edgecolors="white",
        linewidths=0.6,
        zorder=3,
        **colours(table, image_options),
    )
    look: dict[str, Any] = {"facecolors": "none", "marker": "o"}
    hatched = at(table.undecided)
    ax.scatter(*hatched, s=_AREA, edgecolors="#444444", hatch=2 * HATCH, linewidths=0.0, zorder=4, **look)
    tied, chosen = np.zeros((2, *table.mean.shape), dtype=bool)
    for cell in table.tied:
        tied[cell] = True
    if table.chosen is not None:
        chosen[table.chosen] = True
    frame = {"edgecolors": CHOSEN, "s": 2.6 * _AREA, **look}
    ax.scatter(*at(tied), linewidths=1.6, linestyle=DASHED, zorder=5, **frame)
    ax.scatter(*at(chosen), linewidths=2.6, zorder=5, **frame)
    return points


def scale(ax: Axes, name: str, values: Values) -> np.ndarray:
    """Set up the axis "x" or "y" for numbers; returns them as an array."""
    numbers = np.asarray(values.values, dtype=float)
    options = {"linthresh": float(np.min(np.abs(numbers[numbers != 0])))} if values.scale == "symlog" else {}
    (ax.set_xscale if name == "x" else ax.set_yscale)(values.scale, **options)
    (ax.set_xlabel if name == "x" else ax.set_ylabel)(values.name)
    return numbers
