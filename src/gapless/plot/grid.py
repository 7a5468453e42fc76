"""The scores of a search as a heat map over two parameters, with what is proven of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.plot.cells import DASHED, HATCH, NO_SCORE, draw_cells, place_ticks, text_width, turned, write_scores
from gapless.plot.points import draw_points, is_scattered
from gapless.plot.scores import Scores, Table, arrange, read_scores, scores_of
from gapless.plot.style import CHOSEN, axes, lay_out, size_in_points, style, wrapped
from gapless.plot.validation import ValidationCurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 72.0  # to an inch
_WITH_BAR = 1.1  # the width of the axes with the colour bar beside them, which a title may take
_TICK = 10.5  # points: the size of a tick's label


@dataclass
class GridSearchDisplay:
    """The mean score of a search over two of its parameters, as a heat map; over one parameter, as a curve.

    A solid frame is around the chosen cell, and dashed frames around those that are tied with it: no interval tells them from the best. A cell is
    hatched where its score is undecided, so that a more exact solution could score otherwise, within the interval that is written in the cell. A
    grey cell was dropped by ``racing=True``, with the bound that its score is proven not to exceed. Results without intervals, such as those of
    scikit-learn's own searches, have the solid frame alone. Candidates that make up no grid, as random draws do, are points instead of cells.

    Make a display by :meth:`from_estimator` or :meth:`from_cv_results`, and draw it by :meth:`plot`.

    Parameters
    ----------
    scores : Scores
        The scores of all candidates.
    table : Table
        The best of these scores for each pair of values: ``table.mean``, ``table.low`` and ``table.high`` have a row for each value of y and a
        column for each value of x.

    Attributes
    ----------
    ax_, figure_ : Matplotlib's Axes and Figure
        What :meth:`plot` has drawn on.

    Examples
    --------
    >>> from gapless import SVC
    >>> from gapless.model_selection import GridSearchCV
    >>> from gapless.plot import GridSearchDisplay
    >>> from sklearn.datasets import load_iris
    >>> search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}).fit(*load_iris(return_X_y=True))
    >>> display = GridSearchDisplay.from_estimator(search)
    >>> display.table.x.values, display.table.y.values, display.table.mean.shape
    ((0.1, 1, 10), (0.1, 1), (2, 3))
    """

    scores: Scores
    table: Table
    ax_: Axes = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_estimator(
        cls, search: Any, *, x: str | None = None, y: str | None = None, metric: str | None = None
    ) -> Self:
        """Take the scores of a fitted search; draw them with :meth:`plot`.

        Parameters
        ----------
        search : estimator
            A fitted search of Gapless or of scikit-learn, or another fitted estimator that has ``cv_results_``.
        x, y : str, default None
            The parameters of the columns and of the rows. None takes those with the most values, numbers before words. Of further parameters each
            cell shows the best score over all of their values.
        metric : str, default None
            Which of several metrics to draw; None is the one that has chosen, or the only one.
        """
        scores = scores_of(search, metric)
        return cls(scores, arrange(scores, x, y))

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        *,
        x: str | None = None,
        y: str | None = None,
        metric: str | None = None,
        selection: Any = None,
    ) -> Self:
        """Take the scores from a dict with the keys of ``cv_results_``, or from a table of it; draw them with :meth:`plot`.

        Parameters
        ----------
        cv_results : dict or DataFrame
            Scores with the keys of ``cv_results_``. The best mean score counts as chosen.
        x, y, metric
            As in :meth:`from_estimator`.
        selection : object, default None
            ``selection_`` of the search, which knows the tied candidates; None finds them from the intervals.

        Examples
        --------
        >>> from gapless.plot import GridSearchDisplay
        >>> results = {
        ...     "params": [{"C": 1, "gamma": 0.1}, {"C": 1, "gamma": 1.0}, {"C": 10, "gamma": 0.1}, {"C": 10, "gamma": 1.0}],
        ...     "mean_test_score": [0.90, 0.95, 0.97, 0.96],
        ...     "mean_test_score_low": [0.90, 0.95, 0.94, 0.96],
        ...     "mean_test_score_high": [0.90, 0.95, 0.98, 0.96],
        ... }
        >>> display = GridSearchDisplay.from_cv_results(results)
        >>> display.scores.finding(), display.table.undecided.tolist()
        ('C = 10, gamma = 0.1, tied with 2 others', [[False, True], [False, False]])
        """
        scores = read_scores(cv_results, metric, selection=selection)
        return cls(scores, arrange(scores, x, y))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        colorbar: bool = True,
        legend: bool = True,
        title: str | None = None,
        **image_options: Any,
    ) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes of Matplotlib, default None
            Where to draw; None makes a new figure.
        colorbar : bool, default True
            Whether a bar beside the axes explains the colours.
        legend : bool, default True
            Whether the marks are explained below the axes.
        title : str, default None
            The title; None says what the search has found.
        **image_options
            Options of Matplotlib's ``imshow``, such as ``cmap``, ``vmin`` and ``vmax``.
        """
        table = self.table
        if table.y is None:
            curve = ValidationCurveDisplay(self.scores, table).plot(ax, legend=legend, title=title)
            self.ax_, self.figure_ = curve.ax_, curve.figure_
            return self
        with style():
            self.ax_ = ax = axes(ax, _size(table))
            self.figure_ = ax.figure  # type: ignore[assignment]
            scattered = is_scattered(table)
            image: Any = (draw_points if scattered else draw_cells)(ax, table, image_options)
            if colorbar:
                below = bool((table.mean < image.norm.vmin).any())
                extend = "min" if below else "neither"
                bar = self.figure_.colorbar(image, ax=ax, fraction=0.05, pad=0.02, aspect=24, extend=extend)
                bar.set_label(self.scores.label(table.others))
                bar.outline.set_visible(False)
            lay_out(ax)
            if not scattered:
                place_ticks(ax, table, _cell(ax, table))
            width = size_in_points(ax)[0] * (_WITH_BAR if colorbar else 1.0)
            ax.set_title(wrapped(self.scores.finding() if title is None else title, width))
            if legend:
                self._explain(ax)
            if not scattered:
                lay_out(ax)
                write_scores(ax, image, table, _cell(ax, table))
        return self

    def _explain(self, ax: Axes) -> None:
        """A legend of the marks that are in the picture, below the labels of the x-axis."""
        from matplotlib.patches import Patch
        from matplotlib.transforms import ScaledTranslation

        table = self.table
        marks: list[Any] = []
        if table.chosen is not None:
            label = "proven best" if self.scores.proven and not table.tied else "chosen"
            marks.append(Patch(fill=False, edgecolor=CHOSEN, linewidth=2.4, label=label))
        if table.tied:
            label = "tied with it"
            marks.append(Patch(fill=False, edgecolor=CHOSEN, linewidth=1.6, linestyle=DASHED, label=label))
        if table.undecided.any():
            marks.append(Patch(facecolor="white", edgecolor="#444444", hatch=HATCH, linewidth=0, label="undecided"))
        if table.dropped.any():
            marks.append(Patch(facecolor=NO_SCORE, edgecolor="#AAAAAA", label="dropped"))
        if len(marks) < 2:
            return  # the title names the chosen one
        lay_out(ax)
        height = ax.get_window_extent().y0 - ax.xaxis.get_tightbbox().y0  # type: ignore[union-attr]
        inches = height / ax.figure.dpi + 0.5 * _TICK / _POINTS
        look: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (0.0, 0.0),
            "bbox_transform": ax.transAxes + ScaledTranslation(0.0, -inches, ax.figure.dpi_scale_trans),
            "borderaxespad": 0.0,
            "borderpad": 0.0,
            "columnspacing": 1.6,
            "handlelength": 1.6,
            "handleheight": 1.1,
        }
        # A legend that is wider than the axes would make them narrower.
        for columns in range(len(marks), 0, -1):
            shown = ax.legend(handles=marks, ncols=columns, **look)
            if shown.get_window_extent().width <= ax.get_window_extent().width:
                break


def _size(table: Table) -> tuple[float, float]:
    """(width, height) of a new figure in inches: room for the numbers in the cells, as far as a page allows, and for the words at both axes."""
    assert table.y is not None
    if is_scattered(table):
        return 7.2, 5.0
    left, below = (text_width(values.texts, _TICK) / _POINTS for values in (table.y, table.x))
    width = float(np.clip(1.3 + left + 0.76 * len(table.x), 5.6, 11.0))
    below = 0.5 * below if turned(table.x, (width - 1.3 - left) * _POINTS / len(table.x), _TICK) else 0.2
    return width, float(np.clip(1.5 + below + 0.46 * len(table.y), 2.6, 8.0))


def _cell(ax: Axes, table: Table) -> tuple[float, float]:
    """(width, height) of a cell in points."""
    assert table.y is not None
    width, height = size_in_points(ax)
    return width / len(table.x), height / len(table.y)
