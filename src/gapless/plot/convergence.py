"""Primal values falling from above and dual values rising from below, until they meet at one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from gapless.errors import InvalidInputError
from gapless.plot.curves import EVERY, Curve, Estimators, Results, XAxis, no_minor, read_curves, scale_x
from gapless.plot.style import MUTED, axes, legend_outside, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Side = Literal["primal", "dual", "both"]
Scale = Literal["linear", "symlog"]
_SYMLOG_THRESHOLD = 1e-6  # the default tol of a solve: distances below it are drawn on a linear axis
_AGREE = 1e-6  # up to this relative gap the bounds agree to the seven digits of the title, which then names one number
_STROKES: dict[str, Literal["-", "--"]] = {"primal": "-", "dual": "--"}


@dataclass
class ConvergenceDisplay:
    r"""The best primal value :math:`P` (solid, falling) and the best dual value :math:`D` (dashed, rising) of each result.

    Weak duality, :math:`D ≤ P^* ≤ P`, holds at every x between any two curves of one problem; all curves meet at :math:`P^*`. Values are in the
    regularisation convention of the problem. Where there is one result alone, the gap between its two curves is shaded.

    Make a display by :meth:`from_results` or :meth:`from_estimator`, and draw it by :meth:`plot`.

    Parameters
    ----------
    curves : list of Curve
        The histories to draw.
    xlabel : str
        What the x-axis counts: the unit of the iterations, or ``"seconds"``.
    sides : dict of str, default empty
        By label, whether to draw the ``"primal"``, the ``"dual"`` or ``"both"``, which is the default.

    Attributes
    ----------
    ax_, figure_ : Matplotlib's Axes and Figure
        What :meth:`plot` has drawn on.

    Examples
    --------
    >>> import gapless as gl
    >>> from gapless.plot import ConvergenceDisplay
    >>> problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1], intercept="regularized")
    >>> display = ConvergenceDisplay.from_results([gl.solve(problem, "sdca"), gl.solve(problem, "subgradient", max_iter=50)])
    >>> [curve.label for curve in display.curves], display.xlabel
    (['sdca', 'subgradient'], 'epochs')
    """

    curves: list[Curve]
    xlabel: str
    sides: Mapping[str, Side] = field(default_factory=dict)
    ax_: Axes = field(default=None, init=False, repr=False)  # type: ignore[assignment]
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_results(cls, results: Results, *, x: XAxis | None = None, sides: Mapping[str, Side] | None = None) -> Self:
        """Take the histories of results; draw them with :meth:`plot`.

        Parameters
        ----------
        results : Result, list of Result, or dict of Result by name
            What :func:`gapless.solve` has returned; without a name the solver's name is the label.
        x : {"iterations", "seconds"}, default None
            What the x-axis shows; None is the iterations where all solvers count the same unit, and the seconds otherwise.
        sides : dict of str, default None
            By label, whether to draw the ``"primal"``, the ``"dual"`` or ``"both"``, which is the default.
        """
        return cls._of(*read_curves(results, x), sides, "results")

    @classmethod
    def from_estimator(
        cls, estimators: Estimators, *, x: XAxis | None = None, sides: Mapping[str, Side] | None = None
    ) -> Self:
        """Take the histories of fitted estimators; draw them with :meth:`plot`.

        Parameters
        ----------
        estimators : estimator, list of estimators, or dict of estimators by name
            Fitted estimators of Gapless, or pipelines or searches that end in one. Of an estimator with several subproblems the history with the
            widest gap is drawn, which is ``trace_``.
        x, sides
            As in :meth:`from_results`.

        Examples
        --------
        >>> import gapless as gl
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1]
        >>> display = gl.plot.ConvergenceDisplay.from_estimator(gl.SVC(kernel="linear", solver="sdca").fit(X, y))
        >>> display.curves[0].label, display.xlabel
        ('SVC', 'epochs')
        """
        return cls._of(*read_curves(estimators, x, estimators=True), sides, "estimators")

    @classmethod
    def _of(cls, curves: list[Curve], xlabel: str, sides: Mapping[str, Side] | None, whose: str) -> Self:
        if not np.isfinite([curve.primal[-1] for curve in curves]).any():
            raise InvalidInputError(f"{whose} must have a finite primal value to draw; none of them has.")
        unknown = set(sides or {}) - {curve.label for curve in curves}
        if unknown:
            raise InvalidInputError(f"sides names {', '.join(sorted(unknown))}, which is not among the {whose}.")
        for label, side in (sides or {}).items():
            if side not in ("primal", "dual", "both"):
                raise InvalidInputError(f"sides must say 'primal', 'dual' or 'both'; got {side!r} for {label}.")
        return cls(curves, xlabel, dict(sides or {}))

    @property
    def optimum(self) -> float:
        """The best value known for the optimum: the smallest primal value, which the largest dual value bounds from below."""
        return min(float(curve.primal.min()) for curve in self.curves)

    def plot(
        self, ax: Axes | None = None, *, scale: Scale = "linear", legend: bool = True, title: str | None = None
    ) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes of Matplotlib, default None
            Where to draw; None makes a new figure.
        scale : {"linear", "symlog"}, default "linear"
            ``"linear"`` shows objective values, cut where the first iterations would dwarf the rest; ``"symlog"`` shows the relative distance to the
            best bound, above it and below it on logarithmic axes.
        legend : bool, default True
            Whether to draw a legend beside the axes.
        title : str, default None
            The title; None says what the curves show.
        """
        if scale not in ("linear", "symlog"):
            raise InvalidInputError(f"scale must be 'linear' or 'symlog'; got {scale!r}.")
        with style():
            self.ax_ = ax = axes(ax)
            self.figure_ = ax.figure  # type: ignore[assignment]
            optimum = self.optimum
            ax.axhline(optimum if scale == "linear" else 0.0, color=MUTED, linewidth=0.9, zorder=1)
            drawn = {"primal": False, "dual": False}
            for curve in self.curves:
                side = self.sides.get(curve.label, "both")
                for name in drawn:
                    if side in (name, "both"):
                        drawn[name] = True
                        self._line(ax, curve, name, scale)
            if len(self.curves) == 1 and all(drawn.values()):
                curve = self.curves[0]
                shown = np.isfinite(curve.primal) & np.isfinite(curve.dual)
                low, high = (_position(values[shown], optimum, scale) for values in (curve.dual, curve.primal))
                ax.fill_between(curve.x[shown], low, high, step="post", color=curve.color, alpha=0.12, linewidth=0)
            scale_x(ax, self.curves, self.xlabel)
            if scale == "symlog":
                _symlog_y(ax)
            else:
                ax.set_ylabel("objective")
                ax.set_ylim(*self._window(optimum))
            ax.set_title(self._finding(optimum) if title is None else title)
            if legend:
                legend_outside(ax, self.handles())
        return self

    def _finding(self, optimum: float) -> str:
        """What the curves show, as a title: one number where the best bounds agree to seven digits, otherwise both bounds."""
        lower = max(float(curve.dual.max()) for curve in self.curves)
        if optimum - lower <= _AGREE * abs(optimum):
            return f"Primal and dual meet at {optimum:.7g}"
        return f"The optimum is between {lower:.4g} and {optimum:.4g}" if np.isfinite(lower) else "Primal values so far"

    def _line(self, ax: Axes, curve: Curve, side: str, scale: Scale) -> None:
        values = curve.primal if side == "primal" else curve.dual
        shown = np.isfinite(values)
        y = _position(values[shown], self.optimum, scale)
        label = f"{curve.label}, {side}"
        stroke = {"linestyle": _STROKES[side], "drawstyle": "steps-post", "markevery": EVERY}
        ax.plot(curve.x[shown], y, label=label, **{**curve.look, **stroke, "markersize": 4})
        ax.plot(curve.x[shown][-1:], y[-1:], **{**curve.look, "markersize": 6})

    def _window(self, optimum: float) -> tuple[float, float]:
        """The range of the y-axis: what the curves fill, but at most 1.1 |optimum| to either side of it, as first values may dwarf the rest."""
        reach = 1.1 * abs(optimum) or 1.0
        ends = [optimum]
        for curve in self.curves:
            side = self.sides.get(curve.label, "both")
            ends += [] if side == "dual" else [float(curve.primal[0])]
            ends += [] if side == "primal" else [float(curve.dual[0])]
        low, high = max(min(ends), optimum - reach), min(max(ends), optimum + reach)
        margin = 0.06 * ((high - low) or 1.0)
        return low - margin, high + margin

    def handles(self) -> list[Any]:
        """Legend entries: a colour for each result, then the meaning of solid and dashed lines."""
        from matplotlib.lines import Line2D

        kinds = {"primal": "primal: an upper bound", "dual": "dual: a lower bound"}
        used = {side for curve in self.curves for side in _sides(self.sides.get(curve.label, "both"))}
        return [
            *(Line2D([], [], label=curve.label, **curve.look) for curve in self.curves),
            *(
                Line2D([], [], color="black", linestyle=_STROKES[side], label=kinds[side])
                for side in kinds
                if side in used
            ),
        ]


def _sides(side: Side) -> tuple[str, ...]:
    return ("primal", "dual") if side == "both" else (side,)


def _position(values: np.ndarray, optimum: float, scale: Scale) -> np.ndarray:
    return values if scale == "linear" else (values - optimum) / (abs(optimum) or 1.0)


def _symlog_y(ax: Axes) -> None:
    ax.set_yscale("symlog", linthresh=_SYMLOG_THRESHOLD, linscale=0.6)
    powers = [10.0**k for k in (-6, -4, -2, 0)]
    ax.set_yticks([-power for power in reversed(powers)] + [0.0, *powers])
    ax.set_yticklabels(["−100 %", "−1 %", "−0.01 %", "−0.0001 %", "optimum", "+0.0001 %", "+0.01 %", "+1 %", "+100 %"])
    ax.set_ylim(-3.0, 30.0)
    ax.set_ylabel("distance from the optimum")
    ax.yaxis.set_minor_locator(no_minor())
