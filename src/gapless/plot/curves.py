"""The histories of results or fitted estimators as curves over iterations or seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gapless.errors import InvalidInputError
from gapless.plot.given import describe, innermost
from gapless.plot.style import estimator_look, solver_color, solver_marker
from gapless.result import Result
from gapless.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

XAxis = Literal["iterations", "seconds"]
Results = Result | Sequence[Result] | Mapping[str, Result]
Estimators = Any  # a fitted estimator, a list of estimators, or a dict of estimators by name
_DECADES = 300.0  # an axis of seconds that spans less than this factor has three powers of ten at most: too few labels
EVERY = 0.09  # the distance between two markers of a line, as a share of the diagonal of the axes


@dataclass(frozen=True)
class Curve:
    """One history: at each check x, the best primal and dual values proven so far, in the problem's own convention, and the relative gap.

    ``marker`` tells curves apart where colours do not.
    """

    label: str
    x: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    color: str
    marker: str = "o"

    @property
    def look(self) -> dict[str, Any]:
        """What all lines of the curve have in common, as arguments for Matplotlib."""
        return {"color": self.color, "marker": self.marker, "markersize": 4.5, "markeredgewidth": 0.8}


@dataclass(frozen=True)
class _History:
    trace: Trace
    color: str
    marker: str


def _of_results(results: Any) -> dict[str, _History]:
    """Histories of results by their labels; the solver's name is the label where no name is given."""
    expected = "results must be what gapless.solve returns, a list of such results, or a dict of them by name"
    if isinstance(results, Result):
        named = {results.solver: results}
    elif isinstance(results, Mapping):
        named = dict(results)
    elif isinstance(results, Sequence) and not isinstance(results, str):
        named = {}
        for result in results:
            if not isinstance(result, Result):
                raise InvalidInputError(f"{expected}; the list holds {describe(result)}.")
            if result.solver in named:
                raise InvalidInputError("results must be given by name, as a dict, when two come from the same solver.")
            named[result.solver] = result
    else:
        raise InvalidInputError(f"{expected}; got {describe(results)}.")
    if not named:
        raise InvalidInputError("results must hold at least one result; got none.")
    histories: dict[str, _History] = {}
    seen: dict[str, int] = {}
    for label, result in named.items():
        if not isinstance(result, Result):
            raise InvalidInputError(f"{expected}; {label!r} is {describe(result)}.")
        variant = seen.get(result.solver, 0)
        seen[result.solver] = variant + 1
        histories[str(label)] = _History(
            trace=result.trace,
            color=solver_color(result.solver, variant),
            marker=solver_marker(result.solver, variant),
        )
    return histories


def _of_estimators(estimators: Any) -> dict[str, _History]:
    """Histories of estimators by their labels, which are the classes where no names are given; of several subproblems the widest gap counts."""
    if isinstance(estimators, Mapping):
        named = dict(estimators)
    else:
        listed = estimators if isinstance(estimators, list | tuple) else [estimators]
        named = {type(innermost(estimator)).__name__: estimator for estimator in listed}
        if len(named) < len(listed):
            raise InvalidInputError("estimators must be given by name, as a dict, when two are of the same class.")
    if not named:
        raise InvalidInputError("estimators must hold at least one estimator; got none.")
    histories = {}
    for place, (label, estimator) in enumerate(named.items()):
        fitted = innermost(estimator, fitted=True)
        if not (hasattr(fitted, "trace_") and hasattr(fitted, "traces_")):
            if hasattr(fitted, "certificates_"):
                fitted.trace_  # noqa: B018  # raises the error which says that compact() has dropped the attribute
            raise InvalidInputError(
                "from_estimator draws the history (trace_) that an estimator of Gapless keeps of its proof; "
                f"got {type(fitted).__module__.partition('.')[0]}'s {type(fitted).__name__}, which has none."
            )
        count = len(fitted.traces_)
        color, marker = estimator_look(place)
        full = f"{label}, the widest gap of {count} subproblems" if count > 1 else str(label)
        histories[full] = _History(fitted.trace_, color, marker)
    return histories


def read_curves(given: Any, x: XAxis | None, *, estimators: bool = False) -> tuple[list[Curve], str]:
    """(curves, label of the x-axis) of results or estimators; x = None is the iterations where all count the same unit, and otherwise the seconds."""
    histories = _of_estimators(given) if estimators else _of_results(given)
    units = sorted({history.trace.unit for history in histories.values()})
    if x is None:
        x = "iterations" if len(units) == 1 else "seconds"
    if x not in ("iterations", "seconds"):
        raise InvalidInputError(f"x must be 'iterations' or 'seconds'; got {x!r}.")
    if x == "iterations" and len(units) > 1:
        whose = "estimators" if estimators else "results"
        raise InvalidInputError(
            f"x='iterations' needs one unit, but the {whose} count {', '.join(units)}; use x='seconds'."
        )
    curves = [
        Curve(
            label=label,
            x=np.asarray(history.trace.iterations if x == "iterations" else history.trace.seconds),
            primal=history.trace.best_primal,
            dual=history.trace.best_dual,
            gap=history.trace.relative_gap,
            color=history.color,
            marker=history.marker,
        )
        for label, history in histories.items()
    ]
    return curves, units[0] if x == "iterations" else "seconds"


def scale_x(ax: Axes, curves: list[Curve], label: str) -> None:
    """Set a logarithmic x-axis; that of iterations is linear up to the first one, so that the start shows."""
    ax.set_xlabel(label)
    if label == "seconds":
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        if high < _DECADES * low:
            from matplotlib.ticker import LogLocator

            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    elif max(curve.x.max() for curve in curves) > 20:
        ax.set_xscale("symlog", linthresh=1.0, linscale=0.3)
        ax.set_xlim(left=0.0)
        ax.xaxis.set_major_formatter(_plain_number)
    ax.xaxis.set_minor_locator(no_minor())


def _plain_number(value: float, _: float) -> str:
    return f"{value:,.0f}"


def no_minor() -> Any:
    """A locator for an axis without minor ticks."""
    from matplotlib.ticker import NullLocator

    return NullLocator()
