"""A path along C: both bounds on the optimum, and the gap that is proven at every C between the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gapless.errors import InvalidInputError
from gapless.path import CPath
from gapless.plot.given import describe
from gapless.plot.style import CHOSEN, MUTED, estimator_look, matplotlib, size_in_points, style, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EACH = 33  # values of C from model to model, both included: an arch of as many points looks round
_MODEL: dict[str, Any] = {"color": "black", "markersize": 10, "markeredgewidth": 1.3, "zorder": 4, "clip_on": False}
_MARGIN = 1.45  # of the y-axis, above the largest gap: room for the legend


@dataclass
class CPathDisplay:
    r"""The models of a path along C: the bounds on the optimum and, below them, the gap that is proven at every C.

    The upper panel has the primal and the dual bound as shares of :math:`C L_0`, where :math:`L_0` is the loss of the best constant: a share of one
    is no better than a constant, and what the bounds fall to is what cannot be fitted. The lower panel has the relative gap of both, an arch from
    each model to the next, with its largest value.

    Make a display by :meth:`from_path`, and draw it by :meth:`plot`.

    Parameters
    ----------
    C : ndarray
        Values of C from the first to the last one of the path, those of the models among them.
    primal, dual : ndarray
        The bounds at these C, as shares of the objective of the best constant.
    gap : ndarray
        The bound on the relative gap at these C.
    models : ndarray
        The C of the models.
    model_gap : ndarray
        The relative gap at the models.
    worst_gap : float
        What the gap does not exceed at any C of the interval.
    tol : float
        The gap that was asked for.

    Attributes
    ----------
    axes_ : list of Matplotlib's Axes
        What :meth:`plot` has drawn on: that of the bounds and that of the gap, or that of the gap alone.
    figure_ : Matplotlib's Figure
        The figure of these axes.

    Examples
    --------
    >>> import gapless as gl
    >>> path = gl.C_path(gl.Problem([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1]), 0.01, 100.0)
    >>> display = gl.plot.CPathDisplay.from_path(path)
    >>> display.finding()
    '3 models prove a gap of at most 0.00939 at every C from 0.01 to 100'
    >>> bool(display.gap.max() <= display.worst_gap <= path.tol)
    True
    """

    C: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    models: np.ndarray
    model_gap: np.ndarray
    worst_gap: float
    tol: float
    axes_: list[Axes] = field(default_factory=list, init=False, repr=False)
    figure_: Figure = field(default=None, init=False, repr=False)  # type: ignore[assignment]

    @classmethod
    def from_path(cls, path: CPath) -> Self:
        """Take the bounds of a path; draw them with :meth:`plot`.

        Parameters
        ----------
        path : CPath
            What :func:`gapless.C_path` has returned.
        """
        if not isinstance(path, CPath):
            raise InvalidInputError(f"path must be what gapless.C_path returns; got {describe(path)}.")
        nodes = np.unique(np.concatenate([[path.C_min], path.Cs]))
        parts = [np.geomspace(low, high, _EACH)[1:-1] for low, high in pairwise(nodes)]
        C = np.unique(np.concatenate([nodes, *parts]))
        bounds = np.array([path.bounds_at(value) for value in C])
        constant = C * (float(path.segments[0].left.rise) or 1.0)  # the objective of the best constant
        return cls(
            C=C,
            primal=bounds[:, 0] / constant,
            dual=bounds[:, 1] / constant,
            gap=np.array([path.gap_at(value) for value in C]),
            models=path.Cs,
            model_gap=np.array([path.gap_at(value) for value in path.Cs]),
            worst_gap=path.worst_gap,
            tol=path.tol,
        )

    def finding(self) -> str:
        """How many models prove what, as a title."""
        models = "1 model proves" if len(self.models) == 1 else f"{len(self.models)} models prove"
        return f"{models} a gap of at most {self.worst_gap:.3g} at every C from {self.C[0]:g} to {self.C[-1]:g}"

    def plot(self, ax: Axes | Sequence[Axes] | None = None, *, legend: bool = True, title: str | None = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes of Matplotlib, or two of them, default None
            Where to draw: the bounds on the first one and the gap on the second; on a single one the gap alone. None makes a new figure with both.
        legend : bool, default True
            Whether the lines are explained.
        title : str, default None
            The title over the first axes; None says how many models prove what.
        """
        with style():
            self.axes_ = _panels(ax)
            self.figure_ = self.axes_[0].figure  # type: ignore[assignment]
            if len(self.axes_) == 2:
                self._draw_bounds(self.axes_[0], legend)
            self._draw_gap(self.axes_[-1], legend)
            begin, end = self.axes_[0].get_window_extent().x0, max(each.get_window_extent().x1 for each in self.axes_)
            width = size_in_points(self.axes_[0])[0] * (end - begin) / self.axes_[0].get_window_extent().width
            self.axes_[0].set_title(wrapped(self.finding() if title is None else title, width))
        return self

    def _draw_bounds(self, ax: Axes, legend: bool) -> None:
        above, below = estimator_look(1)[0], estimator_look(0)[0]
        ax.fill_between(self.C, self.dual, self.primal, color=below, alpha=0.15, linewidth=0)
        ax.plot(self.C, self.primal, color=above, label="P of the model, at most")
        ax.plot(self.C, self.dual, color=below, linestyle="--", label="the optimum, at least")
        at_models = np.interp(np.log(self.models), np.log(self.C), self.primal)
        ax.plot(self.models, at_models, "|", **_MODEL, label="models")
        ax.set_ylabel("objective (best constant: 1)")
        ax.set_ylim(bottom=0.0)
        self._finish(ax)
        if legend:
            ax.legend(loc="upper right")  # the share of a constant's objective falls with C, so that nothing is there

    def _draw_gap(self, ax: Axes, legend: bool) -> None:
        color = estimator_look(0)[0]
        ax.fill_between(self.C, 0.0, self.gap, color=color, alpha=0.15, linewidth=0)
        ax.plot(self.C, self.gap, color=color, linewidth=1.4, label="proven at every C")
        ax.plot(self.models, self.model_gap, "|", **_MODEL, label="models")
        worst = f"largest: {self.worst_gap:.3g}"
        ax.axhline(self.worst_gap, color=CHOSEN, linestyle="-.", linewidth=1.2, label=worst)
        ax.axhline(self.tol, color=MUTED, linestyle=":", linewidth=1.4, label=f"asked for: {self.tol:g}")
        ax.set_ylabel("relative gap (P − D) / P")
        ax.set_ylim(0.0, _MARGIN * max(self.worst_gap, self.tol))
        self._finish(ax)
        if legend:
            ax.legend(loc="upper center", ncols=2)

    def _finish(self, ax: Axes) -> None:
        ax.set_xscale("log")
        ax.set_xlim(self.C[0], self.C[-1])
        if ax is self.axes_[-1] or not ax.get_shared_x_axes().joined(ax, self.axes_[-1]):
            ax.set_xlabel("C")


def _panels(ax: Axes | Sequence[Axes] | None) -> list[Axes]:
    """The axes that were given, or two of a new figure that ``pyplot.show()`` shows."""
    if ax is None:
        matplotlib()
        import matplotlib.pyplot as plt

        return list(plt.subplots(2, 1, figsize=(8.4, 6.2), sharex=True, layout="constrained")[1])
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(given) not in (1, 2):
        raise InvalidInputError(f"ax must be one Axes of Matplotlib or two; got {len(given)} of them.")
    return given
