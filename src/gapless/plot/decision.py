"""The plane as a model of two features sees it: the regions of its classes, the margins, and the support vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.data import check_matrix
from gapless.errors import InvalidInputError
from gapless.plot.given import describe, innermost
from gapless.plot.style import MUTED, NEGATIVE, POSITIVE, axes, style
from gapless.plot.tears import Function, Grid, sample
from gapless.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES = ("x₁", "x₂")
# Tints of the two classes' colours, one darker than the other, so that the regions differ in black and white too.
_REGIONS = ("#CCE3F0", "#FAECE2")
_LINES = ((0, "black", 1.6, "-"), (-1, NEGATIVE, 1.1, "--"), (1, POSITIVE, 1.1, "--"))
_SEEN = 0.005  # a step shorter than this share of the raster's width is no longer than the line f = 0 is wide, and is not drawn


@dataclass
class DecisionDisplay:
    r"""Decision regions (sign of f), the line f = 0, the margins f = ±1, and the samples; a ring marks each support vector, larger with larger α.

    A model trained on φ(X) is drawn in the plane of X: give the map and the two-column X that the map was applied to, or a pipeline. Where f jumps,
    as that of a model on polar coordinates does across the half-line at angle π, no contour is drawn across the jump: the lines f = 0 and f = ±1
    end on either side of it, and a dotted line marks where the class changes without f being zero. (A jump that is not parallel to an axis shows
    in the regions alone.)

    Make a display by :meth:`from_result` or :meth:`from_estimator`, and draw it by :meth:`plot`.

    Parameters
    ----------
    grid : Grid
        f on a raster around the samples.
    X : array of shape (n_samples, 2)
        The samples in the plane.
    signs : array of shape (n_samples,)
        +1 or −1: the class of each sample, or the side that it is on in a one-class machine.
    alpha : array of shape (n_samples,)
        α of each sample, scaled to at most 1; 0 where it is not a support vector.
    labels : pair of str
        The names of the two classes, the negative one first.
    names : pair of str, default ("x₁", "x₂")
        The names of the axes.
    margins : bool, default True
        Whether to draw the lines f = ±1.
    kind : str, default "class"
        The word before a label in the legend: ``"class"``, or ``"sample"`` for a one-class machine.

    Attributes
    ----------
    ax_, figure_ : Matplotlib's Axes and Figure
        What :meth:`plot` has drawn on.

    Examples
    --------
    >>> import gapless as gl
    >>> from gapless.plot import DecisionDisplay
    >>> X = [[0.0, 0.0], [1.0, 0.5], [2.0, 2.0], [3.0, 2.5]]
    >>> display = DecisionDisplay.from_result(gl.solve(gl.Problem(X, [0, 0, 1, 1])), grid=50)
    >>> display.f.shape, display.support.tolist()
    ((50, 50), [1, 2])
    """

    grid: Grid = field(repr=False)
    X: np.ndarray = field(repr=False)
    signs: np.ndarray = field(repr=False)
    alpha: np.ndarray = field(repr=False)
    labels: tuple[str, str]
    names: tuple[str, str] = _NAMES
    margins: bool = True
    kind: str = "class"
    ax_: Axes = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_result(cls, result: Result, X: Any = None, *, feature_map: Any = None, grid: int = 400) -> Self:
        """Evaluate the f of a result on a raster; draw it with :meth:`plot`.

        Parameters
        ----------
        result : Result
            The result of a classification of two classes.
        X : array of shape (n_samples, 2), default None
            The samples in the plane, which the raster surrounds; None takes the problem's own.
        feature_map : transformer or callable, default None
            The map from points of the plane to the features that the model was trained on, where there is one; X must then be given.
        grid : int, default 400
            The points of the raster along each axis.
        """
        if not isinstance(result, Result):
            raise InvalidInputError(f"result must be what gapless.solve returns; got {describe(result)}.")
        problem = result.problem
        if problem.classes is None:
            raise InvalidInputError(
                f"DecisionDisplay draws a classification; got the {problem.loss.name} loss of a regression."
            )
        if len(problem.classes) > 2:
            raise InvalidInputError(f"DecisionDisplay draws two classes; got a result of {len(problem.classes)}.")
        if feature_map is not None and X is None:
            raise InvalidInputError("X must be given with feature_map: the two-column samples that it was applied to.")
        points, names = _plane(problem.X if X is None else X)
        if len(points) != problem.n_samples:
            raise InvalidInputError(f"X must have the problem's {problem.n_samples} samples; got {len(points)}.")
        alpha = result.alpha("C" if problem.is_hard else "unit")
        alpha = alpha / (alpha.max() or 1.0) if problem.is_hard else alpha
        labels = (str(problem.classes[0]), str(problem.classes[1]))
        raster = _raster(_through(feature_map, result.decision_function), points, grid)
        return cls(raster, points, problem.y, alpha, labels, names)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, feature_map: Any = None, grid: int = 400) -> Self:
        """Evaluate the decision function of a fitted classifier of two classes, or of a one-class machine, around its training samples.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator with ``decision_function``, or a pipeline or a search that ends in one.
        X : array of shape (n_samples, 2)
            The samples that the estimator (or pipeline) was trained on.
        y : array of shape (n_samples,), default None
            The labels of X; a one-class machine needs none.
        feature_map : transformer or callable, default None
            The map from points of the plane to the estimator's features, where it is not part of a pipeline.
        grid : int, default 400
            The points of the raster along each axis.

        Examples
        --------
        >>> import gapless as gl
        >>> from sklearn.pipeline import make_pipeline
        >>> X, y = [[0.5, 0.0], [0.0, -0.5], [2.0, 0.0], [0.0, 2.0], [-2.0, -1.0]], ["in", "in", "out", "out", "out"]
        >>> model = make_pipeline(gl.features.Polar(), gl.SVC(kernel="linear", C=10.0)).fit(X, y)
        >>> gl.plot.DecisionDisplay.from_estimator(model, X, y, grid=50).labels
        ('in', 'out')
        """
        model = innermost(estimator, fitted=True)
        if not hasattr(estimator, "decision_function"):
            raise InvalidInputError(
                f"DecisionDisplay draws a decision function, which {type(model).__name__} has none of."
            )
        points, names = _plane(X)
        classes = getattr(model, "classes_", None)
        if classes is not None and len(classes) != 2:
            raise InvalidInputError(f"DecisionDisplay draws two classes; got {type(model).__name__} of {len(classes)}.")
        signs = _signs(estimator, classes, points, y, feature_map)
        alpha = _coefficients(model)
        if alpha is not None and len(alpha) != len(points):
            raise InvalidInputError(
                f"X must be the {len(alpha)} samples that {type(model).__name__} was trained on; got {len(points)}."
            )
        # The lines f = ±1 are the margins of a support vector machine; they mean nothing in other models.
        margins = alpha is not None and classes is not None
        alpha = np.zeros(len(points)) if alpha is None else alpha / (alpha.max() or 1.0)
        labels = ("outside", "inside") if classes is None else (str(classes[0]), str(classes[1]))
        raster = _raster(_through(feature_map, estimator.decision_function), points, grid)
        return cls(raster, points, signs, alpha, labels, names, margins, "class" if classes is not None else "sample")

    @property
    def x0(self) -> np.ndarray:
        """The raster's coordinates along the first axis."""
        return self.grid.x0

    @property
    def x1(self) -> np.ndarray:
        """The raster's coordinates along the second axis; where f jumps, both sides of the jump are among them."""
        return self.grid.x1

    @property
    def f(self) -> np.ndarray:
        """f[i, j] at (x0[j], x1[i])."""
        return self.grid.f

    @property
    def support(self) -> np.ndarray:
        """Indices of the support vectors."""
        return np.flatnonzero(self.alpha)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool = True,
        axis_labels: tuple[str, str] | None = None,
    ) -> Self:
        """Draw on ``ax``, or on a new figure; ``axis_labels`` replace the names of the axes."""
        with style():
            self.ax_ = ax = axes(ax, size=(5.6, 5.2))
            self.figure_ = ax.figure  # type: ignore[assignment]
            ax.grid(False)
            for rows, columns in self.grid.tiles():
                self._draw_tile(ax, rows, columns)
            for x, y in self._steps():
                ax.plot(x, y, color="black", linewidth=1.1, linestyle=":", zorder=2)
            for sign, color, marker in ((-1, NEGATIVE, "o"), (1, POSITIVE, "s")):
                members = self.X[self.signs == sign]
                ax.scatter(members[:, 0], members[:, 1], s=14, color=color, marker=marker, linewidths=0, zorder=3)
            ringed = self.X[self.support]
            ax.scatter(
                ringed[:, 0],
                ringed[:, 1],
                s=22 + 70 * self.alpha[self.support],
                facecolors="none",
                edgecolors="#333333",
                linewidths=0.6,
                zorder=4,
            )
            ax.set_xlim(self.x0[0], self.x0[-1])
            ax.set_ylim(self.x1[0], self.x1[-1])
            first, second = self.names if axis_labels is None else axis_labels
            ax.set_xlabel(first)
            ax.set_ylabel(second)
            ax.set_title("Decision regions" if title is None else title)
            if legend:
                ax.legend(
                    handles=self.handles(),
                    loc="upper center",
                    bbox_to_anchor=(0.5, -0.14),
                    ncols=3,
                    handletextpad=0.5,
                    columnspacing=1.4,
                )
        return self

    def _draw_tile(self, ax: Axes, rows: slice, columns: slice) -> None:
        x0, x1, f, torn = self.x0[columns], self.x1[rows], self.f[rows, columns], self.grid.torn[rows, columns]
        if min(f.shape) < 2:
            return
        # A tile with a jump is filled by the sign of f alone: values between the two sides of the jump would be made up.
        fill = np.where(f > 0, 1.0, -1.0) if torn.any() else f
        reach = float(np.abs(fill).max()) + 1.0
        ax.contourf(x0, x1, fill, levels=[-reach, 0.0, reach], colors=_REGIONS)
        f = np.ma.masked_array(f, torn)
        for level, color, width, stroke in _LINES if self.margins else _LINES[:1]:
            if f.count() and f.min() < level < f.max():
                ax.contour(x0, x1, f, levels=[level], colors=[color], linewidths=width, linestyles=stroke)

    def _steps(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Lines (x, y) along which the class changes because f jumps; NaN separates the parts of a line."""
        steps = []
        for axis, (along, at, f) in enumerate(((self.x1, self.x0, self.f.T), (self.x0, self.x1, self.f))):
            for k in self.grid.breaks[axis]:
                fine = np.linspace(along[0], along[-1], 10 * len(along))
                change = (np.interp(fine, along, f[k - 1]) > 0) != (np.interp(fine, along, f[k]) > 0)
                if change.mean() > _SEEN:
                    line = np.where(change, fine, np.nan), np.full(len(fine), at[k])
                    steps.append(line if axis == 1 else line[::-1])
        return steps

    def handles(self) -> list[Any]:
        """Legend entries for what is drawn."""
        from matplotlib.lines import Line2D

        def dot(color: str, marker: str, label: str) -> Line2D:
            return Line2D([], [], linestyle="", marker=marker, color=color, markersize=5, label=label)

        ring = Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markerfacecolor="none",
            markeredgecolor="black",
            markersize=8,
            label="support vector, area ∝ α",
        )
        step = Line2D([], [], color="black", linestyle=":", linewidth=1.1, label="f jumps past 0")
        return [
            dot(NEGATIVE, "o", f"{self.kind} {self.labels[0]}"),
            dot(POSITIVE, "s", f"{self.kind} {self.labels[1]}"),
            *([ring] if self.alpha.any() else []),
            Line2D([], [], color="black", linewidth=1.6, label="f = 0"),
            *(
                [Line2D([], [], color=MUTED, linestyle="--", linewidth=1.1, label="margins f = ±1")]
                if self.margins
                else []
            ),
            *([step] if self._steps() else []),
        ]


def _plane(X: Any) -> tuple[np.ndarray, tuple[str, str]]:
    """The samples as a dense matrix of two columns, and the names of the columns."""
    columns = [str(name) for name in getattr(X, "columns", ())]
    X = check_matrix(X)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if X.shape[1] != 2:
        raise InvalidInputError(f"DecisionDisplay draws a plane, so X must have 2 columns; got {X.shape[1]}.")
    return X, (columns[0], columns[1]) if len(columns) == 2 else _NAMES


def _through(feature_map: Any, decide: Callable[[Any], np.ndarray]) -> Function:
    """The decision function in the plane that the feature map starts from."""
    if feature_map is None:
        return decide
    if not (callable(feature_map) or hasattr(feature_map, "transform")):
        raise InvalidInputError(
            f"feature_map must have transform, or be a function of points; got {describe(feature_map)}."
        )
    transform = getattr(feature_map, "transform", feature_map)
    return lambda points: decide(transform(points))


def _raster(f: Function, X: np.ndarray, grid: int) -> Grid:
    if not isinstance(grid, int | np.integer) or grid < 2:
        raise InvalidInputError(f"grid must be a whole number of points along each axis, at least 2; got {grid!r}.")
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.12 * np.where(high > low, high - low, 1.0)
    x0, x1 = (np.linspace(low[j] - margin[j], high[j] + margin[j], grid) for j in (0, 1))
    return sample(f, x0, x1)


def _signs(estimator: Any, classes: np.ndarray | None, X: np.ndarray, y: Any, feature_map: Any) -> np.ndarray:
    """The sign of each sample: that of its label or, in a one-class machine, of the side that it is on."""
    if classes is None:
        # The samples on the boundary have f = 0 up to the tolerance of the fit, and belong to the region.
        tol = getattr(innermost(estimator), "tol", 0.0)
        return np.where(_through(feature_map, estimator.decision_function)(X) >= -tol, 1.0, -1.0)
    if y is None:
        raise InvalidInputError("y must be given: the labels of X, which a fitted classifier does not keep.")
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise InvalidInputError(f"y must have a label for each of the {len(X)} samples; got the shape {y.shape}.")
    unknown = y[~np.isin(y, classes)]
    if len(unknown):
        raise InvalidInputError(f"y must hold the labels {classes[0]} and {classes[1]}; got {unknown[0]}.")
    return np.where(y == classes[1], 1.0, -1.0)


def _coefficients(model: Any) -> np.ndarray | None:
    """α of each training sample of a model that has support vectors; None for any other model."""
    alpha = getattr(model, "alpha_", None)
    if isinstance(alpha, np.ndarray) and alpha.ndim == 1:
        return alpha
    if not hasattr(model, "n_support_") or model.dual_coef_.shape[0] != 1:
        return None
    coefficients = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    alpha = np.zeros(model.shape_fit_[0])
    alpha[model.support_] = np.abs(coefficients[0])
    return alpha
