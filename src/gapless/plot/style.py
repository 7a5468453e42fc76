"""What all figures share: a colour for each solver, fonts, and Matplotlib, which is imported only when a figure is drawn."""

from __future__ import annotations

import textwrap
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gapless.errors import MissingDependencyError
from gapless.solvers import SOLVERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart too. Their yellow, faint on white, is replaced by wine and olive, and six of Tol's
# colours follow.
PALETTE = (
    "#D55E00", "#E69F00", "#CC79A7", "#009E73", "#56B4E9", "#0072B2", "#882255", "#8A7B00", "#000000", "#44AA99", "#661100",
    "#332288", "#CC6677", "#117733", "#AA4499",
)  # fmt: skip
# A marker for each colour, so that no figure relies on colour alone.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p", "d", "8", "H")
# The places in the palette that estimators get, in order: the colours that lie furthest apart come first.
_BY_PLACE = (5, 0, 3, 2, 8, 1, 4, 6, 7, 9, 10, 11, 12, 13, 14)
NEGATIVE, POSITIVE = "#0072B2", "#D55E00"
MUTED = "#6B6B6B"
CHOSEN = "#D55E00"  # frames what a search has chosen: a colour that the colour map of scores (cividis) does not have
_TITLE_GLYPH = 6.9  # points: the mean width of a character of a title
_POINTS = 72.0  # to an inch

_RC = {
    "font.size": 10.5,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "savefig.bbox": "tight",
}


def matplotlib() -> ModuleType:
    """Matplotlib, or an error that names the extra which installs it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise MissingDependencyError("Figures need Matplotlib; install gapless[plot].") from error
    return matplotlib


def style() -> AbstractContextManager[None]:
    """A context in which Matplotlib draws with the fonts and lines of all figures."""
    return matplotlib().rc_context(_RC)


def new_figure(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Figure, np.ndarray]:
    """(figure, matrix of its axes), to be saved to a file: unlike a figure of pyplot's it opens no window and needs no closing."""
    with style():
        figure = matplotlib().figure.Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, and make the folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with style():
        figure.savefig(path)
    return path


def solver_color(solver: str, variant: int = 0) -> str:
    """The colour of a solver, the same in every figure, by its place in :data:`gapless.solvers.SOLVERS`; its variants are paler.

    >>> solver_color("sdca"), solver_color("sdca", variant=1)
    ('#0072B2', '#7fb8d8')
    """
    color = PALETTE[_place(solver)]
    if variant == 0:
        return color
    keep = 0.5**variant
    channels = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{int(255 - keep * (255 - channel)):02x}" for channel in channels)


def solver_marker(solver: str, variant: int = 0) -> str:
    """The marker of a solver, the same in every figure; variants of the solver have other markers.

    >>> solver_marker("sdca"), solver_marker("sdca", variant=1)
    ('P', '>')
    """
    return MARKERS[(_place(solver) + 3 * variant) % len(MARKERS)]


def estimator_look(place: int) -> tuple[str, str]:
    """(colour, marker) of the estimator at a place among several."""
    k = _BY_PLACE[place % len(_BY_PLACE)]
    return PALETTE[k], MARKERS[k]


def _place(solver: str) -> int:
    names = list(SOLVERS)
    return (names.index(solver) if solver in names else len(names)) % len(PALETTE)


def axes(ax: Axes | None, size: tuple[float, float] = (7.2, 4.4)) -> Axes:
    """The given axes, or those of a new figure that ``pyplot.show()`` shows."""
    if ax is not None:
        return ax
    matplotlib()
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def legend_outside(ax: Axes, handles: list[Any] | None = None) -> None:
    """A legend right of the axes, never over the data."""
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)


def size_in_points(ax: Axes) -> tuple[float, float]:
    """(width, height) of the axes as they are laid out at this moment."""
    box = ax.get_window_extent()
    return box.width * _POINTS / ax.figure.dpi, box.height * _POINTS / ax.figure.dpi


def lay_out(ax: Axes) -> None:
    """Give the axes their place in the figure, without drawing it, so that their size is known."""
    figure: Any = ax.figure.figure  # of axes in a subfigure, too, this is the whole figure
    figure.draw_without_rendering()


def wrapped(title: str, width: float) -> str:
    r"""A title in lines of at most so many points; a parameter and its value stay in one line.

    >>> wrapped("Best: C = 10, gamma = 0.1", 140.0)
    'Best: C = 10,\ngamma = 0.1'
    """
    together = title.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    lines = textwrap.wrap(together, max(12, int(width / _TITLE_GLYPH)), break_long_words=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")
