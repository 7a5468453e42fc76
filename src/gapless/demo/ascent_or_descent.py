"""Experiment 1: dual coordinate ascent against stochastic sub-gradient descent, over epochs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from gapless.compare import as_row, compare, score
from gapless.demo.base import Check, Outcome, Table, Tell
from gapless.plot import ConvergenceDisplay, GapDisplay
from gapless.plot.style import legend_outside, new_figure, save, solver_color, style
from gapless.problems.problem import Problem
from gapless.result import Result
from gapless.solve import solve

_TOL = 1e-6
_MAX_EPOCHS = 1000
_SOLVERS = ("sdca", "sgd")


def run(folder: Path | None, tell: Tell) -> Outcome:
    """Even digits against odd ones; accuracy is that of the held-out third."""
    X, digit = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, digit % 2, test_size=1 / 3, random_state=0)
    problem = Problem(X_train, y_train, lam_mean=0.01, intercept="regularized")
    test = (X_test, y_test)
    tell("sdca and sgd", 0.0)
    comparison = compare(problem, _SOLVERS, test=test, tol=_TOL, max_iter=_MAX_EPOCHS, check_every=1)
    accuracy = {}
    for k, name in enumerate(_SOLVERS):
        tell(f"{name}: accuracy over epochs", 0.3 + 0.3 * k)
        accuracy[name] = _accuracy_over_epochs(problem, comparison.results[name], test)
    tell("figures", 0.9)
    table = Table(
        "digits of scikit-learn, even or odd: (λ/2)‖w‖² + mean hinge loss, λ = 0.01; accuracy on the held-out third",
        tuple(as_row(name, result, test) for name, result in comparison.results.items()),
    )
    sdca, sgd = (comparison.results[name] for name in _SOLVERS)
    check = Check(
        f"After {sdca.iterations:.0f} epochs sdca is proven optimal to {sdca.certificate.relative_gap:.1e}, with no step size to tune; "
        f"sgd's gap after {sgd.iterations:.0f} epochs is {sgd.certificate.relative_gap:.1e}.",
        bool(sdca.certificate.relative_gap <= _TOL < sgd.certificate.relative_gap),
    )
    figures = () if folder is None else (_draw(dict(comparison.results), accuracy, folder),)
    return Outcome((table,), (check,), figures)


def _accuracy_over_epochs(problem: Problem, result: Result, test: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """(epochs, accuracy of the model that a stop there returns).

    The same seed takes the same path, so a run that is stopped early is the beginning of the longer one.
    """
    epochs = np.unique(np.geomspace(1, max(1.0, result.iterations), 25).round())
    stopped = (solve(problem, result.solver, tol=_TOL, max_iter=k, check_every=1) for k in epochs)
    return epochs, np.array([score(model, test) for model in stopped])


def _draw(results: dict[str, Result], accuracy: dict[str, tuple[np.ndarray, np.ndarray]], folder: Path) -> Path:
    figure, panels = new_figure(1, 3, (15.0, 4.2))
    left, middle, right = panels[0]
    ConvergenceDisplay.from_results(results).plot(left, legend=False, title="Objective: both sides meet")
    GapDisplay.from_results(results, tol=_TOL).plot(middle, legend=False, title="Duality gap: ascent goes to zero")
    with style():
        for name, (epochs, values) in accuracy.items():
            right.plot(epochs, 100 * values, color=solver_color(name), label=name, marker="o", markersize=3.5)
        right.set_xscale(
            middle.get_xscale(), **({"linthresh": 1.0, "linscale": 0.3} if middle.get_xscale() == "symlog" else {})
        )
        right.set_xlim(middle.get_xlim())
        right.xaxis.set_major_formatter(middle.xaxis.get_major_formatter())
        right.set_xlabel("epochs")
        right.set_ylim(80.0, 100.0)
        right.set_ylabel("held-out accuracy (%)")
        right.set_title("Accuracy: settles long before the gap")
        handles = ConvergenceDisplay.from_results(results).handles()
        handles.append(middle.get_lines()[-1])
        legend_outside(right, handles)
    return save(figure, folder / "1-ascent-against-descent.png")
