"""The duality gap on a log axis: a straight fall is linear convergence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.plot.curves import EVERY, Curve, Estimators, Results, XAxis, read_curves, scale_x
from gapless.plot.style import MUTED, axes, legend_outside, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLOOR = 1e-16  # gaps are drawn here at the lowest: a smaller one is below the rounding of P − D, and zero has no place on a log axis


@dataclass
class GapDisplay:
    r"""The relative duality gap :math:`(P - D)/|P|` of the best bounds so far, against iterations or seconds.

    Make a display by :meth:`from_results` or :meth:`from_estimator`, and draw it by :meth:`plot`.

    Parameters
    ----------
    curves : list of Curve
        The histories to draw.
    xlabel : str
        What the x-axis counts: the unit of the iterations, or ``"seconds"``.
    tol : float, default None
        The gap that was asked for, drawn as a line; None draws none.

    Attributes
    ----------
    ax_, figure_ : Matplotlib's Axes and Figure
        What :meth:`plot` has drawn on.

    Examples
    --------
    >>> import gapless as gl
    >>> from gapless.plot import GapDisplay
    >>> problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1], intercept="regularized")
    >>> display = GapDisplay.from_results(gl.solve(problem, "sdca"), tol=1e-6)
    >>> display.curves[0].label
    'sdca'
    """

    curves: list[Curve]
    xlabel: str
    tol: float | None = None
    ax_: Axes = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_results(cls, results: Results, *, x: XAxis | None = None, tol: float | None = None) -> Self:
        """Take the histories of results; draw them with :meth:`plot`.

        Parameters
        ----------
        results : Result, list of Result, or dict of Result by name
            What :func:`gapless.solve` has returned; without a name the solver's name is the label.
        x : {"iterations", "seconds"}, default None
            What the x-axis shows; None is the iterations where all solvers count the same unit, and the seconds otherwise.
        tol : float, default None
            The gap that was asked for, drawn as a line.
        """
        curves, xlabel = read_curves(results, x)
        return cls(curves, xlabel, tol)

    @classmethod
    def from_estimator(cls, estimators: Estimators, *, x: XAxis | None = None, tol: float | None = None) -> Self:
        """Take the histories of fitted estimators; draw them with :meth:`plot`.

        Parameters
        ----------
        estimators : estimator, list of estimators, or dict of estimators by name
            Fitted estimators of Gapless, or pipelines or searches that end in one. Of an estimator with several subproblems the history with the
            widest gap is drawn, which is ``trace_``.
        x, tol
            As in :meth:`from_results`.

        Examples
        --------
        >>> import gapless as gl
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1]
        >>> display = gl.plot.GapDisplay.from_estimator({"C = 1": gl.SVC().fit(X, y), "C = 10": gl.SVC(C=10).fit(X, y)}, tol=1e-3)
        >>> [curve.label for curve in display.curves]
        ['C = 1', 'C = 10']
        """
        curves, xlabel = read_curves(estimators, x, estimators=True)
        return cls(curves, xlabel, tol)

    def plot(self, ax: Axes | None = None, *, legend: bool = True, title: str | None = None) -> Self:
        """Draw on ``ax``, or on a new figure; ``title=None`` is a title that says what is drawn."""
        with style():
            self.ax_ = ax = axes(ax)
            self.figure_ = ax.figure  # type: ignore[assignment]
            handles: list[Any] = []
            for curve in self.curves:
                shown = np.isfinite(curve.gap)
                gap = np.maximum(curve.gap[shown], _FLOOR)
                line = ax.plot(
                    curve.x[shown], gap, drawstyle="steps-post", label=curve.label, markevery=EVERY, **curve.look
                )
                handles += line
                ax.plot(curve.x[shown][-1:], gap[-1:], **{**curve.look, "markersize": 6.5})
            if self.tol is not None and self.tol > 0:
                handles.append(
                    ax.axhline(self.tol, color=MUTED, linestyle=":", linewidth=1.2, label=f"asked for: {self.tol:g}")
                )
            ax.set_yscale("log")
            ax.set_ylabel("relative duality gap (P − D) / |P|")
            scale_x(ax, self.curves, self.xlabel)
            ax.set_title("How far from the optimum, at most" if title is None else title)
            if legend:
                legend_outside(ax, handles)
        return self
