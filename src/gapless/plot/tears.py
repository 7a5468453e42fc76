"""Find where a function on a grid jumps, so that no contour is drawn across the jump.

A contour between two grid points is a guess that holds for continuous functions. The decision function of a model on polar coordinates jumps where
the angle does, across the half-line behind the origin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]

# An edge of the grid is looked into where f changes this many times as much as on the two edges next to it on the same line; a smooth f changes about
# as much on neighbouring edges.
_STANDS_OUT = 2.0
# An edge that is looked into is halved 60 times, down to neighbouring floats (whose distance is 2⁻⁵² of their size). There is a jump where at least
# half of the change on the edge remains; the change of a continuous f would vanish.
_STAYS = 0.5
_HALVINGS = 60
_MOST = 4096  # the most edges that are looked into, the largest changes first: this bounds the time that a figure takes
_ROUNDING = 1e-9  # a change below this share of the range of f cannot be seen in a figure
_ALIGNED = 1e-9  # jumps that differ by less than this share of the grid's extent lie on one line


@dataclass(frozen=True)
class Grid:
    """f[i, j] at (x0[j], x1[i]), divided into tiles within which no jump was found.

    A jump along a line of the grid has two coordinates that are neighbouring floats, one for each side of the jump; ``breaks`` are the indices in x0
    and in x1 of the second of them. ``torn`` marks the ends of edges on which f jumps in any other way.
    """

    x0: np.ndarray
    x1: np.ndarray
    f: np.ndarray
    breaks: tuple[tuple[int, ...], tuple[int, ...]]
    torn: np.ndarray

    def tiles(self) -> list[tuple[slice, slice]]:
        """(rows, columns) of each tile."""
        columns, rows = (
            [slice(a, b) for a, b in zip((0, *breaks), (*breaks, len(axis)), strict=True)]
            for breaks, axis in zip(self.breaks, (self.x0, self.x1), strict=True)
        )
        return [(i, j) for i in rows for j in columns]


def sample(function: Function, x0: np.ndarray, x1: np.ndarray) -> Grid:
    """The values of a function of points on a grid, refined by the lines along which the function jumps.

    >>> step = lambda points: points[:, 0] + 10.0 * (points[:, 1] > 0.3)
    >>> grid = sample(step, np.linspace(0, 1, 5), np.linspace(0, 1, 6))
    >>> grid.f.shape, grid.breaks, bool(grid.x1[1] < grid.x1[2] <= 0.3 < grid.x1[3])
    ((8, 5), ((), (3,)), True)
    """
    f = _on(function, x0, x1)
    scale = _ROUNDING * float(np.ptp(f[np.isfinite(f)])) if np.isfinite(f).any() else 0.0
    axes = [x0, x1]
    torn = np.zeros(f.shape, bool)
    pairs: list[list[tuple[float, float]]] = [[], []]
    for axis in (0, 1):
        values = f if axis == 0 else f.T
        rows, columns = _outstanding(values, scale)
        along, across = axes[axis], axes[1 - axis]
        low, high, jumps = _halve(function, axis, across[rows], along[columns], along[columns + 1], scale)
        rows, columns, low, high = rows[jumps], columns[jumps], low[jumps], high[jumps]
        width = _ALIGNED * float(along[-1] - along[0])
        for column in np.unique(columns):
            here = columns == column
            if high[here].max() - low[here].min() <= width and here.sum() > 1:
                pairs[axis].append((float(low[here].min()), float(high[here].max())))
            else:
                for end in (column, column + 1):
                    (torn if axis == 0 else torn.T)[rows[here], end] = True
    if not (pairs[0] or pairs[1]):
        return Grid(x0, x1, f, ((), ()), torn)
    finer, breaks = zip(*(_insert(axes[axis], pairs[axis]) for axis in (0, 1)), strict=True)
    nearest = [np.abs(new[:, None] - old[None, :]).argmin(axis=1) for new, old in zip(finer, axes, strict=True)]
    return Grid(finer[0], finer[1], _on(function, *finer), (breaks[0], breaks[1]), torn[np.ix_(nearest[1], nearest[0])])


def _on(function: Function, x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(x0, x1)])
    return np.asarray(function(points), dtype=np.float64).reshape(len(x1), len(x0))


def _outstanding(values: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) of the edges from column to column + 1 on which the values change far more than on the edges beside them."""
    with np.errstate(invalid="ignore"):
        change = np.abs(np.diff(values, axis=1))
    if change.shape[1] < 3:  # the grid is too coarse to tell
        return np.zeros(0, int), np.zeros(0, int)
    # The first and the last edge have one neighbour each, which stands in for the missing one.
    before, after = np.c_[change[:, 1], change[:, :-1]], np.c_[change[:, 1:], change[:, -2]]
    beside = np.maximum(before, after)
    rows, columns = np.nonzero((change > _STANDS_OUT * beside) & (change > scale))
    if len(rows) > _MOST:
        most = np.argsort(change[rows, columns])[-_MOST:]
        rows, columns = rows[most], columns[most]
    return rows, columns


def _halve(
    function: Function, axis: int, across: np.ndarray, low: np.ndarray, high: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, whether f jumps between them), by halving each edge towards the half with the larger change."""
    low, high = low.copy(), high.copy()
    if not len(low):
        return low, high, np.zeros(0, bool)

    def at(along: np.ndarray) -> np.ndarray:
        points = np.column_stack([along, across] if axis == 0 else [across, along])
        return np.asarray(function(points), dtype=np.float64)

    f_low, f_high = at(low), at(high)
    first = np.abs(f_high - f_low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        f_middle = at(middle)
        left = np.abs(f_middle - f_low) >= np.abs(f_high - f_middle)
        high, f_high = np.where(left, middle, high), np.where(left, f_middle, f_high)
        low, f_low = np.where(left, low, middle), np.where(left, f_low, f_middle)
    # The middle equals one of the ends once no float lies between them: the whole change is then in the other half, which is kept.
    change = np.abs(f_high - f_low)
    return low, high, (change >= _STAYS * first) & (change > scale)


def _insert(axis: np.ndarray, pairs: list[tuple[float, float]]) -> tuple[np.ndarray, tuple[int, ...]]:
    """The axis with the coordinates of both sides of each jump inserted, and the index of the second side of each jump."""
    inside = np.array([x for pair in pairs for x in pair])
    kept = axis[~np.isin(axis, inside)]
    for low, high in pairs:
        kept = kept[~((kept > low) & (kept < high))]
    finer = np.sort(np.concatenate([kept, inside]))
    return finer, tuple(int(np.searchsorted(finer, high)) for _, high in pairs)
