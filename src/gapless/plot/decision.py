"""The plane as a two-feature model sees it: regions, margins, and the support vectors that hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.data import check_matrix
from gapless.errors import InvalidInputError
from gapless.plot.style import MUTED, NEGATIVE, POSITIVE, axes, style
from gapless.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class DecisionDisplay:
    r"""Decision regions (sign of f), the line f = 0, the margins f = ±1, and the samples; rings mark support vectors, their area is α/C.

    A model trained on φ(X) is drawn in the plane of X: give the map and the two-column X that it was applied to.

    >>> import gapless as gl
    >>> from gapless.plot import DecisionDisplay
    >>> X = [[0.0, 0.0], [1.0, 0.5], [2.0, 2.0], [3.0, 2.5]]
    >>> display = DecisionDisplay.from_result(gl.solve(gl.Problem(X, [0, 0, 1, 1])), grid=50)
    >>> display.f.shape, display.support.tolist()
    ((50, 50), [1, 2])
    """

    x0: np.ndarray
    x1: np.ndarray
    f: np.ndarray
    X: np.ndarray
    signs: np.ndarray
    alpha: np.ndarray
    labels: tuple[str, str]
    ax_: Axes = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_result(cls, result: Result, X: Any = None, *, feature_map: Any = None, grid: int = 400) -> Self:
        """Evaluate f on a ``grid`` × ``grid`` raster around X (the problem's own samples if None); draw with :meth:`plot`.

        ``feature_map`` has ``transform`` or is callable; it takes points of the plane to the features that the model was trained on.
        """
        problem = result.problem
        if problem.classes is None:
            raise InvalidInputError(
                f"DecisionDisplay draws a classification; got the {problem.loss.name} loss of a regression."
            )
        if feature_map is not None and X is None:
            raise InvalidInputError("X must be given with feature_map: the two-column samples that it was applied to.")
        X = check_matrix(problem.X if X is None else X)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if X.shape[1] != 2:
            raise InvalidInputError(f"DecisionDisplay draws a plane, so X must have 2 columns; got {X.shape[1]}.")
        if len(X) != problem.n_samples:
            raise InvalidInputError(f"X must have the problem's {problem.n_samples} samples; got {len(X)}.")
        low, high = X.min(axis=0), X.max(axis=0)
        margin = 0.12 * np.where(high > low, high - low, 1.0)
        x0, x1 = (np.linspace(low[j] - margin[j], high[j] + margin[j], grid) for j in (0, 1))
        points = np.column_stack([axis.ravel() for axis in np.meshgrid(x0, x1)])
        if feature_map is not None:
            points = feature_map.transform(points) if hasattr(feature_map, "transform") else feature_map(points)
        f = result.decision_function(points).reshape(grid, grid)
        alpha = result.alpha("C" if problem.is_hard else "unit")
        alpha = alpha / (alpha.max() or 1.0) if problem.is_hard else alpha
        return cls(x0, x1, f, X, problem.y, alpha, (str(problem.classes[0]), str(problem.classes[1])))

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
        axis_labels: tuple[str, str] = ("x₁", "x₂"),
    ) -> Self:
        """Draw on ``ax``, or on a new figure."""
        with style():
            self.ax_ = ax = axes(ax, size=(5.6, 5.2))
            self.figure_ = ax.figure  # type: ignore[assignment]
            ax.grid(False)
            ax.contourf(self.x0, self.x1, self.f > 0, levels=[-0.5, 0.5, 1.5], colors=[NEGATIVE, POSITIVE], alpha=0.14)
            for level, color, width, stroke in (
                (-1, NEGATIVE, 1.1, "--"),
                (0, "black", 1.6, "-"),
                (1, POSITIVE, 1.1, "--"),
            ):
                if self.f.min() < level < self.f.max():
                    ax.contour(
                        self.x0, self.x1, self.f, levels=[level], colors=[color], linewidths=width, linestyles=stroke
                    )
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
            ax.set_xlabel(axis_labels[0])
            ax.set_ylabel(axis_labels[1])
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

    def handles(self) -> list[Any]:
        """Legend entries."""
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
        return [
            dot(NEGATIVE, "o", f"class {self.labels[0]}"),
            dot(POSITIVE, "s", f"class {self.labels[1]}"),
            ring,
            Line2D([], [], color="black", linewidth=1.6, label="f = 0"),
            Line2D([], [], color=MUTED, linestyle="--", linewidth=1.1, label="margins f = ±1"),
        ]
