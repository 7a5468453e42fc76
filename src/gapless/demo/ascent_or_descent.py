"""Experiment 1: dual coordinate ascent against stochastic sub-gradient descent, over epochs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from gapless.compare import as_row, score
from gapless.demo.base import Check, Outcome, Table, Tell
from gapless.plot import ConvergenceDisplay, GapDisplay
from gapless.plot.curves import EVERY
from gapless.plot.style import legend_outside, new_figure, save, style
from gapless.problems.problem import Problem
from gapless.result import Result
from gapless.solve import solve
from gapless.solvers import as_solver
from gapless.timing import warm_up
from gapless.trace import Progress

_TOL = 1e-6
_MAX_EPOCHS = 1000
_SOLVERS = ("sdca", "sgd")


@dataclass(frozen=True)
class History:
    """One run: the result, whose trace has an entry for each epoch, and the held-out accuracy of the iterate after each epoch."""

    result: Result
    accuracy: np.ndarray


def follow(problem: Problem, solver: str, test: tuple[Any, Any]) -> History:
    """Solve once, with a look at the iterate after each epoch."""
    X, y = test
    accuracy: list[float] = []

    def look(progress: Progress) -> None:
        iterate = progress.iterate
        assert iterate is not None and problem.classes is not None
        f = X @ iterate.w + iterate.offsets.mean()
        accuracy.append(float(np.mean(problem.classes[(f > 0).astype(int)] == y)))

    result = solve(problem, solver, tol=_TOL, max_iter=_MAX_EPOCHS, check_every=1, callback=look)
    if len(accuracy) < len(result.trace):  # the callback is not called after the check that ends a solve
        accuracy.append(score(result, test))
    return History(result, np.array(accuracy))


def run(folder: Path | None, tell: Tell) -> Outcome:
    """Even digits against odd ones; accuracy is that of the held-out third."""
    X, digit = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, digit % 2, test_size=1 / 3, random_state=0)
    problem = Problem(X_train, y_train, lam_mean=0.01, intercept="regularized")
    test = (X_test, y_test)
    warm_up(problem, [as_solver(name, problem) for name in _SOLVERS])
    histories = {}
    for k, name in enumerate(_SOLVERS):
        tell(f"{name}, epoch by epoch", 0.45 * k)
        histories[name] = follow(problem, name, test)
    tell("figure", 0.9)
    table = Table(
        "digits of scikit-learn, even or odd: (λ/2)‖w‖² + mean hinge loss, λ = 0.01; accuracy on the held-out third; "
        "seconds with a certificate and a test after each epoch",
        tuple(as_row(name, history.result, test) for name, history in histories.items()),
    )
    figures = () if folder is None else (_draw(histories, folder),)
    return Outcome((table,), (_proven(histories), _close(histories)), figures)


def _proven(histories: dict[str, History]) -> Check:
    sdca, sgd = (histories[name].result for name in _SOLVERS)
    return Check(
        f"After {sdca.iterations:.0f} epochs sdca is proven optimal to {sdca.certificate.relative_gap:.1e}, with no step size to tune; "
        f"sgd's gap after {sgd.iterations:.0f} epochs is {sgd.certificate.relative_gap:.1e}.",
        bool(sdca.certificate.relative_gap <= _TOL < sgd.certificate.relative_gap),
    )


def _close(histories: dict[str, History]) -> Check:
    """A well-tuned SGD comes close to the optimum, which only the dual value of sdca can prove."""
    sdca, sgd = (histories[name] for name in _SOLVERS)
    optimum = sdca.result.certificate.dual
    above = (sgd.result.certificate.primal - optimum) / optimum
    apart = 100 * abs(sgd.accuracy[-1] - sdca.accuracy[-1])
    return Check(
        f"sgd comes close all the same: its objective ends within {above:.1e} of the optimum, as sdca's dual value proves, and its held-out accuracy "
        f"within {apart:.2g} points of sdca's.",
        bool(0 <= above <= 1e-2 and apart <= 1.0),
    )


def _draw(histories: dict[str, History], folder: Path) -> Path:
    results = {name: history.result for name, history in histories.items()}
    figure, panels = new_figure(1, 3, (15.0, 4.2))
    left, middle, right = panels[0]
    display = ConvergenceDisplay.from_results(results).plot(left, legend=False, title="Objective: both sides meet")
    GapDisplay.from_results(results, tol=_TOL).plot(middle, legend=False, title="Duality gap: ascent goes to zero")
    with style():
        for curve in display.curves:
            # The curve begins after the first epoch: the model at the start, zero, tells no class from the other.
            accuracy = 100 * histories[curve.label].accuracy[1:]
            stepwise = {"drawstyle": "steps-post", "markevery": EVERY, "markersize": 4}
            right.plot(curve.x[1:], accuracy, label=curve.label, **{**curve.look, **stepwise})
            right.plot(curve.x[-1:], accuracy[-1:], **{**curve.look, "markersize": 6})
        right.set_xscale(
            middle.get_xscale(), **({"linthresh": 1.0, "linscale": 0.3} if middle.get_xscale() == "symlog" else {})
        )
        right.set_xlim(middle.get_xlim())
        right.xaxis.set_major_formatter(middle.xaxis.get_major_formatter())
        right.set_xlabel("epochs")
        right.set_ylim(85.0, 95.0)
        right.set_ylabel("held-out accuracy (%)")
        right.set_title("Accuracy: settles long before the gap")
        legend_outside(right, [*display.handles(), middle.get_lines()[-1]])
    return save(figure, folder / "1-ascent-against-descent.png")
