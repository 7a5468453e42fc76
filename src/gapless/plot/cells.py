"""A heat map of scores: coloured cells with their numbers, and marks for what is proven of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gapless.plot.scores import Table
from gapless.plot.style import CHOSEN
from gapless.plot.values import Values, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

NO_SCORE = "#EFEFEF"  # the ground of cells that have no score
HATCH = "////"
_REACH = 8.0  # the range of colours, in those of the best third of the scores
DASHED = (0, (3.0, 1.6))
_INK = {True: "white", False: "black"}  # on a dark cell, on a light one
_GLYPH = 0.64  # the width of a digit of Matplotlib's font, in units of its size
_TALLEST, _SMALLEST = 10.0, 6.0  # points: no number is larger, and a smaller one is left out
_SECOND = 0.74  # the size of a second line, which has the interval, of that of the first


def draw_cells(ax: Axes, table: Table, image_options: dict[str, Any]) -> AxesImage:
    """Fill the axes with the coloured cells, their marks and the ticks of both parameters."""
    assert table.y is not None
    options = colours(table, image_options)
    image = ax.imshow(table.mean, origin="lower", aspect="auto", interpolation="nearest", **options)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(table.x.name)
    ax.set_ylabel(table.y.name)
    ax.set_xticks(range(len(table.x)), table.x.texts)
    ax.set_yticks(range(len(table.y)), table.y.texts)
    ax.tick_params(length=0)
    ax.grid(False)
    _separate(ax, table)
    if not table.y.numeric:
        ax.invert_yaxis()  # words are read from the top
    for row, column in np.argwhere(table.dropped | table.failed):
        ax.add_patch(_rectangle(row, column, facecolor=NO_SCORE, edgecolor="white", zorder=1.5))
    for row, column in np.argwhere(table.undecided):
        ink = _INK[_is_dark(image, table.mean[row, column])]
        ax.add_patch(_rectangle(row, column, fill=False, hatch=HATCH, edgecolor=ink, linewidth=0, alpha=0.55, zorder=2))
    if table.tied:
        assert table.chosen is not None
        _outline(ax, [*table.tied, table.chosen], table.mean.shape)
    if table.chosen is not None:
        _frame(ax, *table.chosen)
    return image


def colours(table: Table, given: dict[str, Any]) -> dict[str, Any]:
    """Options of a picture in colours: those that were given, and otherwise a range of scores whose lowest ones share the darkest colour.

    Many very low scores, as grids have, would leave one colour to all others. So the range is eight times that of the best third of the scores, or
    that of all scores where it is smaller.
    """
    options: dict[str, Any] = {"cmap": "cividis"}
    scores = table.mean[np.isfinite(table.mean)]
    if "norm" not in given and len(scores):
        best, reach = scores.max(), _REACH * (scores.max() - np.quantile(scores, 2 / 3))
        options |= {"vmin": max(scores.min(), best - reach) if reach > 0 else scores.min(), "vmax": best}
    return options | given


def _separate(ax: Axes, table: Table) -> None:
    """White lines between the cells, where cells are wide enough for them."""
    assert table.y is not None
    for axis, count in ((ax.xaxis, len(table.x)), (ax.yaxis, len(table.y))):
        axis.set_ticks(np.arange(count + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.2 if max(len(table.x), len(table.y)) <= 24 else 0.4, zorder=1.6)
    ax.set_axisbelow(False)
    ax.tick_params(which="minor", length=0)


def _rectangle(row: int, column: int, *, margin: float = 0.0, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    side = 1.0 - 2.0 * margin
    return Rectangle((column - 0.5 + margin, row - 0.5 + margin), side, side, **look)


def _frame(ax: Axes, row: int, column: int) -> None:
    """A frame inside a cell: orange on white, which is seen on every colour."""
    look: dict[str, Any] = {"fill": False, "joinstyle": "miter", "margin": 0.07}
    ax.add_patch(_rectangle(row, column, edgecolor="white", linewidth=4.2, zorder=3, **look))
    ax.add_patch(_rectangle(row, column, edgecolor=CHOSEN, linewidth=2.6, zorder=3.1, **look))


def _outline(ax: Axes, cells: list[tuple[int, int]], shape: tuple[int, ...]) -> None:
    """A dashed line around the regions that these cells make up."""
    for loop in boundary(cells):
        # The line ends inside of the axes, whose edge would cut off half of it.
        x, y = (
            np.clip(part, -0.5 + 0.004 * count, count - 0.5 - 0.004 * count)
            for part, count in zip(loop.T, shape[::-1], strict=True)
        )
        ax.plot(x, y, color="white", linewidth=3.4, zorder=2.8, scalex=False, scaley=False)
        ax.plot(
            x, y, color=CHOSEN, linewidth=1.7, linestyle=DASHED, zorder=2.9, scalex=False, scaley=False
        )  # fmt: skip


def boundary(cells: list[tuple[int, int]]) -> list[np.ndarray]:
    """The closed lines (x, y) around the regions of cells (row, column), whose centres are the whole numbers.

    >>> [line.tolist() for line in boundary([(0, 0), (0, 1)])]
    [[[-0.5, -0.5], [0.5, -0.5], [1.5, -0.5], [1.5, 0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]]]
    """
    inside = set(cells)
    edges: dict[tuple[int, int], list[tuple[int, int]]] = {}  # from corner to corner, counter-clockwise
    for row, column in sorted(inside):
        corners = ((column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1))
        beyond = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
        for k, neighbour in enumerate(beyond):
            if neighbour not in inside:
                edges.setdefault(corners[k], []).append(corners[(k + 1) % 4])
    lines = []
    while edges:
        line = [next(iter(edges))]
        while line[-1] in edges:
            ends = edges[line[-1]]
            line.append(ends.pop())
            if not ends:
                del edges[line[-2]]
        lines.append(np.array(line) - 0.5)
    return lines


def write_scores(ax: Axes, image: AxesImage, table: Table, cell: tuple[float, float]) -> None:
    """Write into each cell what is known of its score, where a cell of this size (width, height in points) has room."""
    digits = decimals(np.concatenate([table.mean.ravel(), table.high[table.dropped]]))
    texts = {tuple(place): rounded(table.mean[tuple(place)], digits) for place in np.argwhere(np.isfinite(table.mean))}
    texts |= {
        tuple(place): "≤ " + rounded(table.high[tuple(place)], digits, math.ceil)
        for place in np.argwhere(table.dropped)
    }
    texts |= {tuple(place): "failed" for place in np.argwhere(table.failed)}
    size = _fitting(texts.values(), cell)
    if size is None:
        return
    for (row, column), text in texts.items():
        has_score, undecided = np.isfinite(table.mean[row, column]), bool(table.undecided[row, column])
        dark = has_score and _is_dark(image, table.mean[row, column])
        look: dict[str, Any] = {"ha": "center", "color": _INK[bool(dark)] if has_score else "#555555", "zorder": 4}
        ground = {"facecolor": image.to_rgba(table.mean[row, column]), "edgecolor": "none", "pad": 1.2}
        look |= {"bbox": ground} if undecided else {}
        interval, small = "", None
        if undecided:
            ends = (table.low[row, column], math.floor), (table.high[row, column], math.ceil)
            interval = "…".join(rounded(end, digits, side) for end, side in ends)
            small = _fitting([interval], (cell[0], cell[1] * _SECOND), largest=size * _SECOND)
        if small is None:
            ax.text(column, row, text, va="center", fontsize=size, **look)
        else:
            shift = 0.62 * size / cell[1] * (-1.0 if ax.yaxis_inverted() else 1.0)
            ax.text(column, row + 0.75 * shift, text, va="center", fontsize=size, **look)
            ax.text(column, row - shift, interval, va="center", fontsize=small, **look)


def _fitting(texts: Any, cell: tuple[float, float], largest: float = _TALLEST) -> float | None:
    """The font size at which the longest text fits into a cell; None where that is too small to be read."""
    longest = max((len(text) for text in texts), default=1)
    size = min(largest, 0.86 * cell[0] / (_GLYPH * longest), 0.55 * cell[1])
    return None if size < _SMALLEST else size


def decimals(scores: np.ndarray) -> int:
    """The decimals that scores are written with: three significant digits of the largest, and three decimals of those up to one.

    >>> decimals(np.array([0.5, 1.0])), decimals(np.array([-2412.0, -30.0])), decimals(np.array([4e-4]))
    (3, 0, 6)
    """
    largest = np.max(np.abs(scores), initial=0.0, where=np.isfinite(scores))
    if largest == 0.0:
        return 3
    return max(3 if largest <= 1.0 else 0, 2 - math.floor(math.log10(largest)))


def rounded(value: float, digits: int, side: Any = round) -> str:
    """A number with so many decimals, rounded to the nearest, down (``math.floor``) or up (``math.ceil``).

    >>> rounded(-0.12345, 3), rounded(0.9731, 3, math.floor), rounded(0.9731, 3, math.ceil)
    ('−0.123', '0.973', '0.974')
    """
    if side is not round:
        # A float such as 0.97 * 1000 may be an ulp off a whole number that is meant.
        scaled = value * 10**digits
        near = round(scaled)
        value = (near if math.isclose(scaled, near, rel_tol=1e-12) else side(scaled)) / 10**digits
    return f"{value:.{digits}f}".replace("-", "−")


def _is_dark(image: AxesImage, value: float) -> bool:
    """Whether white text is easier to read than black on the colour of a value: by the luminance of WCAG."""
    channels = np.asarray(image.to_rgba(np.array(value)))[:3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return bool(linear @ (0.2126, 0.7152, 0.0722) < 0.179)


def place_ticks(ax: Axes, table: Table, cell: tuple[float, float]) -> None:
    """Keep as many tick labels as cells of this size (width, height in points) have room for; words that are too wide are turned first."""
    assert table.y is not None
    size = tick_size(ax)
    _thin(ax.yaxis, table.y, 1.4 * size / cell[1])
    if turned(table.x, cell[0], size):
        _thin(ax.xaxis, table.x, 1.5 * size / cell[0])
        turn(ax)
    else:
        _thin(ax.xaxis, table.x, text_width(table.x.texts, size) / cell[0])


def tick_size(ax: Axes) -> float:
    """The size of the labels of the x-axis in points."""
    return float(ax.get_xticklabels()[0].get_fontsize())


def turn(ax: Axes) -> None:
    """Turn the labels of the x-axis, so that each ends at its tick."""
    for label in ax.get_xticklabels():
        label.set(rotation=30, ha="right", rotation_mode="anchor")


def turned(values: Values, room: float, size: float) -> bool:
    """Whether the words of an axis are too wide to stand side by side."""
    return not values.numeric and text_width(values.texts, size) > room


def text_width(texts: list[str], size: float) -> float:
    """The room in points that the widest of the texts needs, with a space beside it; the marks of mathematics are not seen."""
    seen = (text.strip("$").replace(r"\cdot", "·").translate(dict.fromkeys(map(ord, "{}^"))) for text in texts)
    return (max(map(len, seen)) * _GLYPH + 0.6) * size


def _thin(axis: Any, values: Values, needed: float) -> None:
    """Leave out ticks where one needs more than one cell: round numbers remain, or every so many values."""
    step = math.ceil(needed)
    if step <= 1:
        return
    ticks = round_ticks(values, len(values) / step)
    if ticks is None:
        places = range((len(values) - 1) % step // 2, len(values), step)
        ticks = np.array(places, dtype=float), [values.texts[place] for place in places]
    axis.set_ticks(*ticks)


def round_ticks(values: Values, most: float) -> tuple[np.ndarray, list[str]] | None:
    """(places among the values, texts) of round numbers, at most so many; None where the values have no even scale.

    >>> places, texts = round_ticks(Values("C", tuple(np.logspace(-3, 3, 25))), 7)
    >>> places.round(6).tolist(), texts
    ([0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0], ['0.001', '0.01', '0.1', '1', '10', '100', '1000'])
    """
    from matplotlib.ticker import LogLocator, MaxNLocator

    if not values.numeric or values.scale == "symlog":
        return None
    x = np.asarray(values.values, dtype=float)
    logarithmic = values.scale == "log"
    locator = LogLocator(numticks=max(2, int(most))) if logarithmic else MaxNLocator(max(1, int(most) - 1))
    ticks = np.asarray(locator.tick_values(x[0], x[-1]))
    # A power of ten by np.logspace may be an ulp beside the one by the locator.
    ticks = ticks[(ticks >= x[0] - 1e-9 * abs(x[0])) & (ticks <= x[-1] + 1e-9 * abs(x[-1]))]
    if len(ticks) < 2:
        return None
    scale = np.log if logarithmic else np.asarray
    return np.interp(scale(ticks), scale(x), np.arange(len(x))), written(ticks)
