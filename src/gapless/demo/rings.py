"""Experiment 3: points on two rings, seen by three models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gapless.compare import as_row, compare
from gapless.demo.base import Check, Outcome, Table, Tell
from gapless.features import Polar
from gapless.kernels import RBF
from gapless.plot import DecisionDisplay
from gapless.plot.style import new_figure, save
from gapless.problems.problem import Problem
from gapless.result import Result

_TITLES = ("linear in (x, y)", "linear in polar coordinates", "RBF kernel")


def make_rings(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n points, half of them on the ring of radius 1 and half on that of radius 2, with noise in the radius."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    radius = 1.0 + label + rng.normal(0.0, 0.13, n)
    angle = rng.uniform(-np.pi, np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), label


def run(folder: Path | None, tell: Tell) -> Outcome:
    """The same solver and the same C on three views of the same points."""
    X, y = make_rings()
    polar = Polar().fit(X)
    problems = (
        Problem(X, y, C=1.0),
        Problem(polar.transform(X), y, C=1.0),
        Problem(X, y, kernel=RBF(gamma=1.0), C=1.0),
    )
    results = []
    for k, (title, problem) in enumerate(zip(_TITLES, problems, strict=True)):
        tell(title, k / 4)
        results.append(compare(problem, ["smo"]).results["smo"])
    tell("figure", 0.75)
    rows = tuple(as_row(f"smo, {title}", result) for title, result in zip(_TITLES, results, strict=True))
    line, circle, kernel = (row.score for row in rows)
    check = Check(
        f"The line gets {100 * line:.1f} % right, polar coordinates {100 * circle:.1f} %, the RBF kernel {100 * kernel:.1f} %.",
        line < 0.75 and min(circle, kernel) > 0.98,
    )
    figures = () if folder is None else (_draw(X, polar, results, [row.score for row in rows], folder),)
    return Outcome((Table("two rings, hinge loss, free intercept", rows),), (check,), figures)


def _draw(X: np.ndarray, polar: Any, results: list[Result], accuracy: list[float], folder: Path) -> Path:
    figure, panels = new_figure(1, 3, (15.0, 6.0))
    for ax, title, result, feature_map, share in zip(
        panels[0], _TITLES, results, (None, polar, None), accuracy, strict=True
    ):
        display = DecisionDisplay.from_result(result, X, feature_map=feature_map)
        n = len(display.support)
        display.plot(
            ax, title=f"{title}\n{100 * share:.0f} % right, {n} support vectors", legend=False, axis_labels=("x", "y")
        )
        ax.set_aspect("equal")
    figure.legend(handles=display.handles(), loc="outside lower center", ncols=5, frameon=False)
    return save(figure, folder / "3-rings.png")
