"""The score of a search over the values of one parameter, with its certified band."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.errors import InvalidInputError
from gapless.plot.cells import tick_size, turn, turned
from gapless.plot.curves import no_minor
from gapless.plot.points import scale
from gapless.plot.scores import Scores, Table, arrange, read_scores, scores_of
from gapless.plot.style import CHOSEN, MUTED, axes, estimator_look, legend_outside, size_in_points, style, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TICKS = 11  # values that have a tick each; of more values the axis chooses its ticks itself
_CROWDED = 0.04  # of the axis: values that are nearer to each other have no ticks of their own


@dataclass
class ValidationCurveDisplay:
    """The mean score over the values of one parameter, with its certified interval as a band, and the spread of the folds as a lighter one.

    The interval at a value contains the mean score of the exact optima: a hollow marker says that a more exact solution could score otherwise,
    within the band, and a filled one that the score is decided. A frame is around the chosen value, and dashed frames around those that are tied
    with it. A triangle is a bound that the score of a dropped candidate does not exceed (``racing=True``). Results without intervals, such as those
    of scikit-learn's own searches, have the lighter band alone.

    Make a display by :meth:`from_estimator` or :meth:`from_cv_results`, and draw it by :meth:`plot`.

    Parameters
    ----------
    scores : Scores
        The scores of all candidates.
    table : Table
        The best of these scores for each value: ``table.mean``, ``table.low``, ``table.high`` and ``table.std`` have one row and a column a value.

    Attributes
    ----------
    ax_, figure_ : Matplotlib's Axes and Figure
        What :meth:`plot` has drawn on.

    Examples
    --------
    >>> from gapless import SVC
    >>> from gapless.plot import ValidationCurveDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ValidationCurveDisplay.from_estimator(SVC(), X, y, param_name="C", param_range=[0.01, 0.1, 1, 10])
    >>> display.table.x.values, display.table.mean.round(3).tolist()
    ((0.01, 0.1, 1, 10), [[0.927, 0.92, 0.967, 0.98]])
    """

    scores: Scores
    table: Table
    ax_: Axes = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        param_name: str | None = None,
        param_range: Any = None,
        metric: str | None = None,
        cv: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Self:
        """Take the scores of a fitted search, or cross-validate an estimator for each value of a parameter; draw them with :meth:`plot`.

        Parameters
        ----------
        estimator : estimator
            Without X, a fitted search (of Gapless, of scikit-learn, or another estimator that has ``cv_results_``). With X, an estimator that is
            cross-validated by :class:`gapless.model_selection.GridSearchCV` over ``param_range``.
        X, y : array-like, default None
            Samples and targets to cross-validate on; None where a fitted search is given.
        param_name : str, default None
            The parameter of the x-axis. Of a search None takes the parameter with the most values; of its other parameters the best score is drawn.
        param_range : array-like, default None
            The values to try; needed with X.
        metric : str, default None
            Which of several metrics to draw; None is the one that has chosen, or the only one.
        cv, scoring, n_jobs
            As in :class:`gapless.model_selection.GridSearchCV`; with X only.
        params : dict, default None
            Arguments for the ``fit`` of the search, such as ``groups`` and ``sample_weight``; with X only.

        Examples
        --------
        >>> from gapless import SVC
        >>> from gapless.model_selection import GridSearchCV
        >>> from gapless.plot import ValidationCurveDisplay
        >>> from sklearn.datasets import load_iris
        >>> search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}).fit(*load_iris(return_X_y=True))
        >>> ValidationCurveDisplay.from_estimator(search, param_name="gamma").table.mean.round(3).tolist()
        [[0.98, 0.967]]
        """
        if X is None:
            unused = {
                "y": y,
                "param_range": param_range,
                "cv": cv,
                "scoring": scoring,
                "n_jobs": n_jobs,
                "params": params,
            }
            given = [name for name, value in unused.items() if value is not None]
            if given:
                raise InvalidInputError(f"X must be given with {', '.join(given)}; without X a fitted search is drawn.")
            scores = scores_of(estimator, metric)
            return cls(scores, arrange(scores, param_name, None, one=True))
        if param_name is None or param_range is None:
            raise InvalidInputError(
                "param_name and param_range must be given with X: the parameter and the values to try."
            )
        from gapless.model_selection import GridSearchCV

        search = GridSearchCV(
            estimator,
            {param_name: list(param_range)},
            cv=cv,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=False,
            return_train_score=True,
        )
        scores = scores_of(search.fit(X, y, **(params or {})), metric)
        return cls(scores, arrange(scores, param_name, None, one=True))

    @classmethod
    def from_cv_results(
        cls, cv_results: Any, *, param_name: str | None = None, metric: str | None = None, selection: Any = None
    ) -> Self:
        """Take the scores from a dict with the keys of ``cv_results_``, or from a table of it; draw them with :meth:`plot`.

        Parameters
        ----------
        cv_results : dict or DataFrame
            Scores with the keys of ``cv_results_``. The best mean score counts as chosen.
        param_name, metric
            As in :meth:`from_estimator`.
        selection : object, default None
            ``selection_`` of the search, which knows the tied candidates; None finds them from the intervals.
        """
        scores = read_scores(cv_results, metric, selection=selection)
        return cls(scores, arrange(scores, param_name, None, one=True))

    def plot(self, ax: Axes | None = None, *, legend: bool = True, title: str | None = None) -> Self:
        """Draw on ``ax``, or on a new figure; ``title=None`` is a title that says what the search has found."""
        table = self.table
        with style():
            self.ax_ = ax = axes(ax, (8.4, 4.4))
            self.figure_ = ax.figure  # type: ignore[assignment]
            x = self._scale_x(ax)
            # Between words there is nothing, so that no line joins them.
            joined = table.x.numeric and len(table.x) > 1
            test, train = estimator_look(0)[0], estimator_look(2)[0]
            mean, undecided = table.mean[0], table.undecided[0]
            has_training = bool(np.isfinite(table.train_mean).any())
            stroke: dict[str, Any] = {"markersize": self._marker, "zorder": 3}
            line, dashes = ("-", "--") if joined else ("none", "none")
            ax.plot(
                x, mean, color=test, linestyle=line, marker="o", label="held-out rows" if has_training else None, **stroke
            )  # fmt: skip
            if undecided.any():
                low, high = (np.where(np.isfinite(mean), end[0], np.nan) for end in (table.low, table.high))
                _between(ax, x, low, high, test, joined, alpha=0.42, width=5.0, label="certified interval")
                ax.plot(
                    x[undecided], mean[undecided], linestyle="none", marker="o", color=test, markerfacecolor="white",
                    label="undecided", **{**stroke, "zorder": 4},
                )  # fmt: skip
            _spread(ax, x, mean, table.std[0], test, joined, label="± standard deviation of the folds")
            if has_training:
                trained = table.train_mean[0]
                ax.plot(
                    x, trained, color=train, linestyle=dashes, marker="s", label="training rows",
                    **{**stroke, "markersize": 0.8 * self._marker},
                )  # fmt: skip
                _spread(ax, x, trained, table.train_std[0], train, joined)
            dropped = table.dropped[0]
            if dropped.any():
                label = "dropped: score is at most this"
                ax.plot(x[dropped], table.high[0][dropped], "v", color=MUTED, label=label, **stroke)
            self._frame(ax, x)
            ax.set_ylabel(self.scores.label(table.others))
            ax.set_title(wrapped(self.scores.finding() if title is None else title, size_in_points(ax)[0]))
            handles, _ = ax.get_legend_handles_labels()
            if legend and len(handles) > 1:
                legend_outside(ax)
        return self

    @property
    def _marker(self) -> float:
        """The size of markers, which is smaller where there are many."""
        return 6.0 if len(self.table.x) <= 20 else 3.5

    def _scale_x(self, ax: Axes) -> np.ndarray:
        """Set up the x-axis; returns the places of the values on it."""
        values = self.table.x
        if not values.numeric:
            ax.set_xlabel(values.name)
            ax.set_xticks(range(len(values)), values.texts)
            ax.set_xlim(-0.6, len(values) - 0.4)
            if turned(values, size_in_points(ax)[0] / len(values), tick_size(ax)):
                turn(ax)
            return np.arange(len(values), dtype=float)
        x = scale(ax, "x", values)
        places = ax.transScale.transform(np.column_stack([x, np.zeros_like(x)]))[:, 0]
        steps = np.diff(places) / (np.ptp(places) or 1.0)
        if len(x) <= _TICKS and np.min(steps, initial=1.0) > _CROWDED:
            ax.set_xticks(x, values.texts)
            ax.xaxis.set_minor_locator(no_minor())
        return x

    def _frame(self, ax: Axes, x: np.ndarray) -> None:
        """A frame around the chosen value, and a ground behind the tied ones."""
        table = self.table
        if table.chosen is not None and np.isfinite(table.mean[table.chosen]):
            column = table.chosen[1]
            label = "proven best" if self.scores.proven and not table.tied else "chosen"
            ax.plot(
                x[column], table.mean[0, column], "s", markersize=13, markerfacecolor="none", markeredgecolor=CHOSEN,
                markeredgewidth=2.2, zorder=5, label=label,
            )  # fmt: skip
        columns = [column for _, column in table.tied]
        if columns and table.chosen is not None:
            columns = sorted([*columns, table.chosen[1]])
        ends = self._borders(ax, x)
        label = "tied"
        for first, last in _runs(columns):
            ax.axvspan(ends[first], ends[last + 1], facecolor=CHOSEN, alpha=0.1, linewidth=0, zorder=0.5, label=label)
            label = "_"

    def _borders(self, ax: Axes, x: np.ndarray) -> np.ndarray:
        """The middles between the values on the scale of the axis, and as much beyond the first and the last one."""
        to_axis = ax.xaxis.get_transform()
        places = to_axis.transform(x)
        if len(x) == 1:
            return x[0] + np.array([-0.5, 0.5])
        middles = 0.5 * (places[1:] + places[:-1])
        ends = np.concatenate([[2 * places[0] - middles[0]], middles, [2 * places[-1] - middles[-1]]])
        return np.asarray(to_axis.inverted().transform(ends))


def _runs(places: list[int]) -> list[tuple[int, int]]:
    """(first, last) of each run of whole numbers without a gap.

    >>> _runs([1, 2, 3, 5])
    [(1, 3), (5, 5)]
    """
    begins = [place for place in places if place - 1 not in places]
    ends = [place for place in places if place + 1 not in places]
    return list(zip(begins, ends, strict=True))


def _spread(
    ax: Axes, x: np.ndarray, mean: np.ndarray, std: np.ndarray, color: str, joined: bool, label: str | None = None
) -> None:
    """The spread of the folds around their mean, where it is known."""
    if np.isfinite(std).any():
        _between(ax, x, mean - std, mean + std, color, joined, alpha=0.13, width=9.0, label=label)


def _between(
    ax: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str, joined: bool, *, width: float, **look: Any
) -> None:
    """A band where values are joined, and a bar at each of them otherwise."""
    if joined:
        ax.fill_between(x, low, high, color=color, linewidth=0, **look)
    else:
        ax.vlines(x, low, high, color=color, linewidth=width, **look)
